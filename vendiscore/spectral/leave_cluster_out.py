"""Compute the score of a set without each of its clusters, from one spectrum.

Let y_i = √p_i x_i for each sample i, with its unit-norm feature vector x_i and weight p_i, and let
A = Σ_i y_i y_iᵀ over all samples, which has trace 1. Let the columns of Y be the vectors y_i of the
samples of one cluster. Let λ be the eigenvalues of A, and μ those of A − YYᵀ, the sum over the
remaining samples. The score VS_q of the remaining samples is a function of Σ μ and Σ μ^q.

- Up to order 2, the entropies H_q = Σ (λ^q − λ)/(1 − q) of A and of A − YYᵀ are compared. Let
  c = tr YYᵀ, R(t) = Yᵀ (A + tI)⁻¹ Y, sinc(z) = sin(πz)/(πz), and b > 0 any number. Then
  H_q(A) − H_q(A − YYᵀ) = −c [b^{q−1} + (b^{q−1} − 1)/(q−1)]
                          + q sinc(1−q) ∫₀^∞ t^{q−1} [−log det(I − R(t)) − c/(t+b)] dt.
- Above order 2, let S(z) = I + Yᵀ (zI − A)⁻¹ Y, with derivative S′(z). The change of Σ λ^q is the
  integral of z^q tr(S⁻¹ S′)/2πi along a circle that touches 0 and encloses all λ. In 1/z, the
  circle is a line.
- At q = ∞, the largest μ is computed by bisection: x is larger than all μ if the number of λ above
  x equals the number of negative eigenvalues of the same S(x).

The circle touches the imaginary axis at 0, so it encloses all positive λ and μ, and no negative
ones. If negative eigenvalues are clipped, the integrals with z and z^q are therefore the changes of
Σ μ and Σ μ^q over positive μ only. This corresponds to computing and clipping the eigenvalues of
the remaining samples.
"""

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from ..core.eigenvalues import EPS, clip_eigenvalues
from ..core.hill import hill_number
from ..similarity.group_indices import iter_groups_by_size
from ..support.arguments import DEFAULT_ORDER, check_order
from ..support.namespace import row_blocks
from .quadrature import (
    TOLERANCE,
    compute_quadrature_nodes,
    compute_trace_term,
    log_score_from_change,
)
from .spectrum import Spectrum, retained_and_clipped_eigenpairs

# If a cluster has more samples than this fraction of the dimension of A, eigenvalues of the
# remaining samples are computed.
MAX_CLUSTER_FRACTION = 1 / 6
_LOG_ACCURACY = 30.0  # the integral along a circle has a relative error of e^−30
# The circle extends beyond the largest eigenvalue by this number divided by q, relative to it.
_CIRCLE_MARGIN = 5.0
# If a smaller fraction of Σ λ^q remains without a cluster, the subtraction loses too many digits,
# so eigenvalues of the remaining samples are computed.
_MIN_REMAINING_FRACTION = 1e-5
_BISECTION_STEPS = 48
_NODES_PER_BLOCK = 64
# With negative eigenvalues, the eigenvalues of the remaining samples are computed for sets of at
# most this many samples, and for orders below this one.
MAX_EXACT_SAMPLES = 64
_MIN_CIRCLE_ORDER = 0.1


def leave_cluster_out(
    spectrum: Spectrum,
    clusters: np.ndarray,
    q: float = DEFAULT_ORDER,
) -> np.ndarray:
    """Compute log VS_q of the remaining samples after leaving out each of m clusters, shape (m,).

    `spectrum` contains the eigenvectors of the set. `clusters` contains, for each of the n samples,
    the code of its cluster, an integer from 0 to m − 1. If negative eigenvalues of the set were
    clipped to 0, those of the remaining samples are clipped as well.

    The scores are integrals over a variable, computed by numerical quadrature. The cost is O(n r s)
    for each node of the quadrature, where r is the number of non-zero eigenvalues and s the number
    of samples of a cluster. There are dozens of nodes, or hundreds if eigenvalues were clipped.
    """
    q = check_order(q, allow_zero=False)
    values, U = retained_and_clipped_eigenpairs(spectrum)
    sizes = np.bincount(clusters)
    logs = np.empty(len(sizes))
    for codes, members in iter_groups_by_size(clusters):
        size = members.shape[1]
        # Process several clusters at once, as many as fit in the cache; this is a rough estimate of
        # the memory for one cluster.
        cluster_bytes = 16 * size * max(len(values), 50 * size)
        for batch in row_blocks(len(codes), cluster_bytes):
            G = U[members[batch]]  # shape (clusters, samples of a cluster, eigenvectors)
            if values[-1] < 0:  # psd="clip" set negative eigenvalues to 0
                equal_clusters: _Clusters = _ClippedClusters(values, G, U, members[batch])
            else:
                equal_clusters = _Clusters(values, G, sample_weight=1 / spectrum.n)
            logs[codes[batch]] = equal_clusters.compute_log_scores(q)
    # Scores of the remaining samples are between 1 and their number, except for numerical errors.
    return np.clip(logs, 0.0, np.log(spectrum.n - sizes))


class _Clusters:
    """Several clusters of equal size in a set, to compute scores of the set without each cluster.

    Let A be the sum of y yᵀ over the weighted feature vectors y of all samples, and let the columns
    of Y be the vectors y of one cluster. A score without the cluster is computed from the
    eigenvalues of A − YYᵀ, or from functions of Yᵀ (A + tI)⁻¹ Y = G diag(λ/(λ + t)) Gᵀ, with the
    eigenvalues λ of A and the matrix G of the cluster.

    Parameters
    ----------
    values : ndarray (r,)
        The r non-zero eigenvalues λ of the set, in descending order.
    G : ndarray (g, s, r)
        For each of the g clusters, the rows of the eigenvectors of the set (one per sample) that
        belong to the s samples of the cluster.
    sample_weight : float
        The typical weight of a sample, which determines the range of the quadrature nodes.
    """

    def __init__(self, values: np.ndarray, G: np.ndarray, sample_weight: float) -> None:
        # `values` (r,) are the non-zero eigenvalues of the set. G (g, s, r) are the rows of its
        # eigenvectors for the s samples of each of the g clusters.
        self.values = values
        self.G = G
        self.sample_weight = sample_weight
        self.squares: np.ndarray = np.square(G).sum(axis=1)  # (g, r), summed over the samples
        self.cluster_weights: np.ndarray = self.squares @ values  # (g,), tr YYᵀ

    def compute_log_scores(self, q: float) -> np.ndarray:
        """Compute log VS_q of the samples outside each of the g clusters, shape (g,)."""
        _, size, r = self.G.shape
        # Eigenvalues are faster for large clusters, but never for clusters of one sample.
        if size > max(1, MAX_CLUSTER_FRACTION * r):
            return self._log_scores_by_eigenvalues(q)
        if math.isinf(q):
            return self._log_scores_by_bisection()
        if q <= 2:
            return self._log_scores_by_quadrature(q)
        return self._log_scores_by_contour_integral(q)

    def compute_inner_products(self, weights: np.ndarray) -> np.ndarray:
        """Compute G diag(w) Gᵀ for each of g clusters of s samples, shape (g, s, s).

        The rows of G (s, r) are the entries of the r eigenvectors of the set for the samples of the
        cluster. The `weights` w have shape (r,), or (g, 1, r) if they differ between clusters.
        """
        transposed = self.G.swapaxes(-1, -2)
        return (self.G * weights) @ transposed

    @cached_property
    def identity_minus_gram(self) -> np.ndarray:
        """The matrix I − G Gᵀ of each of g clusters of s samples, shape (g, s, s).

        The rows of G (s, r) are the entries of the r eigenvectors of the set for the samples of the
        cluster. The matrix is 0 if r is the number of samples of the set. Entries that may be
        rounding errors are set to 0, because they would dominate terms that are nearly 0.
        """
        _, size, r = self.G.shape
        difference = np.eye(size) - self.compute_inner_products(np.ones(r))
        difference[np.abs(difference) < 1e-13 * r] = 0.0
        return difference

    def _log_scores_by_eigenvalues(self, q: float) -> np.ndarray:
        """Compute log VS_q of the samples outside each cluster from the eigenvalues of A − YYᵀ.

        A is the sum of y yᵀ over the weighted feature vectors y of all samples, and the columns of
        Y are the vectors y of the cluster. In the basis of the eigenvectors of A, with eigenvalues
        λ, A is diag(λ), and Yᵀ is G diag(√λ), where the rows of G are the entries of the
        eigenvectors for the samples of the cluster.
        """
        Y_transposed = self.G * np.sqrt(self.values)
        remaining = np.diag(self.values) - Y_transposed.swapaxes(-1, -2) @ Y_transposed
        values = clip_eigenvalues(np.linalg.eigvalsh(remaining))
        return np.log(hill_number(values, q))

    def _log_scores_by_quadrature(self, q: float) -> np.ndarray:
        """Compute log VS_q of the samples outside each cluster, for q ≤ 2, by numerical quadrature.

        Removing a cluster changes the entropy S_q = Σ (λ^q − λ)/(1 − q) of the eigenvalues λ of the
        set. The change is an integral over t > 0, given in docs/identity.md for a single sample.
        """
        # A is the sum of y yᵀ over the weighted feature vectors y of all samples, and the columns
        # of Y are those of the cluster. With c = tr YYᵀ, S(t) = Yᵀ (A + tI)⁻¹ Y, the trace term T,
        # and the node weights w(t) dt, the change of the entropy is
        #     S_q(A) − S_q(A − YYᵀ) = c T(b) − ∫ [log det(I − S(t)) + c/(t + b)] w(t) dt.
        # It is valid for every b > 0. The number b = (tr Yᵀ A Y − ‖YᵀY‖²_F / 2) / c generalizes the
        # b for a single sample, with which few nodes are needed.
        values = self.values
        trace = self.cluster_weights  # c
        second_moment = self.squares @ values**2
        squared_gram_norm = np.square(self.compute_inner_products(values)).sum(axis=(1, 2))
        b = (second_moment - squared_gram_norm / 2) / trace
        change = trace * compute_trace_term(q, b)
        nodes, weights = compute_quadrature_nodes(
            q,
            smallest=values[-1],
            largest=values[0],
            tolerance=TOLERANCE,
            sample_weight=self.sample_weight,
        )
        tiny = np.finfo(float).tiny
        for t, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
            shifted_values = values + t
            # Both branches compute the logs of the eigenvalues of I − S, whose sum is its log det:
            # from I − S for small t and from S for large t, to avoid cancellation.
            if t < values[0]:
                identity_minus_S = self.identity_minus_gram + self.compute_inner_products(
                    t / shifted_values
                )
                logs = np.log(np.maximum(np.linalg.eigvalsh(identity_minus_S), tiny))
            else:
                S = self.compute_inner_products(values / shifted_values)
                logs = np.log1p(-np.linalg.eigvalsh(S))
            integrand = logs.sum(axis=1) + trace / (t + b)
            change -= weight * integrand
        return log_score_from_change(values, -change, 1 - trace, q)

    def _log_scores_by_contour_integral(self, q: float) -> np.ndarray:
        """Compute log VS_q of the samples outside each cluster, for q > 2, by a contour integral.

        For an analytic function, the difference between its sums over the eigenvalues of the set
        and over those of the remaining samples is an integral in the complex plane, along a circle
        that encloses all eigenvalues. Here, the function is the power z^q, and the integral is
        computed by the trapezoid rule. For clusters of few samples, this is faster than computing
        the eigenvalues of the remaining samples. These are computed for clusters without which so
        little remains that the difference is inaccurate.
        """
        # z runs along the circle through 0 and c, as 1/z = (1 + i sinh u)/c. The trapezoid rule
        # uses u ≥ 0, because the integrand at −u is the complex conjugate. Eigenvalues x of the set
        # are divided by the largest; μ are those of the remaining samples.
        x = self.values / self.values[0]
        step, n_steps, c = _choose_contour_grid(q, min_order=q)
        # The remaining eigenvalues are the zeros of det S(z), and those of the set are its poles,
        # for S(z) = I + Yᵀ (zI − A)⁻¹ Y with the matrix A of the set and the weighted feature
        # vectors Y of the cluster. The integrand is z^q times the derivative of log det S(z), which
        # is tr S⁻¹ S′. The entries of S are computed from x/(z − x) = z/(z − x) − 1, and those of
        # −S′ from x/(z − x)². The factor z² comes from dz/du = −i z² cosh(u)/c.
        total = float((x**q).sum())
        remaining = np.full(len(self.G), total)  # Σ μ^q, which is total minus the integral
        for u in step * np.arange(n_steps + 1):
            z = c / (1 + 1j * math.sinh(u))
            z_minus_x = z - x
            S = self.identity_minus_gram + self.compute_inner_products(z / z_minus_x)
            minus_derivative = self.compute_inner_products(x / z_minus_x**2)
            traces = np.trace(np.linalg.solve(S, minus_derivative), axis1=1, axis2=2)
            weight = step / (math.pi * c) * math.cosh(u)
            if u == 0:  # belongs to both halves of the contour
                weight /= 2
            integrand = z ** (q + 2) * traces
            remaining -= weight * integrand.real
        min_remaining = _MIN_REMAINING_FRACTION * total
        log_powers = np.log(np.maximum(remaining, min_remaining))
        # Undo the division by the largest eigenvalue, and divide by the trace without the cluster.
        log_powers += q * np.log(self.values[0] / (1 - self.cluster_weights))
        logs = log_powers / (1 - q)
        # Compute inaccurate scores from eigenvalues instead.
        inaccurate = np.flatnonzero(remaining <= min_remaining)
        for batch in row_blocks(len(inaccurate), 8 * len(x) ** 2, min_rows=1):
            indices = inaccurate[batch]
            clusters = _Clusters(self.values, self.G[indices], self.sample_weight)
            logs[indices] = clusters._log_scores_by_eigenvalues(q)
        return logs

    def _log_scores_by_bisection(self) -> np.ndarray:
        """Compute log VS_∞ of the samples outside each cluster, by bisection.

        It is −log(λ / tr B), where λ is the largest eigenvalue of B = A − YYᵀ. The trace tr B is 1
        minus the weight of the cluster. A is the sum of y yᵀ over the weighted feature vectors y of
        all samples, and the columns of Y are the vectors y of the cluster.
        """
        return np.log1p(-self.cluster_weights) - np.log(self.compute_largest_eigenvalues())

    def compute_largest_eigenvalues(self) -> np.ndarray:
        """Compute the largest eigenvalue of A − YYᵀ for each cluster by bisection.

        A is the sum of y yᵀ over the weighted feature vectors y of all samples, and the columns of
        Y are the vectors y of the cluster. A number x is larger than all eigenvalues of A − YYᵀ if
        the number of eigenvalues of A above x equals the number of negative eigenvalues of the
        matrix I + Yᵀ (xI − A)⁻¹ Y.
        """
        values = self.values
        n_clusters = len(self.G)
        low = np.zeros(n_clusters)
        high = np.full(n_clusters, values[0])  # subtracting YYᵀ cannot increase eigenvalues
        for _ in range(_BISECTION_STEPS):
            middle = (low + high) / 2
            column = middle[:, None]
            gaps = column - values
            gaps = np.where(gaps == 0, EPS * column, gaps)  # avoid a division by 0
            weights = column / gaps
            # I + Yᵀ (xI − A)⁻¹ Y for x = `middle`.
            S = self.identity_minus_gram + self.compute_inner_products(weights[:, None])
            # For clusters of one sample, S is a number.
            S_eigenvalues = S[:, 0] if S.shape[1] == 1 else np.linalg.eigvalsh(S)
            n_negative = (S_eigenvalues < 0).sum(axis=1)
            n_larger = (values > column).sum(axis=1)
            is_too_low = n_larger > n_negative
            low = np.where(is_too_low, middle, low)
            high = np.where(is_too_low, high, middle)
        return high


class _ClippedClusters(_Clusters):
    """Several clusters of equal size in a set whose negative eigenvalues were clipped to 0.

    For scores of the set without each cluster, negative eigenvalues of the matrix of the remaining
    samples are clipped as well.

    Parameters
    ----------
    values : ndarray (r,)
        The r non-zero eigenvalues of the set before clipping, positive ones first.
    G : ndarray (g, s, r)
        For each of the g clusters, the rows of `U` of its s samples.
    U : ndarray (n, r)
        The eigenvectors of the set of n samples.
    members : ndarray (g, s)
        Indices of the samples of each cluster.
    """

    def __init__(
        self, values: np.ndarray, G: np.ndarray, U: np.ndarray, members: np.ndarray
    ) -> None:
        # U (n, r) are the eigenvectors of the n samples. G (g, s, r) are its rows `members` (g, s),
        # which are the indices of the s samples of each of the g clusters.
        super().__init__(values, G, sample_weight=1 / len(U))
        self.U = U
        self.members = members

    def compute_log_scores(self, q: float) -> np.ndarray:
        """Compute log VS_q of the samples outside each of the g clusters, shape (g,)."""
        size = self.G.shape[1]
        has_few_samples = len(self.U) <= MAX_EXACT_SAMPLES
        has_large_clusters = size > max(1, MAX_CLUSTER_FRACTION * len(self.values))
        # Eigenvalues are faster in these cases; at low orders, the integral needs many nodes.
        if has_few_samples or has_large_clusters or q < _MIN_CIRCLE_ORDER:
            return self._log_scores_by_eigenvalues(q)
        return self._log_scores_by_contour_integral(q)

    def _log_scores_by_eigenvalues(self, q: float) -> np.ndarray:
        """Compute log VS_q of the samples outside each cluster from their eigenvalues.

        These are the eigenvalues of the weighted similarity matrix of the remaining samples.
        """
        logs = np.empty(len(self.members))
        for i, cluster_indices in enumerate(self.members):
            # With the eigenvectors U of the set, rows and columns of U diag(λ) Uᵀ.
            remaining = np.delete(self.U, cluster_indices, axis=0)
            K = (remaining * self.values) @ remaining.T
            logs[i] = np.log(hill_number(clip_eigenvalues(np.linalg.eigvalsh(K)), q))
        return logs

    def _log_scores_by_contour_integral(self, q: float) -> np.ndarray:
        """Compute log VS_q of the samples outside each cluster by two contour integrals.

        VS_q is a function of Σ μ and Σ μ^q, where μ are the positive eigenvalues of the remaining
        samples, divided by the largest eigenvalue of the set. The difference between such a sum and
        that over the eigenvalues of the set is an integral in the complex plane, along a circle
        that encloses all positive eigenvalues and no negative ones.
        """
        x = self.values / self.values[0]
        positive = x[x > 0]
        order = 1.0 if math.isinf(q) else q  # order ∞ needs only Σ μ
        # Up to order 2, compute Σ (μ^q − μ)/(q − 1) instead of Σ μ^q, which has a limit at q = 1.
        use_raw_powers = order > 2
        # Start from the sums over the eigenvalues of the set, and subtract the integrals below to
        # obtain Σ μ (`total`) and Σ μ^q (`power_sum`) of the samples outside each cluster.
        total = np.full(len(self.G), positive.sum())
        power_sum = np.full(len(self.G), _compute_powers(positive, order, use_raw_powers).sum())
        min_total = _MIN_REMAINING_FRACTION * total[0]
        min_power_sum = _MIN_REMAINING_FRACTION * power_sum[0]  # for raw powers
        for z, weights in _iter_circle_nodes(order, min_order=min(order, 1.0)):
            slopes = self._compute_contour_slopes(z, x) * weights
            total -= (slopes * z).real.sum(axis=-1)
            power_sum -= (slopes * _compute_powers(z, order, use_raw_powers)).real.sum(axis=-1)
        is_inaccurate = total <= min_total
        total = np.maximum(total, min_total)
        if math.isinf(q):
            largest = self.compute_largest_eigenvalues() / self.values[0]
            logs = np.log(total) - np.log(largest)
        elif use_raw_powers:
            is_inaccurate |= power_sum <= min_power_sum
            logs = (np.log(np.maximum(power_sum, min_power_sum)) - q * np.log(total)) / (1 - q)
        elif q == 1:
            logs = np.log(total) - power_sum / total  # here, power_sum is Σ μ log μ
        else:
            # Σ μ^q / Σ μ − 1, where power_sum is Σ (μ^q − μ)/(q − 1).
            power_change = np.maximum((q - 1) * power_sum / total, _MIN_REMAINING_FRACTION - 1)
            logs = np.log(total) + np.log1p(power_change) / (1 - q)
        for i in np.flatnonzero(is_inaccurate):
            cluster = _ClippedClusters(self.values, self.G[[i]], self.U, self.members[[i]])
            logs[i] = cluster._log_scores_by_eigenvalues(q)[0]
        return logs

    def _compute_contour_slopes(self, z: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Compute −z² tr(S⁻¹ S′) for each of g clusters at m nodes z of the contour, shape (g, m).

        It is the slope (derivative) of log det S(z) with respect to 1/z, where S′ is the derivative
        of S(z) = I + Yᵀ (zI − A)⁻¹ Y with respect to z. A is the sum of y yᵀ over the weighted
        feature vectors y of all samples, and the columns of Y are the vectors y of the cluster. `x`
        (r,) are the eigenvalues of A. They are divided by the largest one, and vectors y by its
        square root.
        """
        z_minus_x = z[:, None] - x
        if self.G.shape[1] == 1:  # S is a number for clusters of one sample
            S = self.identity_minus_gram[:, 0] + _complex_product(
                self.squares, z[:, None] / z_minus_x
            )
            return _complex_product(self.squares, x / z_minus_x**2) * z**2 / S
        slopes = np.empty((len(self.G), len(z)), dtype=complex)
        for k in range(len(z)):
            S = self.identity_minus_gram + self.compute_inner_products(z[k] / z_minus_x[k])
            solved = np.linalg.solve(S, self.compute_inner_products(x / z_minus_x[k] ** 2))
            slopes[:, k] = np.trace(solved, axis1=1, axis2=2) * z[k] ** 2
        return slopes


def _iter_circle_nodes(q: float, min_order: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of complex nodes z and weights w, to integrate along a circle by Σ w f(z).

    The circle touches 0 and encloses the interval (0, 1] of positive eigenvalues, which are divided
    by the largest. Nodes are those of the trapezoid rule in u ≥ 0 for 1/z = (1 + i sinh u)/c, with
    a constant c. The sum is accurate for integrands that grow like z^a with exponents a from
    `min_order` to q.
    """
    step, n_steps, c = _choose_contour_grid(q, min_order)
    for first in range(0, n_steps + 1, _NODES_PER_BLOCK):
        u = step * np.arange(first, min(first + _NODES_PER_BLOCK, n_steps + 1))
        weights = step / (math.pi * c) * np.cosh(u)
        weights[u == 0] /= 2  # belongs to both halves of the contour, of which one is computed
        yield c / (1 + 1j * np.sinh(u)), weights


def _choose_contour_grid(q: float, min_order: float) -> tuple[float, int, float]:
    """Return the step of u, the number of steps, and c of the contour 1/z = (1 + i sinh u)/c.

    The contour is a circle through 0 and c, where 1 < c ≤ 2. It encloses all positive eigenvalues,
    which are at most 1. The trapezoid rule in u has a relative error of e^−30 for integrands that
    grow like z^a with exponents a from `min_order` to q. As a function of complex u, the integrand
    has no poles for |Im u| < c − 1, so the error decreases exponentially with (c − 1)/step. The
    integrand decreases at least as fast as (cosh u)^−a.
    """
    half_width = min(1.0, _CIRCLE_MARGIN / q)  # of the strip of u without poles
    # The integrand in the strip is up to (1 − sin(half_width))^−q times larger than on the contour.
    log_accuracy = _LOG_ACCURACY - q * math.log1p(-math.sin(half_width))
    step = 2 * math.pi * half_width / log_accuracy
    # Where the integrand (cosh u)^−a has decreased to e^−30, for the smallest exponent.
    max_u = math.acosh(math.exp(_LOG_ACCURACY / min_order))
    return step, math.ceil(max_u / step), 1 + half_width


def _compute_powers(x: np.ndarray, q: float, raw: bool) -> np.ndarray:
    """Compute x^q if `raw`, otherwise (x^q − x)/(q − 1), which is x log x at q = 1.

    x are eigenvalues or complex nodes.
    """
    if raw:
        return x**q
    logs = np.log(x)
    if q == 1:
        return x * logs
    return x * np.expm1((q - 1) * logs) / (q - 1)


def _complex_product(squares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute `squares @ weights.T` for real `squares` (g, r) and complex `weights` (m, r).

    Two real products are faster than the complex product.
    """
    return squares @ weights.real.T + 1j * (squares @ weights.imag.T)
