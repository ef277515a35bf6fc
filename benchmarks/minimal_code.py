"""The shortest computation of each value of the grid with only NumPy, SciPy and RDKit.

Each function takes the same samples as `vendiscore` and returns the same value with the same
arithmetic, without validation and without a choice of algorithm. Their times are lower bounds.
No function may have more than fifteen lines, which tests/package/test_benchmarks.py checks.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import scipy.linalg
from scipy import sparse
from scipy.spatial.distance import cdist

WORDS = re.compile(r"\w+|[^\w\s]")  # words of the texts of grid.py, which have no abbreviations
MIN_EIGENVALUE = 1e-300  # replaces eigenvalues of 0 or below, for the logarithm


def unit_rows(X: Any) -> np.ndarray:
    """Return rows scaled to length 1 in double precision, for a set or a stack of sets."""
    X = np.array(X, float)
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


def cosines(sets: Any) -> np.ndarray:
    """Return the cosines (g, m, m) of g sets of m vectors."""
    X = unit_rows(sets)
    return X @ X.swapaxes(-1, -2)


def vendi_of_matrices(A: np.ndarray) -> np.ndarray:
    """Return the Vendi Scores of matrices with unit trace."""
    eigenvalues = np.maximum(np.linalg.eigvalsh(A), MIN_EIGENVALUE)
    return np.exp(-(eigenvalues * np.log(eigenvalues)).sum(-1))


def vendi_of_rows(X: np.ndarray) -> float:
    """Return the Vendi Score of rows from the covariance of the unit rows."""
    X = unit_rows(X)
    return float(vendi_of_matrices(X.T @ X / len(X)))


def vendi_of_sets(sets: Any) -> float:
    """Return the mean Vendi Score of sets of vectors with cosine similarity."""
    K = cosines(sets)
    return float(vendi_of_matrices(K / K.shape[-1]).mean())


def vendi_with_error(sets: Any) -> np.ndarray:
    """Return the mean Vendi Score of sets and its standard error."""
    K = cosines(sets)
    scores = vendi_of_matrices(K / K.shape[-1])
    return np.array([scores.mean(), scores.std(ddof=1) / len(scores) ** 0.5])


def vendi_of_gaussian_kernel(X: np.ndarray, sigma: float) -> float:
    """Return the Vendi Score with the kernel exp(−|x − y|² / 2σ²)."""
    X = np.asarray(X, float)
    squares = (X**2).sum(1)
    K = np.exp(np.minimum(2 * X @ X.T - squares - squares[:, None], 0) / (2 * sigma**2))
    return float(vendi_of_matrices(K / len(K)))


def kernel_entropy(sets: Any) -> float:
    """Return the mean kernel language entropy, log VS of order 1."""
    K = cosines(sets)
    return float(np.log(vendi_of_matrices(K / K.shape[-1])).mean())


def renyi_entropy(sets: Any) -> float:
    """Return the mean over sets of the Rényi kernel entropy, −log of the mean squared
    similarity.
    """
    return float(-np.log((cosines(sets) ** 2).mean((1, 2))).mean())


def leinster_cobbold(sets: Any) -> float:
    """Return the mean Leinster–Cobbold diversity of order 1."""
    return float(np.exp(-np.log(cosines(sets).mean(-1)).mean(-1)).mean())


def internal_diversity(sets: Any) -> float:
    """Return the mean over sets of the internal diversity, 1 − the mean similarity of a set."""
    return float(1 - cosines(sets).mean())


def equal_labels(labels: Sequence[Sequence[str]]) -> np.ndarray:
    """Return which labels are equal in each of g sets of m labels, shape (g, m, m)."""
    codes = np.unique(np.array(labels), return_inverse=True)[1].reshape(len(labels), -1)
    return codes[:, :, None] == codes[:, None]


def semantic_entropy(labels: Sequence[Sequence[str]]) -> float:
    """Return the mean entropy of the proportions of labels."""
    return float(-np.log(equal_labels(labels).mean(-1)).mean())


def sample_coverage(labels: Sequence[Sequence[str]]) -> float:
    """Return the mean Good–Turing coverage, 1 − the proportion of labels that occur once."""
    return float(1 - (equal_labels(labels).sum(-1) == 1).mean())


def vendi_of_labels(labels: Sequence[str]) -> float:
    """Return the Vendi Score of labels, the exponential of their entropy."""
    proportions = np.array([*Counter(labels).values()]) / len(labels)
    return float(np.exp(-(proportions * np.log(proportions)).sum()))


def ngrams(text: str, n: int) -> Iterator[tuple[str, ...]]:
    """Return the n-grams of words of a text."""
    words = WORDS.findall(text)
    return zip(*(words[i:] for i in range(n)), strict=False)


def ngram_overlaps(texts: Sequence[str], group: Sequence[int]) -> sparse.csr_array:
    """Return cosines of n-gram counts, averaged over n = 1 to 4; 0 between different groups."""
    K = sparse.csr_array((len(texts), len(texts)))
    for n in range(1, 5):
        counts = [Counter(ngrams(text, n)) for text in texts]
        # One column for each n-gram of each group.
        keys = [(g, gram) for g, c in zip(group, counts, strict=True) for gram in c]
        column_of_key: dict[Any, int] = {}
        columns = [column_of_key.setdefault(key, len(column_of_key)) for key in keys]
        times = np.fromiter(chain.from_iterable(c.values() for c in counts), float, len(columns))
        X = sparse.csr_array((times, columns, np.cumsum([0, *map(len, counts)])))
        X = sparse.diags_array(1 / sparse.linalg.norm(X, axis=1)) @ X
        K = K + X @ X.T / 4
    return K


def vendi_of_texts(texts: Sequence[str]) -> float:
    """Return the Vendi Score of one set of texts with n-grams."""
    return float(vendi_of_matrices(ngram_overlaps(texts, [0] * len(texts)).toarray() / len(texts)))


def vendi_of_texts_order_2(texts: Sequence[str]) -> float:
    """Return the Vendi Score of order 2 of one set of texts with n-grams, without eigenvalues."""
    return float(len(texts) ** 2 / (ngram_overlaps(texts, [0] * len(texts)).power(2)).sum())


def vendi_of_text_sets(groups: Sequence[Sequence[str]]) -> float:
    """Return the mean Vendi Score of sets of texts with n-grams."""
    m = len(groups[0])
    K = ngram_overlaps([*chain(*groups)], [g for g in range(len(groups)) for _ in range(m)]).tocoo()
    stack = np.zeros((len(groups), m, m))
    stack[K.row // m, K.row % m, K.col % m] = K.data
    return float(vendi_of_matrices(stack / m).mean())


def ngram_diversity(groups: Sequence[Sequence[str]]) -> float:
    """Return the mean proportion of distinct n-grams in sets of texts, over n of 1 to 4."""
    proportions = []
    for group in groups:
        for n in range(1, 5):
            grams = [gram for text in group for gram in ngrams(text, n)]
            proportions.append(len({*grams}) / len(grams))
    return float(np.mean(proportions))


def vendi_of_molecules(molecules: Sequence[Any]) -> float:
    """Return the Vendi Score of molecules with RDKit's fingerprints and bulk Tanimoto
    similarities.
    """
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from rdkit.DataStructs import BulkTanimotoSimilarity

    fingerprints = GetMorganGenerator(radius=2, fpSize=1024).GetFingerprints(molecules)
    K = np.array(
        [BulkTanimotoSimilarity(fingerprint, fingerprints) for fingerprint in fingerprints]
    )
    return float(vendi_of_matrices(K / len(K)))


def euclidean_distances(sets: np.ndarray) -> np.ndarray:
    """Return the Euclidean distances in each of g sets of m vectors, shape (g, m, m)."""
    K = sets @ sets.swapaxes(1, 2)
    squares = np.diagonal(K, axis1=1, axis2=2)
    D = np.sqrt(np.maximum(squares[:, None] + squares[:, :, None] - 2 * K, 0))
    D[:, np.arange(D.shape[1]), np.arange(D.shape[1])] = 0
    return D


def compute_magnitudes(D: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Return the magnitudes of g metric spaces of m points at s scales, shape (g, s).

    `D`, shape (g, m, m), are the distances. `scales` has shape (s,) for the same scales of all
    spaces, or (g, s).
    """
    Z = np.exp(-(scales * np.ones((len(D), 1)))[:, :, None, None] * D[:, None])
    return np.linalg.solve(Z, np.ones((D.shape[-1], 1))).sum((2, 3))


def magnitudes_of_sets(sets: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Return the mean magnitude of sets of vectors at each scale."""
    return compute_magnitudes(euclidean_distances(sets), scales).mean(0)


def areas_of_sets(sets: np.ndarray) -> float:
    """Return the mean area under the magnitude functions of sets, up to the convergence scale of
    each set.
    """
    D = euclidean_distances(sets)
    low, high = np.zeros((len(D), 1)), np.full((len(D), 1), 1 / D.mean())
    while (below := compute_magnitudes(D, high) < 0.95 * D.shape[1]).any():
        high = np.where(below, 2 * high, high)
    for _ in range(36):  # until the scale is accurate to 1e-10
        middle = (low + high) / 2
        below = compute_magnitudes(D, middle) < 0.95 * D.shape[1]
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    scales = np.concatenate([np.linspace(0, high[:, 0], 30)[1:]], axis=1).T
    values = np.c_[np.ones(len(D)), compute_magnitudes(D, scales)]
    return float(np.trapezoid(values, np.c_[np.zeros(len(D)), scales]).mean())


def magnitudes_of_set(X: np.ndarray, scales: Sequence[float]) -> np.ndarray:
    """Return the magnitude of one set of vectors at each scale, using Cholesky factors."""
    D, ones = cdist(X, X), np.ones(len(X))
    return np.array(
        [scipy.linalg.solve(np.exp(-t * D), ones, assume_a="pos").sum() for t in scales]
    )


def log_score_drops(X: np.ndarray) -> np.ndarray:
    """Return log VS minus log VS without each row, using one eigenvalue decomposition per row."""
    K = cosines(X)
    reduced_matrices = [np.delete(np.delete(K, i, 0), i, 1) / (len(K) - 1) for i in range(len(K))]
    return np.log(vendi_of_matrices(K / len(K))) - np.array(
        [float(np.log(vendi_of_matrices(A))) for A in reduced_matrices]
    )


def normalized_surprisals(sets: Any) -> np.ndarray:
    """Return the surprisal −xᵀ log(A) x of each vector in its set, divided by log m."""
    K = cosines(sets)
    m = K.shape[-1]
    eigenvalues, V = np.linalg.eigh(K / m)
    eigenvalues = np.maximum(eigenvalues, MIN_EIGENVALUE)
    return (m * V**2 @ (-eigenvalues * np.log(eigenvalues))[:, :, None]).ravel() / np.log(m)


def score_drops_of_sets(sets: Any) -> np.ndarray:
    """Return VS of each set minus VS of the set without each of its vectors."""
    K = cosines(sets)
    m = K.shape[-1]
    remaining = np.array([np.delete(np.arange(m), i) for i in range(m)])
    reduced_scores = vendi_of_matrices(K[:, remaining[:, :, None], remaining[:, None]] / (m - 1))
    return (vendi_of_matrices(K / m)[:, None] - reduced_scores).ravel()


def mean_surprisal_and_nearest(X: np.ndarray) -> np.ndarray:
    """Return the mean surprisal, and the mean similarity to the nearest other row."""
    X = unit_rows(X)
    eigenvalues, V = np.linalg.eigh(X.T @ X / len(X))
    surprise = (X @ V) ** 2 @ -np.log(np.maximum(eigenvalues, MIN_EIGENVALUE))
    nearest = np.empty(len(X))
    for start in range(0, len(X), 1000):
        block = X[start : start + 1000] @ X.T
        block[np.arange(len(block)), start + np.arange(len(block))] = -1
        nearest[start : start + 1000] = block.max(1)
    return np.array([surprise.mean(), nearest.mean()])


def mean_surprisal_and_nearest_of_sets(sets: Any) -> np.ndarray:
    """Return the mean surprisal, and the mean similarity to the nearest other vector of the set."""
    K = cosines(sets)
    m = K.shape[-1]
    nearest = (K - 3 * np.eye(m)).max(-1).mean()
    return np.array([normalized_surprisals(sets).mean() * np.log(m), nearest])


def difference_with_permutations(X: np.ndarray, Y: np.ndarray, n_permutations: int) -> float:
    """Return the difference of VS of two sets, after those for permuted labels (for the time)."""
    K, n, rng = cosines(np.vstack([X, Y])), len(X), np.random.default_rng(0)

    def score(indices: np.ndarray) -> float:
        return float(vendi_of_matrices(K[np.ix_(indices, indices)] / len(indices)))

    def difference(order: np.ndarray) -> float:
        return score(order[:n]) - score(order[n:])

    for _ in range(n_permutations):
        difference(rng.permutation(len(K)))
    return difference(np.arange(len(K)))
