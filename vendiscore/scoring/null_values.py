"""Values of BetweenVS where there is nothing to find: of samples whose groups were shuffled."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.hill import effective_number, log_power_mean
from ..core.namespace import row_blocks, scalar, to_host
from ..core.types import Record
from ..measures.measure import BETWEEN
from ..measures.stack import LARGEST
from ..measures.subject import Subject
from ..similarity.base import Similarity
from ..similarity.matrix import in_full
from ..similarity.members import members_by_size
from ..spectral.rank_one import leave_one_out
from ..spectral.stacks import Spectra
from ..spectral.vendi import spectrum_of, vendi
from .intervals import Uncertainty
from .jackknife import delete_one_error, quantile
from .request import Request
from .subsampling import student_reach

# Numbers of shuffles where `permutations` is not passed.
LEAST = 2
MOST = 20
_FAR = 4  # standard deviations of shuffles, beyond which the jackknife's interval is taken
_NEAR = 0.9  # of its largest, above which intervals of an excess were seen to be too narrow
_ROUNDING = 1e-9


def add_nulls(
    subject: Subject,
    request: Request,
    scores: Sequence[Mapping[str, Any]],
    uncertainty: Uncertainty,
) -> None:
    """Add the null value and the excess of BetweenVS of each order, and p if asked."""
    place = request.names.index(BETWEEN)
    shuffles = request.permutations or _usual(subject, request)
    every = shuffled(subject, shuffles)  # (orders, shuffles)
    errors: Any = None
    if request.ci is not None:  # by the jackknife, as it is and shuffled
        logs = np.array([left_out(subject, mixed) for mixed in (False, True)])
        errors = (np.exp(logs.mean(axis=-1)) * delete_one_error(logs)).T
    for i, (key, value) in enumerate(scores[place].items()):
        drawn = every[i]
        null = float(drawn.mean())
        excess = scalar(value) - null
        numbers: Record = {"null": null, "excess": value - null}
        if request.permutations:
            as_much = drawn >= scalar(value) - _ROUNDING * max(1.0, abs(null))
            numbers["p"] = float(1 + as_much.sum()) / (1 + shuffles)
        still = float(np.ptp(drawn)) < _ROUNDING
        if still:
            uncertainty.notes.append(
                f"No shuffle changes {key}: groups of these sizes tell nothing, "
                "and the interval of its excess is all that is possible."
            )
        if request.ci is not None:
            sizes = group_sizes(subject)
            most = effective_number(sizes / sizes.sum(), subject.orders[i])
            low = min(0.0, 1 - null)  # all that is possible
            high = max(0.0, most - null)
            if not still:
                low, end = ends(excess, drawn, errors[i], request.ci)
                high = min(high, end)
            numbers |= {"excess_low": min(low, excess), "excess_high": max(high, excess)}
            if not still and scalar(value) > _NEAR * most:
                uncertainty.notes.append(
                    f"{key} is near {most:.4g}, its largest: the interval of its excess is too "
                    f"narrow where hardly any sample has its like in another group."
                )
        uncertainty.numbers.setdefault(key, {}).update(numbers)
    floor = f" {BETWEEN}_p is at least {1 / (1 + shuffles):.2g}." if request.permutations else ""
    uncertainty.notes.append(
        f"{BETWEEN}_null is the value of {BETWEEN} if labels mean nothing: its mean over "
        f"{shuffles} shuffles of the samples among groups. {BETWEEN}_excess is {BETWEEN} less "
        f"{BETWEEN}_null.{floor}"
    )


def _usual(subject: Subject, request: Request) -> int:
    """Return how many shuffles cost about twice the score, from LEAST to MOST."""
    if request.ci is not None:
        return MOST
    sizes = group_sizes(subject).astype(float)
    return int(np.clip(2 * sizes.sum() ** 3 / (sizes**3).sum(), LEAST, MOST))


def ends(excess: float, drawn: np.ndarray, errors: np.ndarray, level: float) -> tuple[float, float]:
    """Return both ends around an excess, which leave out 0 where the shuffles do.

    Where labels tell nothing the spread of shuffles is right and the jackknife too wide, by the
    part of its variance that shuffles have; far from there, the jackknife is right.
    """
    error, chance = errors.tolist()
    spread = float(drawn.std(ddof=1)) * math.sqrt(1 + 1 / len(drawn))
    least = student_reach(level, len(drawn)) * spread
    if abs(excess) > _FAR * spread:
        reach = quantile(level) * error
    else:
        reach = math.hypot(least, quantile(level) * math.sqrt(max(0.0, error**2 - chance**2)))
    low = excess - reach
    high = excess + reach
    if abs(excess) > least:
        return (max(low, _ROUNDING), high) if excess > 0 else (low, min(high, -_ROUNDING))
    return low, high


def shuffled(subject: Subject, shuffles: int) -> np.ndarray:
    """Return β of each order with labels shuffled, (orders, shuffles); groups keep their sizes."""
    rng = np.random.default_rng(0)
    p = None if subject.p is None else to_host(subject.p)
    weighted = np.arange(subject.n) if p is None else np.flatnonzero(p > 0)
    samples = np.array([rng.permutation(weighted) for _ in range(shuffles)])
    sizes = group_sizes(subject)
    K = in_full(subject.similarity.in_numpy(), subject.n)
    weights = np.tile(sizes.astype(float), (shuffles, 1))
    logs = np.empty((len(subject.orders), *weights.shape))
    for groups, places in members_by_size(np.repeat(np.arange(len(sizes)), sizes)):
        members = samples[:, places]  # (shuffles, groups, m)
        if p is not None:
            weights[:, groups] = p[members].sum(axis=-1)
        scores = _logs(K, subject, members.reshape(-1, places.shape[1]), p)
        logs[:, :, groups] = scores.reshape(-1, *members.shape[:2])
    within = [_log_within(weights, logs[i], q) for i, q in enumerate(subject.orders)]
    total = np.array([scalar(value) for value in subject.spectral.values])
    return total[:, None] / np.exp(within)


def left_out(subject: Subject, mixed: bool = False) -> np.ndarray:
    """Return log β without each sample, (orders, n), of the labels as they are or of a shuffle."""
    codes = subject.codes
    if mixed:
        codes = np.random.default_rng(0).permutation(codes)
    n = len(codes)
    sizes = np.bincount(codes)
    orders = subject.orders
    K = in_full(subject.similarity.in_numpy(), n)
    scores = np.zeros((len(orders), n, len(sizes)))  # log VS of each group without each sample
    for groups, members in members_by_size(codes):
        if members.shape[1] > 1:
            scores[:, :, groups] = _logs(K, subject, members)[:, None]
            scores[:, members, groups[:, None]] = _logs(K, subject, members, without_each=True)
    weights = np.tile(sizes.astype(float), (n, 1))
    weights[np.arange(n), codes] -= 1
    total = [leave_one_out(subject.eigen, q) for q in orders]
    return np.array(total) - [_log_within(weights, scores[i], q) for i, q in enumerate(orders)]


def group_sizes(subject: Subject) -> np.ndarray:
    """Return how many samples of some weight each group has, of groups that have any."""
    codes = subject.codes
    if subject.p is not None:
        codes = codes[to_host(subject.p) > 0]
    sizes = np.bincount(codes)
    return sizes[sizes > 0]


def _logs(
    K: Similarity,
    subject: Subject,
    members: np.ndarray,
    p: np.ndarray | None = None,
    without_each: bool = False,
) -> np.ndarray:
    """Return log VS of each order of sets of m samples, (orders, sets).

    Or (orders, sets, m) without each of the samples.
    """
    sets, m = members.shape
    orders = subject.orders
    psd = subject.psd
    logs: list[Any] = []
    if m <= LARGEST:
        for rows in row_blocks(sets, 8 * m * max(m, K.dim or 0), least=1):
            some = members[rows]
            weights = _weights_within(p, some)
            stack = Spectra(to_host(K.stack(some)), weights, orders, psd, without_each)
            if without_each:
                logs.append([stack.without_each(q) for q in orders])
            else:
                logs.append(np.log(stack.values))
        return np.concatenate(logs, axis=1)
    for places in members:
        part = K.take(places)
        if without_each:
            spectrum = spectrum_of(part, psd=psd, vectors=True)
            logs.append([leave_one_out(spectrum, q) for q in orders])
        else:
            logs.append(np.log(vendi(part, orders, _weights_within(p, places), psd).values))
    return np.array(logs).swapaxes(0, 1)


def _weights_within(p: np.ndarray | None, members: np.ndarray) -> np.ndarray | None:
    """Return the weights of the members of sets, of sum 1 in each set."""
    return None if p is None else p[members] / p[members].sum(axis=-1, keepdims=True)


def _log_within(weights: np.ndarray, logs: np.ndarray, q: float) -> np.ndarray:
    """Return log α of groups of some weights (…, g), from their log VS."""
    if math.isinf(q):
        with np.errstate(divide="ignore"):  # of groups that have lost their only sample
            shares = np.log(weights)
        return shares.max(-1) - (shares - logs).max(-1)
    powers = (weights / weights.max(-1, keepdims=True)) ** q
    return log_power_mean(powers / powers.sum(-1, keepdims=True), -logs, q)
