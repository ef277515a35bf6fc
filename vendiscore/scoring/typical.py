"""Typical values: the known sets that a score lies between, under the same kernel and options."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from ..core.types import Options, Record, Weights
from ..signature import IDLE, plain

# Accuracies of the default on McDiv_nuggets (`benchmarks/people`), whose sets were selected from
# McDiv so that n-grams fail.
HARD_SETS = (0.66, 0.43)
NGRAMS = (
    f"n-grams measure wording, not meaning: in sets chosen so that shared words cannot tell, they "
    f"find different contents with accuracy {HARD_SETS[0]:.2f} and {HARD_SETS[1]:.2f} (two "
    f"sources; guessing has 0.50)."
)
REMEDY = 'For meaning: k="semantic", or offline k="static"; in a shell vendiscore FILE -k semantic.'
WORDING = f"{NGRAMS} {REMEDY}"

# Settings that are reported of a kernel and change no number. Every revision of the model on the
# Hub that the table names has the same weights, and `pooling_from` says where `pooling` is from.
_TOLD = IDLE | {"dims", "dtype", "pooling_from", "revision"}


def settings_that_count(settings: Options) -> Record:
    """Return the settings of a Similarity that decide whether two scores can be compared."""
    shown = plain({name: value for name, value in settings.items() if name not in _TOLD})
    return {name: value for name, value in shown.items() if value is not None}


def wording_sentence(settings: Options, remedy: str = REMEDY) -> str:
    """Say what n-grams measure, and what to take for meaning; "" of any other kernel."""
    return f"{NGRAMS} {remedy}".strip() if settings.get("kernel") == "ngram_overlap" else ""


@cache
def _tables() -> list[Record]:
    """Return the scores of `benchmarks/typical_values.py`, which writes the file."""
    text = (files(__package__) / "typical_values.json").read_text(encoding="utf-8")
    tables: list[Record] = json.loads(text)
    return tables


def typical_sentence(
    settings: Options, n: int, q: float, value: float, p: Weights | None = None
) -> str:
    """Say between which known sets a score lies; "" unless kernel, options, n and q are theirs.

    `settings` belong to a Similarity; `p` are weights, with which nothing can be compared.
    """
    if p is not None or q not in (1, 2):
        return ""
    counting = settings_that_count(settings)
    for table in _tables():
        known = table["values"].get(f"{n},{q:g}")
        if known and table["settings"] == counting:
            order = "" if q == 1 else f" at q = {q:g}"
            return f"For {n:,} {table['kind']} by {table['by']}{order}, {_place(known, value)}."
    return ""


def _place(known: dict[str, float], value: float) -> str:
    """Say where a score is among the scores of known sets."""
    sources = {x: f"{name} ({x:.3g})" for name, x in reversed(known.items())}
    below = [x for x in sources if x <= value]
    above = [x for x in sources if x >= value]
    if not below:
        return f"this is below {sources[min(above)]}"
    low = sources[max(below)]
    if not above:
        return f"this is above {low}"
    if value in sources:
        return f"this is the same as {low}"
    return f"this is between {low} and {sources[min(above)]}"
