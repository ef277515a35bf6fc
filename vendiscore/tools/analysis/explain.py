"""The function `explain`: from samples to a table of what each adds to their diversity."""

from __future__ import annotations

import numpy as np

from ...core.eigenvalues import PSD, check_psd
from ...measures.sample_set import SampleSet
from ...resolve.sample_labels import group_by_prompt
from ...resolve.similarity_builder import check_samples
from ...resolve.similarity_spec import similarity_spec_from_keywords
from ...support.arguments import (
    DEFAULT_ORDER,
    DEFAULT_THRESHOLD,
    check_float,
    check_no_gradient,
    check_order,
)
from ...support.types import Samples, Weights
from .duplicates import compare_samples, text_forms
from .sample_table import Explanation

# Spectra of more dimensions take minutes: they are computed only when a result needs them.
SOON = 4096


def explain(
    samples: Samples,
    *,
    q: float | str = DEFAULT_ORDER,
    threshold: float = DEFAULT_THRESHOLD,
    p: Weights | None = None,
    psd: PSD = "check",
    **how: object,
) -> Explanation:
    """Find which samples add to the diversity of a set, which repeat others, and its modes.

    Parameters
    ----------
    samples : list, array or Similarity, n of the kind that `k` compares; not changed
    q : float in (0, ∞] or "inf", order of the score that is explained; 1 by default
    threshold : float in [−1, 1], 0.95 by default, whatever the kernel
        Samples at least this similar are near-duplicates; texts that differ in case, space,
        punctuation or Unicode form alone are at any. Choose it by `repeats` and `boundary()`.
    p : array (n,), optional, weights that sum to 1; uniform by default
    psd : {"check", "clip"}
        Raise for a similarity with negative eigenvalues, or set them to zero.
    **how
        As for `compute`: `k`, `score_K`, `score_X`, `normalize` and the options of the kernel. With
        `prompts`, the samples of each prompt are a set of their own, and scores are means.

    Returns
    -------
    Explanation, a table with a row for each sample in order, near-duplicates, modes and more

    Raises
    ------
    TypeError, ValueError, TooLargeError
        As `compute` does, and for order 0, of which a sample changes one or nothing.

    Notes
    -----
    One spectrum with vectors, O(n d² + d³) from d < n features and O(n³) else, and one pass over
    all pairs, O(n² d). Above 4,096 samples pairs are found in single precision and their
    similarities in double; the nearest of a sample without near-duplicates is then the nearest up
    to 1e-5. Memory: n·min(n, d) numbers, an (n, n) array only where the spectrum needs it, up to 4
    million pairs: if more are that similar, the threshold rises, with a warning.

    References
    ----------
    Leave-one-out: an integral, `vendiscore.spectral.leave_one_out`. Coverage: Good, Biometrika
    1953.

    Examples
    --------
    >>> found = explain(["a b", "a b", "c d"], ns=[1])
    >>> found.redundant_of
    array([-1,  0, -1])
    >>> found.adds.round(3)  # without the last, all are copies
    array([-0.057, -0.057,  0.637])
    >>> found.score_without_duplicates
    2.0
    """
    read = similarity_spec_from_keywords(how, ("q", "threshold", "p", "psd"), allow_grouping=True)
    order, limit, psd = read_terms(q, threshold, psd)
    collection = check_samples(samples, read, "samples")
    read, asked = group_by_prompt(read, [collection])
    subject = SampleSet(collection, read, orders=[order], weights=p, psd=psd, groups=asked)
    return explained(subject, order, limit, within=asked is not None)


def read_terms(q: object, threshold: object, psd: object) -> tuple[float, float, PSD]:
    """Return an order above 0, a threshold in [−1, 1], and `psd`, all checked."""
    allowed = "a similarity, from -1 to 1"
    usual = "0.95 is the usual one: choose by `repeats` and `boundary()` of the result"
    limit = check_float("threshold", threshold, allowed, lambda t: -1 <= t <= 1, usual)
    return check_order(q, allow_zero=False), limit, check_psd(psd)


def explained(
    subject: SampleSet,
    q: float,
    threshold: float = DEFAULT_THRESHOLD,
    floor: float | None = None,
    texts: Samples | None = None,
    places: np.ndarray | None = None,
    within: bool = False,
) -> Explanation:
    """Explain a subject at an order above 0; `floor` is the lowest threshold for `rethreshold`.

    With `within`, the samples of each group are explained by themselves.

    If the subject holds similarities and not the samples themselves, `texts` are the samples, and
    the samples of the subject are at `places` of them, by default at the places without a problem.
    """
    if floor is not None:
        floor = min(floor, threshold)
    with np.errstate(all="ignore"):  # as `compute` does: numbers are checked
        similarity = subject.similarity
        check_no_gradient("explain", **subject.spec.options, samples=similarity, p=subject.p)
        dim = similarity.dim or similarity.n
        parts = subject.parts if within else ()
        if min(similarity.n, dim) <= SOON:
            for each in parts or (subject,):
                each.decompose()  # raises at once for similarities without a score
        if places is None:
            places = np.flatnonzero(subject.row_of_input >= 0)
        if texts is None:
            texts = subject.samples
        forms = text_forms(similarity, texts, places)
        codes = subject.codes if within else None
        compared = compare_samples(similarity, threshold, floor, subject.p, forms, codes)
    return Explanation(q, places, *compared, subject, texts, _parts=parts)
