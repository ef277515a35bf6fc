"""Scores as plain numbers, at one order, with the arguments of `vendi_score.vendi`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from ..core import score as core
from ..core.eigenvalues import PSD
from ..similarity.covariance import is_float32_faster
from ..similarity.sample_arrays import as_samples, as_shared_numpy
from ..similarity.weights import check_weights
from ..support.arguments import DEFAULT_ORDER, check_order, has_gradient, is_collection
from ..support.errors import short_repr
from ..support.namespace import is_torch, namespace
from ..support.types import Number, Options, Rows, Samples, Weights

if TYPE_CHECKING:
    from ..resolve.similarity_spec import KernelArgument

# Up to so many numbers a score takes a tenth of a second and some megabytes. The definition in core
# is then called directly: reading keywords, estimating memory, reporting progress and choosing a
# route, as `compute` does, would take longer than they save.
MAX_SMALL_ENTRIES = 1 << 22
# From so many samples on, `compute` merges identical ones, and so many are examined for it here.
MIN_MERGED_SAMPLES, N_EXAMINED_SAMPLES = 64, 32
# Up to this size NumPy's eigensolver is as fast as any, and SciPy need not be imported.
MAX_NUMPY_SIZE = 192
NATIVE_FLOAT_DTYPES = np.dtype(np.float64), np.dtype(np.float32)  # in the byte order of the machine
# Keywords of `compute` that ask for more than one number.
_RESULT_KEYWORDS = ("measures", "references", "ci", "clusters", "permutations", "details")


def score(
    samples: Samples,
    k: KernelArgument | None = None,
    q: float | str = DEFAULT_ORDER,
    p: Weights | None = None,
    normalize: bool = False,
    **options: Any,
) -> Number:
    """Return the Vendi Score of samples under a kernel, as one number.

    VS_q = (Σ λ_i^q)^{1/(1−q)} with λ the eigenvalues of diag(√p) K diag(√p), K_ij = k(x_i, x_j).
    Time O(n³), with n²/2 calls of a function, and n² memory; O(n d² + d³) from d < n features;
    O(n²) at orders 2 and ∞. It raises the errors of `compute`, and a TypeError for several orders.

    Parameters
    ----------
    samples : list or array
        Of the kind that `k` compares, or lists of them for the mean over groups. Not changed.
    k : str, callable, dict or list, optional
        A registered kernel (`list_kernels()`), a symmetric function of two samples with
        k(x, x) = 1, or a mixture of kernels; strings are compared by "ngram_overlap" without it.
    q : order, a float in [0, ∞] or "inf": small q counts rare samples, large q the commonest only
    p : array (n,) of weights that sum to 1, optional (default: uniform)
    normalize : bool, whether to divide k(x, y) by √(k(x, x) k(y, y))
    **options : options of the kernel, such as `ns` or `sigma`, and other keywords of `compute`

    Returns
    -------
    float between 1 and n (a 0-d tensor for torch input)

    References
    ----------
    Friedman & Dieng, TMLR 2023, arXiv 2210.02410; orders q: Pasarkar & Dieng, arXiv 2310.12952.

    Examples
    --------
    >>> import math
    >>> score([0, 0, 10, 10, 20, 20], lambda a, b: math.exp(-abs(a - b)))  # three places
    2.99999999...
    """
    from ..result import key_at
    from .compute import compute

    _check_no_result_keywords(options)
    result = compute(samples, q=_check_single_order(q), k=k, p=p, normalize=normalize, **options)
    return result[key_at(q)]


def score_K(
    K: Rows, q: float | str = DEFAULT_ORDER, p: Weights | None = None, normalize: bool = False
) -> Number:
    """Return the Vendi Score of a similarity matrix.

    Time O(n³), and one copy of K; O(n²) at orders 2 and ∞.

    Parameters
    ----------
    K : array or tensor (n, n)
        Symmetric and positive semidefinite, with ones on the diagonal. Not changed.
    q : order of the score, a float in [0, ∞] or "inf"
    p : array (n,) of weights that sum to 1, optional (default: uniform)
    normalize : bool, whether to divide K_ij by √(K_ii K_jj)

    Returns
    -------
    float between 1 and n (a 0-d tensor on the device of a torch K, which can be differentiated)

    Raises
    ------
    TypeError, ValueError, NotPSDError, TooLargeError
        If K is not such a matrix (orders 2 and ∞ may miss a negative eigenvalue) or is too large.

    References
    ----------
    Friedman & Dieng, TMLR 2023, arXiv 2210.02410; orders q: Pasarkar & Dieng, arXiv 2310.12952.

    Examples
    --------
    >>> score_K([[1.0, 0.0], [0.0, 1.0]])
    2.0
    """
    return _score_matrix(K, "K", q, p, normalize)


def score_X(
    X: Rows, q: float | str = DEFAULT_ORDER, p: Weights | None = None, normalize: bool = True
) -> Number:
    """Return the Vendi Score of rows of features under their dot products: cosines by default.

    Time O(n d² + d³) for d < n, else O(n² d + n³): the cheaper of XXᵀ and XᵀX is chosen. Many
    float32 rows of unit length take half the time of float64 at orders from 1 on, where the error
    of log VS stays within max(1e-8, min(2e-5, 1 % of log VS)), and are else computed in float64.

    Parameters
    ----------
    X : array or tensor (n, d), dense or sparse; a row of features for each sample, not changed
    q : order of the score, a float in [0, ∞] or "inf"
    p : array (n,) of weights that sum to 1, optional (default: uniform)
    normalize : bool, whether to divide each row by its length; if not, all must have a length of 1

    Returns
    -------
    float between 1 and min(n, d) (a 0-d tensor on the device of a torch X, with its gradient)

    Raises
    ------
    TypeError, ValueError, TooLargeError
        If X is not such a matrix, has a row of zeros, or is too large.

    References
    ----------
    Friedman & Dieng, TMLR 2023, arXiv 2210.02410; orders q: Pasarkar & Dieng, arXiv 2310.12952.

    Examples
    --------
    >>> score_X([[1.0, 1.0], [2.0, 2.0], [3.0, -3.0]], q=0)  # two directions
    2.0
    """
    return _score_matrix(X, "X", q, p, normalize)


def score_dual(
    X: Rows, q: float | str = DEFAULT_ORDER, normalize: bool = True, p: Weights | None = None
) -> Number:
    """Return `score_X`, with the arguments in the order that `vendi_score` has them in.

    It raises the same errors as `score_X`.

    Parameters
    ----------
    X : array or tensor (n, d), dense or sparse; a row of features for each sample, not changed
    q : order of the score, a float in [0, ∞] or "inf"
    normalize : bool, whether to divide each row by its length; if not, all must have a length of 1
    p : array (n,) of weights that sum to 1, optional (default: uniform)

    Returns
    -------
    float between 1 and min(n, d) (a 0-d tensor for torch input)

    References
    ----------
    Friedman & Dieng, TMLR 2023, arXiv 2210.02410; orders q: Pasarkar & Dieng, arXiv 2310.12952.

    Examples
    --------
    >>> score_dual([[1.0, 0.0], [0.0, 1.0], [0.0, 5.0]], q=0)
    2.0
    """
    return score_X(X, q=q, p=p, normalize=normalize)


def conditional_score(
    samples: Samples,
    given: Samples,
    *,
    given_k: KernelArgument | None = None,
    q: float | str = DEFAULT_ORDER,
    p: Weights | None = None,
    psd: PSD = "check",
    **options: Any,
) -> Number:
    """Return conditional Vendi: the effective number of different samples for one thing given.

    VS_q(K ∘ K_T) / VS_q(K_T) for the similarities K of samples and K_T of what each was made for,
    such as prompts, whose differences are then not counted; "ConditionalVS" of `compute`. Time
    O(n³), and n² memory, except where `q` needs no eigenvalues. It raises the errors of `compute`,
    and a ValueError where there is not one of `given` for each sample.

    Parameters
    ----------
    samples : list, array or Similarity; n of them, not changed
    given : list, array or Similarity
        One for each sample, such as its prompt; for those too that on_error="skip" leaves out.
    given_k : str, callable, dict or list, optional
        How these are compared; strings by "ngram_overlap" without it. For options of its own, pass
        `given` as a Similarity.
    q : order of the score, a float in [0, ∞] or "inf"
    p : array (n,) of weights that sum to 1, optional (default: uniform)
    psd : {"check", "clip"}, to raise for negative eigenvalues, or to set them to zero
    **options : `k`, `score_K`, `score_X`, `normalize` and options of the kernel, as for `compute`

    Returns
    -------
    float between 1 and n (a 0-d tensor for torch input)

    References
    ----------
    Jalali, Ospanov, Gohari & Farnia, arXiv 2411.02817 (order 1).

    Examples
    --------
    >>> conditional_score(["a cat", "a dog", "red", "red"], ["pet", "pet", "hue", "hue"])
    1.39...
    """
    from ..result import key_at
    from .compute import compute

    _check_no_result_keywords(options)
    measures = {"ConditionalVS": {"given": given, "given_k": given_k}}
    result = compute(samples, q=_check_single_order(q), p=p, psd=psd, measures=measures, **options)
    return result[key_at(q, "ConditionalVS")]


def _check_single_order(q: float | str) -> float | str:
    if is_collection(q):
        raise TypeError(
            f"`q` must be one order, got {short_repr(q)}; use compute(…) for several at once"
        )
    return q


def _check_no_result_keywords(options: Options) -> None:
    """Raise a TypeError for keywords of `compute` that say nothing about a single score."""
    for name in _RESULT_KEYWORDS:
        value = options.get(name)
        if value is not None and value is not False:
            raise TypeError(
                f"`{name}` has no effect on a single number: pass it to compute(samples, {name}=…)"
            )


def _score_matrix(
    matrix: Rows, name: str, q: float | str, p: Weights | None, normalize: bool
) -> Number:
    """Return the score of K or X, which errors call by its name."""
    array: Rows = matrix
    if is_torch(matrix) and not has_gradient([matrix, p]):
        array = as_shared_numpy(as_samples(matrix, name))
    value = _score_array(array, name, q, p, normalize)
    if array is matrix or is_torch(value):
        return value
    xp = namespace(matrix)
    return xp.asarray(value, dtype=xp.float64, device="cpu")


def _score_array(
    array: Rows, name: str, q: float | str, p: Weights | None, normalize: bool
) -> Number:
    """Return the score of an array by the definition if it is small, else as `compute` does."""
    if is_small_matrix(array, name, normalize):
        order = check_order(_check_single_order(q))
        weights = p if p is None else check_weights(p, len(array))
        solver = choose_solver(min(array.shape), order)
        if solver is not None and not is_torch(weights):
            compute_score = core.score_X if name == "X" else core.score_K
            try:
                return compute_score(array, order, weights, normalize, solver=solver)
            except ValueError:
                if np.isfinite(array).all():
                    raise
    from .compute import build_sample_set, evaluate_sample_set
    from .score_request import parse_request

    request = parse_request(
        {"q": _check_single_order(q), "p": p, "normalize": normalize, f"score_{name}": True}
    )
    sample_set = build_sample_set(array, None, request, name)
    if sample_set.groups is not None:  # which `compute` scores one by one
        raise ValueError(
            f"`{name}` must be two-dimensional, one row per sample, got {len(sample_set.groups)} "
            "such "
            f"matrices; pass one, or compute(X, score_X=True), which gives the mean of their scores"
        )
    return evaluate_sample_set(sample_set, request)[request.vendi_key]


def is_small_matrix(matrix: object, name: str, normalize: object = False) -> TypeGuard[np.ndarray]:
    """Return whether K or X are floats that are scored fastest by the definition in core."""
    if type(normalize) is not bool:
        return False
    if (
        type(matrix) is not np.ndarray
        or matrix.ndim != 2
        or matrix.dtype not in NATIVE_FLOAT_DTYPES
    ):
        return False
    n, width = matrix.shape
    size = min(n, width)
    if not 0 < matrix.size <= MAX_SMALL_ENTRIES:
        return False
    if name == "K":
        return size < MIN_MERGED_SAMPLES or not _has_repeats(matrix)
    return not is_float32_faster(matrix) and (size < MIN_MERGED_SAMPLES or width <= n)


def choose_solver(size: int, q: float) -> core.Solver | None:
    """Return a solver for matrices of this size; None if `compute` has a faster route."""
    if size < MAX_NUMPY_SIZE:
        return core.NUMPY_SOLVER
    from ..spectral.eigendecomposition import TWO_STAGE_SIZE, decompose
    from ..spectral.routes import LANCZOS_SIZE

    if size >= TWO_STAGE_SIZE or (math.isinf(q) and size >= LANCZOS_SIZE):
        return None
    return core.Solver(decompose)


def _has_repeats(K: np.ndarray) -> bool:
    """Return whether one of the examined samples, as of many identical ones, is repeated."""
    if K.shape[0] != K.shape[1]:
        return False
    some = K[:: len(K) // N_EXAMINED_SAMPLES]
    return bool(np.count_nonzero(some == K.diagonal()) > len(some))
