"""Jackknife standard errors of log VS, from its values after leaving out one sample or cluster.

VS_q is the Vendi Score of order q. The deficit of n samples is log n − log VS_q, which is 0 if no
two samples are similar.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..spectral.leave_cluster_out import leave_cluster_out
from ..spectral.leave_one_out import (
    compute_log_score,
    compute_surprise,
    influence_from_surprisals,
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

    - `log_score`: log VS_q of all samples
    - `error`: standard error of log VS_q
    - `log_deficit_error`: standard error of the logarithm of the deficit log n − log VS_q, where n
      is the number of samples. It is used for intervals of VS_q that do not exceed n. It is
      infinite if leaving out some unit gives a deficit of 0, whose logarithm is infinite
    - `n_units`: number of sampling units, the samples or clusters that are left out one at a time
    - `mean_drop`: decrease of log VS_q if a unit is left out, as a mean over units
    """

    log_score: Values
    error: Values
    log_deficit_error: Values = math.inf
    n_units: int = 0
    mean_drop: Values = 0.0


def jackknife(
    spectrum: Spectrum, q: float = DEFAULT_ORDER, clusters: np.ndarray | None = None
) -> JackknifeEstimate:
    """Compute log VS_q and its jackknife standard errors (Efron & Stein 1981).

    `clusters` contains the cluster code of each sample, and one cluster at a time is left out. If
    it is None, one sample at a time is left out.

    The deficit of the m samples that remain without a cluster is log m − log VS_q. It varies mainly
    because m depends on the size of the cluster. For clusters, `log_deficit_error` is therefore
    computed only from the standard error of log VS_q, divided by the deficit of all samples.
    """
    log_score = compute_log_score(spectrum, q)
    if clusters is None:
        return jackknife_from_leave_one_out(log_score, leave_one_out(spectrum, q))
    leave_one_out_logs = leave_cluster_out(spectrum, clusters, q)
    error = float(delete_one_error(leave_one_out_logs))
    deficit = math.log(spectrum.n) - log_score
    return JackknifeEstimate(
        log_score=log_score,
        error=error,
        log_deficit_error=error / deficit if deficit > NO_DEFICIT else math.inf,
        n_units=len(leave_one_out_logs),
    )


def jackknife_from_leave_one_out(
    log_score: Values, leave_one_out_logs: np.ndarray
) -> JackknifeEstimate:
    """Compute jackknife standard errors of log VS from its leave-one-out values.

    `log_score`, shape (…), is log VS of all n samples of each set. `leave_one_out_logs`, shape
    (…, n), contains log VS of the n − 1 remaining samples after leaving out each sample.
    """
    n = leave_one_out_logs.shape[-1]
    deficits = math.log(n - 1) - leave_one_out_logs
    log_deficits = np.log(np.maximum(deficits, NO_DEFICIT))
    is_defined = (deficits > NO_DEFICIT).all(axis=-1)
    return JackknifeEstimate(
        log_score=log_score,
        error=delete_one_error(leave_one_out_logs),
        log_deficit_error=np.where(is_defined, delete_one_error(log_deficits), math.inf),
        n_units=n,
        mean_drop=log_score - leave_one_out_logs.mean(axis=-1),
    )


def delete_one_error(leave_one_out_values: np.ndarray) -> np.ndarray:
    """Return the jackknife standard error, shape (…), of a statistic.

    `leave_one_out_values`, shape (…, units), contains the statistic of the remaining samples after
    leaving out each sampling unit (a sample or a cluster).
    """
    n_units = leave_one_out_values.shape[-1]
    return np.sqrt((n_units - 1) * leave_one_out_values.var(axis=-1))


def influence_error(spectrum: Spectrum, q: float = DEFAULT_ORDER) -> float:
    """Estimate the standard error of log VS_q by the infinitesimal jackknife (Jaeckel 1972).

    It is the root mean square of n times the derivatives of log VS_q with respect to the weights of
    the n samples, divided by √n.
    """
    return float(np.linalg.norm(influence(spectrum, q))) / spectrum.n


def influence(spectrum: Spectrum, q: float = DEFAULT_ORDER) -> np.ndarray:
    """Return n times the derivative of log VS_q with respect to each sample's weight, shape (n,).

    The derivatives are those for weights that keep the sum 1, so their mean is 0.
    """
    values, U = positive_eigenpairs(spectrum, q)
    # Contributions of samples to the trace, times n: 1 unless eigenvalues were clipped.
    masses = spectrum.n * (U**2 @ values)
    if math.isinf(q):  # the derivative of −log λ_max, whose eigenvector is the first
        return masses - spectrum.n * U[:, 0] ** 2
    # The derivative depends on the difference between the surprisal of the sample and log VS_q. The
    # surprisal is log(xᵀ A^(q−1) x)/(1 − q), where x is the feature vector of the sample, and A the
    # mean of x xᵀ over all samples.
    return masses * influence_from_surprisals(
        compute_surprise(spectrum, q) - compute_log_score(spectrum, q), q
    )
