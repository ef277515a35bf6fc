"""Samples that are like their own set and unlike the others, more so than chance would make it."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np

from vendiscore import Similarity

from ..aliases import Record
from ..inputs.parts import draw_indices
from .jobs import Job
from .kernel_menu import series

SHOWN = 10  # samples of each set
MOST = 1_000  # samples of all sets together, all pairs of which are exchanged
LEVEL = 0.05  # of sets of one source, how often samples are listed; of exchanged samples, the share
EXCHANGES = 999
_ROUNDING = 1e-12  # of means of similarities that are equal


@np.errstate(all="ignore")
def only(
    together: Similarity, jobs: Mapping[str, Job], places: Mapping[str, Sequence[int | str]]
) -> list[Record]:
    """Find for each set that differs by more than chance the samples that others lack."""
    sizes = [len(job.samples) for job in jobs.values()]
    drawn = [draw_indices(size, MOST // len(sizes), 0) for size in sizes]
    starts = accumulate(sizes, initial=0)
    pool = [start + i for start, some in zip(starts, drawn, strict=False) for i in some]
    K = np.array(together.take(np.array(pool)).dense(), float)
    np.fill_diagonal(K, 0.0)
    codes = np.repeat(np.arange(len(drawn)), list(map(len, drawn)))
    found = []
    for number, (name, job) in enumerate(jobs.items()):
        witnesses, least, p = witnesses_of(K, codes == number)
        listed: dict[object, Record] = {}
        for j in np.argsort(-witnesses.round(9), kind="stable").tolist():
            i, witness = drawn[number][j], float(witnesses[j])
            if witness < least or p * len(jobs) > LEVEL:
                break
            seen = {"image": job.pictures[i].thumbnail} if job.pictures else {}
            seen |= {"text": job.texts(i)} if job.texts else {}
            row = job.samples[i].tobytes() if isinstance(job.samples, np.ndarray) else None
            shown = {"place": places[name][i], "witness": round(witness, 6), "times": 0, **seen}
            listed.setdefault(row or (*seen.values(),), shown)["times"] += 1
        than = series([other for other in jobs if other != name])
        samples = [*listed.values()][:SHOWN]
        found.append({"name": name, "than": than, "p": round(p, 4), "samples": samples})
    return found


def witnesses_of(K: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Return how much more alike samples of a set are to their own set than to the others, (n,).

    That is the witness of the maximum mean discrepancy (Gretton et al., JMLR 2012), with its level
    that a share of `LEVEL` of exchanged samples reaches, and p of the set by the squared
    discrepancy of exchanged samples; K has zeros for samples with themselves.
    """
    n, m = int(own.sum()), int((~own).sum())
    rng = np.random.default_rng(0)
    sets = np.stack([own, *(rng.permutation(own) for _ in range(EXCHANGES))], axis=1)
    inside = K @ sets.astype(float)
    outside = K.sum(axis=1)[:, None] - inside
    witnesses = inside / (n - 1) - outside / m
    others = inside / n - outside / (m - 1)
    squared = np.where(sets, witnesses / n, -others / m).sum(axis=0)
    p = float((squared >= squared[0] - _ROUNDING).mean())
    least = float(np.quantile(witnesses[:, 1:][sets[:, 1:]], 1 - LEVEL))
    return witnesses[own, 0], least, p
