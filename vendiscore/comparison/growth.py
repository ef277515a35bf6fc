"""How a score grows with the number of samples, below it and up to twice it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import plots
from ..arguments import DEFAULT_ORDER, integer, is_several, number, refuse_gradient
from ..arrays.namespace import to_host
from ..errors import NotPSDError
from ..optional import require
from ..progress import track
from ..resolve.kernel_request import KernelArgument
from ..resolve.sets import similarity_of
from ..scoring.request import check_orders
from ..signature import plain_order
from ..similarity.base import Similarity
from ..spectral.spectrum import PSD, Spectrum, check_psd
from ..spectral.vendi import spectrum_of
from ..summary import Summary, html_table, measured
from ..uncertainty.jackknife import ends, quantile
from ..uncertainty.subsampling import MIN_SAMPLES
from .subsets import MOST, MOST_WINDOWS, Matched, Part, coverage_curve

ENOUGH = 16  # samples of which an eighth has a score that is not 1
# The next doubling is missed by more than the last one was, where growth has hardly slowed down.
_MARGIN = 2.0
_KEYWORDS = ("sizes", "q", "draws", "level", "psd", "seed")


@dataclass(frozen=True, repr=False)
class Growth(Summary):
    """Scores of as many samples as `sizes` has.

    Attributes
    ----------
    q, level, n : float, float, int
        The order, the level of the intervals, and the number of samples that there are.
    sizes, extrapolated : tuple of int, ascending; tuple of bool, whether each is beyond n
    scores, low, high : tuple of float
        VS_q of so many samples of the source, with its interval for other samples of the source.
    coverage : tuple of float or None
        1 − mean novelty; None beyond n, and beyond 2,000 samples.

    Examples
    --------
    >>> found = growth(["a", "b"] * 8, [16, 32], q=2, k="labels")
    >>> found.n, found.extrapolated
    (16, (False, True))
    """

    _brief = ("n", "q", "level", "sizes")

    q: float
    level: float
    n: int
    sizes: tuple[int, ...]
    scores: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    coverage: tuple[float | None, ...]
    extrapolated: tuple[bool, ...]

    @property
    def sentence(self) -> str:
        """The score of the largest size up to n, and of the largest beyond it, in a sentence."""
        last = {beyond: i for i, beyond in enumerate(self.extrapolated)}
        told = []
        for beyond, i in sorted(last.items()):
            error = (self.high[i] - self.low[i]) / 4
            ends = (self.scores[i], self.low[i], self.high[i])
            value, low, high = (measured(x, error) for x in ends)
            verb = "would be about" if beyond else "are"
            told.append(
                f"{self.sizes[i]:,} samples {verb} {value} ({low} to {high}) effectively different"
            )
        return f"{'; '.join(told)} ({100 * self.level:g} % intervals, q={self.q:g})."

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each size."""
        return require("pandas", "dev", "a frame").DataFrame(self._columns())

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, for JSON; order ∞ is "inf"."""
        columns = {name: list(column) for name, column in self._columns().items()}
        return {"q": plain_order(self.q), "level": self.level, "n": self.n} | columns

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve with its band, dashed beyond n, on `ax` or new Axes, and return these."""
        return plots.growth(self.sizes, self.scores, self.low, self.high, self.n, ax=ax)

    def _columns(self) -> dict[str, tuple[Any, ...]]:
        names = ("sizes", "scores", "low", "high", "coverage", "extrapolated")
        return {name.removesuffix("s"): getattr(self, name) for name in names}

    def _repr_html_(self) -> str:
        return html_table(self._columns())


def growth(
    samples: Any,
    sizes: Sequence[int] | None = None,
    *,
    q: float | str = DEFAULT_ORDER,
    draws: int = 20,
    level: float = 0.95,
    psd: PSD = "check",
    seed: int = 0,
    k: KernelArgument | None = None,
    **how: Any,
) -> Growth:
    """Return the score against the number of samples: would more of them add much?

    Parameters
    ----------
    samples : list, array or Similarity
        n ≥ 4 samples, taken to be independent samples of a source. Not changed.
    sizes : sequence of int, optional
        Numbers of samples to score, from 1 to 2n; beyond n, orders other than 2 need n ≥ 16.
        Default: from n/16 to 2n.
    q, level : float in [0, ∞] or "inf", float in (0, 1)
        Order of the score (default: 1), and confidence level of the intervals (default: 0.95).
    draws, seed : int of at least 2, int of at least 0
        Number of random subsets of each size below n (default: 20; order 2 draws none); their seed.
    psd : {"check", "clip"}
        Raise for negative eigenvalues, or set them to zero; subsets are then drawn at order 2 too.
    k : str, callable, dict or list, optional
        A registered kernel, a function of two samples, or a mixture; strings: "ngram_overlap".
    **how
        `score_K`, `score_X`, `normalize` and options of the kernel, as for `compute`.

    Returns
    -------
    Growth
        With `sizes`, `scores`, `low` and `high`, `coverage`, `.to_frame()` and `.plot()`.

    Raises
    ------
    TypeError, ValueError, NotPSDError, TooLargeError, SampleError
        For fewer than 4 samples, sizes that are none, and as `compute` does.

    Notes
    -----
    Up to n: the mean of log VS over subsets without replacement, with its jackknife error. Beyond
    n, every doubling is taken to add the same share of what the one before has added to log VS, and
    the interval has twice what this misses of the last doubling (benchmarks/intervals.py). At
    order 2: 1/(1/m + (1 − 1/m) κ) with κ the mean of k² over pairs. Time: `draws` decompositions
    with eigenvectors for each size; at order 2 one pass over all pairs.

    References
    ----------
    Rarefaction, and extrapolation to 2n at most: Chao et al., Ecological Monographs 2014.
    Jackknife: Efron & Stein 1981.

    Examples
    --------
    >>> import vendiscore
    >>> found = vendiscore.growth(["a", "b"] * 8, [4, 16, 32], q=2, k="labels")
    >>> [round(score, 2) for score in found.scores]  # two classes, of which 4 samples show less
    [1.67, 2.0, 2.07]
    """
    (order,) = check_orders([q])
    draws = integer("draws", draws, 2, remedy="20 is usual")
    level = number("level", level, "a number between 0 and 1", lambda x: 0 < x < 1, "0.95 is usual")
    psd, seed = check_psd(psd), integer("seed", seed, 0)
    similarity = similarity_of(samples, {"k": k, **how}, _KEYWORDS)
    refuse_gradient("growth", **how, samples=similarity)
    if similarity.n < MIN_SAMPLES:
        raise ValueError(
            f"`samples` must be at least {MIN_SAMPLES}, got {similarity.n}; add samples to see "
            f"how a score grows with them"
        )
    closed = has_closed_form(similarity, order, psd)
    wanted = _sizes(sizes, similarity.n, closed)
    found = grown(similarity, wanted, order, closed, draws=draws, level=level, psd=psd, seed=seed)
    some = np.random.default_rng(seed).permutation(similarity.n)[: MOST_WINDOWS * MOST]
    curve = dict(enumerate(coverage_curve(similarity, some).tolist(), 1))
    return replace(found, coverage=tuple(map(curve.get, wanted)))


def grown(
    similarity: Similarity,
    sizes: Sequence[int],
    q: float,
    closed: bool,
    *,
    draws: int,
    level: float = 0.95,
    psd: PSD = "check",
    seed: int = 0,
    spectrum: Spectrum | None = None,
) -> Growth:
    """Return the growth at ascending sizes without coverages; `spectrum` is that of all samples."""
    n = similarity.n
    if closed:
        points = _of_pairs(similarity, sizes)
    else:
        beyond = {n, n // 2, n // 4, n // 8} if sizes[-1] > n else set()
        needed = sorted({m for m in sizes if m <= n} | beyond)
        points = _drawn(similarity, needed, q, draws, psd, seed, spectrum)
        for m in (m for m in sizes if m > n):
            logs = [points[size].log for size in (n // 8, n // 4, n // 2, n)]
            missed = _MARGIN * (_doubled(logs[:3], 1.0) - logs[3])
            doublings = math.log2(m / n)
            error = math.hypot(points[n].error, missed * doublings)
            points[m] = Matched(_doubled(logs[1:], doublings), error)
    scores = tuple(math.exp(points[m].log) for m in sizes)
    low, high = zip(
        *(ends(points[m].log, quantile(level) * points[m].error, m) for m in sizes), strict=True
    )
    coverage, beyond_n = (None,) * len(sizes), tuple(m > n for m in sizes)
    return Growth(q, level, n, tuple(sizes), scores, low, high, coverage, beyond_n)


def has_closed_form(similarity: Similarity, q: float, psd: PSD) -> bool:
    """Return whether scores of all sizes follow from all pairs: at q = 2, unless K is clipped."""
    if q != 2 or psd != "clip" or similarity.psd:
        return q == 2
    try:
        spectrum_of(similarity)
    except NotPSDError:
        return False
    return True


def _sizes(sizes: Any, n: int, closed: bool) -> list[int]:
    """Return the sizes asked for, ascending."""
    most = 2 * n if closed or n >= ENOUGH else n
    if sizes is None:
        usual = np.round(n * 2.0 ** (np.arange(-8, 3) / 2)).astype(int)
        return sorted({int(m) for m in usual if 2 <= m <= most})
    asked = list(sizes) if is_several(sizes) else []  # an iterator gives them only once
    if not asked:
        raise TypeError(f"`sizes` must be a list of integers, got {sizes!r:.60}; pass [{n}]")
    remedy = f"no size beyond twice the {n} samples can be told"
    if most == n:
        remedy = f"beyond {n} a size needs {ENOUGH} samples, or order 2"
    return sorted({integer("sizes", m, 1, most, remedy) for m in asked})


def _of_pairs(similarity: Similarity, sizes: Sequence[int]) -> dict[int, Matched]:
    """Evaluate the closed form of order 2, with the jackknife error of κ."""
    n = similarity.n
    sums = np.concatenate([(to_host(rows) ** 2).sum(axis=1) for _, rows in similarity.blocks()])
    sums -= to_host(similarity.diagonal()) ** 2
    total = sums.sum()
    kappa = total / (n * (n - 1))
    without = (total - 2 * sums) / ((n - 1) * (n - 2))
    error = math.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    purity = {m: 1 / m + (1 - 1 / m) * kappa for m in sizes}
    return {m: Matched(-math.log(s), (1 - 1 / m) * error / s) for m, s in purity.items()}


def _drawn(
    similarity: Similarity,
    sizes: Sequence[int],
    q: float,
    draws: int,
    psd: PSD,
    seed: int,
    spectrum: Spectrum | None,
) -> dict[int, Matched]:
    """Return mean log VS over subsets of each size."""
    n = similarity.n
    part = Part(similarity, q, psd, n)
    rng = np.random.default_rng(seed)
    subsets = [places for m in sizes for places in _subsets(n, m, 1 if m in (1, n) else draws, rng)]
    scores: dict[int, list[Matched]] = {m: [] for m in sizes}
    for places in track(subsets, len(subsets), "drawing subsets"):
        m = len(places)
        scores[m].append(part.score(places, spectrum if m == n else None))
    points = {}
    for m, found in scores.items():
        logs = np.array([each.log for each in found])
        square = float(np.mean([each.error**2 for each in found])) * m / n
        if q == 0 and m > 1:
            square = float(part.halves(m, [0.0], seed)[0]) ** 2
        of_mean = float(logs.var(ddof=1)) / len(logs) if len(logs) > 1 else 0.0
        points[m] = Matched(float(logs.mean()), math.sqrt(square + of_mean))
    return points


def _subsets(n: int, m: int, count: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Draw random subsets of m of n, none in common until all were met."""
    order = rng.permutation(n)
    at = 0
    for _ in range(count):
        if at + m > n:
            order, at = rng.permutation(n), 0
        yield order[at : at + m]
        at += m


def _doubled(logs: Sequence[float], doublings: float) -> float:
    """Return log VS after so many more doublings, from those after none, one and two."""
    first, second = logs[1] - logs[0], max(0.0, logs[2] - logs[1])
    r = min(1.0, second / first) if first > 0 else 1.0
    if r == 0:
        return logs[2]
    share = doublings if r == 1 else (1 - r**doublings) / (1 - r)
    return logs[2] + second * r * share
