"""Sets of samples side by side, at matched size, and which differences chance does not explain.

The score grows with the number of samples, so that sets of different sizes cannot be compared as
they are. And a set is itself a draw from something: another sample of the same source scores
otherwise. Both are met by halves. Every set is drawn down to m, half the size of the smallest, in
pairs of draws that have no sample in common; over several seeds.

Two such draws a, b from n >= 2m samples are independent samples of size m from the source, so that
(a − b)² / 2 is an unbiased estimate of the variance of a score of m samples, and the mean of a pair
has half of that variance. The mean over all pairs has no more (averaging over the splits cannot add
any), so that half the variance is an honest square of its standard error, a little too large.
Drawing with replacement would make duplicates, which lower the score.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from ..arguments import integer, is_several
from ..arrays.namespace import scalar, to_host
from ..progress import counted
from ..request import check_orders
from ..similarity.base import Similarity
from ..spectral.spectrum import PSD
from ..spectral.vendi import spectrum_of, vendi

MIN_SIZE = 4  # below, halves have one sample, and its score is 1
LEVEL = 0.01  # how often two sets of one source may be said to differ

MORE, LESS = "more diverse", "less diverse"
SAME, FEW = "no difference larger than chance", "too few samples"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Sets scored at matched size.

    Attributes
    ----------
    sizes : list of int
    q : float
    orders : tuple of float
        Of the profiles.
    matched : int
        Half the size of the smallest set, to which all are drawn down.
    whole : list of float
        VS_q of each set with all its samples.
    draws : list of array (draws, 2)
        VS_q of each set at matched size: for each seed, of two draws without a common sample.
    profiles : list of array (draws, 2, len(orders))
        The same for every q of `orders`.
    """

    sizes: list[int]
    q: float
    orders: tuple[float, ...]
    matched: int
    whole: list[float]
    draws: list[np.ndarray]
    profiles: list[np.ndarray]

    def mean(self, i: int) -> float:
        """The mean score of set i at matched size."""
        return float(self.draws[i].mean())

    def deviation(self, i: int) -> float:
        """How much samples of matched size from the source of set i differ: one deviation."""
        return float(_deviation(self.draws[i]))

    def error(self, i: int) -> float:
        """The standard error of the mean score of set i."""
        return self.deviation(i) / math.sqrt(2)

    def difference(self, i: int, j: int) -> tuple[float, float]:
        """The mean score of set i minus that of set j, and its standard error."""
        return self.mean(i) - self.mean(j), math.hypot(self.error(i), self.error(j))

    def verdict(self, i: int, j: int) -> str:
        """MORE, LESS or SAME, whichever set i is than set j; FEW where nobody could tell."""
        if min(self.sizes[i], self.sizes[j]) < MIN_SIZE or self.matched < 2:
            return FEW
        gap, error = self.difference(i, j)
        if abs(gap) <= max(self._quantile(i, j) * error, 1e-9 * self.matched):
            return SAME
        return MORE if gap > 0 else LESS

    def profile(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """The mean profile of set i at matched size, and its standard errors."""
        table = self.profiles[i]
        return table.mean(axis=(0, 1)), _deviation(table) / math.sqrt(2)

    def _quantile(self, i: int, j: int) -> float:
        """Student's, with the degrees of freedom after Welch and Satterthwaite."""
        parts = [(self.error(k) ** 2, self._freedom(k)) for k in (i, j)]
        total = sum(square for square, _ in parts)
        if total == 0:
            return 0.0
        freedom = 1 / sum((square / total) ** 2 / degrees for square, degrees in parts)
        return float(stdtrit(freedom, 1 - LEVEL / 2))

    def _freedom(self, i: int) -> float:
        # Of the draws given the set, and of the set given its source.
        return 1 / (1 / len(self.draws[i]) + 1 / (self.sizes[i] - 1))


def compare(
    similarity: Similarity,
    sizes: Iterable[int],
    q: float | str = 1.0,
    draws: int = 10,
    *,
    orders: Sequence[float] = (),
    psd: PSD = "check",
    seed: int = 0,
) -> Comparison:
    """Compare sets of samples at half the size of the smallest.

    Parameters
    ----------
    similarity : Similarity
        Of all samples together, one set after the other, with unit diagonal:
        `vendiscore.as_similarity(pool, ...)`. Sets share a kernel and what was fitted to the pool,
        since scores under different kernels cannot be compared. Not changed.
    sizes : iterable of int of at least 1
        How many of the samples are of each set: two sets or more.
    q : float in [0, ∞] or "inf"
    draws : int of at least 1
        How many pairs of draws; 5 to 20 are usual.
    orders : sequence of float in [0, ∞]
        Orders at which to compare profiles too, without more decompositions.
    psd : {"check", "clip"}
        As for `vendiscore.compute`.
    seed : int of at least 0
        Pairs are drawn by the seeds `seed`, `seed` + 1, …

    Returns
    -------
    Comparison

    Raises
    ------
    TypeError, ValueError
        If the sets cannot be compared or scored; the message names the argument and the remedy.
    NotPSDError, TooLargeError
        As `vendiscore.compute` does.

    Notes
    -----
    Each set and each draw is decomposed once. Two sets of one source are said to differ at most
    once in a hundred times; measured, from 4 to 200 samples, it is less (see
    benchmarks/compare_null.py). For sets that share samples it is less still, since only what
    tells them apart can differ.

    Examples
    --------
    >>> import vendiscore
    >>> copies, different = ["a b", "c d"] * 10, [f"x{i} y{i}" for i in range(20)]
    >>> together = vendiscore.as_similarity([*copies, *different], k="ngram_overlap", ns=[1])
    >>> found = compare(together, [20, 20])
    >>> found.verdict(0, 1)
    'less diverse'
    >>> round(found.mean(1), 6)  # of ten, all different
    10.0
    """
    sizes = check_sizes(sizes, similarity.n)
    draws = integer("draws", draws, 1, remedy="10 is usual")
    steps = comparing(similarity, sizes, q, draws, orders=orders, psd=psd, seed=seed)
    return counted(steps, len(sizes) * draws, "comparing sets")


def comparing(
    similarity: Similarity,
    sizes: Iterable[int],
    q: float | str = 1.0,
    draws: int = 10,
    *,
    orders: Sequence[float] = (),
    psd: PSD = "check",
    seed: int = 0,
) -> Generator[int, None, Comparison]:
    """`compare`, step by step: yields how many of len(sizes) · draws pairs are done, from 0 on."""
    sizes = check_sizes(sizes, similarity.n)
    (order,) = check_orders([q])
    every = (order, *(check_orders(orders) if len(orders) else []))
    draws, seed = integer("draws", draws, 1, remedy="10 is usual"), integer("seed", seed, 0)
    yield 0
    starts = np.cumsum([0, *sizes])
    matched = max(1, min(sizes) // 2)
    whole, tables = [], []
    for i, size in enumerate(sizes):
        members = np.arange(starts[i], starts[i + 1])
        found = vendi(similarity.take(members), [order], psd=psd)
        whole.append(float(scalar(found.values[0])))
        table = np.empty((draws, 2, len(every)))
        for draw in range(draws):
            mixed = members[np.random.default_rng(seed + draw).permutation(size)]
            for half, picked in enumerate((mixed[:matched], mixed[-matched:])):
                table[draw, half] = _numbers(similarity.take(picked), every, psd)
            yield i * draws + draw + 1
        tables.append(table)
    return Comparison(
        sizes=sizes,
        q=order,
        orders=every[1:],
        matched=matched,
        whole=whole,
        draws=[table[:, :, 0] for table in tables],
        profiles=[table[:, :, 1:] for table in tables],
    )


def check_sizes(sizes: Iterable[int], n: int) -> list[int]:
    """The sizes of two sets or more that have n samples together."""
    if not is_several(sizes):
        raise TypeError(f"`sizes` must be a list of two integers or more, got {sizes!r:.60}")
    read = [integer("sizes", size, remedy="leave out sets without samples") for size in sizes]
    if len(read) < 2:
        raise ValueError(f"`sizes` must be those of two sets or more, got {read}; add another set")
    if sum(read) != n:
        raise ValueError(
            f"`sizes` must add up to the {n} samples of `similarity`, got {read}, which is "
            f"{sum(read)}; make one similarity of all sets, one after the other"
        )
    return read


def _numbers(similarity: Similarity, orders: Sequence[float], psd: PSD) -> Any:
    """The effective numbers of several orders, from one decomposition at most."""
    if len(orders) == 1:
        return [scalar(value) for value in vendi(similarity, orders, psd=psd).values]
    return to_host(spectrum_of(similarity, psd=psd).profile(orders))


def _deviation(pairs: np.ndarray) -> np.ndarray:
    """The deviation of one draw, from pairs (draws, 2, ...) of independent ones."""
    return np.asarray(np.sqrt(((pairs[:, 0] - pairs[:, 1]) ** 2).mean(axis=0) / 2))
