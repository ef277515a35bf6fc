"""The function `select`: a diverse or representative subset of samples."""

from dataclasses import replace
from typing import Literal

import numpy as np

from ...core.eigenvalues import PSD, check_psd
from ...resolve.sample_labels import check_size, parse_group_labels
from ...resolve.similarity_builder import similarity_from_keywords
from ...resolve.similarity_spec import KernelArgument
from ...spectral.vendi_scores import compute_spectrum
from ...support.arguments import (
    DEFAULT_ORDER,
    check_bool,
    check_choice,
    check_float,
    check_no_gradient,
    check_order,
)
from ...support.parallel import limit_blas_threads
from ...support.progress import announce_duration, quiet
from ...support.suggestions import suggestion
from ...support.types import Samples
from .candidates import Candidates
from .constraints import (
    Constraints,
    check_initial,
    check_quality,
    check_relevance,
    parse_constraints,
)
from .facility_location import MAX_REPRESENTED, FacilityLocation
from .search import select_greedily, swap_members
from .selection import Selection
from .vendi_objective import QualityTradeoff, VendiObjective

ObjectiveName = Literal["vendi", "represent"]
OBJECTIVES: tuple[ObjectiveName, ...] = ("vendi", "represent")


def select(
    samples: Samples,
    size: int | None = None,
    *,
    objective: ObjectiveName = "vendi",
    q: float = DEFAULT_ORDER,
    initial: object = None,
    quota: object = None,
    groups: object = None,
    quality: object = None,
    relevance: object = None,
    tradeoff: float | None = None,
    swaps: bool = True,
    psd: PSD = "check",
    k: KernelArgument | None = None,
    **options: object,
) -> Selection:
    """Select a diverse or representative subset, with a bound on how good it is.

    Parameters
    ----------
    samples : list, array-like or Similarity
        The n samples, as for `compute`. Not modified.
    size : int
        Number of samples to select, from 1 to n. Required.
    objective : {"vendi", "represent"}, default "vendi"
        Quantity to maximize. "vendi" is VS_q of the selection: the selected samples *differ*, as
        in a test set or a list of molecules to buy. "represent" is the mean similarity of all
        samples to the nearest selected one (facility location): the selection *represents all
        samples*, as in a summary or a coreset. It prefers dense regions and has lower VS_q. The
        most diverse subset need not be the best to train on (arXiv:2605.29448).
    q : float, default 1
        Order of "vendi", `scores` and `bound`, 0 < q <= 2. Orders below 1 emphasize rare samples;
        order 2 is fastest.
    initial : list of int, optional
        Indices of samples that the selection starts with, in this order.
    quota : dict or int, optional
        How many samples to select from each group: a dict of labels to exact numbers that sum to
        `size`, where omitted groups have 0, or an int, the maximum per group. Requires `groups`.
    groups : sequence of length n of hashable labels, optional
        Group of each sample. Requires `quota`.
    quality : array-like of shape (n,), optional
        A non-negative score per sample, on a ratio scale. "vendi" then maximizes mean quality times
        VS (arXiv:2405.02449).
    relevance : array-like of shape (n,), optional
        Scores of the samples for a query, of any range and sign, such as cosines, BM25 or logits.
        They become `quality` by exp((r - mean) / std), so their unit and zero do not matter.
    tradeoff : float, optional
        Weight of diversity against `quality` or `relevance`, 0 <= tradeoff <= 1, by default 0.5:
        VS^(2 tradeoff) times mean quality^(2 - 2 tradeoff) is maximized. 0 uses only quality, 1
        only diversity, 0.5 their product. This is a weighted geometric mean, whereas Vendi-RAG
        uses a weighted arithmetic mean.
    swaps : bool, default True
        After the greedy selection, replace selected samples by others while this improves the
        objective, in at most eight rounds. Samples in `initial` stay, and quotas are met. The final
        set is ordered greedily. Above 2048 candidates, only the 1024 candidates with the largest
        gains are swapped in. "represent" uses no swaps: without quotas and for non-negative
        similarities, the greedy selection reaches at least 1 - 1/e of the optimum.
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues beyond rounding: raise a NotPSDError, or set them to
        zero and rescale the others to sum to 1.
    k : str, callable, dict or list, optional
        The kernel, as for `compute`. If omitted, strings are compared by "ngram_overlap".
    **options
        `score_K`, `score_X`, `score_dual`, `normalize` and options of the kernel, as for `compute`.

    Returns
    -------
    Selection
        A sequence of the selected indices, with the scores of its first 1, 2, ... samples
        (`.scores`), an upper bound for all selections (`.bound`), `.gains`, `.certified` and
        `.plot()`.

    Raises
    ------
    SampleError
        If samples are unusable; the message lists their indices.
    NotPSDError
        If similarities of the selected samples have negative eigenvalues and ``psd="check"``.
    TooLargeError
        If the computation does not fit in memory; raised before allocation.
    TypeError, ValueError
        If an argument is invalid or a quota cannot be met.

    Warns
    -----
    UserWarning
        If the selection is interrupted, or the score is within 0.1 % of the number of features.

    See Also
    --------
    explain : Contribution of each sample and near-duplicates.
    compute : Score of a set.

    Notes
    -----
    Each step selects the sample with the largest gain, and the first one among equal gains. Above
    2048 candidates and after 100 samples, its gain is within 3e-4 / k of the largest gain in log
    VS, for k selected samples. Gains decrease as the set grows, so most candidates are not
    evaluated again. For sum_i lambda_i^q with q < 1, the greedy selection reaches at least 1 - 1/e
    of the optimum. For log VS at q = 1 there is no such guarantee; the attribute `bound` is an
    upper bound for the given samples.

    Ctrl-C ends the search with a warning. The result, with ``interrupted=True``, then contains the
    samples selected so far, or all `size` samples if swaps had begun. Each phase has a progress
    bar.

    The score of a selection is at most the number of features d. Once it is within 0.1 % of d, a
    warning is given, and each further sample is the one least similar to its nearest selected
    sample (k-centres, Gonzalez 1985), without swaps.

    For N samples with d dense features and a selection of k, there are about k / 25 passes over all
    candidates, each in O(N d min(d, k)). Selecting 1000 of 20000 samples with 384 features took 2
    to 5 times as long as the product of all pairs, including swaps. Without features, each step
    computes one row of similarities, each pass takes O(N k^2), and the memory is O(N k).
    "represent" computes the similarities of all samples to at most 20000 random samples once,
    evaluates few candidates per step, and stores at most 134 million similarities. A matrix of N^2
    similarities is not stored, unless `k` is a function.

    References
    ----------
    1. D. Friedman and A. B. Dieng, "The Vendi Score: A Diversity Evaluation Metric for Machine
       Learning", Transactions on Machine Learning Research, 2023. arXiv:2210.02410.
    2. M. Minoux, "Accelerated Greedy Algorithms for Maximizing Submodular Set Functions", 1978.
    3. K. Wei, R. Iyer and J. Bilmes, "Submodularity in Data Subset Selection and Active
       Learning", ICML, 2015.
    4. B. Mirzasoleiman, J. Bilmes and J. Leskovec, "Coresets for Data-efficient Training of
       Machine Learning Models", ICML, 2020. arXiv:1906.01827 (facility location).

    Examples
    --------
    >>> result = select(["a b", "a b c", "d e", "f"], 3, k="ngram_overlap", ns=[1])
    >>> result.places
    array([0, 2, 3])
    >>> result.scores.round(3)
    array([1., 2., 3.])
    >>> round(result.certified, 6)  # no three samples are more different
    1.0
    """
    if size is None:
        raise TypeError(
            "`size`, the number of samples to select, is required; use select(samples, size=5)"
        )
    objective_name = check_choice(
        "objective", objective, OBJECTIVES, suggestion(objective, OBJECTIVES, "objective")
    )
    order = check_order(
        q,
        allow_zero=False,
        max_value=2,
        hint="the default is q=1; q=0.5 emphasizes rare samples, q=2 common ones",
    )
    swaps = check_bool("swaps", swaps)
    psd = check_psd(psd)
    if quality is not None and relevance is not None:
        raise TypeError(
            "`quality` and `relevance` are mutually exclusive; pass `relevance` for scores of any "
            "range, which are converted to quality by exp((r - mean) / std)"
        )
    scores_name = "quality" if relevance is None else "relevance"
    scores = quality if relevance is None else relevance
    diversity_weight = 0.5
    if tradeoff is not None:
        if scores is None:
            raise ValueError(
                "`tradeoff` requires `relevance` or `quality`; pass a score for each sample"
            )
        diversity_weight = check_float(
            "tradeoff",
            tradeoff,
            "a number from 0 (only quality) to 1 (only diversity)",
            lambda weight: 0 <= weight <= 1,
            "the default 0.5 maximizes the product of quality and diversity",
        )
    if scores is not None and objective_name == "represent":
        raise ValueError(
            f"`{scores_name}` is not supported by objective={objective_name!r}; remove "
            f"`{scores_name}`, or use objective='vendi'"
        )
    if unused := [name for name in ("p", "metric", "fit") if name in options]:
        raise TypeError(
            f"`{unused[0]}` is not supported by `select`, which uses similarities of one set; "
            f"remove it. Choose a kernel with `k`, and pass a score for each sample as `quality`"
        )
    similarity = similarity_from_keywords(samples, {"k": k, **options}, select)
    check_no_gradient("select", **options, samples=similarity, **{scores_name: scores})
    dropped = similarity.dropped
    n = similarity.n + len(dropped)
    retained = np.setdiff1d(np.arange(n), list(dropped))
    initial_indices = check_initial(n, initial)
    for index in initial_indices:
        if index in dropped:
            raise ValueError(
                f"`initial` has sample {index}, which was dropped because it {dropped[index]}; "
                f"remove it from `initial`"
            )
    if groups is not None:
        groups = parse_group_labels(groups)
        if len(groups.codes) != len(retained):  # labels of all samples, also of dropped ones
            check_size(groups, n)
            groups = replace(groups, codes=groups.codes[retained])
    initial_positions = np.searchsorted(retained, initial_indices).tolist()
    constraints = parse_constraints(similarity.n, size, initial_positions, groups, quota)
    quality_tradeoff = None
    if scores is not None:
        check_scores = check_quality if relevance is None else check_relevance
        quality_tradeoff = QualityTradeoff(check_scores(n, scores, retained), diversity_weight)
    # Results are checked for infinities. For thousands of small products, waiting threads cost more
    # than they save.
    with np.errstate(all="ignore"), limit_blas_threads(1):
        candidates = Candidates(similarity)
        announce_duration(
            f"Selecting {constraints.size:,} of {candidates.n:,} samples",
            _estimate_operations(candidates, constraints.size, objective_name),
            single_precision=objective_name == "represent",
            hint="Ctrl-C stops the search and keeps the samples selected so far",
        )
        if diversity_weight == 1:
            quality_tradeoff = None
        positions, n_swaps, interrupted = _select_positions(
            candidates, constraints, objective_name, order, quality_tradeoff, swaps
        )
        constraints = replace(constraints, size=len(positions))  # fewer after Ctrl-C
        spectrum = compute_spectrum(candidates.similarity.take(positions), psd=psd)
        quality_tradeoff = quality_tradeoff and quality_tradeoff.take(positions)
    return Selection(
        retained[positions],
        objective_name,
        order,
        n_swaps,
        interrupted,
        spectrum,
        quality_tradeoff,
        candidates,
        constraints,
        positions,
    )


def _estimate_operations(candidates: Candidates, size: int, objective_name: ObjectiveName) -> float:
    """Estimate the number of additions and multiplications.

    For 1,000 of 20,000 samples with 384 features, it is correct within a factor of 2.
    """
    n = candidates.n
    dim = candidates.dim or size
    if objective_name == "represent":
        return 4.0 * n * dim * min(n, MAX_REPRESENTED)
    # All candidates are evaluated about once in 12 steps, and tracked candidates in each step.
    return size * min(size, dim) * (n * dim / 6 + 2e5)


def _select_positions(
    candidates: Candidates,
    constraints: Constraints,
    objective_name: ObjectiveName,
    q: float,
    quality_tradeoff: QualityTradeoff | None,
    swaps: bool,
) -> tuple[np.ndarray, int, bool]:
    """Return the ordered positions of selected candidates, and the number of swaps.

    The third value is True if Ctrl-C ended the search. Positions refer to the candidates, without
    dropped samples.
    """
    if objective_name == "represent":
        facility_location = FacilityLocation(candidates, constraints)
        interrupted = select_greedily(facility_location)
        return np.array(facility_location.selected), 0, interrupted
    objective = VendiObjective(candidates, constraints, q, quality_tradeoff)
    n_swaps = 0
    interrupted = select_greedily(objective)
    if swaps and not interrupted and objective.nearest_similarities is None:
        n_swaps, interrupted = swap_members(objective)
    positions = np.array(objective.selected)
    if not n_swaps:
        return positions, 0, interrupted
    # Order the swapped selection greedily.
    initial = constraints.initial
    added = positions[~np.isin(positions, initial)]
    positions = np.concatenate([initial, added]).astype(int)
    ordering = VendiObjective(
        Candidates(candidates.similarity.take(positions)),
        constraints.restricted_to(positions),
        q,
        quality_tradeoff and quality_tradeoff.take(positions),
    )
    with quiet():
        interrupted = select_greedily(ordering) or interrupted
    return positions[ordering.selected], n_swaps, interrupted
