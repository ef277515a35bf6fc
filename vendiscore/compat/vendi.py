"""The ten functions of `vendi_score.vendi`, with the same names and signatures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..core.hill import effective_number
from ..resolve.similarity_builder import as_similarity
from ..scoring.scores import score, score_dual, score_K, score_X
from ..support.arguments import DEFAULT_ORDER
from ..support.types import Rows, Weights
from . import raise_missing_name as __getattr__  # noqa: F401

__all__ = ["entropy_q", "intdiv", "intdiv_K", "intdiv_X", "normalize_K", "score", "score_K"]
__all__ += ["score_X", "score_dual", "weight_K"]


def weight_K(K: np.ndarray, p: Weights | None = None) -> np.ndarray:
    """Return the matrix whose eigenvalues determine the Vendi Score of n samples.

    It is √p_i K_ij √p_j for similarities K (n, n) and weights p, or K / n without weights.
    """
    if p is None:
        return K / K.shape[0]
    root = np.sqrt(p)
    return K * np.outer(root, root)


def normalize_K(K: np.ndarray) -> np.ndarray:
    """Divide each entry K_ij of a similarity matrix by √(K_ii K_jj); the diagonal becomes 1."""
    root = np.sqrt(np.diagonal(K))
    return K / np.outer(root, root)


def entropy_q(p: Rows, q: float | str = DEFAULT_ORDER) -> float:
    """Return the Rényi entropy of order q, in nats, of proportions p that sum to 1."""
    proportions = np.asarray(p)
    return math.log(effective_number(proportions[proportions > 0], float(q)))


def intdiv_K(K: np.ndarray, q: float = DEFAULT_ORDER, p: Weights | None = None) -> float:
    """Return the internal diversity 1 − Σ_ij p_i p_j K_ij^q of a similarity matrix K (n, n).

    p are the weights of the n samples, by default 1/n.
    """
    weights = np.full(K.shape[0], 1 / K.shape[0]) if p is None else np.asarray(p)
    return float(1 - weights @ K**q @ weights)


def intdiv_X(
    X: Rows, q: float = DEFAULT_ORDER, p: Weights | None = None, normalize: bool = True
) -> float:
    """Return the internal diversity 1 − Σ_ij p_i p_j K_ij^q, where K_ij = x_i · x_j for rows of X.

    With `normalize`, K_ij is the cosine similarity of rows i and j. p are the weights of the n
    rows, by default 1/n.
    """
    return intdiv_K(as_similarity(X, score_X=True, normalize=normalize).dense(), q, p)


def intdiv(
    elems: Sequence[object],
    k: Callable[..., float],
    q: float = DEFAULT_ORDER,
    p: Weights | None = None,
) -> float:
    """Return the internal diversity 1 − Σ_ij p_i p_j K_ij^q, where K_ij = k(sample i, sample j).

    `elems` are n samples, and `k` is called for each of about n²/2 pairs. p are the weights of the
    samples, by default 1/n.
    """
    return intdiv_K(as_similarity(elems, k=k).dense(), q, p)
