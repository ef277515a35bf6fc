"""Choose the samples that are most different, or that stand for all others."""

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
from ...support.suggestions import replacement_hint
from ...support.types import Samples
from .candidates import Candidates
from .constraints import (
    Constraints,
    read_constraints,
    read_initial,
    read_quality,
    read_relevance,
)
from .objectives import Merit, Spectral
from .representatives import COVERED, Cover
from .search import exchanged, greedy
from .selection import Selection

Wish = Literal["vendi", "represent"]
# For hints about misspelt keywords.
_KEYWORDS = [
    "size",
    "objective",
    "q",
    "initial",
    "quota",
    "groups",
    "quality",
    "relevance",
    "tradeoff",
    "swaps",
    "psd",
]
OBJECTIVES: tuple[Wish, ...] = ("vendi", "represent")


def select(
    samples: Samples,
    size: int | None = None,
    *,
    objective: Wish = "vendi",
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
        Quantity to maximize. "vendi" is VS_q, for samples that *differ*, such as a test set,
        prompts or molecules to buy. "represent" is the mean similarity of all samples to the
        nearest selected one (facility location), for samples that *represent all*, such as a
        summary or a coreset. It prefers dense regions and has low scores. The most diverse subset
        need not be the best to train on (arXiv:2605.29448).
    q : float, default 1
        Order of "vendi", `scores` and `bound`, 0 < q <= 2. Orders below 1 emphasize rare samples;
        order 2 is fastest.
    initial : list of int, optional
        Indices of samples that the selection starts with, in this order.
    quota : dict or int, optional
        How many samples to select of each group: a dict from labels to exact numbers that sum to
        `size` (no samples of groups that it omits), or an int, the maximum per group.
    groups : sequence of length n of hashable labels, optional
        Group of each sample, for `quota`.
    quality : array-like of shape (n,), optional
        A non-negative score per sample, on a ratio scale. "vendi" then maximizes mean quality times
        VS (arXiv:2405.02449).
    relevance : array-like of shape (n,), optional
        Scores of the samples for a query, of any range and sign, such as cosines, BM25 or logits.
        They become `quality` by exp((r - mean) / std), so their unit and zero do not matter.
    tradeoff : float, optional
        Weight of diversity against `quality` or `relevance`, 0 <= tradeoff <= 1, by default 0.5:
        VS^(2 tradeoff) times mean quality^(2 - 2 tradeoff) is maximized. 0 uses only quality, 1
        only diversity, 0.5 their product. This is a weighted geometric mean; `s` of Vendi-RAG
        weights a convex combination instead.
    swaps : bool, default True
        After the greedy selection, swap selected samples for others while this improves the
        objective, in at most eight rounds, within `initial` and quotas. The final set is ordered
        greedily. Above 2048 candidates, only samples with the largest contribution to the whole set
        are swapped in. "represent" uses no swaps; without quotas and for non-negative similarities,
        greedy selection is within 1 - 1/e of the optimum.
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues beyond rounding: raise a NotPSDError, or set them to
        zero and rescale the others to sum to 1.
    k : str, callable, dict or list, optional
        The kernel, as for `compute`. Strings are compared by "ngram_overlap" if omitted.
    **options
        `score_K`, `score_X`, `score_dual`, `normalize` and options of the kernel, as for `compute`.

    Returns
    -------
    Selection
        The indices, `.places`, the scores of all prefixes, `.scores`, and `.gains`, `.bound`,
        `.certified` and `.plot()`.

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
    Each step selects the sample with the largest gain, the first one among equals. Above 2048
    candidates and after 100 samples, it is within 3e-4 / k of the largest gain in log VS, for k
    selected samples. Gains decrease as the set grows, so most candidates are not evaluated again.
    Greedy selection is within 1 - 1/e of the optimum for sum_i lambda_i^q with q < 1, but has no
    guarantee for log VS at q = 1; `bound` is an upper bound for this selection.

    Ctrl-C ends the search with a warning. The result, with `interrupted` set, then contains the
    samples selected so far, or all `size` during swaps. Progress bars show each phase.

    The score of a selection is at most the number of features d. Once it is within 0.1 % of d, a
    warning is given, and each further sample is the one least similar to its nearest selected
    sample (k-centres, Gonzalez 1985), without swaps.

    Time for N samples with d dense features and a selection of k is O(N d min(d, k)) for each of
    about k / 25 passes over all candidates; a round of swaps takes about as long. Selecting 1000 of
    20000 samples with 384 features took 2 to 5 times as long as the product of all pairs. Without
    features, each step computes one row of similarities, each pass takes O(N k^2), and memory is k
    N numbers. "represent" computes O(N^2) similarities once, to at most 20000 random samples, then
    few candidates per step, and stores at most 134 million of them. N^2 memory is never allocated,
    except for the similarities of a function `k`.

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
        raise TypeError("`size` is missing, how many to choose: pass select(samples, size=5)")
    wish = check_choice(
        "objective", objective, OBJECTIVES, replacement_hint(objective, "objective")
    )
    order = check_order(
        q,
        allow_zero=False,
        max_value=2,
        hint="q=1 is usual, q=0.5 counts rare samples more, q=2 fewer",
    )
    swaps = check_bool("swaps", swaps)
    psd = check_psd(psd)
    given, scores = ("quality", quality) if relevance is None else ("relevance", relevance)
    if quality is not None and relevance is not None:
        raise TypeError(
            "`quality` and `relevance` were both passed; pass one: relevance is quality, after "
            "exp((r − mean)/std)"
        )
    share = 0.5
    if tradeoff is not None:
        if scores is None:
            raise ValueError(
                "`tradeoff` needs `relevance` or `quality`: pass a score for each sample"
            )
        share = check_float(
            "tradeoff",
            tradeoff,
            "a number from 0 (relevance alone) to 1 (diversity alone)",
            lambda part: 0 <= part <= 1,
            "leave it out for the product of both",
        )
    if scores is not None and wish == "represent":
        raise ValueError(
            f"`{given}` has no part in objective={wish!r}; leave it out, or take 'vendi'"
        )
    if unused := [name for name in ("p", "metric", "fit") if name in options]:
        raise TypeError(
            f"`{unused[0]}` is not used in a selection, which looks at similarities of one set; "
            f"leave it out, name a kernel by `k`, and pass how good each sample is as `quality`"
        )
    similarity = similarity_from_keywords(samples, {"k": k, **options}, _KEYWORDS)
    check_no_gradient("select", **options, samples=similarity, **{given: scores})
    dropped = similarity.dropped
    n = similarity.n + len(dropped)
    kept = np.setdiff1d(np.arange(n), list(dropped))
    first = read_initial(n, initial)
    for place in first:
        if place in dropped:
            raise ValueError(
                f"`initial` has sample {place}, which was left out: it {dropped[place]}; leave it "
                "out there too"
            )
    if groups is not None:
        groups = parse_group_labels(groups)
        if len(groups.codes) != len(kept):  # one for each sample that came in
            check_size(groups, n)
            groups = replace(groups, codes=groups.codes[kept])
    first = np.searchsorted(kept, first).tolist()
    constraints = read_constraints(similarity.n, size, first, groups, quota)
    merit = None
    if scores is not None:
        read = read_quality if relevance is None else read_relevance
        merit = Merit(read(n, scores, kept), share)
    # Numbers are checked. Thousands of small products cost more with threads that wait.
    with np.errstate(all="ignore"), limit_blas_threads(1):
        candidates = Candidates(similarity)
        announce_duration(
            f"Choosing {constraints.size:,} of {candidates.n:,} samples",
            _operations(candidates, constraints.size, wish),
            single_precision=wish == "represent",
            hint="Ctrl-C keeps what is chosen by then",
        )
        if share == 1:
            merit = None
        rows, swapped, ended = _chosen(candidates, constraints, wish, order, merit, swaps)
        constraints = replace(constraints, size=len(rows))  # fewer after Ctrl-C
        spectrum = compute_spectrum(candidates.similarity.take(rows), psd=psd)
        merit = merit and merit.of(rows)
    places = kept[rows]
    return Selection(
        places, wish, order, swapped, ended, spectrum, merit, candidates, constraints, rows
    )


def _operations(candidates: Candidates, size: int, wish: Wish) -> float:
    """Estimate additions and multiplications: of 1,000 of 20,000 × 384 within a factor of 2."""
    n = candidates.n
    dim = candidates.dim or size
    if wish == "represent":
        return 4.0 * n * dim * min(n, COVERED)
    # Looks at all candidates, one for about 12 picks, and changes of the few that are followed.
    return size * min(size, dim) * (n * dim / 6 + 2e5)


def _chosen(
    candidates: Candidates,
    constraints: Constraints,
    wish: Wish,
    q: float,
    merit: Merit | None,
    swaps: bool,
) -> tuple[np.ndarray, int, bool]:
    """Return the rows chosen, in order, how many were swapped, and whether Ctrl-C ended that."""
    if wish == "represent":
        cover = Cover(candidates, constraints)
        interrupted = greedy(cover)
        return np.array(cover.places), 0, interrupted
    objective = Spectral(candidates, constraints, q, merit)
    swapped = 0
    interrupted = greedy(objective)
    if swaps and not interrupted and objective.nearest is None:
        swapped, interrupted = exchanged(objective)
    rows = np.array(objective.places)
    if not swapped:
        return rows, 0, interrupted
    initial = constraints.initial
    rest = rows[~np.isin(rows, initial)]
    rows = np.concatenate([initial, rest]).astype(int)
    part = candidates.similarity.take(rows)
    again = Spectral(Candidates(part), constraints.of(rows), q, merit and merit.of(rows))
    with quiet():
        greedy(again)
    return rows[again.places], swapped, interrupted
