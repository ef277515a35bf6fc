"""Which samples make a set as diverse as it is: a table, one row a sample."""

from __future__ import annotations

import html
import json
from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from ..arguments import DEFAULT_ORDER, integer, number, refuse_gradient
from ..arrays.namespace import Samples, Weights, scalar, to_host
from ..measures.subject import Subject
from ..optional import require
from ..plots.set_structure import contributions
from ..resolve.group_labels import cluster_codes, read_labels
from ..resolve.kernel_request import how_of
from ..resolve.sets import read_samples
from ..scoring.request import check_orders
from ..scoring.typical import typical_sentence
from ..signature import plain_order
from ..similarity.base import Similarity
from ..spectral.clusters import leave_cluster_out
from ..spectral.rank_one import ALL, adds, coverage, log_score, novelty, surprise
from ..spectral.spectrum import PSD, Spectrum, check_psd
from ..spectral.vendi import vendi
from ..summary import Summary, html_table
from .duplicates import Duplicates, compare_samples, text_forms
from .redundancy import Neighbours, Pair
from .spectral_modes import Mode, modes_of, strongest

AUTO: Literal["auto"] = "auto"  # a threshold found from the samples
COLUMNS = ("surprise", "adds", "novelty", "mode", "nearest", "nearest_similarity", "redundant_of")
Threshold: TypeAlias = float | Literal["auto"]
DUST = 1e-12  # what a sample takes from log VS by rounding
# Rows of the table that are shown of a large set, and characters of a text.
SHOWN, LETTERS = 5, 60


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Summary):
    """n samples, what each has to do with the score, and which are near-duplicates.

    `surprise`, `adds`, `novelty`, `mode`, `nearest`, `nearest_similarity` and `redundant_of` are
    arrays (n,) in the order of the samples, which are called by their places.

    Attributes
    ----------
    q, score : float, the order, and VS_q of all samples, in [1, n]
    places : int array (n,), where each sample stood in the list that was given

    Examples
    --------
    >>> found = explain(["a b", "a b", "c d"], ns=[1])
    >>> found.groups, found.kept
    ([(0, [1])], array([0, 2]))
    >>> found.clusters
    array([0, 0, 2])
    """

    _brief = ("n", "q", "score", "threshold")

    q: float
    score: float
    places: np.ndarray
    _similarity: Similarity
    _spectrum: Spectrum
    _p: np.ndarray | None
    _psd: PSD
    neighbours: Neighbours
    duplicates: Duplicates
    _samples: Any = None
    _clusters: np.ndarray | None = None

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.places)

    @cached_property
    def surprise(self) -> np.ndarray:
        """−xᵀ log(A) x at q = 1, A = Σ p xxᵀ, at least 0: the mean is log VS exactly."""
        return np.asarray(surprise(self._spectrum, self.q))

    @cached_property
    def adds(self) -> np.ndarray:
        """log VS less that without each, or its cluster: below 0 for a repeat, 0 if it is all."""
        if self._clusters is not None:
            left = leave_cluster_out(self._spectrum, self._clusters, self.q)
            return np.asarray(log_score(self._spectrum, self.q) - left)[self._clusters]
        whole = self.n == 1 or (self._p is not None and bool(self._p.max() > ALL))
        return np.zeros(self.n) if whole else np.asarray(adds(self._spectrum, self.q))

    @cached_property
    def novelty(self) -> np.ndarray:
        """The part of each sample that no other explains, 1/(K⁻¹)_ii, in [0, 1]."""
        return np.asarray(novelty(self._spectrum))

    @cached_property
    def _strongest(self) -> tuple[np.ndarray, np.ndarray]:
        return strongest(self._spectrum)

    @property
    def mode(self) -> np.ndarray:
        """The number of the mode that each belongs to the most; see `modes`."""
        return self._strongest[0]

    @property
    def nearest(self) -> np.ndarray:
        """The place of the most similar other sample."""
        return np.asarray(self.places[self.neighbours.nearest])

    @property
    def nearest_similarity(self) -> np.ndarray:
        """How similar that one is."""
        return self.neighbours.similarity

    @property
    def redundant_of(self) -> np.ndarray:
        """The place of the sample that each near-duplicate repeats; −1 for samples to keep."""
        of = self.duplicates.redundant_of
        return np.where(of < 0, -1, self.places[of])

    @property
    def threshold(self) -> float:
        """Samples at least this similar are near-duplicates."""
        return self.duplicates.threshold

    @property
    def false_share(self) -> float:
        """The share of removed samples that chance is expected to bring, in [0, 1]."""
        return self.duplicates.false_share

    @property
    def floor(self) -> float:
        """The least that `rethreshold` takes."""
        return self.duplicates.floor

    @property
    def kept(self) -> np.ndarray:
        """The places of the samples that are left once near-duplicates are removed."""
        return np.asarray(self.places[self.duplicates.kept])

    @property
    def groups(self) -> list[tuple[int, list[int]]]:
        """(the one to keep, its near-duplicates) by their places, the largest group first."""
        return [
            (int(self.places[keep]), self.places[rest].tolist())
            for keep, rest in self.duplicates.groups()
        ]

    @property
    def clusters(self) -> np.ndarray:
        """One label for each sample given, the same for near-duplicates and chains of them."""
        count = max(self.n + len(self._similarity.dropped), int(self.places[-1]) + 1)
        labels = np.arange(count)  # samples left out stand alone
        labels[self.places] = self.places[self.duplicates.clusters]
        return labels

    @cached_property
    def score_without_duplicates(self) -> float:
        """VS_q of the samples in `kept`, their weights divided by their sum; takes a spectrum."""
        kept = self.duplicates.kept
        if len(kept) == self.n:
            return self.score
        p = None if self._p is None else self._p[kept] / self._p[kept].sum()
        found = vendi(self._similarity.take(kept), [self.q], p, self._psd)
        return float(scalar(found.values[0]))

    def boundary(self, count: int = 4) -> tuple[list[Pair], list[Pair]]:
        """Return the `count` pairs next to the threshold on either side, each a `Pair`."""
        return self.duplicates.boundary(integer("count", count), self.places)

    def rethreshold(self, threshold: float) -> Explanation:
        """Move the threshold, comparing nothing again; a ValueError outside [`floor`, 1]."""
        again = copy(self)  # with the columns that are known
        again.__dict__["duplicates"] = self.duplicates.rethreshold(threshold)
        again.__dict__.pop("score_without_duplicates", None)
        return again

    @property
    def coverage(self) -> float:
        """1 − the mean novelty: the Good–Turing share of the source that samples cover."""
        return min(max(coverage(self.novelty, self._p), 0.0), 1.0)

    def modes(self, count: int | None = None) -> list[Mode]:
        """Return the `count` largest, each a `Mode`; as many as the score says, unless given."""
        wanted = int(np.ceil(self.score)) if count is None else integer("count", count)
        return modes_of(self._spectrum, *self._strongest, wanted, self.places)

    def rarest(self, count: int = SHOWN) -> list[int]:
        """Return the places of the most surprising samples, the first of several."""
        known = np.nan_to_num(self.surprise, nan=-np.inf)
        first = np.argsort(-known, kind="stable")[: integer("count", count)]
        return self.places[first].tolist()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as numbers and lists, for JSON; what is not known is None."""
        above, below = self.boundary()
        return {
            "n": self.n,
            "q": plain_order(self.q),
            "VS": self.score,
            "coverage": self.coverage,
            "threshold": self.threshold,
            "false_share": self.false_share,
            "VS_without_duplicates": self.score_without_duplicates,
            "groups": [{"keep": keep, "near_duplicates": rest} for keep, rest in self.groups],
            "boundary": {
                "above": [pair._asdict() for pair in above],
                "below": [pair._asdict() for pair in below],
            },
            "modes": [
                {"share": each.share, "members": len(each.members), "exemplars": each.exemplars}
                for each in self.modes()
            ],
            "rarest": self.rarest(),
            "samples": {  # JSON has no NaN
                name: [None if value != value else value for value in column.tolist()]
                for name, column in self._columns.items()
            },
        }

    def to_json(self, **options: Any) -> str:
        """Write `to_dict` as JSON; options are those of `json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **options)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: a row a sample, by its place."""
        return require("pandas", "dev", "a data frame").DataFrame(self._columns).set_index("place")

    def plot(self, *, ax: Any = None) -> Any:
        """Draw what each sample adds, in descending order, near-duplicates marked. Returns Axes."""
        return contributions(self.adds, self.redundant_of >= 0, ax=ax)

    @property
    def _columns(self) -> dict[str, np.ndarray]:
        return {"place": self.places} | {name: getattr(self, name) for name in COLUMNS}

    @property
    def criterion(self) -> str:
        """From which similarity on samples are near-duplicates, and how many are so by chance."""
        share = 100 * self.false_share
        false = "less than 1" if share < 1 else f"{share:.0f}"
        return f"similarity {self.threshold:g} or more; expected false: {false} %"

    @property
    def sentence(self) -> str:
        """What it comes to, in words."""
        removed, lower = self.n - len(self.kept), int(np.sum(self.adds < -DUST))
        copies = (
            f"{_counted(removed, 'repeats another', 'repeat others')} ({self.criterion}); "
            f"without, the score is {self.score_without_duplicates:.4g}"
            if removed
            else f"No two are as similar as {self.threshold:g}"
        )
        known = typical_sentence(self._similarity.settings, self.n, self.q, self.score, self._p)
        return (
            f"{_counted(self.n, 'sample is', 'samples are')} {self.score:.4g} effectively "
            f"different (q={self.q:g}). {copies}. {_counted(lower, 'lowers', 'lower')} the score."
            f"{known and ' '}{known}"
        )

    def _repr_html_(self) -> str:
        order = np.argsort(-self.adds, kind="stable")
        few = [*order[:SHOWN], *order[SHOWN:][-SHOWN:]]
        shown: dict[str, Any] = {name: column[few] for name, column in self._columns.items()}
        said = "what adds the most, and the least" if self.n > len(few) else "by what they add"
        given = self._samples if isinstance(self._samples, list) else None
        texts = ["" if given is None else given[place] for place in self.places[few]]
        texts = [text if isinstance(text, str) else "" for text in texts]
        short = [t if len(t) <= LETTERS else f"{t[: LETTERS - 1]}…" for t in texts]
        table = html_table(shown | {"sample": short}, said)
        return f"<p>{html.escape(self.sentence)}</p>{table}"


def explain(
    samples: Samples,
    *,
    q: float | str = DEFAULT_ORDER,
    threshold: Threshold = AUTO,
    clusters: Sequence[Hashable] | None = None,
    p: Weights | None = None,
    psd: PSD = "check",
    **how: Any,
) -> Explanation:
    """Find which samples add to the diversity of a set, which repeat others, and its modes.

    Parameters
    ----------
    samples : list, array or Similarity, n of the kind that `k` compares; not changed
    q : float in (0, ∞] or "inf", order of the score that is explained; 1 by default
    threshold : float in [−1, 1] or "auto"
        Samples at least this similar are near-duplicates; texts that differ in case, space,
        punctuation or Unicode form alone are at any. "auto", the default, finds the similarity that
        parts near-duplicates from the rest; where none does, 0.95 if that names at most 2 % of the
        samples, else 1. See `false_share` and `boundary()`.
    clusters : sequence of labels, one for each sample, optional
        Samples that came together: `adds` is then of whole clusters, two or more; q at most 2.
    p : array (n,), optional, weights that sum to 1; uniform by default
    psd : {"check", "clip"}
        Raise for a similarity with negative eigenvalues, or set them to zero.
    **how
        As for `compute`: `k`, `score_K`, `score_X`, `normalize` and the options of the kernel.

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
    all pairs, O(n² d), by blocks. Memory: n·min(n, d) numbers, an (n, n) array only where the
    spectrum needs it, and up to 4 million pairs of near-duplicates.

    References
    ----------
    Leave-one-out: an integral, `vendiscore.spectral.rank_one`. Coverage: Good, Biometrika 1953.

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
    read = how_of(how, ("q", "threshold", "clusters", "p", "psd"))
    order, limit, psd = read_terms(q, threshold, psd)
    labels = None if clusters is None else read_labels(clusters, "clusters")
    if labels is not None and order > 2:
        raise ValueError(f"`clusters` need an order of at most 2, got q={order:g}; leave them out")
    subject = Subject(read_samples(samples, read, "samples"), read, orders=[order], p=p, psd=psd)
    found, kept = explained(subject, order, limit), subject.rows_came >= 0
    return found if labels is None else replace(found, _clusters=cluster_codes(labels, kept, 2))


def read_terms(q: Any, threshold: Any, psd: Any) -> tuple[float, Threshold, PSD]:
    """Return an order above 0, a threshold in [−1, 1] or "auto", and `psd`, all checked."""
    orders = check_orders(q)
    if len(orders) > 1:
        raise TypeError(f"`q` must be one order, got {q!r}; explain one order after the other")
    order = number("q", orders[0], "an order above 0", lambda q: q > 0, "q=1 is the usual one")
    psd = check_psd(psd)
    if isinstance(threshold, str) and threshold == AUTO:
        return order, AUTO, psd
    allowed, usual = "a similarity, from -1 to 1", "'auto' finds one"
    return order, number("threshold", threshold, allowed, lambda t: -1 <= t <= 1, usual), psd


def explained(
    subject: Subject,
    q: float,
    threshold: Threshold = AUTO,
    floor: float | None = None,
    texts: Any = None,
) -> Explanation:
    """Explain a subject at an order above 0; `floor` is the least threshold of later.

    `texts` are the samples of a subject that has their similarities alone.
    """
    level = None if threshold == AUTO else float(threshold)
    if floor is not None and level is not None:
        floor = min(floor, level)
    with np.errstate(all="ignore"):  # as `compute` does: numbers are checked
        similarity = subject.similarity
        refuse_gradient("explain", **subject.how.options, samples=similarity, p=subject.p)
        spectrum = subject.eigen
        left_out = list(similarity.dropped)
        places = np.setdiff1d(np.arange(similarity.n + len(left_out)), left_out)
        forms = text_forms(similarity, subject.samples if texts is None else texts, places)
        neighbours, duplicates = compare_samples(similarity, level, floor, subject.p, forms=forms)
    return Explanation(
        q=q,
        score=float(scalar(spectrum.effective_number(q))),
        places=places,
        _similarity=similarity,
        _spectrum=spectrum,
        _p=None if subject.p is None else to_host(subject.p),
        _psd=subject.psd,
        neighbours=neighbours,
        duplicates=duplicates,
        _samples=subject.samples,
    )


def _counted(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"
