"""Compare random calls with a short float64 definition of the score.

    python benchmarks/differential.py --calls 20000 --seed 0

Each call draws rows or a matrix, a precision, orders, weights, groups, clipping, an entry point
(`score_X`, `score_dual`, `score_K`, `compute`, `State`, `VendiLoss`), a container (array or tensor)
and options that must not change a score (`ci`, `details`, other orders, autocast). At orders from 1
on, the error of log VS may be max(1e-8, min(2e-5, 1 % of log VS)). Below order 1, log VS must lie
between the scores for two thresholds around the rounding threshold of eigenvalues. Indefinite
matrices must raise an error, or be clipped on request. The exit status is 1 if a call disagrees;
its seed is printed.
"""

import argparse
import math
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import torch

from vendiscore import NotPSDError, State, compute, score_dual, score_K, score_X
from vendiscore.tools.integrations.loss import VendiLoss

ORDERS = (0, 0.1, 0.5, 0.9, 0.999, 1, 1.001, 1.5, 2, 3, 10, 100, math.inf)
THRESHOLD_FACTOR = 30.0  # of the rounding threshold, up and down, for orders below 1
MAX_NEGATIVE_MASS = 1e-6  # above it, a float64 matrix is rejected


# --- the reference ---


def eigenvalues_of_matrix(K: np.ndarray, p: np.ndarray | None = None) -> np.ndarray:
    """Return the eigenvalues of the weighted similarity matrix, which sum to 1, in descending
    order.
    """
    root = np.sqrt((np.full(len(K), 1 / len(K)) if p is None else p) / K.diagonal())
    return np.linalg.eigvalsh(K * root * root[:, None])[::-1]


def eigenvalues_of_rows(X: np.ndarray, p: np.ndarray | None = None) -> np.ndarray:
    """Return all eigenvalues of the weighted cosine matrix of rows that may differ from 0."""
    F = X.astype(np.float64)
    F *= np.sqrt((np.full(len(F), 1 / len(F)) if p is None else p) / np.vecdot(F, F))[:, None]
    return np.linalg.eigvalsh(F @ F.T if len(F) <= F.shape[1] else F.T @ F)[::-1]


def compute_log_score(
    eigenvalues: np.ndarray, n: int, q: float, min_threshold: float = 0.0, factor: float = 1.0
) -> float:
    """Return log VS_q of eigenvalues; negative values and values below the threshold count as 0."""
    threshold = max(n * np.finfo(float).eps * eigenvalues[0], min_threshold)
    eigenvalues = eigenvalues[eigenvalues > factor * threshold]
    eigenvalues = eigenvalues / eigenvalues.sum()
    if q == 0:
        return math.log(len(eigenvalues))
    if q == 1:
        return float(-np.sum(eigenvalues * np.log(eigenvalues)))
    top = eigenvalues[0]
    if math.isinf(q):
        return -math.log(top)
    return math.log(np.sum((eigenvalues / top) ** q)) / (1 - q) + q / (1 - q) * math.log(top)


def compute_bounds(
    values: np.ndarray, n: int, q: float, min_threshold: float = 0.0
) -> tuple[float, float]:
    """Return the lowest and the highest log VS_q that are correct."""
    if q >= 1:
        return (compute_log_score(values, n, q, min_threshold),) * 2
    ends = [
        compute_log_score(values, n, q, min_threshold, factor)
        for factor in (THRESHOLD_FACTOR, 1 / THRESHOLD_FACTOR)
    ]
    return min(ends), max(ends)


# --- random input ---


def draw_rows(rng: np.random.Generator) -> np.ndarray:
    """Draw rows of random number, width, structure, lengths and precision."""
    large = rng.random() < 0.5  # large enough for single precision
    n = int(rng.integers(900, 1500) if large else rng.integers(1, 60))
    d = int(rng.integers(105, 200) if large else rng.integers(1, 60))
    if large and rng.random() < 0.15:
        n, d = d, n
    normal = rng.standard_normal((n, d))
    count = int(rng.integers(1, min(n, d, 12) + 1))
    centres = np.linalg.qr(rng.standard_normal((d, count)))[0].T
    labels = rng.choice(count, n, p=rng.dirichlet(np.full(count, 3.0)))
    noise = 10.0 ** rng.uniform(-7, 0) * normal / math.sqrt(d)
    kind = rng.integers(0, 11)
    if kind == 0:
        X = normal * np.exp(-np.arange(d) / rng.choice([5, 20, 60, 1e9]))
    elif kind == 1:
        X = normal * (1 + np.arange(d)) ** -rng.uniform(0, 2)
    elif kind == 2:
        X = centres[labels]  # identical rows
    elif kind == 3:
        X = centres[np.sort(labels)] + noise
    elif kind == 4:
        X = centres[np.zeros(n, int)]  # collapsed, with outliers
        n_outliers = min(n, int(rng.integers(0, 31)))
        X[:n_outliers] = normal[:n_outliers]
    elif kind == 5:  # clusters in few columns
        width = int(rng.integers(1, 6))
        X = np.zeros((n, d))
        for label in range(count):
            columns = (label * width + np.arange(width)) % d
            X[np.ix_(labels == label, columns)] = rng.standard_normal(len(columns)) + 0.01
    elif kind == 6:
        X = (rng.random((n, d)) < rng.uniform(0.05, 0.9)).astype(float)
        X[:, 0] = 1
    elif kind == 7:
        X = normal + 10.0 ** rng.uniform(-1, 4)
    elif kind == 8:
        X = normal @ centres.T @ centres + 1e-9  # of low rank
    elif kind == 9:
        X = np.where(np.arange(n)[:, None] % 2, centres[labels], normal)
    else:
        X = normal[:, rng.integers(0, d, d)].copy()  # equal columns
    dtype = np.float32 if rng.random() < 0.75 else np.float64
    X /= np.linalg.norm(X, axis=1)[:, None]
    length = rng.integers(0, 8)
    X = X.astype(dtype)
    if length == 0:
        X = X * np.exp(rng.standard_normal(n))[:, None].astype(dtype)
    elif length == 1:
        X = X * (1 + 10.0 ** rng.uniform(-8, -3) * rng.standard_normal((n, 1))).astype(dtype)
    elif length == 2:
        X[0] *= dtype(1e4)
    return X


def draw_matrix(rng: np.random.Generator) -> np.ndarray:
    """Draw a similarity matrix of random size and precision, which is often positive
    semidefinite.
    """
    n = int(rng.integers(1, 300) if rng.random() < 0.2 else rng.integers(1, 60))
    x = rng.standard_normal((n, int(rng.integers(1, 6))))
    kind = rng.integers(0, 4)
    if kind == 0:
        K = np.exp(-((x[:, None] - x) ** 2).sum(-1) / rng.choice([0.5, 2, 18]))
    elif kind == 1:
        x /= np.linalg.norm(x, axis=1)[:, None]
        K = x @ x.T
        np.fill_diagonal(K, 1.0)
    elif kind == 2:
        K = np.equal.outer(labels := rng.integers(0, 5, n), labels).astype(float)
    else:
        K = np.clip(rng.uniform(-1, 1) + 0.3 * rng.standard_normal((n, n)), -1, 1)
        K = (K + K.T) / 2
        np.fill_diagonal(K, 1.0)
    return K.astype(np.float32 if rng.random() < 0.5 else np.float64)


# --- a call ---


class Outcome(NamedTuple):
    """The largest error of a call relative to the allowed error."""

    name: str
    ratio: float  # of the error to the allowed one; 0 for an error that was expected
    message: str = ""


def compare_scores(
    name: str, scores: dict[float, float], bounds: Callable[[float], Any]
) -> Outcome:
    """Return the largest error of scores by order, relative to the allowed error."""
    worst, message = 0.0, ""
    for q, score in scores.items():
        low, high = bounds(q)
        log_score = math.log(score)
        error = max(low - log_score, log_score - high, 0.0)
        ratio = error / max(1e-8, min(2e-5, 0.01 * high))
        if not ratio <= worst:
            worst = ratio
            message = f"order {q:g}: log VS {log_score:.10g}, expected {low:.10g} to {high:.10g}"
    return Outcome(name, worst, message)


def select_by_order(result: dict[str, Any], orders: list[float]) -> dict[float, float]:
    return {q: as_float(result[f"VS_q{q:g}"]) for q in orders}


def as_float(score: Any) -> float:
    return float(score.detach() if torch.is_tensor(score) else score)


def run_random_call(seed: int) -> Outcome:
    """Make one random call, and compare its result with the definition."""
    rng = np.random.default_rng(seed)
    candidates = ORDERS if rng.random() < 0.35 else [q for q in ORDERS if q >= 1]
    orders = [float(q) for q in rng.choice(candidates, int(rng.integers(1, 4)), replace=False)]
    return check_matrix_call(rng, orders) if rng.random() < 0.35 else check_rows_call(rng, orders)


def wrap_samples(rng: np.random.Generator, samples: np.ndarray) -> tuple[Any, Any, str]:
    """Return samples as an array or a tensor, an autocast context or none, and the name of both."""
    if rng.random() < 0.6:
        return samples, nullcontext(), ""
    T = torch.tensor(samples, requires_grad=bool(rng.random() < 0.4))
    if rng.random() < 0.5:
        return T, nullcontext(), ", tensor"
    dtype = torch.bfloat16 if rng.random() < 0.5 else torch.float16
    return T, torch.autocast("cpu", dtype=dtype), ", tensor under autocast"


def check_matrix_call(rng: np.random.Generator, orders: list[float]) -> Outcome:
    """Score a random similarity matrix by a random call; return how far its scores, or its
    NotPSDError, deviate from the definition.
    """
    K = draw_matrix(rng)
    n = len(K)
    p = rng.dirichlet(np.ones(n)) if rng.random() < 0.3 else None
    clip = bool(rng.random() < 0.5)
    precision = float(np.finfo(np.float32).eps) if K.dtype == np.float32 else 0.0
    double = K.astype(np.float64)
    values = eigenvalues_of_matrix(double, p)
    negative_mass = float(-values[values < 0].sum())
    allowed = max(MAX_NEGATIVE_MASS, 0.25 * precision * math.sqrt(n))
    samples, context, kind = wrap_samples(rng, K)

    def bounds(q: float) -> tuple[float, float]:
        if q == 2 and not clip:  # computed as a norm, without eigenvalues
            return (-math.log(np.sum(values**2)),) * 2
        return compute_bounds(values, n, q, precision / math.sqrt(n))

    name = f"compute, K{', clip' * clip}{kind}"
    try:
        with context:
            if clip or rng.random() < 0.5:
                psd = "clip" if clip else "check"
                result = compute(samples, score_K=True, q=orders, p=p, psd=psd)
                scores = select_by_order(result, orders)
            else:
                name = f"score_K{kind}"
                normalize = bool(rng.random() < 0.5)
                scores = {q: as_float(score_K(samples, q, p, normalize)) for q in orders}
    except NotPSDError:
        expected = not clip and negative_mass > allowed / 1.01
        return Outcome(
            name, 0.0 if expected else math.inf, f"NotPSDError, mass {negative_mass:.2g}"
        )
    if not clip and negative_mass > 1.01 * allowed:
        # these orders may miss a negative eigenvalue
        must_detect = not set(orders) <= {2.0, math.inf}
        return Outcome(
            name, math.inf if must_detect else 0.0, f"no error, mass {negative_mass:.2g}"
        )
    return compare_scores(name, scores, bounds)


def check_rows_call(rng: np.random.Generator, orders: list[float]) -> Outcome:
    """Score random rows by a random entry point; return how far its scores deviate from the
    definition.
    """
    X = draw_rows(rng)
    n = len(X)
    samples, context, kind = wrap_samples(rng, X)
    entry = rng.choice(["score_X", "score_dual", "compute", "groups", "State", "VendiLoss"])
    p = rng.dirichlet(np.ones(n)) if entry != "groups" and rng.random() < 0.15 else None
    labels = np.zeros(n, int)
    if entry == "groups":
        labels = rng.integers(0, int(rng.integers(1, 4)), n)
    if entry == "State":
        samples, kind = (samples.detach(), kind) if kind else (samples, kind)
    name = f"{entry}, {X.dtype}{kind}"
    with context:
        if entry in ("score_X", "score_dual"):
            function = score_X if entry == "score_X" else score_dual
            scores = {q: as_float(function(samples, q, p=p)) for q in orders}
        elif entry == "State":
            state = State.empty("cosine")
            split_index = int(rng.integers(0, n))
            batches = (
                [slice(0, split_index), slice(split_index, n)] if split_index else [slice(0, n)]
            )
            for rows_of_batch in batches:
                state.update(samples[rows_of_batch], p=None if p is None else p[rows_of_batch])
            scores = select_by_order(state.compute(orders), orders)
        elif entry == "VendiLoss":
            orders = [q for q in orders if q > 0] or [1.0]
            T = torch.as_tensor(samples)
            weights = None if p is None else torch.as_tensor(p)
            losses = {q: float(VendiLoss("cosine", q=q)(T, weights).detach()) for q in orders}
            scores = {q: math.exp(-loss) for q, loss in losses.items()}
        else:
            options: dict[str, Any] = {"k": "cosine"}
            if rng.random() < 0.3:
                options = {"score_X": True, "normalize": True}
            if entry == "groups":
                options["groups"] = labels
            elif n > 3 and p is None and min(orders) > 0 and not kind and rng.random() < 0.2:
                options["ci"] = 0.95
            options["details"] = bool(rng.random() < 0.2)
            scores = select_by_order(compute(samples, q=orders, p=p, **options), orders)

    sets = [X[labels == label] for label in np.unique(labels)]
    spectra = [(eigenvalues_of_rows(rows, p), len(rows)) for rows in sets]

    def bounds(q: float) -> tuple[float, float]:
        ends = [compute_bounds(values, n, q) for values, n in spectra]
        low, high = np.log(np.mean(np.exp(ends), axis=0))
        return low, high

    return compare_scores(name, scores, bounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first call")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    worst: dict[str, tuple[float, int]] = {}
    failures = 0
    start = time.perf_counter()
    for seed in range(arguments.seed, arguments.seed + arguments.calls):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                outcome = run_random_call(seed)
            except Exception as error:  # any error of a valid call is a disagreement
                outcome = Outcome(type(error).__name__, math.inf, str(error)[:300])
        counts[outcome.name] += 1
        if outcome.ratio >= worst.get(outcome.name, (-1.0, 0))[0]:
            worst[outcome.name] = outcome.ratio, seed
        if not outcome.ratio <= 1:
            failures += 1
            print(
                f"seed {seed}, {outcome.name}: {outcome.ratio:.3g}; {outcome.message}", flush=True
            )
    for name in sorted(counts):
        ratio, seed = worst[name]
        print(f"{counts[name]:>6,} calls, worst {ratio:.3g} (seed {seed}): {name}")
    largest = max(ratio for ratio, _ in worst.values())
    seconds = time.perf_counter() - start
    print(
        f"{arguments.calls:,} calls in {seconds:.0f} s: {failures} disagree; the worst error "
        f"is {largest:.3g} of the allowed error"
    )
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
