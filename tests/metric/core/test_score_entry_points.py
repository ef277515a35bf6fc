"""All entry points return the score of the core implementation, or reject the same input."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vendiscore import State, compute, effective_number, score_K, score_X
from vendiscore.core.score import compute_hill_numbers, weight_features, weight_matrix
from vendiscore.result import key_at

ORDERS = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0, math.inf)
MAX_LOG_ERROR = 2e-5  # of log VS, for float32 rows; at most 1 % of log VS, and at least 1e-8


def draw_weights(n, generator):
    """Return n weights that sum to 1, some of which are zero."""
    p = generator.dirichlet(np.ones(n))
    p[generator.random(n) < 0.2] = 0.0
    p[generator.integers(n)] += 0.1
    return p / p.sum()


def draw_features(feature_type, n, generator):
    """Return rows (n, d) whose covariance has no eigenvalue near the rounding threshold."""
    rank = int(generator.integers(1, 7))
    if feature_type == "low rank":
        return generator.standard_normal((n, rank)) @ generator.standard_normal((rank, 3 * rank))
    if feature_type == "integers":
        X = generator.integers(-2, 3, (n, rank + 1)).astype(float)
        X[:, 0] = 1.0
        return X
    if feature_type == "repeats":
        return generator.standard_normal((5, 2 * n))[generator.integers(0, 5, n)]
    if feature_type == "orthogonal":
        return np.eye(n)
    Q = np.linalg.qr(generator.standard_normal((n, n)))[0]
    return Q * generator.uniform(0.3, 1, n)  # full rank


FEATURE_TYPES = ("low rank", "integers", "repeats", "orthogonal", "full rank")


def draw_matrix(feature_type, n, generator):
    """Return similarities (n, n) in float64 with a diagonal of 1."""
    X = draw_features(feature_type, n, generator)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    K = X @ X.T
    np.fill_diagonal(K, 1.0)
    return (K + K.T) / 2


def perturb_matrix(K, dtype, memory_order, generator):
    """Convert K to a dtype and memory order, and add an asymmetry of one unit in the last place."""
    K = K.astype(dtype)
    i, j = generator.integers(0, len(K), 2)
    if i != j:
        K[i, j] = np.nextafter(K[i, j], np.array(0, dtype))
    return np.asarray(K, order=memory_order)


def score_or_error_type(function):
    """Return the score, or the type of the exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = function()
        except (ValueError, TypeError) as error:
            return type(error)
    return float(getattr(value, "detach", lambda: value)())


def score_first_of_three_groups(samples, q, p, **options):
    """Return the score of the first of three groups, which contains `samples`."""
    n = len(samples)
    if options.get("score_K"):
        samples_of_groups = np.eye(2 * n, dtype=samples.dtype)
        samples_of_groups[:n, :n] = samples
    else:
        samples_of_groups = np.concatenate([samples, samples])
    labels = ["a"] * n + ["b"] * (n - 1) + ["c"]
    weights = None if p is None else np.concatenate([p / 2, np.full(n, 0.5 / n)])
    result = compute(samples_of_groups, groups=labels, q=q, p=weights, details=True, **options)
    return result["details"]["groups"][0][key_at(q)]


def score_state(X, q, p, normalize):
    state = State(score_X=True, normalize=normalize)
    half = len(X) // 2
    for rows in (slice(half), slice(half, None)):
        state.update(X[rows], None if p is None else p[rows])
    return state.compute(q=q)[key_at(q)]


def score_torch(samples, q, p, gradient, **options):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(samples, requires_grad=gradient)
    return compute(tensor, q=q, p=p, **options)[key_at(q)]


def list_score_functions(samples, q, p, apply_weights, score, normalize):
    options = {score.__name__: True, "normalize": normalize}
    return {
        "core": lambda: compute_hill_numbers(
            *unpack_weighted(apply_weights(samples, p, normalize), q)
        )[0][0],
        score.__name__: lambda: score(samples, q, p, normalize),
        "compute": lambda: compute(samples, q=q, p=p, **options)[key_at(q)],
        "several orders": lambda: compute(samples, q=[q, 1.5], p=p, **options)[f"VS_q{q:g}"],
        "one group": lambda: score_first_of_three_groups(samples, q, p, **options),
        "torch": lambda: score_torch(samples, q, p, False, **options),
        "torch with a gradient": lambda: score_torch(samples, q, p, True, **options),
    }


def list_functions_of_matrix(K, q, p, normalize=False):
    return list_score_functions(K, q, p, weight_matrix, score_K, normalize)


def list_functions_of_features(X, q, p, normalize=True):
    functions = list_score_functions(X, q, p, weight_features, score_X, normalize)
    return {**functions, "State": lambda: score_state(X, q, p, normalize)}


def bound_relative_difference(X, q, p):
    """Bound the relative difference of two scores of features X that rounding errors can explain.

    An eigensolver that is backward stable computes each eigenvalue λ with an error of about ε λ_max
    (Weyl's inequality), where ε is the machine precision and λ_max ≤ 1 is the largest eigenvalue.
    To first order, log VS = log(Σ λ^q)/(1 − q) then changes by at most ε q/(1 − q) Σ λ^(q−1)/Σ λ^q,
    which is large if q < 1 and the smallest positive eigenvalue is tiny. Two scores differ by at
    most twice this bound. For q = 0 and q ≥ 1, 1e-10 suffices.
    """
    if not 0 < q < 1:
        return 1e-10
    A, tolerance = weight_features(X, p)
    values = compute_hill_numbers(A, [q], tolerance)[1].values
    values = values[values > 0]
    condition = q / (1 - q) * np.sum(values ** (q - 1)) / np.sum(values**q)
    return max(1e-10, 2 * np.finfo(float).eps * condition)


def unpack_weighted(weighted, q):
    A, tolerance = weighted
    return A, [q], tolerance


def check_equal_scores(functions, rel=1e-10, context=()):
    """Check that all functions return the score of "core", or raise the same type of exception."""
    results = {name: score_or_error_type(function) for name, function in functions.items()}
    expected = results["core"]
    for name, result in results.items():
        if isinstance(expected, type) or isinstance(result, type):
            assert result == expected, (name, results, *context)
        elif rel is None:
            log_expected = math.log(expected)
            max_error = max(1e-8, min(MAX_LOG_ERROR, 0.01 * log_expected))
            assert abs(math.log(result) - log_expected) <= max_error, (name, results, *context)
        else:
            assert result == pytest.approx(expected, rel=rel), (name, results, *context)


@settings(max_examples=20)
@given(
    st.sampled_from(FEATURE_TYPES),
    st.integers(1, 70),
    st.sampled_from(["float64", "float32"]),
    st.sampled_from("CF"),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_entry_points_agree_on_small_matrix(feature_type, n, dtype, memory_order, weighted, seed):
    generator = np.random.default_rng(seed)
    K = perturb_matrix(draw_matrix(feature_type, n, generator), dtype, memory_order, generator)
    p = draw_weights(n, generator) if weighted else None
    for q in ORDERS:
        functions = list_functions_of_matrix(K, q, p)
        if dtype == "float32" and q == 2:
            # Rounding errors of entries make some eigenvalues negative, which the norm includes
            # and the eigenvalues of several orders do not.
            core_and_several_orders = {name: functions[name] for name in ("core", "several orders")}
            check_equal_scores(core_and_several_orders, rel=None, context=(q,))
            del functions["several orders"]
        check_equal_scores(functions, context=(q,))


@settings(max_examples=20)
@given(
    st.sampled_from(FEATURE_TYPES),
    st.integers(1, 70),
    st.sampled_from(["float64", "float32", "int64"]),
    st.sampled_from("CF"),
    st.booleans(),
    st.integers(0, 10**6),
)
@example("full rank", 42, "int64", "C", False, 113)  # the smallest eigenvalue is 9e-11
def test_entry_points_agree_on_small_features(feature_type, n, dtype, memory_order, weighted, seed):
    generator = np.random.default_rng(seed)
    X = draw_features(feature_type, n, generator)
    if dtype == "int64":
        X = np.rint(8 * X) + (np.arange(X.shape[1]) == 0) * 64
    X = np.asarray(X.astype(dtype), order=memory_order)
    p = draw_weights(n, generator) if weighted else None
    for q in ORDERS:
        functions = list_functions_of_features(X, q, p)
        if dtype == "int64":
            del functions["torch with a gradient"]
        rel = bound_relative_difference(X, q, p)
        check_equal_scores(functions, rel=rel, context=(q,))


@pytest.mark.parametrize(
    ("n", "feature_type", "dtype"),
    [
        (192, "low rank", "float32"),
        (192, "integers", "float64"),
        (192, "repeats", "float64"),
        (192, "full rank", "float64"),
        (501, "low rank", "float64"),
        (501, "full rank", "float32"),
        pytest.param(2000, "low rank", "float64", marks=pytest.mark.long),
        pytest.param(2000, "full rank", "float32", marks=pytest.mark.long),
    ],
)
def test_entry_points_agree_on_large_sets(n, feature_type, dtype):
    generator = np.random.default_rng(n)
    X = draw_features(feature_type, n, generator).astype(dtype)
    K = perturb_matrix(draw_matrix(feature_type, n, generator), dtype, "C", generator)
    p = draw_weights(n, generator)
    orders = ((0.5, None), (1.0, p), (2.0, None), (math.inf, None))
    for q, weights in orders[:2] if n == 2000 else orders:
        functions = list_functions_of_matrix(K, q, weights)
        del functions["one group"]  # would need a matrix of twice the size
        if dtype == "float32":
            del functions["several orders"]
        check_equal_scores(functions, context=(q,))
        check_equal_scores(list_functions_of_features(X, q, weights), context=(q,))


def test_float32_unit_rows_are_within_documented_accuracy():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((1500, 100)) / np.sqrt(np.arange(100) + 1)
    X = (X / np.linalg.norm(X, axis=1)[:, None]).astype(np.float32)
    for q in (1.0, 2.0, 5.0, math.inf):
        check_equal_scores(list_functions_of_features(X, q, None), rel=None, context=(q,))


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("weight", [4e-16, 1e-13, 1e-200])
def test_small_weights_of_diagonal_matrix_are_counted(q, weight):
    p = np.array([0.5, 0.5 - weight, weight])
    for list_functions in (list_functions_of_matrix, list_functions_of_features):
        functions = list_functions(np.eye(3), q, p)
        del functions["torch with a gradient"]  # uses an eigendecomposition
        assert score_or_error_type(functions["core"]) == pytest.approx(
            effective_number(p, q), rel=1e-12
        )
        check_equal_scores(functions, context=(q,))


INDEFINITE = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1.0]])
INVALID_MATRICES = {
    "indefinite": INDEFINITE,
    "not symmetric": np.array([[1, 0.5], [0.4, 1]]),
    "an entry beyond 1": np.array([[1, 1.5], [1.5, 1]]),
    "a diagonal of 2": 2 * np.eye(3),
    "distances": 1 - np.eye(3),
    "NaN": np.array([[1, np.nan], [np.nan, 1]]),
    "not square": np.ones((2, 3)),
}


@pytest.mark.parametrize("name", INVALID_MATRICES)
@pytest.mark.parametrize("q", [0.5, 1.0])
def test_entry_points_raise_same_error_for_invalid_matrix(name, q):
    K = INVALID_MATRICES[name]
    functions = list_functions_of_matrix(K, q, None)
    if K.shape[0] != K.shape[1]:
        del functions["one group"]
    results = {name: score_or_error_type(function) for name, function in functions.items()}
    assert all(issubclass(result, ValueError) for result in results.values()), results
    if name == "distances":  # not detected in one of several groups
        del results["one group"]
    if name != "NaN":  # detected by the callers of core
        assert len({*results.values()}) == 1, results


@pytest.mark.parametrize(
    ("X", "normalize"),
    [(np.array([[0.0, 0], [1, 0]]), True), (np.array([[1.0, 0], [1, 1]]), False)],
)
def test_entry_points_raise_same_error_for_invalid_features(X, normalize):
    results = {
        name: score_or_error_type(function)
        for name, function in list_functions_of_features(X, 1.0, None, normalize).items()
    }
    assert len({*results.values()}) == 1, results
    assert all(isinstance(result, type) for result in results.values())
