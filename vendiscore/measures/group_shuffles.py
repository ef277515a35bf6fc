"""Diversity between groups whose labels were shuffled, and without each sample."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy

from ..arrays.members import members_by_size
from ..core.hill import effective_number
from ..core.namespace import row_blocks, scalar, to_host
from ..similarity.base import Similarity
from ..similarity.matrix import in_full
from ..spectral.rank_one import leave_one_out
from ..spectral.stacks import Spectra
from ..spectral.vendi import spectrum_of, vendi
from .stack import LARGEST
from .subject import Subject


def shuffled(subject: Subject, shuffles: int) -> np.ndarray:
    """Return β of each order with labels shuffled, (orders, shuffles); groups keep their sizes."""
    rng = np.random.default_rng(0)
    p = None if subject.p is None else to_host(subject.p)
    weighted = np.arange(subject.n) if p is None else np.flatnonzero(p > 0)
    samples = np.array([rng.permutation(weighted) for _ in range(shuffles)])
    sizes = group_sizes(subject)
    starts = np.cumsum(sizes) - sizes
    K = in_full(subject.similarity.in_numpy(), subject.n)
    weights = np.tile(sizes.astype(float), (shuffles, 1))
    logs = np.empty((len(subject.orders), *weights.shape))
    for m in np.unique(sizes).tolist():
        alike = sizes == m
        places = starts[alike][:, None] + np.arange(m)
        members = samples[:, places]  # (shuffles, groups, m)
        if p is not None:
            weights[:, alike] = p[members].sum(axis=-1)
        scores = _logs(K, subject, members.reshape(-1, m), p)
        shape = members.shape[:2]
        logs[:, :, alike] = scores.reshape(-1, *shape)
    within = [_log_within(weights, logs[i], q) for i, q in enumerate(subject.orders)]
    total = np.array([scalar(value) for value in subject.spectral.values])
    return np.asarray(total[:, None] / np.exp(within))


def left_out(subject: Subject, mixed: bool = False) -> np.ndarray:
    """Return log β without each sample, (orders, n), of the labels as they are or of a shuffle."""
    assert subject.groups is not None
    codes = subject.groups.codes[subject.rows_of_passed >= 0]
    if mixed:
        codes = np.random.default_rng(0).permutation(codes)
    n, sizes, orders = len(codes), np.bincount(codes), subject.orders
    K = in_full(subject.similarity.in_numpy(), n)
    scores = np.zeros((len(orders), n, len(sizes)))  # log VS of each group without each sample
    samples = np.arange(n)
    for groups, members in members_by_size(codes):
        if members.shape[1] > 1:
            scores[:, :, groups] = _logs(K, subject, members)[:, None]
            scores[:, members, groups[:, None]] = _logs_without_each(K, subject, members)
    weights = np.tile(sizes.astype(float), (n, 1))
    weights[samples, codes] -= 1
    return np.array(
        [
            leave_one_out(subject.eigen, q) - _log_within(weights, of_order, q)
            for q, of_order in zip(orders, scores, strict=True)
        ]
    )


def group_sizes(subject: Subject) -> np.ndarray:
    """Return how many samples of some weight each group has, of groups that have any."""
    assert subject.groups is not None
    codes = subject.groups.codes[subject.rows_of_passed >= 0]
    if subject.p is not None:
        codes = codes[to_host(subject.p) > 0]
    sizes = np.bincount(codes)
    return sizes[sizes > 0]


def most(subject: Subject, q: float) -> float:
    """Return the largest β that groups of these sizes can have, samples having one weight."""
    sizes = group_sizes(subject)
    return float(effective_number(sizes / sizes.sum(), q))


def _logs(
    K: Similarity, subject: Subject, members: np.ndarray, p: np.ndarray | None = None
) -> np.ndarray:
    """Return log VS of each order of sets of m samples, (orders, sets)."""
    weights = None
    if p is not None:
        weights = p[members] / p[members].sum(axis=-1, keepdims=True)
    if members.shape[1] <= LARGEST:
        stacks = _stacks(K, subject, members, weights)
        return np.log(np.concatenate([stack.values for stack in stacks], axis=1))
    scores = []
    for i, places in enumerate(members):
        of_set = None if weights is None else weights[i]
        score = vendi(K.take(places), subject.orders, of_set, subject.psd)
        scores.append(score.values)
    return np.log(scores).T


def _logs_without_each(K: Similarity, subject: Subject, members: np.ndarray) -> np.ndarray:
    """Return log VS of each order of sets of m samples without each of them, (orders, sets, m)."""
    orders = subject.orders
    if members.shape[1] <= LARGEST:
        stacks = []
        for stack in _stacks(K, subject, members, vectors=True):
            left = [stack.without_each(q) for q in orders]
            stacks.append(np.array(left))
        return np.concatenate(stacks, axis=1)
    scores = []
    for places in members:
        spectrum = spectrum_of(K.take(places), psd=subject.psd, vectors=True)
        scores.append([leave_one_out(spectrum, q) for q in orders])
    return np.array(scores).swapaxes(0, 1)


def _stacks(
    K: Similarity,
    subject: Subject,
    members: np.ndarray,
    weights: np.ndarray | None = None,
    vectors: bool = False,
) -> Iterator[Spectra]:
    """Yield the spectra of some of the sets of m samples at a time."""
    sets, m = members.shape
    row_bytes = 8 * m * max(m, K.dim or 0)
    for rows in row_blocks(sets, row_bytes, least=1):
        p = None if weights is None else weights[rows]
        stack = to_host(K.stack(members[rows]))
        yield Spectra(stack, p, subject.orders, subject.psd, vectors)


def _log_within(weights: np.ndarray, logs: np.ndarray, q: float) -> np.ndarray:
    """Return log α of groups of some weights (…, g), from their log VS."""
    if q == 1:
        return np.asarray((weights * logs).sum(-1) / weights.sum(-1))
    with np.errstate(divide="ignore"):  # of groups that have lost their only sample
        shares = np.log(weights)
    if math.isinf(q):
        return np.asarray(shares.max(-1) - (shares - logs).max(-1))
    of_both = scipy.special.logsumexp(q * shares + (1 - q) * logs, axis=-1)
    of_weights = scipy.special.logsumexp(q * shares, axis=-1)
    return np.asarray((of_both - of_weights) / (1 - q))
