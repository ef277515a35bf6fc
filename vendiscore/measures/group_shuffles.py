"""Diversity between groups whose labels were shuffled, and without each sample."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy

from ..core.hill import effective_number
from ..core.namespace import row_blocks, scalar, to_host
from ..similarity.base import Similarity
from ..similarity.matrix import in_full
from ..spectral.rank_one import leave_one_out
from ..spectral.stacks import Spectra
from ..spectral.vendi import spectrum_of, vendi
from .stack import LARGEST
from .subject import Subject

_FEW = 12  # samples of a group, each of which is left out by one more decomposition


def shuffled(subject: Subject, shuffles: int) -> np.ndarray:
    """Return β of each order with labels shuffled, (orders, shuffles); groups keep their sizes."""
    rng, p = np.random.default_rng(0), None if subject.p is None else to_host(subject.p)
    kept = np.arange(subject.n) if p is None else np.flatnonzero(p > 0)
    K, sizes = in_full(subject.similarity.in_numpy(), subject.n), group_sizes(subject)
    drawn = np.array([rng.permutation(kept) for _ in range(shuffles)])
    starts = np.cumsum(sizes) - sizes
    weights, logs = [], []
    for m in np.unique(sizes).tolist():
        rows = drawn[:, starts[sizes == m][:, None] + np.arange(m)]  # (shuffles, g, m)
        weights.append(np.full(rows.shape[:2], float(m)) if p is None else p[rows].sum(-1))
        logs.append(_logs(K, subject, rows.reshape(-1, m), p).reshape(-1, *rows.shape[:2]))
    every = np.concatenate(weights, axis=1)
    pairs = zip(subject.spectral.values, np.concatenate(logs, axis=2), subject.orders, strict=True)
    return np.array([scalar(x) / np.exp(_log_within(every, own, q)) for x, own, q in pairs])


def left_out(subject: Subject, mixed: bool = False) -> np.ndarray:
    """Return log β without each sample, (orders, n), of the labels as they are or of a shuffle."""
    assert subject.groups is not None
    orders, codes = subject.orders, subject.groups.codes[subject.rows_of_passed >= 0]
    codes = np.random.default_rng(0).permutation(codes) if mixed else codes
    n, sizes = len(codes), np.bincount(codes)
    logs, without = np.zeros((len(orders), len(sizes))), np.zeros((len(orders), n))
    K = in_full(subject.similarity.in_numpy(), n)
    groups = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])
    for m in np.unique(sizes[sizes > 1]).tolist():
        rows = np.array([own for own in groups if len(own) == m])
        logs[:, sizes == m] = _logs(K, subject, rows)
        if m <= _FEW:
            fewer = np.concatenate([np.delete(rows, i, axis=1) for i in range(m)])
            without[:, rows.T.ravel()] = _logs(K, subject, fewer)
            continue
        for own in rows:
            spectrum = spectrum_of(K.take(own), psd=subject.psd, vectors=True)
            without[:, own] = [leave_one_out(spectrum, q) for q in orders]
    every, weights = np.arange(n), np.tile(sizes.astype(float), (n, 1))
    weights[every, codes] -= 1
    scores: list[np.ndarray] = []
    for q, of_groups, of_own in zip(orders, logs, without, strict=True):
        each = np.tile(of_groups, (n, 1))
        each[every, codes] = of_own
        scores.append(leave_one_out(subject.eigen, q) - _log_within(weights, each, q))
    return np.array(scores)


def group_sizes(subject: Subject) -> np.ndarray:
    """Return how many samples of some weight each group has, of groups that have any."""
    assert subject.groups is not None
    codes = subject.groups.codes[subject.rows_of_passed >= 0]
    sizes = np.bincount(codes if subject.p is None else codes[to_host(subject.p) > 0])
    return sizes[sizes > 0]


def most(subject: Subject, q: float) -> float:
    """Return the largest β that groups of these sizes can have, samples having one weight."""
    sizes = group_sizes(subject)
    return float(effective_number(sizes / sizes.sum(), q))


def _logs(
    K: Similarity, subject: Subject, rows: np.ndarray, p: np.ndarray | None = None
) -> np.ndarray:
    """Return log VS of each order of sets of m samples, (orders, sets)."""
    orders, psd = subject.orders, subject.psd
    weights = None if p is None else p[rows] / p[rows].sum(-1, keepdims=True)
    sets, m = rows.shape
    scores: list[Any] = []
    if m <= LARGEST:
        for some in row_blocks(sets, 8 * m * max(m, K.dim or 0), least=1):
            own = None if weights is None else weights[some]
            scores.append(Spectra(to_host(K.stack(rows[some])), own, orders, psd).values)
        return np.log(np.concatenate(scores, axis=1))
    for i, places in enumerate(rows):
        own = None if weights is None else weights[i]
        scores.append(vendi(K.take(places), orders, own, psd).values)
    return np.log(scores).T


def _log_within(weights: np.ndarray, logs: np.ndarray, q: float) -> np.ndarray:
    """Return log α of groups of some weights (…, g), from their log VS."""
    if q == 1:
        return np.asarray((weights * logs).sum(-1) / weights.sum(-1))
    with np.errstate(divide="ignore"):  # of groups that have lost their only sample
        own = np.log(weights)
    if math.isinf(q):
        return np.asarray(own.max(-1) - (own - logs).max(-1))
    of_both = scipy.special.logsumexp(q * own + (1 - q) * logs, axis=-1)
    of_weights = scipy.special.logsumexp(q * own, axis=-1)
    return np.asarray((of_both - of_weights) / (1 - q))
