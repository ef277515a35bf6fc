"""Scores of more samples than there are, on the scale κ = (m/VS − 1)/(m − 1).

At order 2, κ is the mean of k² over pairs, whatever m; at other orders it changes slowly with m and
ends at one over the score of infinitely many samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..scoring.deficit import Repeats, deficit_ends, deficit_of_pair, log_beside
from ..scoring.jackknife import Jackknife, delete_one_error

_FALLS = 2.0  # the error of a falling ratio of steps, in units of its last fall
# Limits for asymptotes, found by benchmarks/growth.py: the largest ratio of steps below order 2
# and above it, and the largest last step, with two standard errors, below order 2.
_SLOWEST, _SLOWEST_ABOVE_2, _LAST_STEP = 0.9, 0.75, 0.075
_ROUNDING = 1e-12


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
        self, m: float, q: float, level: float, repeats: Repeats | None
    ) -> tuple[float, float, float]:
        """Return VS_q of m samples and both ends of its interval, symmetric on the logit of κ."""
        n, kappa = len(self.changes), min(math.exp(self.log), 1 - _ROUNDING)

        def odds(deficit: float) -> float:
            kappa = math.expm1(deficit) / (n - 1)
            return kappa / (1 - kappa)

        spread = self.error / (1 - kappa) if kappa else math.inf
        low, high = deficit_ends(
            kappa / (1 - kappa),
            Jackknife(self.log, self.error, spread, n),
            level,
            repeats,
            odds(deficit_of_pair(n, q)),
            lambda odd: odds(math.log(n) - log_beside(n, odd, q)),
        )
        kappas = np.array([math.exp(self.log), 1 / (1 + 1 / high), low / (1 + low)])
        score, least, most = (1 / (1 / m + (1 - 1 / m) * kappas)).tolist()
        return score, least, most


def kappa_of(values: np.ndarray, missed: float = 0.0) -> Kappa:
    """Return κ from its values (1 + n,) for all samples, then without each."""
    if values[0] <= _ROUNDING:
        return Kappa(-math.inf, np.zeros(len(values) - 1))
    shares = values[1:] / values[0]
    changes = np.log(shares) if shares.min() > 0.01 else shares - 1
    return Kappa(math.log(values[0]), changes, missed)


def continued(found: Sequence[Kappa], doublings: float) -> Kappa:
    """Extrapolate κ from n/8, n/4, n/2 and n samples by so many doublings.

    Steps of log κ continue as a geometric series, by the ratio of the last two steps. A bias of
    order 1/n halves in each step, which is the fastest. A ratio that has fallen falls once more.
    """
    logs, (first, second, last) = _steps(found)
    if not np.isfinite(last[0]):
        return found[-1]
    r = _ratio(last, second, 1.0)
    before = _ratio(second, first, 1.0)
    ahead = geometric(r, doublings)
    fall = max(0.0, before[0] - r[0])
    fall *= last[0] * ahead[0]
    values = logs[-1] + last * r * ahead
    log = float(values[0] - fall)
    return Kappa(log, values[1:] - values[0], _FALLS * abs(fall))


def asymptote(found: Sequence[Kappa], q: float) -> Kappa | None:
    """Return κ of infinitely many samples; None where it is not identified."""
    logs, (_, second, last) = _steps(found)
    if q == 0 or not np.isfinite(logs).all():
        return None
    slowest = _SLOWEST_ABOVE_2
    if q < 2:
        slowest = _SLOWEST
        step = abs(last[0]) + 2 * Kappa(last[0], last[1:]).error
        if step > _LAST_STEP:
            return None
    r = _ratio(last, second, slowest)
    rest = last * r / (1 - r)
    values = logs[-1] + rest
    missed = abs(rest[0]) / 2 if q < 2 else 0.0
    return Kappa(float(values[0]), values[1:] - values[0], missed)


def geometric(r: Any, doublings: float) -> Any:
    """Return 1 + r + r² + … with `doublings` terms, which may be fractional."""
    near = np.isclose(r, 1)
    return np.where(near, doublings, (1 - r**doublings) / np.where(near, 1, 1 - r))


def _steps(found: Sequence[Kappa]) -> tuple[np.ndarray, np.ndarray]:
    """Return log κ at each size (for all samples, then without each), and their differences."""
    logs = np.array([np.append(each.log, each.log + each.changes) for each in found])
    with np.errstate(invalid="ignore"):
        return logs, np.diff(logs, axis=0)


def _ratio(later: np.ndarray, earlier: np.ndarray, most: float) -> np.ndarray:
    """Return the ratio of two steps, from 1/2 to `most`."""
    with np.errstate(all="ignore"):
        r = np.where(later * earlier > 0, later / earlier, 0.0)
    return np.clip(np.nan_to_num(r), 0.5, most)
