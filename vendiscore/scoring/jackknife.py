"""Jackknife standard errors of log VS, from its values without single samples or clusters."""

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

# A smaller deficit log n − log VS is a rounding error of 0: no two samples are similar.
NO_DEFICIT = 1e-9
Values: TypeAlias = float | np.ndarray  # a value of one set, or the values of several sets


@dataclass(frozen=True)
class JackknifeEstimate:
    """log VS_q with its jackknife standard errors, for one set or as arrays for several sets.

    - `log`: log VS_q of all samples
    - `error`: standard error of log VS_q
    - `spread`: standard error of log(log n − log VS_q); infinite if the deficit log n − log VS_q of
      the remaining samples is 0 without one of the units
    - `units`: number of sampling units (samples or clusters)
    - `gain`: mean over units of log VS_q of all samples minus log VS_q without the unit
    """

    log: Values
    error: Values
    spread: Values = math.inf
    units: int = 0
    gain: Values = 0.0


def jackknife(
    spectrum: Spectrum, q: float = DEFAULT_ORDER, clusters: np.ndarray | None = None
) -> JackknifeEstimate:
    """Compute log VS_q and its jackknife standard errors (Efron & Stein 1981).

    `clusters` holds the cluster code of each sample; if None, samples are the sampling units. If
    clusters differ in size, the deficit without a cluster depends on the size of the cluster, but
    log VS hardly does. For clusters, `spread` is therefore the standard error of log VS divided by
    the deficit of all samples.
    """
    log = compute_log_score(spectrum, q)
    if clusters is None:
        return jackknife_from_leave_one_out(log, leave_one_out(spectrum, q))
    leave_one_out_logs = leave_cluster_out(spectrum, clusters, q)
    error = float(delete_one_error(leave_one_out_logs))
    deficit = math.log(spectrum.n) - log
    spread = error / deficit if deficit > NO_DEFICIT else math.inf
    return JackknifeEstimate(log, error, spread, len(leave_one_out_logs))


def jackknife_from_leave_one_out(
    log: Values, leave_one_out_values: np.ndarray
) -> JackknifeEstimate:
    """Compute jackknife standard errors from log VS without each of n samples, shape (…, n).

    `log` is log VS of all samples, shape (…).
    """
    n_units = leave_one_out_values.shape[-1]
    deficits = math.log(n_units - 1) - leave_one_out_values
    spread = delete_one_error(np.log(np.maximum(deficits, NO_DEFICIT)))
    is_defined = (deficits > NO_DEFICIT).all(axis=-1)
    spread = np.where(is_defined, spread, math.inf)
    return JackknifeEstimate(
        log,
        delete_one_error(leave_one_out_values),
        spread,
        n_units,
        log - leave_one_out_values.mean(axis=-1),
    )


def delete_one_error(leave_one_out_values: np.ndarray) -> np.ndarray:
    """Return the jackknife standard error, shape (…), from leave-one-out values, (…, units)."""
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
