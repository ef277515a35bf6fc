"""Samples with spectra of a given shape, for each kernel, and checks of estimated scores."""

import math
import warnings
import zlib
from functools import cache
from typing import NamedTuple

import numpy as np

from vendiscore import MatrixSimilarity, as_similarity, effective_number
from vendiscore.spectral.estimate import Estimate, EstimateOptions
from vendiscore.spectral.routes import ConvergenceError, select_spectrum_route
from vendiscore.spectral.stochastic_estimate import estimate_by_lanczos, estimate_scores
from vendiscore.spectral.vendi_scores import compute_spectrum
from vendiscore.spectral.weighted_similarity import merge_identical

SHAPES = ("flat", "power law", "exponential", "low rank", "blocks", "one dominant", "repeated")
KERNELS = (
    "matrix",
    "float32 matrix",
    "cosine, n < d",
    "float32 cosine, n < d",
    "cosine, n > d",
    "rbf",
    "n-grams",
)
ORDERS = (0.1, 0.3, 0.5, 0.9, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)
TOLERANCES = (0.1, 0.05, 1e-2, 1e-3, 1e-4)
# A requested estimate may be exact; a forced estimate has no exact score to fall back on.
MODES = ("asked", "forced")
MAX_STANDARD_ERRORS = 5.0  # allowed error of a score in standard errors
ROUNDING = 1e-7  # relative rounding error of a score in double precision


def make_eigenvalues(shape: str, m: int) -> np.ndarray:
    """Return m normalized eigenvalues of a shape, in descending order."""
    i = np.arange(1, m + 1)
    eigenvalues = {
        "flat": np.ones(m),
        "power law": i**-1.5,
        "exponential": np.exp(-i / 8.0),
        "low rank": np.where(i <= 10, 1.0 / i, 0.0),
        "blocks": np.where(i <= 12, 1.3**-i, 0.01 / m),
        "one dominant": np.where(i == 1, m, 0.1),
        "repeated": 3.0 ** -(i // 40),
    }[shape]
    return eigenvalues / eigenvalues.sum()


def make_factors(shape: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Return d features of n samples, shape (n, d).

    `shape` names how their squared singular values decrease.
    """
    m = min(n, d)
    U, V = (np.linalg.qr(rng.standard_normal((size, m)))[0] for size in (n, d))
    return (U * np.sqrt(make_eigenvalues(shape, m))) @ V.T


def make_points(shape: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Return points and a bandwidth at which RBF similarities have a spectrum of a shape."""
    normals = rng.standard_normal
    groups = rng.integers(0, 12, n)
    return {
        "flat": (normals((n, 40)), 1.0),
        "power law": (normals((n, 3)), 0.7),
        "exponential": (rng.random((n, 1)), 0.2),
        "low rank": (10 * normals((10, 3))[groups % 10] + 1e-5 * normals((n, 3)), 2.0),
        "blocks": (20 * normals((12, 10))[groups] + normals((n, 10)), 3.0),
        "one dominant": (normals((n, 20)), 30.0),
        "repeated": (
            np.repeat(50 * normals((n // 2, 5)), 2, 0) + np.tile([[0.0], [1.0]], (n // 2, 5)),
            1.5,
        ),
    }[shape]


def make_texts(shape: str, n: int, rng: np.random.Generator) -> list[str]:
    """Return texts whose word overlaps have a spectrum of a shape."""
    words = [f"w{i}" for i in range(2 * n)]
    own_words = [f"own{i}" for i in range(n)]
    chance = {"power law": np.arange(1, 2 * n + 1) ** -1.0, "exponential": 0.98 ** np.arange(2 * n)}
    if shape in chance:
        p = chance[shape] / chance[shape].sum()
        return [" ".join(rng.choice(words, 12, p=p)) for _ in range(n)]
    if shape == "low rank":
        return [" ".join(rng.choice(words[:10], 40)) for _ in range(n)]
    shared = {
        "flat": lambda i: [],
        "blocks": lambda i: words[4 * (i % 12) :][:4],
        "one dominant": lambda i: words[:20],
        "repeated": lambda i: words[i // 2 :][:1],
    }[shape]
    return [" ".join([*shared(i), own_words[i]]) for i in range(n)]


@cache
def make_case(kernel: str, shape: str, n: int):
    """Return a similarity, its weights or None, and its exact normalized eigenvalues."""
    rng = np.random.default_rng(zlib.crc32(f"{kernel} {shape}".encode()))
    p = None
    if kernel == "n-grams":
        similarity = as_similarity(make_texts(shape, n, rng), k="ngram_overlap", ns=[1])
    elif kernel == "rbf":
        X, sigma = make_points(shape, n, rng)
        similarity = as_similarity(X, k="rbf", sigma=sigma)
    else:
        d = 3 * n // 4 if kernel == "cosine, n > d" else n + n // 2
        F = make_factors(shape, n, d, rng)
        lengths = np.linalg.norm(F, axis=1, keepdims=True)
        p = lengths[:, 0] ** 2 / np.sum(lengths**2)  # with this p, the spectrum is the one of F
        X = F / lengths
        if "matrix" in kernel:
            K = X @ X.T
            np.fill_diagonal(K, 1.0)
            roundoff = 0.0
            if "float32" in kernel:
                K, roundoff = K.astype(np.float32), float(np.finfo(np.float32).eps)
            similarity = MatrixSimilarity((K + K.T) / 2).noted(roundoff=roundoff)
        else:
            similarity = as_similarity(
                X.astype(np.float32) if "float32" in kernel else X, k="cosine"
            )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return similarity, p, compute_spectrum(similarity, p).values


class EstimateCheck(NamedTuple):
    """Outcome of an estimate ("exact", "refused" or "estimate"), and whether it is correct."""

    outcome: str
    is_correct: bool
    error_ratio: float = 0.0
    estimate: Estimate | None = None


def check_estimate(
    kernel: str, shape: str, q: float, rtol: float, mode: str, n: int
) -> EstimateCheck:
    """Estimate one order of one set, and compare it with the exact score."""
    similarity, p, eigenvalues = make_case(kernel, shape, n)
    seed = zlib.crc32(f"{kernel} {shape} {q} {rtol} {mode}".encode())
    estimate_options = EstimateOptions(rtol, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if mode == "asked":
            result = estimate_scores(
                similarity, [q], p, "check", estimate_options, select_spectrum_route(similarity)
            )
            if result is None:
                return EstimateCheck("exact", True)
        else:
            distinct = merge_identical(similarity, p)
            try:
                result = estimate_by_lanczos(distinct.weighted, [q], estimate_options, math.inf)
            except ConvergenceError:
                return EstimateCheck("refused", True)
    (estimate,) = result
    exact = effective_number(eigenvalues, q)
    error_ratio = abs(estimate.value - exact) / max(estimate.error, ROUNDING * exact)
    within_tolerance = mode == "forced" or 2 * estimate.error <= rtol * estimate.value
    return EstimateCheck(
        "estimate", within_tolerance and error_ratio <= MAX_STANDARD_ERRORS, error_ratio, estimate
    )
