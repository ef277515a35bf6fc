"""Typical values: known sets of the same size and length under the same kernel and options."""

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

# Accuracies of the default on McDiv_nuggets (`benchmarks/people`), whose sets were selected from
# McDiv so that n-grams fail.
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

# Settings that are reported of a kernel and change no number. Every revision of the model on the
# Hub that the table names has the same weights, and `pooling_from` says where `pooling` is from.
_IGNORED_SETTINGS = IRRELEVANT_SETTINGS | {"dims", "dtype", "pooling_from", "revision"}
# Kernels that are cosines of the columns of samples.
_COSINE_KERNELS = ("cosine", "text_embeddings", "image_embeddings")


def select_comparable_settings(settings: Options) -> Record:
    """Return the settings of a Similarity that decide whether two scores can be compared."""
    counting = {
        name: x for name, x in settings.items() if name not in _IGNORED_SETTINGS and x is not None
    }
    return dict(to_plain(counting))


def describe_wording_limits(settings: Options, hint: str = SEMANTIC_HINT) -> str:
    """Say what n-grams measure, and what to take for meaning; "" of any other kernel.

    `settings` are of a Similarity, or `details`.
    """
    return f"{NGRAM_LIMITS} {hint}".strip() if settings.get("kernel") == "ngram_overlap" else ""


@cache
def _load_tables() -> list[Record]:
    """Return the scores of `benchmarks/typical_values.py`, which writes the file."""
    text = (files(__package__) / "typical_values.json").read_text(encoding="utf-8")
    return list(json.loads(text))


def empty_reference_scale() -> Record:
    """Return the place of a score that no known set can be compared with."""
    return {"typical": "", "scale": [], "strip": ""}


def compare_with_typical(
    sample_set: SampleSet,
    n: int,
    q: float,
    value: float,
    samples: object,
    interval: Sequence[float] = (),
) -> Record:
    """Place a score of n samples of a subject, with its interval, among known sets.

    Texts and proteins need `samples`, whose median length decides.

    Returns
    -------
    dict
        "typical", a sentence; "scale", known sets in ascending order with the highest possible
        score at the end; "strip", a line of text on which they are. All are empty with weights, at
        orders other than 1 and 2, and where no set of this size and length is known.
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
    """Return the curves that were measured around n, there, from the lowest to the highest."""
    rungs = []
    for name, (sizes, values) in table.get(f"{q:g}", {}).items():
        if sizes[0] <= n <= sizes[-1]:
            log = np.interp(np.log(n), *np.log([sizes, values]))
            rungs.append((name, float(f"{np.exp(log):.3g}")))
    return sorted(rungs, key=lambda rung: rung[1])


def _build_noise_tables(n: int, d: int) -> list[Record]:
    """Return a table of n directions in d dimensions that are drawn evenly, or none if few.

    At q = 2 their score is nd/(n + d − 1), the inverse of the mean purity. At q = 1 it is the law
    for large sizes m exp(−m/(2M)), m = min(n, d) and M = max(n, d) (Page, Phys. Rev. Lett. 71,
    1291, 1993). Means of draws are within 0.2 % of both at (8, 384), (100, 384), (1000, 64) and
    (384, 384), and within 1 % from M = 64 on.
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
    """Return the kind of strings, and the median of their words, or of residues of proteins."""
    every = samples if isinstance(samples, list) else []
    strings = [text for text in every if isinstance(text, str)]
    if are_proteins(strings):
        return {"proteins": median(map(len, strings))}
    return {"texts": median(len(text.split()) for text in strings or [""])}


def _describe_position(reference_scores: ReferenceScores, value: float) -> str:
    """Say where a score is among the scores of known sets."""
    names = [f"{name} ({x:.4g})" for name, x in reference_scores]
    i = bisect_left([x for _, x in reference_scores], value)
    if not i:
        return f"below {names[0]}"
    if not names[i:]:
        return f"above {names[-1]}"
    return f"between {names[i - 1]} and {names[i]}"
