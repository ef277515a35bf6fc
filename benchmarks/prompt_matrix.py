"""The first figure of README.md: the effective number of different answers by prompt and source.

python benchmarks/prompt_matrix.py

The answers are those to 38 prompts of NoveltyBench that the tutorials use. The figure shows ten
prompts at equal distances in the order of their means; the last row is the mean over all prompts.
For one of the ten prompts, wording does not reflect content: it is marked and explained.
"""

import csv
import warnings
from pathlib import Path
from textwrap import shorten
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from vendiscore import compute

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "prompts-and-models.png"
N_PROMPTS = 10
# N-grams are misleading here: the answers of gpt-4o have the same content in different wordings.
MISLEADING_PROMPT = "Pick one: glass half full or glass half empty?"


def compute_scores() -> dict[str, dict[str, float]]:
    """Return the score of the answers of each source to each prompt."""
    path = ROOT / "docs" / "tutorials" / "data" / "answers.csv"
    answers: dict[str, dict[str, list[str]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            answers_by_prompt = answers.setdefault(row["source"], {})
            answers_by_prompt.setdefault(row["prompt"], []).append(row["answer"])
    return {
        source: {prompt: float(compute(texts)["VS"]) for prompt, texts in answers_by_prompt.items()}
        for source, answers_by_prompt in answers.items()
    }


def draw_matrix(scores: dict[str, dict[str, float]]) -> Any:
    """Draw a row for each of ten prompts, and a row for the mean over all prompts."""
    values = np.array([list(scores_by_prompt.values()) for scores_by_prompt in scores.values()]).T
    prompts = list(next(iter(scores.values())))
    means = values.mean(axis=1)
    order = np.argsort(-means)[np.linspace(0, len(prompts) - 1, N_PROMPTS).round().astype(int)]
    matrix = np.vstack([values[order], values.mean(axis=0)])
    names = [
        shorten(prompts[i], 46, placeholder=" …") + " *" * (prompts[i] == MISLEADING_PROMPT)
        for i in order
    ]
    figure, ax = plt.subplots(figsize=(8, 4.8), layout="constrained")
    ax.imshow(matrix, cmap="YlGnBu", vmin=1, vmax=8, aspect="auto")
    for (i, j), value in np.ndenumerate(matrix):
        ink = "white" if value > 5 else "black"
        ax.text(j, i, f"{value:.1f}", ha="center", va="center", color=ink)
    ax.axhline(N_PROMPTS - 0.5, color="white", linewidth=4)
    ax.set_yticks(range(N_PROMPTS + 1), [*names, f"mean over {len(prompts)} prompts"])
    ax.set_xticks(range(len(scores)), list(scores))
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    figure.suptitle("How many of 8 answers effectively differ, by their wording", x=0.01, ha="left")
    figure.supxlabel(
        "* Here wording misleads: all 8 answers of gpt-4o choose “half full”, some with a reason;\n"
        "people are split 5 to 3, in few words.",
        x=0.01,
        ha="left",
        fontsize="small",
    )
    return figure


if __name__ == "__main__":
    # Ignore warnings about answers of one word, or that differ only in punctuation.
    warnings.filterwarnings("ignore", "Kernel .ngram_overlap. ")
    draw_matrix(compute_scores()).savefig(PICTURE, dpi=110, metadata={"Software": None})
    print(PICTURE.relative_to(ROOT), f"{PICTURE.stat().st_size:,} bytes")
