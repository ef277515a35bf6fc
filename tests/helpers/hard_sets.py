"""Unit rows in single precision whose scores are hard to compute, and the allowed errors."""

from __future__ import annotations

import math

import numpy as np

ORDERS = (1.0, 2.0, math.inf)
LARGE = (1, 2, 3, 10)  # eigenvalues above a flat tail at noise level
OUTLIERS = (0, 1, 3, 10, 30)  # of a collapsed set
CLUSTERS = (2, 3, 10)  # of identical rows
CASES = (
    *(f"{count} large" for count in LARGE),
    *(f"{count} outliers" for count in OUTLIERS),
    *(f"{count} clusters" for count in CLUSTERS),
)


def unit_rows(X: np.ndarray) -> np.ndarray:
    """Return rows divided by their lengths, in single precision."""
    return (X / np.linalg.norm(X, axis=1)[:, None]).astype(np.float32)


def hard_rows(case: str, n: int, d: int, seed: int = 0, noise: float = 0.009) -> np.ndarray:
    """Return n unit-norm rows with d columns of a named case; `noise` is the length of noise."""
    rng = np.random.default_rng(seed)
    count, kind = case.split()
    number = int(count)
    centres = np.linalg.qr(rng.standard_normal((d, max(number, 1))))[0].T
    if kind == "outliers":
        X = np.repeat(centres[:1], n, axis=0)
        X[:number] = rng.standard_normal((number, d))
        return unit_rows(X)
    X = centres[np.arange(n) * number // n]
    if kind == "large":
        X = X + noise * rng.standard_normal((n, d)) / math.sqrt(d)
    return unit_rows(X)


def exact_log_scores(X: np.ndarray, orders: tuple[float, ...] = ORDERS) -> list[float]:
    """Return log VS of rows in float64, from the definition."""
    F = X.astype(np.float64)
    F /= np.linalg.norm(F, axis=1)[:, None]
    values = np.linalg.eigvalsh(F.T @ F if F.shape[1] < len(F) else F @ F.T)[::-1] / len(F)
    values = values[values > len(F) * np.finfo(float).eps * values[0]]
    values /= values.sum()
    return [log_hill_number(values, q) for q in orders]


def log_hill_number(values: np.ndarray, q: float) -> float:
    """Return the log of the Hill number of positive normalized eigenvalues."""
    if q == 1:
        return float(-np.sum(values * np.log(values)))
    if math.isinf(q):
        return -math.log(values[0])
    return math.log(np.sum((values / values[0]) ** q)) / (1 - q) + q / (1 - q) * math.log(values[0])


def allowed_error(log_score: float) -> float:
    """Return the largest error of log VS that the accuracy contract allows at orders from 1 on."""
    return max(1e-8, min(2e-5, 0.01 * log_score))


def error_ratio(score: float, log_score: float) -> float:
    """Return the error of log VS in units of the allowed one."""
    return abs(math.log(score) - log_score) / allowed_error(log_score)
