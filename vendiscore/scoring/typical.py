"""Typical scores: scores of reference sets with the same size, text length, kernel and options.

Reference sets are sets of samples of known origin, such as answers of a model or of several people.
Their scores are tabulated, and a score is reported together with those of comparable sets.
"""

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
    f"n-grams measure wording, not meaning. In two data sets with controlled wording, they "
    f"distinguish diverse sets from others with accuracies of {HARD_SET_ACCURACIES[0]:.2f} and "
    f"{HARD_SET_ACCURACIES[1]:.2f} (by chance: 0.50)."
)
SEMANTIC_HINT = (
    'To compare meaning, pass k="semantic", or k="static" without a network; in a shell, use '
    "vendiscore FILE -k semantic."
)
WORDING_NOTE = f"{NGRAM_LIMITS} {SEMANTIC_HINT}"

# Reported settings of kernels that do not affect scores. All revisions of the tabulated models on
# the Hub have the same weights, and `pooling_from` only reports where `pooling` was specified.
_IGNORED_SETTINGS = IRRELEVANT_SETTINGS | {"dims", "dtype", "pooling_from", "revision"}
# Kernels that are the cosine of feature vectors.
_COSINE_KERNELS = ("cosine", "text_embeddings", "image_embeddings")


def select_comparable_settings(settings: Options) -> Record:
    """Return the settings of a Similarity that must be equal for two scores to be comparable."""
    relevant = {
        name: value
        for name, value in settings.items()
        if name not in _IGNORED_SETTINGS and value is not None
    }
    return dict(to_plain(relevant))


def describe_wording_limits(settings: Options, hint: str = SEMANTIC_HINT) -> str:
    """Describe the limits of n-gram kernels, and alternatives; "" for other kernels.

    `settings` are those of a Similarity, or the "details" of a result; both contain the kernel.
    `hint` is appended.
    """
    return f"{NGRAM_LIMITS} {hint}".strip() if settings.get("kernel") == "ngram_overlap" else ""


@cache
def _load_tables() -> list[Record]:
    """Load tables of scores of reference sets, written by `benchmarks/typical_values.py`.

    Each table has these keys: "settings", those of the kernel; "kind", the sample type; "lengths",
    the smallest and the largest median length of samples for which the table is valid; "about", a
    format string that describes the samples; "most", the highest possible score; and the orders as
    strings, such as "1". The value of an order maps the name of each reference set to its sizes and
    its scores at these sizes.
    """
    text = (files(__package__) / "typical_values.json").read_text(encoding="utf-8")
    return list(json.loads(text))


def empty_reference_scale() -> Record:
    """Return the result of `compare_with_typical` for a score without comparable reference sets."""
    return {"typical": "", "scale": [], "strip": ""}


def compare_with_typical(
    sample_set: SampleSet,
    n: int,
    q: float,
    value: float,
    samples: object,
    interval: Sequence[float] = (),
) -> Record:
    """Compare `value`, a score of order q of n samples, with scores of reference sets.

    The kernel and its settings are those of `sample_set`; with groups, n is the size of each group.
    `samples` are the samples if they are available. They are required for texts and proteins,
    because reference sets must have a similar median length. `interval` contains the lower and the
    upper limit of the confidence interval of the score, or is empty.

    Returns
    -------
    dict
        "typical": a sentence about the position of the score among reference sets; "scale": names
        and scores of the reference sets in ascending order, and finally the highest possible score;
        "strip": a line of characters on which these scores and the interval are marked, and a
        second line with their names. All are empty for weighted samples, for orders other than 1
        and 2, and if there is no reference set with this kernel, size and length.
    """
    similarity = sample_set.similarity
    settings = select_comparable_settings(similarity.settings)
    tables = [table for table in _load_tables() if table["settings"] == settings]
    if not tables and settings.get("kernel") in _COSINE_KERNELS and "prompts" not in settings:
        # Without reference sets for this kernel, compare with random directions.
        tables = _build_noise_tables(n, similarity.dim or 0)
    median_lengths = _compute_median_lengths(samples)
    for table in tables:
        length = median_lengths.get(table["kind"], 0)  # 0 for samples that are not strings
        min_length, max_length = table["lengths"]
        references = _interpolate_scores(table, n, q)
        if references and min_length <= length <= max_length and sample_set.p is None:
            max_score = min(n, table["most"])
            label = table["about"].format(length)
            order = "" if q == 1 else " at q = 2"
            position = _describe_position(references, value)
            return {
                "typical": f"For {n:,} {label}{order}, this is {position}.",
                "scale": [*map(list, references), ["the most possible", max_score]],
                "strip": render_text_strip(references, max_score, value, interval),
            }
    return empty_reference_scale()


def _interpolate_scores(table: Record, n: int, q: float) -> ReferenceScores:
    """Return names and scores of reference sets of size n, in ascending order of the scores.

    `table` is an element of `_load_tables()`. Scores of order q are interpolated between the sizes
    in the table, on logarithmic scales, and rounded to three digits. A reference set is omitted if
    n is smaller or larger than all its sizes in the table.
    """
    references = []
    for name, (sizes, scores) in table.get(f"{q:g}", {}).items():
        if sizes[0] <= n <= sizes[-1]:
            log_score = np.interp(np.log(n), *np.log([sizes, scores]))
            references.append((name, float(f"{np.exp(log_score):.3g}")))
    return sorted(references, key=lambda reference: reference[1])


def _build_noise_tables(n: int, d: int) -> list[Record]:
    """Return a list with a table of the scores of n random directions in d dimensions.

    The list is empty if n and d are small. The keys of the table are the sample type ("kind"), the
    range of median lengths of the samples ("lengths"), the description in messages ("about"), the
    maximum score ("most"), and the orders "1" and "2". The value for an order maps the name of a
    reference set to a list of sizes and a list of scores.

    For directions that are independent and uniform on the sphere, the score at q = 2 is
    nd/(n + d − 1), the inverse of the mean purity (sum of squared eigenvalues). At q = 1 it is
    approximately m exp(−m/(2M)) for large n and d, with m = min(n, d) and M = max(n, d) (Page,
    Phys. Rev. Lett. 71, 1291, 1993). Mean scores in simulations differ from these two formulas by
    at most 0.2 % for (n, d) = (8, 384), (100, 384), (1000, 64) and (384, 384), and by at most 1 %
    for M ≥ 64.
    """
    smaller, larger = sorted((n, d))
    if smaller < 2 or larger < 64:
        return []
    return [
        {
            "kind": "",
            "lengths": (0, 0),
            "about": f"vectors of {d:,} dimensions by cosines",
            "most": smaller,
            "1": {"isotropic noise": ([n], [smaller * np.exp(-smaller / (2 * larger))])},
            "2": {"isotropic noise": ([n], [n * d / (n + d - 1)])},
        }
    ]


def _compute_median_lengths(samples: object) -> dict[str, float]:
    """Return the median length of the samples that are strings, by their type.

    The result has a single key: "proteins", with the length in residues, or "texts", with the
    length in words, which is 0 if no sample is a string.
    """
    strings = []
    if isinstance(samples, list):
        strings = [sample for sample in samples if isinstance(sample, str)]
    if are_proteins(strings):
        return {"proteins": median(map(len, strings))}
    return {"texts": median(len(text.split()) for text in strings or [""])}


def _describe_position(reference_scores: ReferenceScores, value: float) -> str:
    """Describe the position of a score among the scores of reference sets, as "above NAME (3.2)".

    `value` is the score, and `reference_scores` are in ascending order.
    """
    labels = [f"{name} ({score:.4g})" for name, score in reference_scores]
    n_below = bisect_left([score for _, score in reference_scores], value)
    if n_below == 0:
        return f"below {labels[0]}"
    if n_below == len(labels):
        return f"above {labels[-1]}"
    return f"between {labels[n_below - 1]} and {labels[n_below]}"
