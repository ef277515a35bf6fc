"""Scores of the first sample of a selection, of the first two, and so on."""

import numpy as np

from ...core.eigenvalues import clip_eigenvalues
from ...core.hill import hill_number
from ...spectral.quadrature import log_score_from_entropy
from ...support.parallel import map_ordered
from .marginal_gains import FINE_TOLERANCE, build_quadrature_form

# Up to this size, the eigenvalues of each prefix are computed, in at most 0.1 s. For 1,000 samples,
# they would take more than a minute.
MAX_EXACT_SIZE = 100


def prefix_scores(K: np.ndarray, q: float) -> np.ndarray:
    """Compute VS_q of all prefixes of m samples with similarities K (m, m), shape (m,).

    Above MAX_EXACT_SIZE samples, the entropy of each prefix is a weighted sum of log det(I + K/t)
    over nodes t; see `marginal_gains`. The diagonal of one Cholesky factor of I + K/t yields the
    determinants of all leading blocks. The relative error is 1e-7 and the time O(nodes · m³).
    """
    size = len(K)
    m = np.arange(1, size + 1)

    def exact_scores() -> np.ndarray:
        return np.array([exact_score(K[:i, :i], q) for i in m])

    if size <= MAX_EXACT_SIZE:
        return exact_scores()
    form = build_quadrature_form(q, size, FINE_TOLERANCE)
    below_diagonal = np.tril(K, -1)
    squares = 2 * np.vecdot(below_diagonal, below_diagonal) + 1
    S = form.trace_coefficient * m + form.square_coefficient * np.cumsum(squares)

    def quadrature_term(node: tuple[float, float]) -> np.ndarray:
        """Return w log det(I + K/t) of all leading blocks of K, for one node t with weight w."""
        t, w = node
        L = np.linalg.cholesky(K / t + np.eye(size))
        diagonal = L.diagonal()
        below = np.tril(L, -1)
        # Row i of L has the squared norm 1 + 1/t, because K_ii = 1. So diagonal² − 1 is computed
        # without the 1, which would dominate for large t.
        excess = 1 / t - np.vecdot(below, below)
        accurate = np.log1p(np.maximum(excess, -0.5))
        logs = np.where(excess < 0.5, accurate, 2 * np.log(diagonal))
        return w * np.cumsum(logs)

    nodes = zip(form.t, form.w, strict=True)
    try:
        for term in map_ordered(quadrature_term, nodes):
            S += term
    except np.linalg.LinAlgError:  # the similarity is not positive semidefinite
        return exact_scores()
    log_per_sample = log_score_from_entropy(S / m, q)
    return m * np.exp(log_per_sample)


def exact_score(K: np.ndarray, q: float) -> float:
    """Compute VS_q from eigenvalues; those within rounding error of 0 count as 0."""
    return float(hill_number(clip_eigenvalues(np.linalg.eigvalsh(K)), q))
