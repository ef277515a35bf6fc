"""Compute the score without each cluster of samples, from one spectrum.

Let Y be the rows of a cluster, λ the eigenvalues of A and μ the eigenvalues of A − YYᵀ.

- Up to order 2, with S(t) = Yᵀ (A + tI)⁻¹ Y, the change of S_q is the integral in `leave_one_out`
  with log det(I − S(t)) instead of log(1 − s(t)), and tr YYᵀ instead of c.
- Above order 2, with S(z) = I + Yᵀ (zI − A)⁻¹ Y, the change of Σ λ^q is the integral of
  z^q tr(S⁻¹ S′)/2πi along a circle through 0 around all λ, which is a line in 1/z.
- At q = ∞, the largest μ is computed by bisection: x is above the largest μ if the number of λ
  above x equals the number of negative eigenvalues of S(x).

The circle touches the imaginary axis at 0. It encloses all positive λ and μ, and no negative ones.
So if negative eigenvalues are clipped, the integrals with z and z^q are the changes of Σ μ and
Σ μ^q over positive μ only: the remaining samples are clipped as a set of their own.
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
from .quadrature import TOLERANCE, log_score_from_change, quadrature_nodes, trace_term
from .spectrum import Spectrum, signed_eigenpairs

# Without clusters of more samples than this fraction of the dimensions, eigenvalues are recomputed.
MAX_CLUSTER_FRACTION = 1 / 6
_LOG_ACCURACY = 30.0  # the integral along a circle has a relative error of e^−30
# The circle extends beyond the largest eigenvalue by this number divided by q, relative to it.
_CIRCLE_MARGIN = 5.0
# If a smaller fraction of Σ λ^q remains, digits are lost, and eigenvalues are recomputed.
_MIN_REMAINING_FRACTION = 1e-5
_BISECTION_STEPS = 48
_NODES_PER_BLOCK = 64
MAX_EXACT_SAMPLES = 64  # with negative eigenvalues, smaller sets recompute eigenvalues
_MIN_CIRCLE_ORDER = 0.1  # with negative eigenvalues, smaller orders recompute eigenvalues


def leave_cluster_out(
    spectrum: Spectrum,
    clusters: np.ndarray,
    q: float = DEFAULT_ORDER,
) -> np.ndarray:
    """Compute log VS_q without each cluster, shape (m,); `clusters` (n,) has codes 0 to m − 1.

    If negative eigenvalues were clipped, the remaining samples are clipped as a set of their own.
    The cost is O(n r s) for each of dozens of nodes, for clusters of s samples and rank r, or for
    hundreds of nodes if eigenvalues were clipped.
    """
    q = check_order(q, allow_zero=False)
    values, U = signed_eigenpairs(spectrum)
    sizes = np.bincount(clusters)
    left = np.empty(len(sizes))
    for codes, members in iter_groups_by_size(clusters):
        size = members.shape[1]
        row_bytes = 16 * size * max(len(values), 50 * size)
        for rows in row_blocks(len(codes), row_bytes):
            G = U[members[rows]]
            if values[-1] < 0:
                clipped = _ClippedClusters(values, G, U, members[rows])
                left[codes[rows]] = clipped.log_scores(q)
            else:
                alike = _Clusters(values, G, 1 / spectrum.n)
                left[codes[rows]] = alike.log_scores(q)
    return np.clip(left, 0.0, np.log(spectrum.n - sizes))


class _Clusters:
    """Clusters of equal size s in a set.

    They are given by the eigenvalues (r,) of the set, and G (g, s, r), the rows of its eigenvectors
    for the samples of each cluster.
    """

    def __init__(self, values: np.ndarray, G: np.ndarray, sample_weight: float) -> None:
        self.values = values
        self.G = G
        self.sample_weight = sample_weight
        self.squares: np.ndarray = np.square(G).sum(axis=1)
        self.weights: np.ndarray = self.squares @ values  # tr YYᵀ

    def log_scores(self, q: float) -> np.ndarray:
        """Compute log VS_q without each cluster."""
        _, size, r = self.G.shape
        if size > max(1, MAX_CLUSTER_FRACTION * r):
            return self._by_eigenvalues(q)
        if math.isinf(q):
            return self._by_bisection()
        if q <= 2:
            return self._by_quadrature(q)
        return self._by_contour_integral(q)

    def inner_products(self, weights: np.ndarray) -> np.ndarray:
        """Compute G diag(w) Gᵀ for each cluster, with weights (r,), or (g, 1, r) per cluster."""
        transposed = self.G.swapaxes(-1, -2)
        return (self.G * weights) @ transposed

    @cached_property
    def complement(self) -> np.ndarray:
        """I − GGᵀ for each cluster, with rounding errors of 0 set to 0."""
        _, size, r = self.G.shape
        outside = np.eye(size) - self.inner_products(np.ones(r))
        outside[np.abs(outside) < 1e-13 * r] = 0.0
        return outside

    def _by_eigenvalues(self, q: float) -> np.ndarray:
        """Compute log VS_q without each cluster from the eigenvalues of A − YYᵀ."""
        Y = self.G * np.sqrt(self.values)
        taken = Y.swapaxes(-1, -2) @ Y
        left = np.diag(self.values) - taken
        values = clip_eigenvalues(np.linalg.eigvalsh(left))
        return np.log(hill_number(values, q))

    def _by_quadrature(self, q: float) -> np.ndarray:
        """Compute log VS_q without each cluster, for q ≤ 2, by quadrature over t."""
        values = self.values
        trace = self.weights
        second = self.squares @ values**2
        within = np.square(self.inner_products(values)).sum(axis=(1, 2))
        b = (second - within / 2) / trace
        change = trace * trace_term(q, b)
        nodes, weights = quadrature_nodes(q, values[-1], values[0], TOLERANCE, self.sample_weight)
        tiny = np.finfo(float).tiny
        for t, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
            shifted = values + t
            if t < values[0]:
                S = self.complement + self.inner_products(t / shifted)
                rest = np.linalg.eigvalsh(S)
                logs = np.log(np.maximum(rest, tiny))
            else:
                S = self.inner_products(values / shifted)
                taken = np.linalg.eigvalsh(S)
                logs = np.log1p(-taken)
            integrand = logs.sum(axis=1) + trace / (t + b)
            change -= weight * integrand
        return log_score_from_change(values, -change, 1 - trace, q)

    def _by_contour_integral(self, q: float) -> np.ndarray:
        """Compute log VS_q without each cluster, for q > 2, by a contour integral.

        It uses the trapezoid rule in u, with 1/z = (1 + i sinh u)/c.
        """
        x = self.values / self.values[0]
        width = min(1.0, _CIRCLE_MARGIN / q)  # half-width of the strip of u without poles
        digits = _LOG_ACCURACY - q * math.log1p(-math.sin(width))
        step = 2 * math.pi * width / digits
        farthest = math.acosh(math.exp(_LOG_ACCURACY / q))
        steps = math.ceil(farthest / step)
        c = 1 + width
        whole = float((x**q).sum())
        left = np.full(len(self.G), whole)
        for u in step * np.arange(steps + 1):
            z = c / (1 + 1j * math.sinh(u))
            gaps = z - x
            S = self.complement + self.inner_products(z / gaps)
            slope = self.inner_products(x / gaps**2)
            solved = np.linalg.solve(S, slope)
            traces = np.trace(solved, axis1=1, axis2=2)
            weight = step / (math.pi * c) * math.cosh(u)
            if u == 0:
                weight /= 2
            integrand = z ** (q + 2) * traces
            left -= weight * integrand.real
        least = _MIN_REMAINING_FRACTION * whole
        powers = np.log(np.maximum(left, least))
        powers += q * np.log(self.values[0] / (1 - self.weights))
        logs = powers / (1 - q)
        lost = np.flatnonzero(left <= least)
        for rows in row_blocks(len(lost), 8 * len(x) ** 2, min_rows=1):
            places = lost[rows]
            some = _Clusters(self.values, self.G[places], self.sample_weight)
            logs[places] = some._by_eigenvalues(q)
        return logs

    def _by_bisection(self) -> np.ndarray:
        """Compute log VS_∞ without each cluster from the largest eigenvalue of A − YYᵀ."""
        return np.log1p(-self.weights) - np.log(self.largest_eigenvalues())

    def largest_eigenvalues(self) -> np.ndarray:
        """Compute the largest eigenvalue of A − YYᵀ for each cluster by bisection."""
        values = self.values
        count = len(self.G)
        low = np.zeros(count)
        high = np.full(count, values[0])
        for _ in range(_BISECTION_STEPS):
            middle = (low + high) / 2
            column = middle[:, None]
            gaps = column - values
            gaps = np.where(gaps == 0, EPS * column, gaps)
            weights = column / gaps
            S = self.complement + self.inner_products(weights[:, None])
            signs = S[:, 0]
            if S.shape[1] > 1:
                signs = np.linalg.eigvalsh(S)
            negative = (signs < 0).sum(axis=1)
            larger = (values > column).sum(axis=1)
            above = larger > negative
            low = np.where(above, middle, low)
            high = np.where(above, high, middle)
        return high


class _ClippedClusters(_Clusters):
    """Clusters in a set with clipped negative eigenvalues.

    The remaining samples are clipped as a set of their own. `values` (r,) are all eigenvalues,
    positive ones first, U (n, r) their eigenvectors, and `members` (g, s) the samples of clusters.
    """

    def __init__(
        self, values: np.ndarray, G: np.ndarray, U: np.ndarray, members: np.ndarray
    ) -> None:
        super().__init__(values, G, 1 / len(U))
        self.U = U
        self.members = members

    def log_scores(self, q: float) -> np.ndarray:
        """Compute log VS_q without each cluster."""
        size = self.G.shape[1]
        few = len(self.U) <= MAX_EXACT_SAMPLES
        large = size > max(1, MAX_CLUSTER_FRACTION * len(self.values))
        if few or large or q < _MIN_CIRCLE_ORDER:
            return self._by_eigenvalues(q)
        return self._by_contour_integral(q)

    def _by_eigenvalues(self, q: float) -> np.ndarray:
        """Compute log VS_q without each cluster from the eigenvalues of the remaining samples."""
        logs = np.empty(len(self.members))
        for i, own in enumerate(self.members):
            rest = np.delete(self.U, own, axis=0)
            K = (rest * self.values) @ rest.T
            logs[i] = np.log(hill_number(clip_eigenvalues(np.linalg.eigvalsh(K)), q))
        return logs

    def _by_contour_integral(self, q: float) -> np.ndarray:
        """Compute log VS_q without each cluster from contour integrals of Σ μ and Σ μ^q."""
        x = self.values / self.values[0]
        positive = x[x > 0]
        order = 1.0 if math.isinf(q) else q
        # Up to order 2, compute the change of Σ (μ^q − μ)/(q − 1), which has a limit at q = 1.
        above_two = order > 2
        total = np.full(len(self.G), positive.sum())
        power = np.full(len(self.G), _compute_powers(positive, order, above_two).sum())
        least = _MIN_REMAINING_FRACTION * np.array([total[0], power[0] if above_two else total[0]])
        for z, weights in _iter_circle_nodes(order, min(order, 1.0)):
            slopes = self._contour_slopes(z, x) * weights
            total -= (slopes * z).real.sum(axis=-1)
            power -= (slopes * _compute_powers(z, order, above_two)).real.sum(axis=-1)
        lost = total <= least[0]
        total = np.maximum(total, least[0])
        if math.isinf(q):
            logs = np.log(total) - np.log(self.largest_eigenvalues() / self.values[0])
        elif above_two:
            lost |= power <= least[1]
            logs = (np.log(np.maximum(power, least[1])) - q * np.log(total)) / (1 - q)
        elif q == 1:
            logs = np.log(total) - power / total
        else:
            ratio = np.maximum((q - 1) * power / total, _MIN_REMAINING_FRACTION - 1)
            logs = np.log(total) + np.log1p(ratio) / (1 - q)
        for i in np.flatnonzero(lost):
            alone = _ClippedClusters(self.values, self.G[[i]], self.U, self.members[[i]])
            logs[i] = alone._by_eigenvalues(q)[0]
        return logs

    def _contour_slopes(self, z: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Compute −z² tr(S⁻¹ S′) at m nodes z, shape (g, m)."""
        gaps = z[:, None] - x
        if self.G.shape[1] == 1:
            S = self.complement[:, 0] + _complex_product(self.squares, z[:, None] / gaps)
            return _complex_product(self.squares, x / gaps**2) * z**2 / S
        slopes = np.empty((len(self.G), len(z)), dtype=complex)
        for k in range(len(z)):
            S = self.complement + self.inner_products(z[k] / gaps[k])
            solved = np.linalg.solve(S, self.inner_products(x / gaps[k] ** 2))
            slopes[:, k] = np.trace(solved, axis1=1, axis2=2) * z[k] ** 2
        return slopes


def _iter_circle_nodes(q: float, min_order: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield blocks of nodes z and weights of the contour integral, for orders `min_order` to q."""
    width = min(1.0, _CIRCLE_MARGIN / q)
    digits = _LOG_ACCURACY - q * math.log1p(-math.sin(width))
    step = 2 * math.pi * width / digits
    steps = math.ceil(math.acosh(math.exp(_LOG_ACCURACY / min_order)) / step)
    c = 1 + width
    for first in range(0, steps + 1, _NODES_PER_BLOCK):
        u = step * np.arange(first, min(first + _NODES_PER_BLOCK, steps + 1))
        weights = step / (math.pi * c) * np.cosh(u)
        weights[u == 0] /= 2
        yield c / (1 + 1j * np.sinh(u)), weights


def _compute_powers(x: np.ndarray, q: float, raw: bool) -> np.ndarray:
    """Compute x^q if `raw`, otherwise (x^q − x)/(q − 1), which is x log x at q = 1."""
    if raw:
        return x**q
    logs = np.log(x)
    if q == 1:
        return x * logs
    return x * np.expm1((q - 1) * logs) / (q - 1)


def _complex_product(squares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Multiply real squares (g, r) by complex weights (m, r), transposed; shape (g, m)."""
    return squares @ weights.real.T + 1j * (squares @ weights.imag.T)
