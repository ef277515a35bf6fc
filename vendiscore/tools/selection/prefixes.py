"""Scores of the first sample of a list, the first two, and so on."""

import numpy as np

from ...core.eigenvalues import clip_eigenvalues
from ...core.hill import hill_number
from ...spectral.quadrature import log_score_from_entropy
from ...support.parallel import map_ordered
from .resolvent import FINE, vendi_form

# With so many samples, eigenvalues of every prefix take 0.1 s; with 1,000, more than a minute.
FEW = 100


def prefix_scores(K: np.ndarray, q: float) -> np.ndarray:
    """Return VS_q of all prefixes, (m,), of more than FEW within 1e-7, in O(ridges · m³) time.

    The diagonal of one Cholesky factor of I + K/t has the determinants of all leading blocks.
    """
    size = len(K)
    m = np.arange(1, size + 1)

    def one_by_one() -> np.ndarray:
        return np.array([vendi_of(K[:i, :i], q) for i in m])

    if size <= FEW:
        return one_by_one()
    form = vendi_form(q, size, FINE)
    below = np.tril(K, -1)
    squares = 2 * np.vecdot(below, below) + 1
    S = form.of_trace * m + form.of_square * np.cumsum(squares)

    def part_of(ridge: tuple[float, float]) -> np.ndarray:
        t, w = ridge
        L = np.linalg.cholesky(K / t + np.eye(size))
        D = L.diagonal()
        L = np.tril(L, -1)
        more = 1 / t - np.vecdot(L, L)  # D² − 1, which large ridges would round away
        exact = np.log1p(np.maximum(more, -0.5))
        logs = np.where(more < 0.5, exact, 2 * np.log(D))
        return w * np.cumsum(logs)

    ridges = zip(form.t, form.w, strict=True)
    try:
        for part in map_ordered(part_of, ridges):
            S += part
    except np.linalg.LinAlgError:  # a similarity that is not a kernel
        return one_by_one()
    log = log_score_from_entropy(S / m, q)
    return m * np.exp(log)


def vendi_of(K: np.ndarray, q: float) -> float:
    """Return VS_q of a few samples; eigenvalues that may be rounding count as 0."""
    return float(hill_number(clip_eigenvalues(np.linalg.eigvalsh(K)), q))
