"""Samples of one of several sets that the others have less of than chance would make it."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np

from vendiscore import Similarity
from vendiscore.analysis.novelty import gains

from ..aliases import Record
from ..inputs.parts import draw_indices
from .jobs import Job
from .kernel_menu import series

SHOWN = 10  # samples of each set
MOST = 1_000  # samples of all sets together, all pairs of which are exchanged
LEVEL = 0.05  # of sets of one source, how often samples are listed of any
FALSE = 0.2  # of the samples that are listed, the share that chance alone would list, at most
DECOMPOSED = 200  # samples of a set, and of the others, of which those are found
_EXCHANGES, _SHUFFLES = 999, 24
_ROUNDING = 1e-9  # of novelties that are equal


@np.errstate(all="ignore")
def only(
    together: Similarity, jobs: Mapping[str, Job], places: Mapping[str, Sequence[int | str]]
) -> list[Record]:
    """Find for each set that differs by more than chance the samples that others lack."""
    sizes = [len(job.samples) for job in jobs.values()]
    starts = [0, *accumulate(sizes)]
    most = MOST // len(sizes)
    rows = [
        start + np.array(draw_indices(size, most, 0))
        for start, size in zip(starts, sizes, strict=False)
    ]
    K = np.array(together.take(np.concatenate(rows)).dense(), float)
    np.fill_diagonal(K, 0.0)
    own = np.repeat(np.arange(len(rows)), list(map(len, rows)))
    found = []
    for number, (name, job) in enumerate(jobs.items()):
        than = series([other for other in jobs if other != name])
        p = _chance(K, own == number)
        found.append({"name": name, "than": than, "p": round(p, 4), "samples": []})
        if p * len(rows) > LEVEL:
            continue
        first = rows[number][draw_indices(len(rows[number]), DECOMPOSED, 0)]
        others = np.concatenate([*rows[:number], *rows[number + 1 :]])
        others = others[draw_indices(len(others), min(DECOMPOSED, 3 * len(first)), 0)]
        pool = together.take(np.concatenate([first, others]))
        excess, false = distinct(pool, len(first), _SHUFFLES)
        # Samples that have nothing in common with the others are many, and equal but for rounding.
        order = np.argsort(-np.round(excess, 9), kind="stable")
        listed: dict[object, Record] = {}
        for i in order[false[order] <= FALSE].tolist():
            at = int(first[i]) - starts[number]
            text = job.texts(at) if job.texts else ""
            seen = {"image": job.pictures[at].thumbnail} if job.pictures else {"text": text}
            row = job.samples[at].tobytes() if isinstance(job.samples, np.ndarray) else None
            shown = {"place": places[name][at], "novelty": round(float(excess[i]), 6)}
            shown["false"] = round(float(false[i]), 4)
            same = listed.setdefault(row or (*seen.values(),), {**shown, **seen, "times": 0})
            same["times"] += 1
        found[-1]["samples"] = list(listed.values())[:SHOWN]
    return found


@np.errstate(all="ignore")
def distinct(pool: Similarity, n: int, shuffles: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what the first n samples add to the others beyond chance, of the most possible, (n,).

    And of the samples with as much the share that chance alone gives (Tusher et al., PNAS 2001).
    """
    order = np.arange(pool.n)
    own = _added(pool, order, n)
    rng = np.random.default_rng(0)
    turns = -(-pool.n // n)
    drawn = np.empty((shuffles, pool.n))
    for turn in range(shuffles):  # each of the pool is once in `turns` among the first
        order = np.roll(order, -n) if turn % turns else rng.permutation(pool.n)
        drawn[turn] = _added(pool, order, n)
    means, times = np.nanmean(drawn, axis=0), (~np.isnan(drawn)).sum(axis=0)
    excess = (own - means)[:n]
    chance = ((drawn - means) * times / (times - 1)).ravel()  # from the mean of other shuffles
    chance, levels = chance[np.isfinite(chance)], excess - _ROUNDING
    beyond = [(values >= levels[:, None]).sum(axis=1) for values in (chance, excess)]
    shares = np.minimum(beyond[0] / shuffles / beyond[1], 1.0)
    order = np.argsort(excess)
    false = np.empty(n)
    false[order] = np.minimum.accumulate(shares[order])
    return excess, false


def _added(pool: Similarity, order: np.ndarray, n: int) -> np.ndarray:
    """Return what the first n samples in this order add to the others, of the most possible."""
    added = np.full(pool.n, np.nan)  # of the others
    found, most = gains(pool.take(order), n, np.arange(n, pool.n), 1.0, "clip")
    added[order[:n]] = found / most
    return added


def _chance(K: np.ndarray, own: np.ndarray) -> float:
    """Return how often a random part differs as much as `own` from the rest: p of squared MMD."""
    n, m = int(own.sum()), int((~own).sum())
    rng = np.random.default_rng(0)
    Z = np.stack([own, *(rng.permutation(own) for _ in range(_EXCHANGES))], axis=1).astype(float)
    inside = (Z * (K @ Z)).sum(axis=0)
    rows = K.sum(axis=1) @ Z
    outside, across = K.sum() - 2 * rows + inside, rows - inside
    gaps = inside / (n * (n - 1)) + outside / (m * (m - 1)) - 2 * across / (n * m)
    return float((gaps >= gaps[0] - 1e-12).mean())
