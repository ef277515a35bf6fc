"""Growth of a score with the number of samples, for subsets and up to twice the samples.

Scores of more samples than there are follow on the scale κ = (m/VS − 1)/(m − 1). At order 2, κ is
the mean of k² over pairs, whatever m; at other orders it changes slowly with m and ends at one over
the score of infinitely many samples.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import plots
from ..core.arguments import (
    DEFAULT_ORDER,
    integer,
    is_several,
    read_order,
    refuse_gradient,
)
from ..core.errors import NotPSDError, quoted
from ..core.namespace import row_blocks, to_host
from ..core.shares import PSD, check_psd
from ..core.types import Axes, Frame, Record, Samples
from ..measures.subject import Subject
from ..progress import foretell, track
from ..resolve.group_labels import cluster_codes, read_labels
from ..resolve.kernel_request import KernelArgument, how_of
from ..resolve.prompt_groups import answered
from ..resolve.sets import read_collection
from ..scoring.deficit import Repeats, deficit_ends, log_deficit, repeats_of
from ..scoring.jackknife import Jackknife, delete_one_error, without_each
from ..scoring.request import confidence
from ..scoring.subsampling import MIN_SAMPLES, bounded
from ..signature import plain, plain_order
from ..similarity.base import Similarity
from ..similarity.matrix import in_full
from ..spectral.eigen import eigen_work
from ..spectral.rank_one import log_score, novelty
from ..spectral.spectrum import Spectrum
from ..spectral.stacks import Spectra
from ..spectral.vendi import spectrum_of
from ..summary import Summary, frame, html_table, with_interval
from .subsets import STACKED

# Novelty above this share of a sample exceeds the ridge of the computation.
LEAST_NOVELTY = 1e-6
ENOUGH = 16  # the least n for which n/8 samples are two or more
_FALLS = 2.0  # the error of a falling ratio of steps, in units of its last fall
# Limits for asymptotes, found by benchmarks/growth.py: the largest ratio of steps below order 2
# and above it, and the largest last step, with two standard errors, below order 2.
_SLOWEST = 0.9
_SLOWEST_ABOVE_2 = 0.75
_LAST_STEP = 0.075
_ROUNDING = 1e-12
_KEYWORDS = ("sizes", "clusters", "q", "draws", "level", "psd", "seed")


@dataclass(frozen=True, repr=False)
class Growth(Summary):
    """Scores at each number of samples in `sizes`.

    Attributes
    ----------
    q, level, n : float, float, int
        The order, the level of the intervals, and the number of samples, of the smallest prompt.
    sizes, extrapolated : tuple of int, ascending; tuple of bool, whether each is beyond n
    scores, low, high : tuple of float
        VS_q at each size, with its interval for other samples of the source.
    asymptote : tuple of float (score, low, high), or None
        The score of infinitely many samples; None if these samples do not identify it, or if all
        sizes are at most n.

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
    extrapolated: tuple[bool, ...]
    asymptote: tuple[float, float, float] | None = None

    @property
    def sentence(self) -> str:
        """The scores of the largest size up to n, the largest beyond it, and the limit."""
        last = {beyond: i for i, beyond in enumerate(self.extrapolated)}
        parts = []
        for beyond, i in sorted(last.items()):
            verb = "would be about" if beyond else "are"
            ends = with_interval(self.scores[i], self.low[i], self.high[i])
            parts.append(f"{self.sizes[i]:,} samples {verb} {ends} effectively different")
        if self.asymptote:
            ends = with_interval(*self.asymptote)
            parts.append(f"infinitely many samples would be about {ends} effectively different")
        elif True in last:
            parts.append("the score of infinitely many is not identified")
        return f"{'; '.join(parts)} ({100 * self.level:g} % intervals, q={self.q:g})."

    def to_frame(self) -> Frame:
        """Return a pandas DataFrame with a row for each size."""
        return frame(self._columns())

    def to_dict(self) -> Record:
        """Return all of it as plain values, for JSON; order ∞ is "inf"."""
        settings = {
            "q": plain_order(self.q),
            "level": self.level,
            "n": self.n,
            "asymptote": self.asymptote,
        }
        return plain(settings | self._columns())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve with its band, dashed beyond n, on `ax` or new Axes, and return these."""
        return plots.growth(self.sizes, self.scores, self.low, self.high, self.n, ax=ax)

    def _columns(self) -> dict[str, tuple[Any, ...]]:
        names = ("sizes", "scores", "low", "high", "extrapolated")
        return {name.removesuffix("s"): getattr(self, name) for name in names}

    def _repr_html_(self) -> str:
        return html_table(self._columns())


def growth(
    samples: Samples,
    sizes: Sequence[int] | None = None,
    *,
    clusters: Sequence[Hashable] | None = None,
    q: float | str = DEFAULT_ORDER,
    draws: int = 20,
    level: float = 0.95,
    psd: PSD = "check",
    seed: int = 0,
    k: KernelArgument | None = None,
    **how: object,
) -> Growth:
    """Return the score against the number of samples: would more of them add much?

    Parameters
    ----------
    samples : list, array or Similarity
        n ≥ 4 samples, taken to be independent samples of a source. Not changed.
    sizes : sequence of int, optional
        Numbers of samples to score, from 1 to 2n; beyond n, orders other than 2 need n ≥ 16.
        Default: from n/16 to 2n.
    clusters : sequence of labels, one for each sample, optional
        Clusters of samples that are not independent, such as near-copies: subsets and errors take
        whole clusters, 4 or more; not at order 0.
    q, level : float in [0, ∞] or "inf", float in [0.5, 1)
        Order of the score (default: 1), and confidence level of the intervals (default: 0.95).
    draws, seed : int of at least 2, int of at least 0
        Number of random subsets of each size below n (default: 20; order 2 draws none); their seed.
    psd : {"check", "clip"}
        Raise for negative eigenvalues, or set them to zero; subsets are then drawn at order 2 too.
    k : str, callable, dict or list, optional
        A registered kernel, a function of two samples, or a mixture; strings: "ngram_overlap".
    **how
        `score_K`, `score_X`, `normalize` and options of the kernel, as for `compute`. With
        `prompts`, the mean of the curves of each prompt, to the size of the smallest, and its
        interval over prompts.

    Returns
    -------
    Growth
        With `sizes`, `scores`, `low` and `high`, `.to_frame()` and `.plot()`.

    Raises
    ------
    TypeError, ValueError, NotPSDError, TooLargeError, SampleError
        For fewer than 4 samples, invalid sizes, and as `compute` does.

    Notes
    -----
    Up to n: the mean of log VS over subsets without replacement. Beyond n, on the scale
    κ = (m/VS − 1)/(m − 1), which at order 2 is the mean of k² over pairs for every m: at other
    orders, changes of log κ by doublings continue as a geometric series.
    Intervals: the jackknife of the logit of κ, Student's t. The asymptote is 1/κ at order 2; below
    it is reported only where the last doubling changed κ by less than 7.5 % (benchmarks/growth.py).
    Time: `draws` decompositions with eigenvectors for each size; at order 2 one pass over all
    pairs.

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
    order = read_order(q)
    draws = integer("draws", draws, 2, remedy="20 is usual")
    level = confidence("level", level)
    psd = check_psd(psd)
    seed = integer("seed", seed, 0)
    read = how_of({"k": k, **how}, _KEYWORDS, within=True)
    collection = read_collection(samples, read)
    read, asked = answered(read, [collection], clustered=clusters is not None)
    subject = Subject(collection, read, groups=asked)
    similarity = subject.similarity
    refuse_gradient("growth", **how, samples=similarity)
    parts = [similarity]
    of_prompt = ""
    if asked is not None:
        of_prompt = " for each prompt"
        parts = [part.similarity for part in subject.parts]
    least = min(part.n for part in parts)
    if least < MIN_SAMPLES:
        raise ValueError(
            f"`samples` must be at least {MIN_SAMPLES}{of_prompt}, got {least}; add samples to see "
            f"how a score grows with them"
        )
    codes = None
    if clusters is not None:
        if not order:
            raise ValueError("`clusters` need an order above 0: pass q=0.1, or leave them out")
        passed = np.arange(similarity.n + len(similarity.dropped))
        kept = ~np.isin(passed, list(similarity.dropped))
        codes = cluster_codes(read_labels(clusters, "clusters"), kept, MIN_SAMPLES)
    closed = codes is None and has_closed_form(similarity, order, psd)
    most = 2 * least if closed or least >= ENOUGH else least
    if len(parts) > 1:
        most = least
    wanted = _sizes(sizes, least, most)
    curves = [
        grown(
            part,
            wanted,
            order,
            closed,
            draws=draws,
            level=level,
            psd=psd,
            seed=seed,
            clusters=codes,
        )
        for part in parts
    ]
    return curves[0] if len(curves) == 1 else _mean(curves, least)


def _mean(curves: Sequence[Growth], n: int) -> Growth:
    """Return the mean of several curves of the same sizes, up to n, with intervals over curves."""
    first = curves[0]
    scores = np.array([curve.scores for curve in curves])
    means = []
    for m, values in zip(first.sizes, scores.T, strict=True):
        means.append(bounded(values, first.level, 1.0, float(m)))
    mean, _, low, high = map(tuple, np.array(means).T.tolist())
    return Growth(first.q, first.level, n, first.sizes, mean, low, high, first.extrapolated)


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
    clusters: np.ndarray | None = None,
) -> Growth:
    """Return the growth at ascending sizes; `spectrum` is of all samples."""
    n = similarity.n
    beyond = [m for m in sizes if m > n]
    end: Kappa | None = None
    if closed:
        end = _of_pairs(similarity)
        points = dict.fromkeys(sizes, end)
    else:
        halves = [n // 8, n // 4, n // 2, n] if beyond else []
        needed = sorted({*sizes, *halves} - {*beyond})
        points = _drawn(similarity, needed, q, draws, psd, seed, spectrum, clusters)
        last = [points[m] for m in halves]
        for m in beyond:
            points[m] = continued(last, math.log2(m / n))
        if beyond:
            end = asymptote(last, q)
    repeats = None
    if clusters is None:
        repeats = repeats_of(similarity)
    rows = np.array([points[m].scores(m, q, level, repeats) for m in sizes])
    # The mean of log VS never falls with the number of samples.
    rows[:, 0] = np.maximum.accumulate(rows[:, 0])
    rows[:, 1] = rows.min(axis=1)
    rows[:, 2] = rows.max(axis=1)
    scores, low, high = map(tuple, rows.T.tolist())
    limit = None
    if end and -math.inf < end.log < -LEAST_NOVELTY:
        limit = end.scores(math.inf, q, level, repeats)
    is_beyond = tuple(m > n for m in sizes)
    return Growth(q, level, n, tuple(sizes), scores, low, high, is_beyond, limit)


def has_closed_form(similarity: Similarity, q: float, psd: PSD) -> bool:
    """Return whether scores of all sizes follow from all pairs: at q = 2, unless K is clipped."""
    if q != 2 or psd != "clip" or similarity.psd:
        return q == 2
    try:
        spectrum_of(similarity)
    except NotPSDError:
        return False
    return True


def _sizes(sizes: Any, n: int, most: int) -> list[int]:
    """Return the requested sizes, ascending, `most` at most."""
    if sizes is None:
        doublings = np.arange(-8, 3) / 2
        usual = np.round(n * 2.0**doublings).astype(int)
        return sorted({m for m in usual.tolist() if 2 <= m <= most})
    asked = list(sizes) if is_several(sizes) else []  # an iterator gives them only once
    if not asked:
        raise TypeError(f"`sizes` must be a list of integers, got {quoted(sizes)}; pass [{n}]")
    remedy = f"sizes beyond twice the {n} samples cannot be extrapolated"
    if most == n:
        remedy = f"beyond {n} a size needs {ENOUGH} samples of one prompt, or order 2"
    return sorted({integer("sizes", m, 1, most, remedy) for m in asked})


def _of_pairs(similarity: Similarity) -> Kappa:
    """Return κ of order 2, the mean of k² over pairs."""
    n = similarity.n
    sums = np.empty(n)
    for rows, K in similarity.blocks():
        sums[rows] = np.sum(to_host(K) ** 2, axis=1)
    sums -= to_host(similarity.diagonal()) ** 2
    total = sums.sum()
    mean = total / (n * (n - 1))
    left = (total - 2 * sums) / ((n - 1) * (n - 2))
    return kappa_of(np.append(mean, left))


def _drawn(
    similarity: Similarity,
    sizes: Sequence[int],
    q: float,
    draws: int,
    psd: PSD,
    seed: int,
    spectrum: Spectrum | None,
    clusters: np.ndarray | None,
) -> dict[int, Kappa]:
    """Return κ of the mean log VS over subsets of each size."""
    n = similarity.n
    units = n if clusters is None else int(clusters.max()) + 1
    part = in_full(similarity, n)
    rng = np.random.default_rng(seed)

    def scored(subsets: np.ndarray) -> np.ndarray:
        """Return log VS of subsets (g, m), and what units add, NaN where a subset lacks one."""
        count, m = subsets.shape
        logs = np.empty((count, 1))
        left = np.full((count, units), np.nan)
        singly = np.arange(count)
        if clusters is None and q and 1 < m <= STACKED:
            K = to_host(part.stack(subsets))
            stack = Spectra(K, None, [q], psd, vectors=True)
            logs[:, 0] = np.log(stack.values[0])
            np.put_along_axis(left, subsets, stack.without_each(q), axis=1)
            singly = np.flatnonzero(stack.unusual)  # one of which may be an error
        for i in singly:
            members = subsets[i]
            codes = None
            if spectrum is not None and m == n:
                of_subset = spectrum
            else:
                of_subset = spectrum_of(part.take(members), psd=psd, vectors=True)
            if clusters is not None:
                members, codes = np.unique(clusters[members], return_inverse=True)
            logs[i] = log_score(of_subset, q)
            left[i, members] = 0.0
            if len(members) > 1:
                left[i, members] = _left(of_subset, q, codes)
        mean = np.nanmean(left, axis=1, keepdims=True)
        return np.hstack([logs, mean - left])

    work = 0.0
    blocks: list[np.ndarray] = []
    for m in sizes:
        subsets = _subsets(n, m, 1 if m in (1, n) else draws, rng, clusters)
        work += len(subsets) * eigen_work(min(m, part.dim or n), True)
        parts = row_blocks(len(subsets), 8 * m * max(m, 64), least=1)
        blocks.extend(subsets[rows] for rows in parts)
    count = sum(map(len, blocks))
    scores: dict[int, list[np.ndarray]] = {m: [] for m in sizes}
    with foretell(f"Scoring {count:,} subsets of {n:,} samples", work):
        for subsets in track(blocks, len(blocks), "drawing subsets"):
            m = subsets.shape[1]
            scores[m].append(scored(subsets))
    return {m: _kappa(m, n, np.concatenate(scores[m])) for m in sizes}


def _kappa(m: int, n: int, scores: np.ndarray) -> Kappa:
    """Return κ of the mean of log VS over subsets of m of n samples, from what `scored` returns."""
    logs = scores[:, 0]
    adds = scores[:, 1:]
    # A sample is in m of n subsets; samples in no subset take the values of the others.
    times = np.isfinite(adds).sum(axis=0)
    drawn = np.count_nonzero(times)
    share = m / n * math.sqrt(len(times) / drawn) / np.maximum(times, 1)
    changes = np.nansum(adds, axis=0) * share
    log = logs.mean() - np.append(0, changes)
    rest = np.expm1(math.log(m) - log)  # m/VS − 1
    by_draws = float(logs.std()) / math.sqrt(max(1, len(logs) - 1))
    of_kappa = by_draws * (1 + 1 / max(rest[0], 1e-12))
    return kappa_of(rest / max(m - 1, 1), of_kappa)


def _left(spectrum: Spectrum, q: float, codes: np.ndarray | None) -> np.ndarray:
    """Return log VS_q without each sample, or each cluster."""
    if q:
        return without_each(spectrum, q, codes)
    # Without a sample that others do not explain, one dimension is lost.
    lone = to_host(novelty(spectrum)) > LEAST_NOVELTY
    rank = round(math.exp(log_score(spectrum, 0)))
    ranks = np.where(lone, max(1, rank - 1), rank)
    return np.log(ranks)


def _subsets(
    n: int,
    m: int,
    count: int,
    rng: np.random.Generator,
    clusters: np.ndarray | None,
) -> np.ndarray:
    """Draw random subsets (count, m) of n, of whole clusters, disjoint until all are used."""

    def mixed() -> np.ndarray:
        if clusters is None:
            return rng.permutation(n)
        ranks = rng.permutation(clusters.max() + 1)
        return np.argsort(ranks[clusters], kind="stable")

    disjoint = n // m
    subsets = []
    for _ in range(math.ceil(count / disjoint)):
        order = mixed()
        used = order[: disjoint * m]
        subsets.append(used.reshape(disjoint, m))
    return np.concatenate(subsets)[:count]


@dataclass(frozen=True)
class Kappa:
    """log κ, its change (n,) as each of the n samples is left out, and an error of the model."""

    log: float
    changes: np.ndarray
    missed: float = 0.0

    @property
    def error(self) -> float:
        """The standard error of log κ: jackknife and model error together."""
        return math.hypot(delete_one_error(self.changes), self.missed)

    def scores(
        self,
        m: float,
        q: float,
        level: float,
        repeats: Repeats | None,
    ) -> tuple[float, float, float]:
        """Return VS_q of m samples and both ends of its interval, symmetric on the logit of κ."""
        n = len(self.changes)
        whole = math.exp(self.log)
        kappa = min(whole, 1 - _ROUNDING)

        deficit = log_deficit(q)

        def odds(K: np.ndarray | None, w: np.ndarray, m: int) -> float:
            kappa = min(math.expm1(deficit(K, w, m)) / (m - 1), 1 - _ROUNDING)
            return kappa / (1 - kappa)

        now = kappa / (1 - kappa)
        spread = self.error / (1 - kappa) if kappa else math.inf
        known = Jackknife(self.log, now * self.error / (1 - kappa), spread, n)
        low, high = deficit_ends(now, known, level, repeats, odds)
        low = max(low, 0.0)
        kappas = np.array([whole, 1 / (1 + 1 / high), low / (1 + low)])
        inverse = 1 / m + (1 - 1 / m) * kappas
        score, least, most = (1 / inverse).tolist()
        return score, least, most


def kappa_of(values: np.ndarray, missed: float = 0.0) -> Kappa:
    """Return κ from its values (1 + n,) for all samples, then without each."""
    if values[0] <= _ROUNDING:
        return Kappa(-math.inf, np.zeros(len(values) - 1))
    shares = values[1:] / values[0]
    changes = np.log(shares) if shares.min() > 0.01 else shares - 1
    return Kappa(math.log(values[0]), changes, missed)


def continued(kappas: Sequence[Kappa], doublings: float) -> Kappa:
    """Extrapolate κ from n/8, n/4, n/2 and n samples by so many doublings.

    Steps of log κ continue as a geometric series, by the ratio of the last two steps. A bias of
    order 1/n halves in each step, which is the fastest. A ratio that has fallen falls once more.
    """
    logs, (first, second, last) = _steps(kappas)
    if not np.isfinite(last[0]):
        return kappas[-1]
    r = _ratio(last, second, 1.0)
    before = _ratio(second, first, 1.0)
    ahead = geometric(r, doublings)
    fall_of_ratio = max(0.0, before[0] - r[0])
    fall = fall_of_ratio * last[0] * ahead[0]
    values = logs[-1] + last * r * ahead
    return _of_logs(values - fall, _FALLS * abs(fall))


def asymptote(kappas: Sequence[Kappa], q: float) -> Kappa | None:
    """Return κ of infinitely many samples; None where it is not identified."""
    logs, (_, second, last) = _steps(kappas)
    if q == 0 or not np.isfinite(logs).all():
        return None
    slowest = _SLOWEST
    if q >= 2:
        slowest = _SLOWEST_ABOVE_2
    elif abs(last[0]) + 2 * Kappa(last[0], last[1:]).error > _LAST_STEP:
        return None
    r = _ratio(last, second, slowest)
    rest = last * r / (1 - r)
    values = logs[-1] + rest
    missed = abs(rest[0]) / 2 if q < 2 else 0.0
    return _of_logs(values, missed)


def _of_logs(values: np.ndarray, missed: float) -> Kappa:
    """Return κ from its logarithms (1 + n,) for all samples, then without each."""
    log = float(values[0])
    return Kappa(log, values[1:] - log, missed)


def geometric(r: Any, doublings: float) -> Any:
    """Return 1 + r + r² + … with `doublings` terms, which may be fractional."""
    near = np.isclose(r, 1)
    gap = np.where(near, 1, 1 - r)
    return np.where(near, doublings, (1 - r**doublings) / gap)


def _steps(kappas: Sequence[Kappa]) -> tuple[np.ndarray, np.ndarray]:
    """Return log κ at each size (for all samples, then without each), and their differences."""
    rows = [np.append(kappa.log, kappa.log + kappa.changes) for kappa in kappas]
    logs = np.array(rows)
    with np.errstate(invalid="ignore"):
        return logs, np.diff(logs, axis=0)


def _ratio(later: np.ndarray, earlier: np.ndarray, most: float) -> np.ndarray:
    """Return the ratio of two steps, from 1/2 to `most`."""
    with np.errstate(all="ignore"):
        r = np.where(later * earlier > 0, later / earlier, 0.0)
    r = np.nan_to_num(r)
    return np.clip(r, 0.5, most)
