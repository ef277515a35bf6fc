"""Jackknife standard errors of log VS, from the contributions of samples or clusters."""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..spectral.leave_cluster_out import leave_cluster_out
from ..spectral.leave_one_out import (
    compute_influence,
    compute_log_score,
    compute_surprise,
    leave_one_out,
)
from ..spectral.spectrum import Spectrum, positive_eigenpairs
from ..support.arguments import DEFAULT_ORDER

# A smaller deficit is rounding of 0: the remaining samples have nothing in common.
NO_DEFICIT = 1e-9
Values: TypeAlias = float | np.ndarray  # of one set or of many


@dataclass(frozen=True)
class JackknifeEstimate:
    """log VS_q of n samples and its jackknife error over `units`; arrays for many sets.

    `spread` is the standard error of log(log n − log VS), infinite if the remaining samples have
    nothing in common when a unit is left out. `gain` is the mean contribution of a unit to log VS.
    """

    log: Values
    error: Values
    spread: Values = math.inf
    units: int = 0
    gain: Values = 0.0


def jackknife(
    spectrum: Spectrum, q: float = DEFAULT_ORDER, clusters: np.ndarray | None = None
) -> JackknifeEstimate:
    """Compute the score of order q and its jackknife error (Efron & Stein 1981).

    With clusters of unequal size, the deficit without a cluster depends on its size but log VS
    hardly does. The spread is therefore the error of log VS divided by the deficit of all samples.
    """
    log = compute_log_score(spectrum, q)
    if clusters is None:
        return jackknife_from_leave_one_out(log, leave_one_out(spectrum, q))
    left = leave_cluster_out(spectrum, clusters, q)
    error = float(delete_one_error(left))
    deficit = math.log(spectrum.n) - log
    return JackknifeEstimate(
        log, error, error / deficit if deficit > NO_DEFICIT else math.inf, len(left)
    )


def jackknife_from_leave_one_out(
    log: Values, leave_one_out_values: np.ndarray
) -> JackknifeEstimate:
    """Compute jackknife standard errors of log VS from the leave-one-out values, shape (…, n)."""
    units = leave_one_out_values.shape[-1]
    deficits = math.log(units - 1) - leave_one_out_values
    spread = delete_one_error(np.log(np.maximum(deficits, NO_DEFICIT)))
    known = (deficits > NO_DEFICIT).all(axis=-1)
    spread = np.where(known, spread, math.inf)
    return JackknifeEstimate(
        log,
        delete_one_error(leave_one_out_values),
        spread,
        units,
        log - leave_one_out_values.mean(axis=-1),
    )


def delete_one_error(leave_one_out_values: np.ndarray) -> np.ndarray:
    """Return the standard error of a value from its leave-one-out values, shape (…, units)."""
    return np.sqrt((leave_one_out_values.shape[-1] - 1) * leave_one_out_values.var(axis=-1))


def influence_error(spectrum: Spectrum, q: float = DEFAULT_ORDER) -> float:
    """Estimate the standard error of log VS_q by the infinitesimal jackknife (Jaeckel 1972)."""
    return float(np.linalg.norm(influence(spectrum, q))) / spectrum.n


def influence(spectrum: Spectrum, q: float = DEFAULT_ORDER) -> np.ndarray:
    """Return the derivative of log VS_q in the weight of each sample, shape (n,), with mean 0."""
    values, U = positive_eigenpairs(spectrum, q)
    # contributions to the trace, 1 each unless eigenvalues were clipped
    masses = spectrum.n * (U**2 @ values)
    if math.isinf(q):
        return masses - spectrum.n * U[:, 0] ** 2
    return masses * compute_influence(
        compute_surprise(spectrum, q) - compute_log_score(spectrum, q), q
    )
