"""Magnitude of random rows for all metrics and kernels, compared with 60-digit arithmetic."""

import math
from concurrent.futures import ThreadPoolExecutor

import closed_forms as cf
import fuzz
import kernel_strategies
import numpy as np
import pytest
import reference
from hypothesis import assume, given
from hypothesis import strategies as st
from magnitude_measures import compute_magnitude

from vendiscore import as_similarity, magnitude_weights
from vendiscore.magnitude.magnitude_functions import magnitude
from vendiscore.magnitude.metric_space_builder import as_space

RELATIVE_TOLERANCE = 1e-9
MP = cf.MP
IDENTICAL_TOLERANCE = MP.mpf(10) ** -50  # rounding of angles at 60 digits


def to_mpf(x):
    return [MP.mpf(float(a)) for a in x]


def norm(x):
    return MP.sqrt(MP.fdot(x, x))


def euclidean(x, y):
    return norm([a - b for a, b in zip(x, y, strict=True)])


def cosine(x, y):
    return 1 - MP.fdot(x, y) / (norm(x) * norm(y))


def correlation(x, y):
    return cosine(*([a - MP.fsum(z) / len(z) for a in z] for z in (x, y)))


def safe_divide(numerator, denominator):
    return numerator / denominator if denominator else MP.mpf(0)


DEFINITIONS = {
    "euclidean": euclidean,
    "sqeuclidean": lambda x, y: euclidean(x, y) ** 2,
    "manhattan": lambda x, y: MP.fsum(abs(a - b) for a, b in zip(x, y, strict=True)),
    "chebyshev": lambda x, y: max(abs(a - b) for a, b in zip(x, y, strict=True)),
    "canberra": lambda x, y: MP.fsum(
        safe_divide(abs(a - b), abs(a) + abs(b)) for a, b in zip(x, y, strict=True)
    ),
    "braycurtis": lambda x, y: safe_divide(
        MP.fsum(abs(a - b) for a, b in zip(x, y, strict=True)),
        MP.fsum(abs(a + b) for a, b in zip(x, y, strict=True)),
    ),
    "cosine": cosine,
    "correlation": correlation,
    "hamming": lambda x, y: MP.mpf(sum(a != b for a, b in zip(x, y, strict=True))) / len(x),
}


def distinct_distances(rows, distance):
    """Return distances between rows, without rows at distance 0 from an earlier row."""
    rows = [
        to_mpf(row) for row in dict.fromkeys(tuple(np.asarray(row, float) + 0.0) for row in rows)
    ]
    distinct = []
    for row in rows:
        min_distance = IDENTICAL_TOLERANCE if distance in (cosine, correlation) else 0
        if all(distance(row, other) > min_distance for other in distinct):
            distinct.append(row)
    return [[distance(a, b) if a is not b else MP.mpf(0) for b in distinct] for a in distinct]


def check_well_posed(D, t):
    """Return whether Z is clearly positive definite, and the sum of absolute weights."""
    Z = np.array([[float(MP.exp(-MP.mpf(t) * d)) for d in row] for row in D])
    if np.linalg.eigvalsh(Z)[0] < 1e-6:
        return False, math.inf
    return True, float(MP.fsum(abs(w) for w in cf.exact_weights(D, t)))


@fuzz.fuzz_settings(150)
@given(
    X=fuzz.row_sets(max_n=7, nonzero=True),
    metric=st.sampled_from(sorted(DEFINITIONS)),
    relative_scale=st.sampled_from((0.1, 1.0, 10.0)),
)
def test_magnitude_of_rows_matches_the_metric_definition(X, metric, relative_scale):
    X = np.abs(X) if metric == "braycurtis" else X
    has_spread = np.ptp(X, axis=1) > 1e-3 * np.abs(X).max(axis=1)
    assume(metric != "correlation" or has_spread.all())
    D = distinct_distances(X, DEFINITIONS[metric])
    largest = max(max(row) for row in D)
    assume(largest == 0 or 1e-290 < largest < 1e300)
    t = relative_scale / float(largest) if largest else 1.0
    # Accuracy is limited by rounding of unit vectors (angles) or coordinates (distances).
    min_distance = min((d for row in D for d in row if d), default=1)
    cancellation = float(
        max(np.abs(X).max() / min_distance if metric not in ("cosine", "correlation") else 1, 1)
    )
    is_well_posed, weight_sum = check_well_posed(D, t)
    assume(is_well_posed)
    expected = cf.exact_magnitude(D, t)
    rounding = 64 * np.finfo(float).eps * weight_sum**2 * (1 + t * float(largest))
    if metric in ("cosine", "correlation"):
        rounding += 64 * np.finfo(float).eps / float(min_distance) ** 0.5
    assert cancellation > 1e16 or magnitude(X, t=t, metric=metric) == pytest.approx(
        expected, rel=RELATIVE_TOLERANCE + rounding
    )


@fuzz.fuzz_settings(60)
@given(
    case=st.one_of(
        kernel_strategies.vector_kernels(),
        kernel_strategies.text_kernels(),
        kernel_strategies.object_kernels(),
    ),
    metric=st.sampled_from(("kernel", "1-k")),
    t=st.sampled_from((0.5, 2.0, 10.0)),
)
def test_magnitude_of_kernels_matches_their_distances(case, metric, t):
    K = case.K
    is_far = (1 - K[np.triu_indices(len(K), 1)]) > 1e-6  # the next test covers smaller distances
    is_identical = 1 - K[np.triu_indices(len(K), 1)] < 1e-15
    assume((is_far | is_identical).all())
    distinct_indices = [i for i in range(len(K)) if not (1 - K[i, :i] < 1e-15).any()]
    D = 1 - K[np.ix_(distinct_indices, distinct_indices)]
    D = np.sqrt(2 * D) if metric == "kernel" else D
    np.fill_diagonal(D, 0)
    Z = np.exp(-t * D)
    min_eigenvalue = np.linalg.eigvalsh(Z)[0]
    assume(min_eigenvalue > 1e-4)
    options = {name: value for name, value in case.options.items() if name != "psd"}
    result = []
    error = fuzz.get_intended_error(
        lambda: result.append(magnitude(case.samples, t=t, metric=metric, **options))
    )
    if error is not None:  # samples that differ only by rounding: Z is singular in double precision
        assert is_identical.any()
        return
    (magnitude_value,) = result
    # Points with equal rows of K may have a positive distance in features.
    identical_error = t * np.sqrt(2e-15) if is_identical.any() else 0.0
    assert magnitude_value == pytest.approx(
        np.linalg.solve(Z, np.ones(len(Z))).sum(), rel=1e-8 + identical_error + 10 * case.noise
    )


@fuzz.fuzz_settings(60)
@given(
    exponent=st.floats(-9, -2),
    n_zeros=st.sampled_from((0, 1, 5, 30)),
    k=st.sampled_from(("cosine", "metric", "score_X", "rbf")),
    seed=fuzz.seeds,
)
def test_small_angles_are_accurate_with_any_number_of_zero_columns(exponent, n_zeros, k, seed):
    assume(exponent > -6 or k != "rbf")  # the matrix rounds 1 − k to 0
    angle = 10**exponent
    Y = np.array([[1.0, 0.0], [math.cos(angle), math.sin(angle)], [0.0, 1.0]])
    Y = Y[np.random.default_rng(seed).permutation(3)]
    P = np.hstack([Y, np.zeros((3, n_zeros))])
    options = {
        "cosine": {"k": "cosine"},
        "metric": {"metric": "cosine"},
        "score_X": {"score_X": True},
        "rbf": {"k": "rbf", "sigma": 1.0},
    }[k]
    similarity = reference.rbf(Y, 1.0) if k == "rbf" else reference.cosine

    def distance(a, b):
        dissimilarity = 1 - similarity(a, b)
        return dissimilarity if k == "metric" else MP.sqrt(2 * dissimilarity)

    D = [[distance(a, b) if a is not b else 0 for b in Y] for a in Y]
    nearest = float(min(d for row in D for d in row if d))
    # For a kernel without features, 1 − k is rounded in the matrix.
    rel = 1e-6 + 16 * np.finfo(float).eps / nearest**2 * (k == "rbf")
    padded_value, expected = (compute_magnitude(points, n_scales=5, **options) for points in (P, Y))
    assert padded_value == pytest.approx(expected, rel=rel)
    for t in (1.0, 1 / nearest):
        if t * nearest > 1e-9:
            assert magnitude(P, t=t, **options) == pytest.approx(cf.exact_magnitude(D, t), rel=rel)


@fuzz.fuzz_settings(60)
@given(
    n=st.integers(2, 8),
    d=st.integers(1, 40),
    seed=fuzz.seeds,
    exponent=st.integers(3, 12),
    t=st.sampled_from((0.3, 3.0, 30.0)),
)
def test_weights_of_near_duplicates_match_exact_weights(n, d, seed, exponent, t):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[1] = X[0] + 10.0**-exponent * rng.standard_normal(d) / math.sqrt(d)
    D = distinct_distances(X, euclidean)
    assume(len(D) == n)
    expected = np.array([float(w) for w in cf.exact_weights(D, t)])
    min_distance = float(min(x for row in D for x in row if x))
    tolerance = 1e-9 + 64 * np.finfo(float).eps / min(1.0, t * min_distance)
    assert np.abs(magnitude_weights(X, t=t) - expected).max() <= tolerance * max(
        1.0, np.abs(expected).max()
    )


@fuzz.fuzz_settings(60)
@given(
    X=fuzz.row_sets(max_n=8, kinds=("grid", "normal", "masked"), scales=(1.0,)),
    exponent=st.one_of(st.integers(-498, 498), st.integers(-1000, 1000)),
    metric=st.sampled_from(("euclidean", "manhattan", "chebyshev", "cosine")),
    data=st.data(),
)
def test_magnitude_ignores_units_order_and_duplicates(X, exponent, metric, data):
    X = np.where(X.any(axis=1, keepdims=True), X, 1.0)
    scaled = np.ldexp(X, exponent)
    assume(
        np.array_equal(np.ldexp(scaled, -exponent), X) and np.isfinite(scaled * len(X) ** 2).all()
    )
    unit_exponent = 0 if metric == "cosine" else exponent
    t = math.ldexp(0.7, -unit_exponent)
    assume(0 < t < math.inf)
    expected = magnitude(X, t=0.7, metric=metric)
    result = []
    error = fuzz.get_intended_error(lambda: result.append(magnitude(scaled, t=t, metric=metric)))
    assert result == [pytest.approx(expected, rel=1e-8)] or (
        error is not None and abs(exponent) > 498
    )
    indices = data.draw(st.permutations([*range(len(X)), *range(len(X) // 2)]))
    assert magnitude(X[indices], t=0.7, metric=metric) == pytest.approx(expected, rel=1e-8)


# Invalid input


@fuzz.fuzz_settings(60)
@given(
    n=st.integers(2, 7),
    seed=fuzz.seeds,
    defect=st.sampled_from(("twice", "self", "text", "nan", "negative", "inf")),
    data=st.data(),
)
def test_invalid_distance_function_is_rejected(n, seed, defect, data):
    X = np.random.default_rng(seed).standard_normal((n, 2))
    i, j = data.draw(st.permutations(range(n)))[:2]
    make_invalid = {
        "twice": lambda d: 2 * d,
        "text": lambda d: "far",
        "nan": lambda d: math.nan,
        "negative": lambda d: -d,
        "inf": lambda d: math.inf,
        "self": lambda d: d,
    }[defect]

    def metric(a, b):
        d = float(np.linalg.norm(a - b))
        if defect == "self" and (a == X[i]).all() and (b == X[i]).all():
            return 0.5
        return make_invalid(d) if (a == X[i]).all() and (b == X[j]).all() else d

    assert fuzz.get_intended_error(lambda: magnitude(X, t=1.0, metric=metric)) is not None


@fuzz.fuzz_settings(60)
@given(
    n=st.integers(3, 7),
    seed=fuzz.seeds,
    offset=st.sampled_from((1.0, 1e3, 1e7, 1e12)),
    defect=st.sampled_from(("asymmetric", "negative", "diagonal", "nan", "near duplicates")),
    data=st.data(),
)
def test_invalid_distance_matrix_is_rejected_at_any_scale(n, seed, offset, defect, data):
    x = np.random.default_rng(seed).random((n, 2))
    x[-1] += offset
    D = np.sqrt(((x[:, None] - x) ** 2).sum(-1))
    i, j = data.draw(st.permutations(range(n - 1)))[:2]
    if defect == "asymmetric":
        D[i, j] *= 1.2
    elif defect == "negative":
        D[i, j] = D[j, i] = -D[i, j]
    elif defect == "diagonal":
        D[i, i] = 0.1
    elif defect == "nan":
        D[i, j] = D[j, i] = math.nan
    else:
        D = np.pad(D, (0, 1))
        D[n] = D[i]
        D[:, n] = D[n]
        D[n, j] = D[j, n] = D[i, j] * 1.5 + 0.1
    assert fuzz.get_intended_error(lambda: magnitude(D, t=1.0, metric="precomputed")) is not None


INVALID_OPTIONS = (
    *(("minkowski", {"exponent": p}) for p in (-1, 0.0, math.nan, "2", [1, 2], True)),
)


@pytest.mark.parametrize(("metric", "options"), INVALID_OPTIONS)
def test_invalid_metric_option_is_rejected(metric, options):
    X = np.random.default_rng(0).standard_normal((5, 2))
    assert (
        fuzz.get_intended_error(lambda: magnitude(X, t=1.0, metric=metric, **options)) is not None
    )


@fuzz.fuzz_settings(5)
@given(seed=fuzz.seeds, n=st.sampled_from((60, 300)))
def test_metric_space_can_be_shared_by_threads(seed, n):
    x = np.random.default_rng(seed).standard_normal(n)
    g = cf.line_gaps(x)
    space = as_space(x)
    ts = np.random.default_rng(seed).permutation(np.geomspace(0.1, 100, 24)).tolist()
    with ThreadPoolExecutor(8) as pool:
        result = list(pool.map(space.magnitude, ts))
    assert result == pytest.approx([cf.tree_magnitude(g, t) for t in ts], rel=RELATIVE_TOLERANCE)


@fuzz.fuzz_settings(10)
@given(
    X=fuzz.row_sets(max_n=6, kinds=("grid", "normal"), scales=(1.0,)),
    input_form=st.sampled_from(("samples", "similarity", "space")),
)
def test_similarity_and_space_have_the_magnitude_of_their_samples(X, input_form):
    X = X + 0.25
    samples = {"samples": lambda: X, "similarity": lambda: as_similarity(X, k="rbf", sigma=2.0),
            "space": lambda: as_space(X, k="rbf", sigma=2.0)}[input_form]()  # fmt: skip
    options = {"k": "rbf", "sigma": 2.0} if input_form == "samples" else {}
    assert magnitude(samples, t=1.5, **options) == pytest.approx(
        magnitude(as_similarity(X, k="rbf", sigma=2.0), t=1.5), rel=1e-10
    )
