"""Samples that are like their own set and unlike the others, more so than chance would make it."""

import numpy as np

from ..aliases import Record
from .kernel_menu import series

SHOWN = 10  # samples of each set
LEVEL = 0.05  # of sets of one source, how often samples are listed; of exchanged samples, the share
EXCHANGES = 999
_ROUNDING = 1e-12  # of means of similarities that are equal
_COLUMNS = ("place", "text", "image")  # of a sample, as far as there are any


@np.errstate(all="ignore")
def only(K: np.ndarray, columns: Record) -> list[Record]:
    """Find for each set that differs by more than chance the samples that others lack.

    K (n, n) and columns are of all samples: their "set", what they "repeat", and what is shown.
    """
    names = list(dict.fromkeys(columns["set"]))
    sets = np.array(columns["set"])
    found = []
    for name in names:
        own = sets == name
        witnesses, least, p = witnesses_of(K, own)
        listed: dict[int, Record] = {}
        for j in np.argsort(-witnesses.round(9), kind="stable").tolist():
            if witnesses[j] < least or p * len(names) > LEVEL:
                break
            i = int(np.flatnonzero(own)[j])
            shown = {column: columns[column][i] for column in _COLUMNS if column in columns}
            shown |= {"witness": round(float(witnesses[j]), 6), "times": 0}
            listed.setdefault(columns["repeats"][i], shown)["times"] += 1
        than = series([other for other in names if other != name])
        samples = [*listed.values()][:SHOWN]
        found.append({"name": name, "than": than, "p": round(p, 4), "samples": samples})
    return found


def witnesses_of(K: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Return how much more alike samples of a set are to their own set than to the others, (n,).

    These are witnesses of the maximum mean discrepancy (Gretton et al., JMLR 2012). Return too the
    level that a share of `LEVEL` of exchanged samples reaches, and p of the set by the squared
    discrepancy of exchanged samples. The similarity of samples with themselves does not count.
    """
    n, m = int(own.sum()), int((~own).sum())
    rng = np.random.default_rng(0)
    sets = np.stack([own, *(rng.permutation(own) for _ in range(EXCHANGES))], axis=1)
    others_of_each = K - np.diag(K.diagonal())
    inside = others_of_each @ sets.astype(float)
    outside = others_of_each.sum(axis=1)[:, None] - inside
    witnesses = inside / (n - 1) - outside / m
    others = inside / n - outside / (m - 1)
    squared = np.where(sets, witnesses / n, -others / m).sum(axis=0)
    p = float((squared >= squared[0] - _ROUNDING).mean())
    least = float(np.quantile(witnesses[:, 1:][sets[:, 1:]], 1 - LEVEL))
    return witnesses[own, 0], least, p
