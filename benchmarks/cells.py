"""Read result files and format tables."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
LOADED_RESULTS: set[str] = set()  # names of result files that were read

# Text of cells in documents, by the short names in result files.
LABELS = {
    "10 even labels, one common label": "10 equally frequent labels versus one common label",
    "50 % one answer, none repeats": "one answer in half of the samples versus no repeats",
    "50 even labels, one common label": "50 equally frequent labels versus one common label",
    "a label has 20 %, texts of one similarity": "one label of 20 % versus equally similar texts",
    "a label has 40 %, texts of one similarity": "one label of 40 % versus equally similar texts",
    "a label has 60 %, texts of one similarity": "one label of 60 % versus equally similar texts",
    "MiniLM, neighbours": "the 50 nearest neighbours of one question (MiniLM)",
    "MiniLM, ten questions": "ten questions (MiniLM)",
    "RBF 5, near-copies": "digits, RBF with `sigma=5`",
    "RBF 5, near-copies of uneven number": "digits, RBF with `sigma=5`, clusters of unequal size",
    "Tanimoto, neighbours": "the 50 nearest neighbours of one odorant (Tanimoto)",
    "Tanimoto, ten odorants": "ten odorants (Tanimoto)",
    "answers of people": "answers of eight people",
    "background 0.8, Beta(1, 6)": "items of similarity 0.8, one item with proportion Beta(1, 6)",
    "circle, cosine": "points on a circle, cosine",
    "cosine, near-copies": "digits, cosine",
    "cosine, near-copies of uneven number": "digits, cosine, clusters of unequal size",
    "eight equal labels, one label of 40.59 %": (
        "eight equally frequent labels versus one of 40.59 %"
    ),
    "equal: a favourite question, alike": (
        "equal: one frequent question versus equally similar texts"
    ),
    "equal: a favourite, even labels": "equal: one frequent label versus equally frequent labels",
    "equal: questions twice": "equal: the same population of questions",
    "gpt-4o, and gemini to some prompts": "gpt-4o; gemini for some prompts",
    "gpt-4o, and one answer repeated": "gpt-4o; one repeated answer for some prompts",
    "labels, 300 even": "300 equally frequent labels",
    "labels, every tenth 50 %": "labels; in every tenth prompt, one label of 50 %",
    "labels, geometric": "labels with geometric proportions",
    "labels, one of 200": "one of 200 labels",
    "labels, ten even": "ten equally frequent labels",
    "labels, ten of 200": "ten of 200 labels",
    "n-grams, a template": "texts that share seven of ten words (n-grams)",
    "n-grams, ten questions": "ten questions (n-grams)",
    "near-copies of Zipf's shares, narrow RBF": (
        "near-copies in proportions of Zipf's law, narrow RBF"
    ),
    "one has 20 %, MiniLM": "one text of 20 %, MiniLM",
    "models that differ at random over 20 prompts": (
        "models whose difference varies over 20 prompts"
    ),
    "one question recurs, texts share four words": (
        "one frequent question versus texts that share four words"
    ),
    "one source": "one population",
    "people, and gemini to some prompts": "eight people; gemini for some prompts",
    "people's stories, Zipf": "stories of people, proportions of Zipf's law",
    "questions, Beta(1, 60)": "questions, one with proportion Beta(1, 60)",
    "rows, 384 columns, none recurs": "vectors with 384 columns, none recurs",
    "ten even clusters of vectors": "ten equally frequent clusters of vectors",
    "two of one diversity": "two populations of equal diversity",
    "word vectors, one has 15 %": "one text of 15 %, word vectors",
}


def load_result(name: str) -> Any:
    LOADED_RESULTS.add(name)
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def format_percent(proportion: float, digits: int = 0) -> str:
    # Rounded first, because versions of NumPy differ in the last bits of means such as 39.5 %.
    return f"{round(100 * proportion, 9):.{digits}f} %".replace("-", "−")


def format_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table; numbers and their units are joined by non-breaking spaces."""
    header_cells = list(header)
    labelled = ([LABELS.get(cell, cell) for cell in row] for row in rows)
    lines = [f"| {' | '.join(row)} |" for row in (header_cells, *labelled)]
    text = "\n".join([lines[0], "|---" * len(header_cells) + "|", *lines[1:]])
    return re.sub(r"(?<=\d) (?=(?:s|×|%|MB|GB) )", "\N{NO-BREAK SPACE}", text)
