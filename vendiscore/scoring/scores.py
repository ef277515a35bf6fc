"""Vendi Scores of a single order as plain numbers.

`score`, `score_K`, `score_X` and `score_dual` take the arguments of the package `vendi_score`.
"""

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
from ..support.namespace import check_no_transform, is_torch, namespace
from ..support.types import Number, Options, Rows, Samples, Weights

if TYPE_CHECKING:
    from ..resolve.similarity_spec import KernelArgument

# Up to this number of entries, a score takes a tenth of a second and a few megabytes. The function
# in core is then called directly, because parsing keywords, estimating memory, reporting progress
# and choosing an algorithm in `compute` would take longer than the computation.
MAX_SMALL_ENTRIES = 1 << 22
# From MIN_MERGED_SAMPLES samples on, `compute` merges identical samples, which is faster if there
# are many. N_EXAMINED_SAMPLES of them are checked here to detect such sets.
MIN_MERGED_SAMPLES, N_EXAMINED_SAMPLES = 64, 32
# Up to this size, NumPy's eigensolver is as fast as others, and SciPy is not imported.
MAX_NUMPY_SIZE = 192
NATIVE_FLOAT_DTYPES = np.dtype(np.float64), np.dtype(np.float32)  # in native byte order
# Keywords of `compute` that add further values to the result.
_RESULT_KEYWORDS = ("measures", "references", "ci", "clusters", "permutations", "details")


def score(
    samples: Samples,
    k: KernelArgument | None = None,
    q: float | str = DEFAULT_ORDER,
    p: Weights | None = None,
    normalize: bool = False,
    **options: Any,
) -> Number:
    """Compute the Vendi Score of a set of samples as a single number.

    Parameters
    ----------
    samples : list, array-like, path or Similarity
        The n samples, as for `compute`. A list of lists of samples means groups, whose mean score
        is returned. Not modified.
    k : str, callable, dict or list, optional
        The kernel: a name from `list_kernels()`, a symmetric function of two samples with
        k(x, x) = 1, or a mixture of kernels. Strings are compared by "ngram_overlap" if omitted.
    q : float or "inf", default 1
        Order of the score, 0 <= q <= infinity. Small orders emphasize rare samples, large orders
        common ones.
    p : array-like of shape (n,), optional
        Non-negative weights that sum to 1; uniform by default.
    normalize : bool, default False
        Divide k(x, y) by sqrt(k(x, x) k(y, y)).
    **options
        Options of the kernel, such as `ns` or `sigma`, and other keywords of `compute` that do
        not add further results.

    Returns
    -------
    float
        Between 1 and n. A 0-d tensor for torch input.

    Raises
    ------
    SampleError
        If samples are unusable; the message lists their indices.
    NotPSDError
        If the similarities have negative eigenvalues and ``psd="check"``.
    TooLargeError
        If the computation does not fit in memory; raised before allocation.
    TypeError, ValueError
        If an argument is invalid or unknown, or asks for more than one number.

    See Also
    --------
    compute : Several orders, other measures, intervals and details, as a dict.
    score_K : The score of a similarity matrix.
    score_X : The score of a matrix of features.

    Notes
    -----
    With K_ij = k(x_i, x_j) and the eigenvalues lambda_i of diag(sqrt(p)) K diag(sqrt(p)),

        VS_q = (sum_i lambda_i^q)^(1 / (1 - q)).

    Time is O(n^3), plus n^2 / 2 calls of a function `k`; O(n d^2 + d^3) for d < n features; and
    O(n^2) at orders 2 and infinity.

    References
    ----------
    1. D. Friedman and A. B. Dieng, "The Vendi Score: A Diversity Evaluation Metric for Machine
       Learning", Transactions on Machine Learning Research, 2023. arXiv:2210.02410.
    2. A. P. Pasarkar and A. B. Dieng, "Cousins of the Vendi Score", 2023. arXiv:2310.12952.

    Examples
    --------
    >>> import math
    >>> score([0, 0, 10, 10, 20, 20], lambda a, b: math.exp(-abs(a - b)))  # three distinct values
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
    """Compute the Vendi Score of a similarity matrix.

    Parameters
    ----------
    K : array-like or tensor of shape (n, n)
        Similarity matrix: symmetric and positive semidefinite, with ones on the diagonal. Not
        modified.
    q : float or "inf", default 1
        Order of the score, 0 <= q <= infinity.
    p : array-like of shape (n,), optional
        Non-negative weights that sum to 1; uniform by default.
    normalize : bool, default False
        Divide K_ij by sqrt(K_ii K_jj), so that the diagonal becomes 1.

    Returns
    -------
    float
        Between 1 and n. For a torch tensor, a differentiable 0-d tensor.

    Raises
    ------
    NotPSDError
        If K has negative eigenvalues beyond rounding. Orders 2 and infinity do not compute all
        eigenvalues and may miss one.
    TooLargeError
        If the computation does not fit in memory; raised before allocation.
    TypeError, ValueError
        If K is not a symmetric matrix of finite numbers with ones on the diagonal, or another
        argument is invalid.

    See Also
    --------
    score_X : The score of a matrix of features.
    compute : The same with ``score_K=True``, and with intervals and other measures.

    Notes
    -----
    Time is O(n^3), with one copy of K; O(n^2) at orders 2 and infinity.

    References
    ----------
    1. D. Friedman and A. B. Dieng, "The Vendi Score: A Diversity Evaluation Metric for Machine
       Learning", Transactions on Machine Learning Research, 2023. arXiv:2210.02410.
    2. A. P. Pasarkar and A. B. Dieng, "Cousins of the Vendi Score", 2023. arXiv:2310.12952.

    Examples
    --------
    >>> score_K([[1.0, 0.0], [0.0, 1.0]])
    2.0
    """
    return _score_matrix(K, "K", q, p, normalize)


def score_X(
    X: Rows, q: float | str = DEFAULT_ORDER, p: Weights | None = None, normalize: bool = True
) -> Number:
    """Compute the Vendi Score of a matrix of features, by default from cosine similarities.

    Parameters
    ----------
    X : array-like, tensor or sparse matrix of shape (n, d)
        Features, one row per sample. Similarities are their dot products. Not modified.
    q : float or "inf", default 1
        Order of the score, 0 <= q <= infinity.
    p : array-like of shape (n,), optional
        Non-negative weights that sum to 1; uniform by default.
    normalize : bool, default True
        Divide each row by its Euclidean norm. If False, all rows must have norm 1.

    Returns
    -------
    float
        Between 1 and min(n, d). For a torch tensor, a differentiable 0-d tensor.

    Raises
    ------
    TooLargeError
        If the computation does not fit in memory; raised before allocation.
    TypeError, ValueError
        If X is not a matrix of finite numbers, has a row of zeros, or another argument is invalid.

    See Also
    --------
    score_K : The score of a similarity matrix.
    score_dual : The same function with the argument order of `vendi_score`.
    compute : The same with ``score_X=True``, and with intervals and other measures.

    Notes
    -----
    Time is O(n d^2 + d^3) for d < n, else O(n^2 d + n^3), as the smaller of X X^T and X^T X is
    decomposed.

    Large float32 matrices with unit-norm rows take half the time of float64 at orders from 1 on,
    if the error of log VS stays within max(1e-8, min(2e-5, 1 % of log VS)). Otherwise they are
    computed in float64.

    References
    ----------
    1. D. Friedman and A. B. Dieng, "The Vendi Score: A Diversity Evaluation Metric for Machine
       Learning", Transactions on Machine Learning Research, 2023. arXiv:2210.02410.
    2. A. P. Pasarkar and A. B. Dieng, "Cousins of the Vendi Score", 2023. arXiv:2310.12952.

    Examples
    --------
    >>> score_X([[1.0, 1.0], [2.0, 2.0], [3.0, -3.0]], q=0)  # two directions
    2.0
    """
    return _score_matrix(X, "X", q, p, normalize)


def score_dual(
    X: Rows, q: float | str = DEFAULT_ORDER, normalize: bool = True, p: Weights | None = None
) -> Number:
    """Compute `score_X` with the argument order of the package `vendi_score`.

    Parameters
    ----------
    X : array-like, tensor or sparse matrix of shape (n, d)
        Features, one row per sample. Similarities are their dot products. Not modified.
    q : float or "inf", default 1
        Order of the score, 0 <= q <= infinity.
    normalize : bool, default True
        Divide each row by its Euclidean norm. If False, all rows must have norm 1.
    p : array-like of shape (n,), optional
        Non-negative weights that sum to 1; uniform by default.

    Returns
    -------
    float
        Between 1 and min(n, d). For a torch tensor, a differentiable 0-d tensor.

    Raises
    ------
    TooLargeError
        If the computation does not fit in memory; raised before allocation.
    TypeError, ValueError
        If X is not a matrix of finite numbers, has a row of zeros, or another argument is invalid.

    See Also
    --------
    score_X : The same function with `p` before `normalize`.

    References
    ----------
    1. D. Friedman and A. B. Dieng, "The Vendi Score: A Diversity Evaluation Metric for Machine
       Learning", Transactions on Machine Learning Research, 2023. arXiv:2210.02410.
    2. A. P. Pasarkar and A. B. Dieng, "Cousins of the Vendi Score", 2023. arXiv:2310.12952.

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
    """Compute the conditional Vendi Score: the diversity of samples given another variable.

    It is the effective number of different samples per value of `given`, for example of answers
    per prompt. Differences between samples that are due to differences in `given` do not count.

    Parameters
    ----------
    samples : list, array-like or Similarity
        The n samples, as for `compute`. Not modified.
    given : list, array-like or Similarity
        The variable to condition on: one value per sample, such as its prompt. Samples that
        ``on_error="skip"`` drops also need a value.
    given_k : str, callable, dict or list, optional
        The kernel for `given`. Strings are compared by "ngram_overlap" if it is omitted. To set
        options of this kernel, pass `given` as a Similarity.
    q : float or "inf", default 1
        Order of the score, 0 <= q <= infinity.
    p : array-like of shape (n,), optional
        Non-negative weights that sum to 1; uniform by default.
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues beyond rounding: raise a NotPSDError, or set them to
        zero and rescale the others to sum to 1.
    **options
        `k`, `score_K`, `score_X`, `normalize` and options of the kernel of `samples`, as for
        `compute`.

    Returns
    -------
    float
        Between 1 and n. A 0-d tensor for torch input.

    Raises
    ------
    SampleError
        If samples are unusable; the message lists their indices.
    NotPSDError
        If similarities have negative eigenvalues and ``psd="check"``.
    TooLargeError
        If the computation does not fit in memory; raised before allocation.
    TypeError, ValueError
        If `given` does not have one value per sample, or another argument is invalid.

    See Also
    --------
    compute : Computes the same as measure "ConditionalVS", with other measures.
    as_similarity : Build the similarity of `given` with options of its kernel.

    Notes
    -----
    With the similarities K of samples and K_T of `given`, the score is VS_q(K * K_T) / VS_q(K_T),
    where * is the elementwise product. Time is O(n^3) and memory O(n^2), except for orders that
    need no eigenvalues.

    References
    ----------
    1. M. Jalali, A. Ospanov, A. Gohari and F. Farnia, "Conditional Vendi Score", 2024.
       arXiv:2411.02817 (order 1).

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
    """Return `q` unchanged; raise a TypeError if it is a collection of orders."""
    if is_collection(q):
        raise TypeError(
            f"`q` must be a single order, got {short_repr(q)}; use compute(…) for several orders"
        )
    return q


def _check_no_result_keywords(options: Options) -> None:
    """Raise a TypeError for keywords of `compute` that add further values to the result."""
    for name in _RESULT_KEYWORDS:
        value = options.get(name)
        if value is not None and value is not False:
            raise TypeError(
                f"`{name}` is not supported by functions that return a single number; use "
                f"compute(samples, {name}=…)"
            )


def _score_matrix(
    matrix: Rows, name: str, q: float | str, p: Weights | None, normalize: bool
) -> Number:
    """Return the Vendi Score of a similarity matrix ("K") or of features ("X"), given by `name`.

    Tensors without gradients are scored as NumPy arrays, which is faster for small matrices. The
    score is then converted to a tensor.
    """
    check_no_transform(p, "p")
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
    """Return the Vendi Score of a similarity matrix ("K") or of features ("X"), given by `name`.

    Small matrices are scored by functions of `core.score`, which avoid overhead; other matrices as
    in `compute`.
    """
    if is_small_matrix(array, name, normalize):
        order = check_order(_check_single_order(q))
        weights = p if p is None else check_weights(p, len(array))
        solver = choose_solver(min(array.shape), order)
        if solver is not None and not is_torch(weights):
            compute_score = core.score_X if name == "X" else core.score_K
            try:
                return compute_score(array, order, weights, normalize, solver=solver)
            except ValueError:
                # For entries that are not finite, the code below raises a more detailed error.
                if np.isfinite(array).all():
                    raise
    from .compute import build_sample_set, evaluate_sample_set
    from .score_request import parse_request

    request = parse_request(
        {"q": _check_single_order(q), "p": p, "normalize": normalize, f"score_{name}": True}
    )
    sample_set = build_sample_set(array, None, request, name)
    if sample_set.groups is not None:  # `compute` scores each group separately
        raise ValueError(
            f"`{name}` must be a single matrix with one row per sample, got "
            f"{len(sample_set.groups)} matrices; pass one matrix, or use "
            f"compute({name}, score_{name}=True) for the mean of their scores"
        )
    return evaluate_sample_set(sample_set, request)[request.vendi_key]


def is_small_matrix(matrix: object, name: str, normalize: object = False) -> TypeGuard[np.ndarray]:
    """Return whether a matrix can be scored by functions of `core.score` instead of `compute`.

    These functions avoid overhead, which matters for small matrices. `name` is "K" for a similarity
    matrix and "X" for features. The result is True for small float matrices of NumPy. It is False
    if `compute` could be faster, because it merges identical samples or computes in float32.
    """
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
        return size < MIN_MERGED_SAMPLES or not _may_have_many_duplicates(matrix)
    # With at most n columns, the (width, width) matrix XᵀX is decomposed, so merging saves nothing.
    return not is_float32_faster(matrix) and (size < MIN_MERGED_SAMPLES or width <= n)


def choose_solver(size: int, q: float) -> core.Solver | None:
    """Return an eigensolver for (size, size) matrices; None if `compute` has a faster algorithm.

    The eigenvalues are used for a Vendi Score of order q.
    """
    if size < MAX_NUMPY_SIZE:
        return core.NUMPY_SOLVER
    from ..spectral.eigendecomposition import TWO_STAGE_SIZE, decompose
    from ..spectral.routes import LANCZOS_SIZE

    if size >= TWO_STAGE_SIZE or (math.isinf(q) and size >= LANCZOS_SIZE):
        return None
    return core.Solver(decompose)


def _may_have_many_duplicates(K: np.ndarray) -> bool:
    """Return whether a similarity matrix K may contain many duplicates.

    This is the case if any of about `N_EXAMINED_SAMPLES` evenly spaced samples has a duplicate.
    """
    if K.shape[0] != K.shape[1]:
        return False
    examined_rows = K[:: len(K) // N_EXAMINED_SAMPLES]
    # Similarities of duplicates equal the diagonal. Each sample is also counted itself.
    n_equal = np.count_nonzero(examined_rows == K.diagonal())
    return bool(n_equal > len(examined_rows))
