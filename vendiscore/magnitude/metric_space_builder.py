"""Construction of metric spaces from numeric rows, a distance matrix, or a kernel."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..resolve.similarity_builder import (
    build_set_similarities,
    check_no_separate_fit,
    check_samples,
    is_precomputed,
)
from ..resolve.similarity_spec import (
    KernelArgument,
    Metric,
    SimilaritySpec,
    check_kernel_or_metric,
    check_no_metric_options,
    similarity_spec_from_keywords,
)
from ..similarity import sparse as sp
from ..similarity.base import Similarity
from ..similarity.distance_matrix import (
    UNIT_ROUNDING,
    as_numpy_rows,
    check_distances,
    compute_distances,
)
from ..similarity.duplicate_rows import group_identical_rows
from ..similarity.group_indices import group_indices
from ..similarity.kernel_distances import (
    check_squared_distance,
    kernel_rounding,
    squared_kernel_distances,
    squared_sparse_distances,
)
from ..similarity.metrics import NEGATIVE_TYPE
from ..similarity.prompt_residuals import repeated_prompt_notes
from ..similarity.row_distances import CLOSE_PAIR_RATIO, recompute_close_pairs, squared_distances
from ..support import memory
from ..support.arguments import check_no_gradient
from ..support.errors import SampleError
from ..support.namespace import Array, row_blocks, to_host
from ..support.signature import to_plain
from ..support.types import Options, Record, SampleContainer, Samples
from .magnitude_options import SolverName, check_magnitude_options
from .solver import compute_nearest_distances
from .space import MetricSpace


def as_space(
    samples: Samples,
    *,
    metric: Metric | None = None,
    k: KernelArgument | None = None,
    solver: SolverName = "auto",
    **options: object,
) -> MetricSpace:
    """Compute the distances between samples once, to compute several magnitudes from them.

    Functions that compute magnitude, such as `magnitude`, accept the same arguments, or a
    MetricSpace. A MetricSpace stores the weights that were computed for each scale.

    Parameters
    ----------
    samples : list, array-like, Similarity or MetricSpace
        Vectors of shape (n, d), distances of shape (n, n) with ``metric="precomputed"``, or samples
        that the kernel accepts. A MetricSpace is returned unchanged.
    metric : str or callable, optional
        The distance, as for `magnitude`; by default "euclidean" for vectors, else "kernel".
    k : str, callable, dict or list, optional
        The kernel: a name from `list_kernels()`, a symmetric function of two samples, or a mixture.
        Strings are compared by "ngram_overlap" if omitted.
    solver : {"auto", "cg", "cholesky"}, default "auto"
        Solver for the magnitude weights. "auto" checks at each scale, by a Cholesky factorization,
        that exp(-t D) is positive definite, unless the metric guarantees it ("euclidean",
        "manhattan", "cosine" and some others of SciPy; positive semidefinite kernels). "cg" never
        checks; it is fast for precomputed distances that are known to be of negative type, so that
        exp(-t D) is positive definite at every scale t > 0. D are the distances.
    **options
        Options of the kernel or the metric (such as `exponent` of "minkowski"), and `score_K`,
        `score_X`, `score_dual` and `normalize`, as for `compute`.

    Returns
    -------
    MetricSpace
        The distinct points and their distances.

    Raises
    ------
    IndefiniteError
        If the matrix exp(-t D) of the distances D is singular or indefinite at a scale t, so
        magnitude is undefined. At small scales, this may happen for metrics that are not of
        negative type (unlike "euclidean", for example).
    ArithmeticError
        If a value exceeds the range of double precision, or rounding errors are too large.
    TooLargeError
        If the distances and one work array do not fit in memory; raised before allocation.
    TypeError, ValueError
        If samples or options are invalid.

    See Also
    --------
    vendiscore.magnitude_function : Magnitude at several scales.
    vendiscore.as_similarity : The same for similarities.

    Notes
    -----
    Time is O(n^2 d) for vectors of d numbers, and memory is 12 n^2 bytes. For two samples with
    similarity k, the metric "kernel" is sqrt(2 - 2 k), the distance in the feature space of the
    kernel, which is of negative type (Schoenberg). The metric "1-k" is half of its square. Samples
    count as identical if 2 - 2 k is below 1e-14, or 5e-6 in single precision, which are the
    rounding errors of a similarity matrix.

    References
    ----------
    1. T. Leinster, "The Magnitude of Metric Spaces", Documenta Mathematica, 2013,
       section 2.1.
    2. I. J. Schoenberg, "Metric Spaces and Positive Definite Functions", Transactions of the
       American Mathematical Society, 1938.

    Examples
    --------
    >>> space = as_space([[0.0, 0.0], [3.0, 4.0]])
    >>> float(space.D[0, 1])
    5.0
    """
    return build_metric_spaces(
        [samples], ["samples"], as_space, metric=metric, k=k, solver=solver, **options
    )[0]


def build_metric_space(
    samples: Samples, options: Options, caller: Callable[..., object]
) -> MetricSpace:
    """Build the MetricSpace of samples: their distinct points and distances.

    `options` are keyword arguments of `as_space`, such as `metric` and `k`. `caller` is the public
    function that the user called. Errors about unknown options suggest its parameters.
    """
    return build_metric_spaces([samples], ["samples"], caller, **options)[0]


def build_metric_spaces(
    sets: Sequence[Samples],
    names: Sequence[str],
    caller: Callable[..., object],
    *,
    solver: object = "auto",
    **options: object,
) -> list[MetricSpace]:
    """Build the MetricSpace of each of several sets, with the same metric or kernel.

    `options` are keyword arguments of `as_space`, such as `metric` and `k`. For several sets, they
    may include `fit`, which selects the sets to which kernel options, such as a bandwidth, are
    fitted. `names` are the names of the sets in error messages. `caller` is the public function
    that the user called. Errors about unknown options suggest its parameters.
    """
    checked = check_magnitude_options(solver=solver)  # {"solver": solver}
    keywords = {name: value for name, value in options.items() if value is not None}
    spec = similarity_spec_from_keywords(
        keywords, caller, extra_names=checked, allow_metric=True, allow_fit=len(sets) > 1
    )
    check_kernel_or_metric(spec, "magnitude")
    # If all sets are a MetricSpace or a Similarity, options that have no effect on them are errors.
    # Otherwise the options apply to the other sets.
    has_unprocessed_sets = not all(map(is_precomputed, sets))
    checked_sets = []
    for samples, name in zip(sets, names, strict=True):
        if not has_unprocessed_sets:
            check_solver(samples, checked["solver"], name)
        checked_sets.append(check_samples(samples, spec, name, has_other_sets=has_unprocessed_sets))
    return as_spaces(checked_sets, spec, names, **checked)


def as_spaces(
    sets: Sequence[SampleContainer],
    spec: SimilaritySpec,
    names: Sequence[str],
    similarities: Callable[[], Sequence[Similarity]] | None = None,
    solver: SolverName = "auto",
) -> list[MetricSpace]:
    """Build the MetricSpace of each set of validated samples.

    `spec` describes the metric or kernel, and `names` are the names of the sets in error messages.
    `similarities`, if not None, is a function that returns the Similarity of each set. It is used
    for distances of a kernel, to avoid that similarities are computed twice. `solver` is the method
    that will compute magnitude weights.
    """
    # Build spaces one by one if some sets are a MetricSpace, which is returned unchanged.
    if any(isinstance(samples, MetricSpace) for samples in sets):
        spaces: list[MetricSpace] = []
        for samples, name in zip(sets, names, strict=True):
            if isinstance(samples, MetricSpace):
                spaces.append(samples)
            else:
                spaces += as_spaces([samples], spec, [name], solver=solver)
        check_no_separate_fit(sets, spaces, names, MetricSpace)
        return spaces
    check_no_gradient("magnitude", samples=list(sets))
    if spec.metric == "precomputed":
        settings = {"metric": "precomputed"}
        matrices = map(check_distances, sets, names)
        return [MetricSpace(D, settings=settings, solver=solver) for D in matrices]
    if uses_row_distances(sets, spec):
        return _from_rows(sets, spec, names, solver)
    check_no_metric_options(spec.metric_options)
    if similarities is None:
        set_similarities = build_set_similarities(sets, spec, names)
    else:
        set_similarities = list(similarities())
    with np.errstate(under="ignore", over="ignore"):
        return [_from_similarity(similarity, spec, solver) for similarity in set_similarities]


def check_solver(samples: object, solver: SolverName, name: str) -> None:
    """Raise a TypeError if samples are a MetricSpace with another solver than `solver`.

    The solver of a MetricSpace is selected when it is created. "auto" is the default and means any
    solver. `name` is the argument with the samples, for the message.
    """
    if isinstance(samples, MetricSpace) and solver not in ("auto", samples.solver.method):
        raise TypeError(
            f"`solver` has no effect on `{name}`, a MetricSpace with solver "
            f"{samples.solver.method!r}; omit `solver`, or pass the samples themselves"
        )


def uses_row_distances(sets: Sequence[Samples], spec: SimilaritySpec) -> bool:
    """Return whether distances between the samples are those of numeric rows, not of a kernel.

    This depends on the metric and kernel of `spec` and, if it has none, on the type of the samples.
    """
    if any(isinstance(samples, Similarity) for samples in sets):
        return False
    if spec.metric is not None:
        return spec.uses_vector_metric
    uses_kernel = spec.defines_similarity or spec.conditioning_prompts is not None
    return not uses_kernel and not any(map(_has_text, sets))


def has_maximum_distance(samples: Samples, spec: SimilaritySpec) -> bool:
    """Return whether distances have a known maximum.

    Distances of a kernel have one, the distance of samples with similarity 0. Distances between
    numeric rows and distances in a matrix have none. `spec` describes the metric or kernel.
    """
    if isinstance(samples, MetricSpace):
        # `unit` is the maximum distance of a kernel. It is None for other distances.
        return samples.unit is not None
    return spec.metric != "precomputed" and not uses_row_distances([samples], spec)


def _has_text(samples: Samples) -> bool:
    """Return whether samples are strings or lists of strings, which need a kernel."""
    if not isinstance(samples, list):
        return False
    # A sample may be a list, such as a list of tokens; then its first item is tested.
    firsts = (s[0] if isinstance(s, (list, tuple)) and s else s for s in samples)
    return any(isinstance(first, str) for first in firsts)


def _from_rows(
    sets: Sequence[Samples], spec: SimilaritySpec, names: Sequence[str], solver: SolverName
) -> list[MetricSpace]:
    """Build the MetricSpace of each set of numeric rows, with the metric of `spec`.

    `names` are the names of the sets in error messages. `solver` is the method that will compute
    magnitude weights.
    """
    metric = check_row_metric(spec)
    rows_of_sets = list(map(as_numpy_rows, sets, names))
    metric_name = to_plain(metric)
    options: Record = dict(spec.metric_options)
    # Minkowski distances with exponents up to 2 are of negative type.
    exponent = options.get("exponent", 2.0) if metric == "minkowski" else math.inf
    spaces = []
    for X, name in zip(rows_of_sets, names, strict=True):
        first, inverse = _find_distinct_samples(np.asarray(group_identical_rows(X)))

        # For messages. Default arguments keep the values of this iteration of the loop.
        def describe_pair(i: int, j: int, first: np.ndarray = first, name: str = name) -> str:
            return f"rows {first[i]} and {first[j]} of `{name}`"

        distinct = X if len(first) == len(X) else X[first]
        try:
            D = compute_distances(distinct, metric, options, name, describe_pair)
        except SampleError as error:
            # The error has an index of a distinct row; report all rows that are identical to it.
            raise error.reindexed(group_indices(inverse)) from None
        spaces.append(
            MetricSpace(
                D,
                inverse,
                {"metric": metric_name, **options},
                solver,
                negative_type=metric_name in NEGATIVE_TYPE or exponent <= 2,
                hilbert=metric_name == "euclidean" or exponent == 2,
                # Distances of unit vectors below this may have been rounded to 0.
                slack=1e-14 if metric in ("cosine", "correlation") else 0.0,
            )
        )
    return spaces


def check_row_metric(spec: SimilaritySpec) -> Metric:
    """Return the metric of `spec` for numeric rows, by default "euclidean".

    Raises a TypeError if `spec` contains options of a kernel, but no kernel that uses them.
    """
    metric = spec.metric or "euclidean"
    kernel_options = [*spec.options, *(["normalize"] if spec.normalize else [])]
    kernel_options += ["on_error"] if spec.drop_unusable else []
    kernel_options += ["fit"] if spec.fit else []
    if kernel_options and not spec.defines_similarity:  # otherwise other measures use the kernel
        raise TypeError(
            f"`{kernel_options[0]}` is an option of kernels and has no effect on metric "
            f"{metric!r}; pass a kernel as `k`, or remove `{kernel_options[0]}`"
        )
    return metric


def concatenate_rows(sets: Sequence[Samples], names: Sequence[str]) -> np.ndarray:
    """Concatenate the rows of several sets of numeric rows; `names` are their names in errors."""
    rows = list(map(as_numpy_rows, sets, names))
    check_widths(rows, names)
    return np.concatenate(rows)


def check_widths(rows: Sequence[Array], names: Sequence[str]) -> None:
    """Raise a ValueError if the arrays `rows` of several sets have different numbers of columns."""
    widths = [X.shape[1] for X in rows]
    if len(set(widths)) > 1:
        raise ValueError(
            f"all sets must have the same number of columns, got {widths} for {', '.join(names)}"
        )


def _find_distinct_samples(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct samples among n samples, of which some are identical.

    `groups` (n,) contains a code for each sample, equal for identical samples. Returns the indices
    (m,) of the m distinct samples, and for each sample its position among them, shape (n,). Raises
    a TooLargeError if the distances between the distinct samples, and a work array of the solver,
    do not fit in memory.
    """
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    n = len(first)
    description = f"the magnitude of {n} distinct samples (distances and a work array)"
    memory.require(12 * n**2, description, "use fewer samples")
    return first, inverse


def _from_similarity(
    similarity: Similarity, spec: SimilaritySpec, solver: SolverName
) -> MetricSpace:
    """Build the MetricSpace with the distances of a kernel: √(2 − 2k) or 1 − k for similarities k.

    `spec` determines which distance is used. `solver` is the method that will compute magnitude
    weights.
    """
    check_no_gradient("magnitude", samples=similarity)
    # Keep one of several identical samples. `first` contains the indices of the n distinct samples.
    groups = similarity.groups()
    first, inverse = _find_distinct_samples(
        np.arange(similarity.n) if groups is None else np.asarray(groups)
    )
    n = len(first)
    if n < similarity.n:
        similarity = similarity.take(first)
    # At first, D contains squared distances, 2 − 2k. Features give accurate distances of close
    # pairs, unlike k.
    F = similarity.features() if similarity.dim is not None else None
    if F is not None and not sp.issparse(F):
        D = squared_distances(np.asarray(to_host(F), np.float64))
    else:
        D = _squared_distances(similarity)
        if F is not None:  # sparse features: recompute close pairs from them
            recompute_close_pairs(
                D, CLOSE_PAIR_RATIO, lambda i, j: squared_sparse_distances(F, i, j)
            )
    # Squared distances up to the bound of rounding errors are set to 0.
    rounding = UNIT_ROUNDING if F is not None else kernel_rounding(similarity)
    nearest = compute_nearest_distances(D)
    i = int(np.argmin(nearest))
    j = int(np.argmin(D[i]))  # a negative entry cannot be on the diagonal
    check_squared_distance(nearest[i], f"samples {first[i]} and {first[j]}")
    D[rounding > D] = 0.0
    # Unless rounding errors are small compared with the squared distances, these may not be
    # distances in a Hilbert space: errors of up to `rounding` in the entries of an n × n matrix
    # change its eigenvalues by up to n · `rounding`. The factor 20 is a safety margin.
    is_hilbert = similarity.psd and (F is not None or nearest[i] > 20 * n * rounding)
    is_one_minus_k = spec.metric == "1-k"
    if is_one_minus_k:
        D /= 2
    else:
        np.sqrt(D, out=D)
    return MetricSpace(
        D,
        inverse,
        kernel_distance_settings(similarity, spec),
        solver,
        negative_type=similarity.psd,
        hilbert=bool(is_hilbert) and not is_one_minus_k,
        fitted=similarity.fitted,
        notes=[*similarity.notes, *repeated_prompt_notes(similarity)],
        # Squared distances up to `rounding` were set to 0, so the distances of two samples at
        # distance 0 to a third one may differ by about √rounding.
        slack=4 * rounding**0.5,
        unit=1.0 if is_one_minus_k else math.sqrt(2),  # the distance for k = 0
    )


def kernel_distance_settings(similarity: Similarity, spec: SimilaritySpec) -> Record:
    """Return the settings of a MetricSpace with the distances of a kernel.

    They are the formula of the distances, and the name and options of the kernel.
    """
    return {"metric": "1−k" if spec.metric == "1-k" else "√(2−2k)", **similarity.settings}


def _squared_distances(similarity: Similarity) -> np.ndarray:
    """Compute squared distances k(x, x) + k(y, y) − 2 k(x, y) for all pairs of samples x and y.

    k are the similarities. The result (n, n) is exactly symmetric, and its diagonal is 0.
    """
    K = np.asarray(to_host(similarity.dense()))
    diagonal = K.diagonal().copy()
    for block in row_blocks(len(K), 8 * len(K)):
        # The rows of the block, from the diagonal on; K may be asymmetric up to rounding.
        later = slice(block.start, None)
        symmetric_rows = (K[block, later] + K[later, block].T) / 2
        K[block, later] = squared_kernel_distances(symmetric_rows, diagonal[block], diagonal[later])
        K[later, block] = K[block, later].T
    np.fill_diagonal(K, 0.0)
    return K
