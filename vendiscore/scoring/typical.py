"""Typical scores: reference sets of the same size and length, under the same kernel and options."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from statistics import median

import numpy as np

from ..measures.sample_set import SampleSet
from ..support.signature import IRRELEVANT_SETTINGS, to_plain
from ..support.text_detection import are_proteins
from ..support.types import Options, Record
from .reference_scale import ReferenceScores, render_text_strip

# Accuracies of the default kernel on McDiv_nuggets (`benchmarks/people`), whose sets were selected
# from McDiv to make n-grams fail.
HARD_SET_ACCURACIES = (0.66, 0.43)
NGRAM_LIMITS = (
    f"n-grams measure wording, not meaning: in sets chosen so that shared words cannot tell, they "
    f"find different contents with accuracy {HARD_SET_ACCURACIES[0]:.2f} and "
    f"{HARD_SET_ACCURACIES[1]:.2f} (two "
    f"sources; guessing has 0.50)."
)
SEMANTIC_HINT = (
    'For meaning: k="semantic", or offline k="static"; in a shell vendiscore FILE -k semantic.'
)
WORDING_NOTE = f"{NGRAM_LIMITS} {SEMANTIC_HINT}"

# Reported settings of kernels that do not affect scores. All revisions of the tabulated models on
# the Hub have the same weights, and `pooling_from` only reports where `pooling` was specified.
_IGNORED_SETTINGS = IRRELEVANT_SETTINGS | {"dims", "dtype", "pooling_from", "revision"}
# Kernels that are the cosine of feature vectors.
_COSINE_KERNELS = ("cosine", "text_embeddings", "image_embeddings")


def select_comparable_settings(settings: Options) -> Record:
    """Return the settings of a Similarity that two comparable scores must share."""
    counting = {
        name: x for name, x in settings.items() if name not in _IGNORED_SETTINGS and x is not None
    }
    return dict(to_plain(counting))


def describe_wording_limits(settings: Options, hint: str = SEMANTIC_HINT) -> str:
    """Describe the limits of n-gram kernels, and alternatives; "" for other kernels.

    `settings` are those of a Similarity, or `details`.
    """
    return f"{NGRAM_LIMITS} {hint}".strip() if settings.get("kernel") == "ngram_overlap" else ""


@cache
def _load_tables() -> list[Record]:
    """Load the scores written by `benchmarks/typical_values.py`."""
    text = (files(__package__) / "typical_values.json").read_text(encoding="utf-8")
    return list(json.loads(text))


def empty_reference_scale() -> Record:
    """Return the result for a score without comparable reference sets."""
    return {"typical": "", "scale": [], "strip": ""}


def compare_with_typical(
    sample_set: SampleSet,
    n: int,
    q: float,
    value: float,
    samples: object,
    interval: Sequence[float] = (),
) -> Record:
    """Compare a score of n samples, and its interval, with reference sets.

    `samples` is required for texts and proteins, because their median length matters.

    Returns
    -------
    dict
        "typical": a sentence; "scale": reference sets in ascending order, ending with the highest
        possible score; "strip": a line of text that shows them. All are empty with weights, at
        orders other than 1 and 2, and if no reference set has this size and length.
    """
    similarity = sample_set.similarity
    settings = select_comparable_settings(similarity.settings)
    tables = [table for table in _load_tables() if table["settings"] == settings]
    if not tables and settings.get("kernel") in _COSINE_KERNELS and "prompts" not in settings:
        tables = _build_noise_tables(n, similarity.dim or 0)
    lengths = _compute_median_lengths(samples)
    for table in tables:
        length = lengths.get(table["kind"], 0)
        low, high = table["lengths"]
        rungs = _interpolate_scores(table, n, q)
        if rungs and low <= length <= high and sample_set.p is None:
            most = min(n, table["most"])
            about = table["about"].format(length)
            order = "" if q == 1 else " at q = 2"
            return {
                "typical": f"For {n:,} {about}{order}, this is {_describe_position(rungs, value)}.",
                "scale": [list(rung) for rung in (*rungs, ("the most possible", most))],
                "strip": render_text_strip(rungs, most, value, interval),
            }
    return empty_reference_scale()


def _interpolate_scores(table: Record, n: int, q: float) -> ReferenceScores:
    """Interpolate the measured curves at size n; return them in ascending order."""
    rungs = []
    for name, (sizes, values) in table.get(f"{q:g}", {}).items():
        if sizes[0] <= n <= sizes[-1]:
            log = np.interp(np.log(n), *np.log([sizes, values]))
            rungs.append((name, float(f"{np.exp(log):.3g}")))
    return sorted(rungs, key=lambda rung: rung[1])


def _build_noise_tables(n: int, d: int) -> list[Record]:
    """Return a table for n random directions in d dimensions, or none if n and d are small.

    At q = 2 their score is nd/(n + d − 1), the inverse of the mean purity. At q = 1 it follows the
    law for large sizes m exp(−m/(2M)), with m = min(n, d) and M = max(n, d) (Page, Phys. Rev. Lett.
    71, 1291, 1993). Means of simulations are within 0.2 % of both at (8, 384), (100, 384), (1000,
    64) and (384, 384), and within 1 % for M ≥ 64.
    """
    least, most = sorted((n, d))
    if least < 2 or most < 64:
        return []
    return [
        {
            "kind": "",
            "lengths": (0, 0),
            "about": f"vectors of {d:,} dimensions by cosines",
            "most": least,
            "1": {"isotropic noise": ([n], [least * np.exp(-least / (2 * most))])},
            "2": {"isotropic noise": ([n], [n * d / (n + d - 1)])},
        }
    ]


def _compute_median_lengths(samples: object) -> dict[str, float]:
    """Return the type of strings and their median length, in words or in residues of proteins."""
    every = samples if isinstance(samples, list) else []
    strings = [text for text in every if isinstance(text, str)]
    if are_proteins(strings):
        return {"proteins": median(map(len, strings))}
    return {"texts": median(len(text.split()) for text in strings or [""])}


def _describe_position(reference_scores: ReferenceScores, value: float) -> str:
    """Describe the position of a score among the scores of reference sets."""
    names = [f"{name} ({x:.4g})" for name, x in reference_scores]
    i = bisect_left([x for _, x in reference_scores], value)
    if not i:
        return f"below {names[0]}"
    if not names[i:]:
        return f"above {names[-1]}"
    return f"between {names[i - 1]} and {names[i]}"
