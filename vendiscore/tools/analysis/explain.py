"""The function `explain`: the contribution of each sample, and near-duplicates."""

from __future__ import annotations

import numpy as np

from ...core.eigenvalues import PSD, check_psd
from ...measures.group_spectra import compute_by_group
from ...measures.sample_set import SampleSet, SampleSubset
from ...resolve.sample_labels import group_by_prompt
from ...resolve.similarity_builder import check_samples
from ...resolve.similarity_spec import similarity_spec_from_keywords
from ...spectral.leave_one_out import compute_surprise
from ...support.arguments import (
    DEFAULT_ORDER,
    DEFAULT_THRESHOLD,
    check_float,
    check_no_gradient,
    check_order,
)
from ...support.namespace import to_float
from ...support.types import Samples, Weights
from .duplicates import find_duplicates, normalize_texts
from .explanation import Explanation, PromptValues

# Larger spectra take minutes and are computed only when a result needs them.
MAX_IMMEDIATE_SIZE = 4096


def explain(
    samples: Samples,
    *,
    q: float | str = DEFAULT_ORDER,
    threshold: float = DEFAULT_THRESHOLD,
    p: Weights | None = None,
    psd: PSD = "check",
    **how: object,
) -> Explanation:
    """Explain the score of a set: contribution of each sample, near-duplicates and modes.

    Parameters
    ----------
    samples : list, array-like or Similarity
        The n samples, as for `compute`. Not modified.
    q : float or "inf", default 1
        Order of the score, 0 < q <= infinity.
    threshold : float, default 0.95
        Samples with at least this similarity are near-duplicates, -1 <= threshold <= 1. Texts that
        differ only in case, space, punctuation or Unicode form are near-duplicates at any
        threshold. `repeats` and `boundary()` of the result help to choose it.
    p : array-like of shape (n,), optional
        Non-negative weights that sum to 1; uniform by default.
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues beyond rounding: raise a NotPSDError, or set them to
        zero and rescale the others to sum to 1.
    **how
        `k`, `score_K`, `score_X`, `normalize` and options of the kernel, as for `compute`. With
        `prompts`, each prompt is a separate set, and scores are means over prompts.

    Returns
    -------
    Explanation
        A table with one row per sample, in order, with near-duplicates, modes and more.

    Raises
    ------
    NotPSDError
        If similarities have negative eigenvalues and ``psd="check"``.
    TooLargeError
        If the computation does not fit in memory; raised before allocation.
    TypeError, ValueError
        If an argument is invalid, or the order is 0.

    See Also
    --------
    compute : The score.
    select : Select a diverse subset.
    report : Write an HTML report that includes this explanation.

    Notes
    -----
    Time is one decomposition with eigenvectors, O(n d^2 + d^3) for d < n features, else O(n^3), and
    one pass over all pairs, O(n^2 d). Memory is n min(n, d) numbers; an (n, n) array is allocated
    only if the decomposition needs it. At most 4 million pairs are stored: if more pairs are above
    the threshold, it is raised, with a warning.

    Above 4096 samples, pairs are searched in single precision and their similarities computed in
    double precision. For samples without near-duplicates, the nearest sample is then correct up to
    1e-5.

    References
    ----------
    1. I. J. Good, "The Population Frequencies of Species and the Estimation of Population
       Parameters", Biometrika, 1953 (coverage).

    Examples
    --------
    >>> result = explain(["a b", "a b", "c d"], ns=[1])
    >>> result.redundant_of
    array([-1,  0, -1])
    >>> result.adds.round(3)  # without the last sample, all are copies
    array([-0.057, -0.057,  0.637])
    >>> result.score_without_duplicates
    2.0
    """
    spec = similarity_spec_from_keywords(how, explain, allow_grouping=True)
    order, checked_threshold, psd = check_explain_options(q, threshold, psd)
    collection = check_samples(samples, spec, "samples")
    spec, prompt_groups = group_by_prompt(spec, [collection])
    sample_set = SampleSet(
        collection, spec, orders=[order], weights=p, psd=psd, groups=prompt_groups
    )
    return explain_sample_set(
        sample_set, order, checked_threshold, by_group=prompt_groups is not None
    )


def check_explain_options(q: object, threshold: object, psd: object) -> tuple[float, float, PSD]:
    """Validate the order q > 0, the threshold in [−1, 1] and `psd`; return them."""
    allowed = "a similarity, from -1 to 1"
    hint = "the default is 0.95; `repeats` and `boundary()` of the result help to choose"
    checked_threshold = check_float("threshold", threshold, allowed, lambda t: -1 <= t <= 1, hint)
    return check_order(q, allow_zero=False), checked_threshold, check_psd(psd)


def explain_sample_set(
    sample_set: SampleSet,
    q: float,
    threshold: float = DEFAULT_THRESHOLD,
    floor: float | None = None,
    texts: Samples | None = None,
    indices: np.ndarray | None = None,
    by_group: bool = False,
) -> Explanation:
    """Explain a sample set at an order q above 0.

    `floor` is the lowest threshold to which `rethreshold` can change the threshold. With
    `by_group`, every group is explained as a separate set. `texts` are the samples as passed by the
    user (needed if the sample set only holds similarities), and `indices` are the indices in
    `texts` of the samples of the set, by default of all samples that were not dropped.
    """
    if floor is not None:
        floor = min(floor, threshold)
    with np.errstate(all="ignore"):  # as `compute` does: numbers are checked
        similarity = sample_set.similarity
        check_no_gradient("explain", **sample_set.spec.options, samples=similarity, p=sample_set.p)
        dim = similarity.dim or similarity.n
        parts = sample_set.parts if by_group else ()
        largest = max((part.n_input for part in parts), default=similarity.n)
        is_immediate = min(largest, dim) <= MAX_IMMEDIATE_SIZE
        within_prompts = None
        if by_group:
            values = _score_prompts(sample_set, q) if is_immediate else ()
            within_prompts = PromptValues(parts, *values)
        elif is_immediate:
            sample_set.decompose()  # raises now if similarities are invalid
        if indices is None:
            indices = np.flatnonzero(sample_set.row_of_input >= 0)
        if texts is None:
            texts = sample_set.samples
        forms = normalize_texts(similarity, texts, indices)
        codes = sample_set.codes if by_group else None
        results = find_duplicates(similarity, threshold, floor, sample_set.p, forms, codes)
    return Explanation(q, indices, *results, sample_set, texts, _within_prompts=within_prompts)


def _score_prompts(sample_set: SampleSet, q: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the surprisal of each sample within its prompt, and the score of each prompt."""

    def compute_single(prompt: SampleSubset) -> tuple[np.ndarray, float]:
        prompt.decompose()
        return compute_surprise(prompt.eigen, q), to_float(prompt.eigen.effective_number(q))

    return compute_by_group(
        sample_set, q, lambda spectra: spectra.compute_surprise(q), compute_single
    )
