"""Every entry point gives the number of the definition in core, or refuses the same input."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import State, compute, effective_number, score_K, score_X
from vendiscore.core.score import compute_hill_numbers, weight_features, weight_matrix
from vendiscore.result import key_at

ORDERS = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0, math.inf)
CONTRACT = 2e-5  # of log VS, for float32 rows; at most 1 % of log VS, and at least 1e-8


def draw_weights(n, generator):
    """Return n weights that sum to 1, some of which are zero."""
    p = generator.dirichlet(np.ones(n))
    p[generator.random(n) < 0.2] = 0.0
    p[generator.integers(n)] += 0.1
    return p / p.sum()


def draw_features(kind, n, generator):
    """Return rows (n, d) whose covariance has no eigenvalue near the rounding threshold."""
    rank = int(generator.integers(1, 7))
    if kind == "low rank":
        return generator.standard_normal((n, rank)) @ generator.standard_normal((rank, 3 * rank))
    if kind == "integers":
        X = generator.integers(-2, 3, (n, rank + 1)).astype(float)
        X[:, 0] = 1.0
        return X
    if kind == "repeats":
        return generator.standard_normal((5, 2 * n))[generator.integers(0, 5, n)]
    if kind == "orthogonal":
        return np.eye(n)
    Q = np.linalg.qr(generator.standard_normal((n, n)))[0]
    return Q * generator.uniform(0.3, 1, n)  # full rank


KINDS = ("low rank", "integers", "repeats", "orthogonal", "full rank")


def draw_matrix(kind, n, generator):
    """Return similarities (n, n) in float64 with a diagonal of 1."""
    X = draw_features(kind, n, generator)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    K = X @ X.T
    np.fill_diagonal(K, 1.0)
    return (K + K.T) / 2


def disturb(K, dtype, order, generator):
    """Return K in a precision and memory order, with an asymmetry of one unit in the last place."""
    K = K.astype(dtype)
    i, j = generator.integers(0, len(K), 2)
    if i != j:
        K[i, j] = np.nextafter(K[i, j], np.array(0, dtype))
    return np.asarray(K, order=order)


def run(call):
    """Return a number, or the type of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = call()
        except (ValueError, TypeError) as error:
            return type(error)
    return float(getattr(value, "detach", lambda: value)())


def score_one_group(samples, q, p, **options):
    """Return the score of samples as one of three groups."""
    n = len(samples)
    if options.get("score_K"):
        whole = np.eye(2 * n, dtype=samples.dtype)
        whole[:n, :n] = samples
    else:
        whole = np.concatenate([samples, samples])
    labels = ["a"] * n + ["b"] * (n - 1) + ["c"]
    weights = None if p is None else np.concatenate([p / 2, np.full(n, 0.5 / n)])
    result = compute(whole, groups=labels, q=q, p=weights, details=True, **options)
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


def list_scores(samples, q, p, weigh, score, normalize):
    how = {score.__name__: True, "normalize": normalize}
    return {
        "core": lambda: compute_hill_numbers(*_unpack(weigh(samples, p, normalize), q))[0][0],
        score.__name__: lambda: score(samples, q, p, normalize),
        "compute": lambda: compute(samples, q=q, p=p, **how)[key_at(q)],
        "several orders": lambda: compute(samples, q=[q, 1.5], p=p, **how)[f"VS_q{q:g}"],
        "one group": lambda: score_one_group(samples, q, p, **how),
        "torch": lambda: score_torch(samples, q, p, False, **how),
        "torch with a gradient": lambda: score_torch(samples, q, p, True, **how),
    }


def list_scores_of_matrix(K, q, p, normalize=False):
    return list_scores(K, q, p, weight_matrix, score_K, normalize)


def list_scores_of_features(X, q, p, normalize=True):
    scores = list_scores(X, q, p, weight_features, score_X, normalize)
    return {**scores, "State": lambda: score_state(X, q, p, normalize)}


def _unpack(weighted, q):
    A, tolerance = weighted
    return A, [q], tolerance


def check_equal(scores, rel=1e-10, context=()):
    """Check that all calls give the number of the first, or its error."""
    results = {name: run(call) for name, call in scores.items()}
    expected = results["core"]
    for name, result in results.items():
        if isinstance(expected, type) or isinstance(result, type):
            assert result == expected, (name, results, *context)
        elif rel is None:
            logs = math.log(expected)
            allowed = max(1e-8, min(CONTRACT, 0.01 * logs))
            assert abs(math.log(result) - logs) <= allowed, (name, results, *context)
        else:
            assert result == pytest.approx(expected, rel=rel), (name, results, *context)


@settings(max_examples=20)
@given(
    st.sampled_from(KINDS),
    st.integers(1, 70),
    st.sampled_from(["float64", "float32"]),
    st.sampled_from("CF"),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_a_small_matrix_has_one_score(kind, n, dtype, order, weighted, seed):
    generator = np.random.default_rng(seed)
    K = disturb(draw_matrix(kind, n, generator), dtype, order, generator)
    p = draw_weights(n, generator) if weighted else None
    for q in ORDERS:
        scores = list_scores_of_matrix(K, q, p)
        if dtype == "float32" and q == 2:
            # Rounding errors of entries make some eigenvalues negative, which the norm includes
            # and the eigenvalues of several orders do not.
            several = {name: scores[name] for name in ("core", "several orders")}
            check_equal(several, rel=None, context=(q,))
            del scores["several orders"]
        check_equal(scores, context=(q,))


@settings(max_examples=20)
@given(
    st.sampled_from(KINDS),
    st.integers(1, 70),
    st.sampled_from(["float64", "float32", "int64"]),
    st.sampled_from("CF"),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_small_features_have_one_score(kind, n, dtype, order, weighted, seed):
    generator = np.random.default_rng(seed)
    X = draw_features(kind, n, generator)
    if dtype == "int64":
        X = np.rint(8 * X) + (np.arange(X.shape[1]) == 0) * 64
    X = np.asarray(X.astype(dtype), order=order)
    p = draw_weights(n, generator) if weighted else None
    for q in ORDERS:
        scores = list_scores_of_features(X, q, p)
        if dtype == "int64":
            del scores["torch with a gradient"]
        check_equal(scores, context=(q,))


@pytest.mark.parametrize(
    ("n", "kind", "dtype"),
    [
        (192, "low rank", "float32"),
        (192, "integers", "float64"),
        (192, "repeats", "float64"),
        (192, "full rank", "float64"),
        (501, "low rank", "float64"),
        (501, "full rank", "float32"),
        pytest.param(2000, "low rank", "float64", marks=pytest.mark.slow),
        pytest.param(2000, "full rank", "float32", marks=pytest.mark.slow),
    ],
)
def test_large_sets_have_one_score(n, kind, dtype):
    generator = np.random.default_rng(n)
    X = draw_features(kind, n, generator).astype(dtype)
    K = disturb(draw_matrix(kind, n, generator), dtype, "C", generator)
    p = draw_weights(n, generator)
    orders = ((0.5, None), (1.0, p), (2.0, None), (math.inf, None))
    for q, weights in orders[:2] if n == 2000 else orders:
        scores = list_scores_of_matrix(K, q, weights)
        del scores["one group"]  # of a matrix of twice the size
        if dtype == "float32":
            del scores["several orders"]
        check_equal(scores, context=(q,))
        check_equal(list_scores_of_features(X, q, weights), context=(q,))


def test_float32_rows_of_unit_length_keep_the_contract_of_accuracy():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((1500, 100)) / np.sqrt(np.arange(100) + 1)
    X = (X / np.linalg.norm(X, axis=1)[:, None]).astype(np.float32)
    for q in (1.0, 2.0, 5.0, math.inf):
        check_equal(list_scores_of_features(X, q, None), rel=None, context=(q,))


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("small", [4e-16, 1e-13, 1e-200])
def test_small_weights_of_a_diagonal_matrix_count(q, small):
    p = np.array([0.5, 0.5 - small, small])
    for list_ways in (list_scores_of_matrix, list_scores_of_features):
        scores = list_ways(np.eye(3), q, p)
        del scores["torch with a gradient"]  # is decomposed
        assert run(scores["core"]) == pytest.approx(effective_number(p, q), rel=1e-12)
        check_equal(scores, context=(q,))


INDEFINITE = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1.0]])
FAULTY = {
    "indefinite": INDEFINITE,
    "not symmetric": np.array([[1, 0.5], [0.4, 1]]),
    "an entry beyond 1": np.array([[1, 1.5], [1.5, 1]]),
    "a diagonal of 2": 2 * np.eye(3),
    "distances": 1 - np.eye(3),
    "NaN": np.array([[1, np.nan], [np.nan, 1]]),
    "not square": np.ones((2, 3)),
}


@pytest.mark.parametrize("name", FAULTY)
@pytest.mark.parametrize("q", [0.5, 1.0])
def test_a_faulty_matrix_is_refused_alike(name, q):
    K = FAULTY[name]
    scores = list_scores_of_matrix(K, q, None)
    if K.shape[0] != K.shape[1]:
        del scores["one group"]
    results = {name: run(call) for name, call in scores.items()}
    assert all(issubclass(result, ValueError) for result in results.values()), results
    if name == "distances":  # which a group among others is not recognized as
        del results["one group"]
    if name != "NaN":  # which the callers of core find
        assert len({*results.values()}) == 1, results


@pytest.mark.parametrize(
    ("X", "normalize"),
    [(np.array([[0.0, 0], [1, 0]]), True), (np.array([[1.0, 0], [1, 1]]), False)],
)
def test_faulty_features_are_refused_alike(X, normalize):
    results = {
        name: run(call) for name, call in list_scores_of_features(X, 1.0, None, normalize).items()
    }
    assert len({*results.values()}) == 1, results
    assert all(isinstance(result, type) for result in results.values())
