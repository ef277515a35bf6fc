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
    """Choose `size` samples, and say how good the choice is.

    Parameters
    ----------
    samples : list, array, tensor, column or Similarity
        n samples of the kind that `k` compares. Not changed.
    size : int from 1 to n, the number of samples to choose; always needed
    objective : {"vendi", "represent"}
        Quantity to maximise. Default: "vendi", VS_q, the effective number of different samples, for
        samples that *differ* (a test set, prompts, molecules to buy). For samples that *stand for
        all* (a summary, a coreset): "represent", facility location, the mean similarity of all
        samples to the nearest chosen one. It prefers dense regions to what is rare, and scores low.
        The most diverse subset need not be the best to train on (arXiv 2605.29448).
    q : float in (0, 2], order of "vendi", `scores` and `bound`
        Rare samples count more below 1; 2 costs least.
    initial : list of int, optional, places of samples that the choice begins with, in this order
    groups, quota : list of labels, dict of label to int, or int, optional
        One label for each sample, and how many to choose of each group: a dict has exact numbers,
        which sum to `size` (groups that it does not name get none); an int is the most of any.
    quality : list of float, optional
        A score of at least 0 for each sample, of which twice as much is twice as good: "vendi"
        maximises mean quality times VS (arXiv 2405.02449).
    relevance : list of float, optional
        Scores of each sample for a query, of any range and sign: cosines, BM25, logits. They are
        `quality` after exp((r − mean)/std), so that neither their unit nor their zero matters.
    tradeoff : float in [0, 1], optional
        Share of diversity, where there is `quality` or `relevance`: VS^(2 tradeoff) times mean
        quality^(2 − 2 tradeoff) is maximised. 0: relevance alone; 1: diversity alone; default 0.5,
        their product, which needs no parameter. This is a weighted geometric mean; `s` of Vendi-RAG
        weights a convex combination instead.
    swaps : bool
        Exchange members for candidates after the greedy choice while that raises the objective, in
        at most eight rounds, within `initial` and quotas; greedy choice orders the final set.
        From more than 2,048 candidates, those that add most to the whole set may come in.
        "represent" is greedy alone: without quotas, and for similarities of at least 0, that is
        within 1 − 1/e of the best.
    psd : {"check", "clip"}
        Raise for a similarity with negative eigenvalues, or set them to zero.
    k : str, callable, dict or list, optional
        A registered kernel, a function of two samples, or a mixture; strings: "ngram_overlap".
    **options
        `score_K`, `score_X`, `score_dual`, `normalize` and options of the kernel, as for `compute`.

    Returns
    -------
    Selection
        `.places`, `.scores` of all prefixes, `.gains`, `.bound` and `.certified`, `.plot()`.

    Raises
    ------
    TypeError, ValueError, NotPSDError, TooLargeError
        If samples or arguments cannot be used, or a quota cannot be met; if the chosen samples have
        a similarity that is not a kernel; if memory is too small.

    Notes
    -----
    Each pick is the best at its time, the first of equal ones; from more than 2,048 candidates, and
    after 100 picks, within 3e-4/k in log VS of that. Gains only fall as a set grows, so that most
    candidates need no second look. Greedy choice has a (1 − 1/e) guarantee for Σλ^q with q < 1, but
    none for log VS at q = 1: `bound` says how good this one is.

    Ctrl-C ends the search with a warning: the Selection, `interrupted`, has the samples chosen so
    far or, while members are exchanged, all `size`. Bars show each phase. No selection of d columns
    scores above d. Within 0.1 % of d, a warning says so, and each further pick is the sample that
    is least like its nearest chosen one (k-centres; Gonzalez, 1985), without swaps.

    Time for N samples of d dense features and a selection of k: O(N d min(d, k)) for each of about
    k/25 looks at all candidates; a round of swaps takes about as long. 1,000
    of 20,000 × 384 took 2 to 5 × the time of the product of all pairs. Without features: a row of
    similarities a pick, O(N k²) for each look, and memory for k N numbers. "represent": O(N²)
    similarities once, to 20,000 samples drawn of more, and then of few candidates a pick, of which
    134 million are kept. Never N² memory (but for a function k, whose similarities stay).

    References
    ----------
    Friedman & Dieng, arXiv 2210.02410 (the Vendi Score). Minoux 1978; Wei, Iyer & Bilmes, ICML
    2015; Mirzasoleiman, Bilmes & Leskovec, arXiv 1906.01827 (facility location).

    Examples
    --------
    >>> found = select(["a b", "a b c", "d e", "f"], 3, k="ngram_overlap", ns=[1])
    >>> found.places
    array([0, 2, 3])
    >>> found.scores.round(3)
    array([1., 2., 3.])
    >>> round(found.certified, 6)  # no three are more different
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
