"""Magnitude of drawn rows under every metric and kernel, against a solve at 60 digits."""

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

REL = 1e-9
MP = cf.MP
SAME = MP.mpf(10) ** -50  # rounding of angles at 60 digits


def mp(x):
    return [MP.mpf(float(a)) for a in x]


def norm(x):
    return MP.sqrt(MP.fdot(x, x))


def euclidean(x, y):
    return norm([a - b for a, b in zip(x, y, strict=True)])


def cosine(x, y):
    return 1 - MP.fdot(x, y) / (norm(x) * norm(y))


def correlation(x, y):
    return cosine(*([a - MP.fsum(z) / len(z) for a in z] for z in (x, y)))


def share(numerator, denominator):
    return numerator / denominator if denominator else MP.mpf(0)


DEFINITIONS = {
    "euclidean": euclidean,
    "sqeuclidean": lambda x, y: euclidean(x, y) ** 2,
    "manhattan": lambda x, y: MP.fsum(abs(a - b) for a, b in zip(x, y, strict=True)),
    "chebyshev": lambda x, y: max(abs(a - b) for a, b in zip(x, y, strict=True)),
    "canberra": lambda x, y: MP.fsum(
        share(abs(a - b), abs(a) + abs(b)) for a, b in zip(x, y, strict=True)
    ),
    "braycurtis": lambda x, y: share(
        MP.fsum(abs(a - b) for a, b in zip(x, y, strict=True)),
        MP.fsum(abs(a + b) for a, b in zip(x, y, strict=True)),
    ),
    "cosine": cosine,
    "correlation": correlation,
    "hamming": lambda x, y: MP.mpf(sum(a != b for a, b in zip(x, y, strict=True))) / len(x),
}


def all_distances(rows, distance):
    """Return distances of distinct rows, without rows at distance 0 from an earlier one."""
    rows = [mp(row) for row in dict.fromkeys(tuple(np.asarray(row, float) + 0.0) for row in rows)]
    kept = []
    for row in rows:
        least = SAME if distance in (cosine, correlation) else 0
        if all(distance(row, other) > least for other in kept):
            kept.append(row)
    return [[distance(a, b) if a is not b else MP.mpf(0) for b in kept] for a in kept]


def well_posed(D, t):
    """Return whether Z is positive definite by a margin, and how large its weights are."""
    Z = np.array([[float(MP.exp(-MP.mpf(t) * d)) for d in row] for row in D])
    if np.linalg.eigvalsh(Z)[0] < 1e-6:
        return False, math.inf
    return True, float(MP.fsum(abs(w) for w in cf.exact_weights(D, t)))


@fuzz.fuzz_settings(150)
@given(
    X=fuzz.row_sets(max_n=7, nonzero=True),
    metric=st.sampled_from(sorted(DEFINITIONS)),
    relative=st.sampled_from((0.1, 1.0, 10.0)),
)
def test_rows_under_a_metric_have_the_magnitude_of_its_definition(X, metric, relative):
    X = np.abs(X) if metric == "braycurtis" else X
    spans = np.ptp(X, axis=1) > 1e-3 * np.abs(X).max(axis=1)
    assume(metric != "correlation" or spans.all())
    D = all_distances(X, DEFINITIONS[metric])
    largest = max(max(row) for row in D)
    assume(largest == 0 or 1e-290 < largest < 1e300)
    t = relative / float(largest) if largest else 1.0
    # Angles are as good as the rounding of unit vectors, distances as the rounding of coordinates.
    least = min((d for row in D for d in row if d), default=1)
    cancels = float(
        max(np.abs(X).max() / least if metric not in ("cosine", "correlation") else 1, 1)
    )
    fine, size = well_posed(D, t)
    assume(fine)
    right = cf.exact_magnitude(D, t)
    rounding = 64 * np.finfo(float).eps * size**2 * (1 + t * float(largest))
    if metric in ("cosine", "correlation"):
        rounding += 64 * np.finfo(float).eps / float(least) ** 0.5
    assert cancels > 1e16 or magnitude(X, t=t, metric=metric) == pytest.approx(
        right, rel=REL + rounding
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
def test_kernels_have_the_magnitude_of_their_distances(case, metric, t):
    K = case.K
    far = (1 - K[np.triu_indices(len(K), 1)]) > 1e-6  # closer ones: see the next test
    same = 1 - K[np.triu_indices(len(K), 1)] < 1e-15
    assume((far | same).all())
    first = [i for i in range(len(K)) if not (1 - K[i, :i] < 1e-15).any()]
    D = 1 - K[np.ix_(first, first)]
    D = np.sqrt(2 * D) if metric == "kernel" else D
    np.fill_diagonal(D, 0)
    Z = np.exp(-t * D)
    least = np.linalg.eigvalsh(Z)[0]
    assume(least > 1e-4)
    options = {name: value for name, value in case.options.items() if name != "psd"}
    result = []
    error = fuzz.get_intended_error(
        lambda: result.append(magnitude(case.samples, t=t, metric=metric, **options))
    )
    if error is not None:  # samples that differ in the last digits only: singular in double
        assert same.any()
        return
    (got,) = result
    # Points that K cannot tell apart may be at a distance that features can tell.
    close = t * np.sqrt(2e-15) if same.any() else 0.0
    assert got == pytest.approx(
        np.linalg.solve(Z, np.ones(len(Z))).sum(), rel=1e-8 + close + 10 * case.noise
    )


@fuzz.fuzz_settings(60)
@given(
    exponent=st.floats(-9, -2),
    zeros=st.sampled_from((0, 1, 5, 30)),
    k=st.sampled_from(("cosine", "metric", "score_X", "rbf")),
    seed=fuzz.seeds,
)
def test_small_angles_keep_their_digits_whatever_the_number_of_columns(exponent, zeros, k, seed):
    assume(exponent > -6 or k != "rbf")  # there 1 − k is lost in the matrix
    angle = 10**exponent
    Y = np.array([[1.0, 0.0], [math.cos(angle), math.sin(angle)], [0.0, 1.0]])
    Y = Y[np.random.default_rng(seed).permutation(3)]
    P = np.hstack([Y, np.zeros((3, zeros))])
    how = {
        "cosine": {"k": "cosine"},
        "metric": {"metric": "cosine"},
        "score_X": {"score_X": True},
        "rbf": {"k": "rbf", "sigma": 1.0},
    }[k]
    similar = reference.rbf(Y, 1.0) if k == "rbf" else reference.cosine

    def distance(a, b):
        apart = 1 - similar(a, b)
        return apart if k == "metric" else MP.sqrt(2 * apart)

    D = [[distance(a, b) if a is not b else 0 for b in Y] for a in Y]
    nearest = float(min(d for row in D for d in row if d))
    # A kernel without features is a matrix, in which 1 − k has lost what it has lost.
    rel = 1e-6 + 16 * np.finfo(float).eps / nearest**2 * (k == "rbf")
    got, plain = (compute_magnitude(points, n_scales=5, **how) for points in (P, Y))
    assert got == pytest.approx(plain, rel=rel)
    for t in (1.0, 1 / nearest):
        if t * nearest > 1e-9:
            assert magnitude(P, t=t, **how) == pytest.approx(cf.exact_magnitude(D, t), rel=rel)


@fuzz.fuzz_settings(60)
@given(
    n=st.integers(2, 8),
    d=st.integers(1, 40),
    seed=fuzz.seeds,
    exponent=st.integers(3, 12),
    t=st.sampled_from((0.3, 3.0, 30.0)),
)
def test_near_duplicates_share_their_weight_as_far_as_their_distance_says(n, d, seed, exponent, t):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[1] = X[0] + 10.0**-exponent * rng.standard_normal(d) / math.sqrt(d)
    D = all_distances(X, euclidean)
    assume(len(D) == n)
    right = np.array([float(w) for w in cf.exact_weights(D, t)])
    least = float(min(x for row in D for x in row if x))
    tolerance = 1e-9 + 64 * np.finfo(float).eps / min(1.0, t * least)
    assert np.abs(magnitude_weights(X, t=t) - right).max() <= tolerance * max(
        1.0, np.abs(right).max()
    )


@fuzz.fuzz_settings(60)
@given(
    X=fuzz.row_sets(max_n=8, kinds=("grid", "normal", "masked"), scales=(1.0,)),
    exponent=st.one_of(st.integers(-498, 498), st.integers(-1000, 1000)),
    metric=st.sampled_from(("euclidean", "manhattan", "chebyshev", "cosine")),
    data=st.data(),
)
def test_units_and_order_and_repetition_do_not_matter(X, exponent, metric, data):
    X = np.where(X.any(axis=1, keepdims=True), X, 1.0)
    scaled = np.ldexp(X, exponent)
    assume(
        np.array_equal(np.ldexp(scaled, -exponent), X) and np.isfinite(scaled * len(X) ** 2).all()
    )
    unit = 0 if metric == "cosine" else exponent
    t = math.ldexp(0.7, -unit)
    assume(0 < t < math.inf)
    plain = magnitude(X, t=0.7, metric=metric)
    result = []
    error = fuzz.get_intended_error(lambda: result.append(magnitude(scaled, t=t, metric=metric)))
    assert result == [pytest.approx(plain, rel=1e-8)] or (error is not None and abs(exponent) > 498)
    places = data.draw(st.permutations([*range(len(X)), *range(len(X) // 2)]))
    assert magnitude(X[places], t=0.7, metric=metric) == pytest.approx(plain, rel=1e-8)


# refusals


@fuzz.fuzz_settings(60)
@given(
    n=st.integers(2, 7),
    seed=fuzz.seeds,
    kind=st.sampled_from(("twice", "self", "text", "nan", "negative", "inf")),
    data=st.data(),
)
def test_a_function_that_is_no_distance_is_refused_with_a_sentence(n, seed, kind, data):
    X = np.random.default_rng(seed).standard_normal((n, 2))
    i, j = data.draw(st.permutations(range(n)))[:2]
    wrong = {
        "twice": lambda d: 2 * d,
        "text": lambda d: "far",
        "nan": lambda d: math.nan,
        "negative": lambda d: -d,
        "inf": lambda d: math.inf,
        "self": lambda d: d,
    }[kind]

    def metric(a, b):
        d = float(np.linalg.norm(a - b))
        if kind == "self" and (a == X[i]).all() and (b == X[i]).all():
            return 0.5
        return wrong(d) if (a == X[i]).all() and (b == X[j]).all() else d

    assert fuzz.get_intended_error(lambda: magnitude(X, t=1.0, metric=metric)) is not None


@fuzz.fuzz_settings(60)
@given(
    n=st.integers(3, 7),
    seed=fuzz.seeds,
    far=st.sampled_from((1.0, 1e3, 1e7, 1e12)),
    kind=st.sampled_from(("asymmetric", "negative", "diagonal", "nan", "twins")),
    data=st.data(),
)
def test_a_matrix_that_is_no_distance_is_refused_whatever_else_it_holds(n, seed, far, kind, data):
    x = np.random.default_rng(seed).random((n, 2))
    x[-1] += far
    D = np.sqrt(((x[:, None] - x) ** 2).sum(-1))
    i, j = data.draw(st.permutations(range(n - 1)))[:2]
    if kind == "asymmetric":
        D[i, j] *= 1.2
    elif kind == "negative":
        D[i, j] = D[j, i] = -D[i, j]
    elif kind == "diagonal":
        D[i, i] = 0.1
    elif kind == "nan":
        D[i, j] = D[j, i] = math.nan
    else:
        D = np.pad(D, (0, 1))
        D[n] = D[i]
        D[:, n] = D[n]
        D[n, j] = D[j, n] = D[i, j] * 1.5 + 0.1
    assert fuzz.get_intended_error(lambda: magnitude(D, t=1.0, metric="precomputed")) is not None


OPTIONS = (*(("minkowski", {"exponent": p}) for p in (-1, 0.0, math.nan, "2", [1, 2], True)),)


@pytest.mark.parametrize(("metric", "options"), OPTIONS)
def test_an_option_that_makes_no_metric_is_refused_with_a_sentence(metric, options):
    X = np.random.default_rng(0).standard_normal((5, 2))
    assert (
        fuzz.get_intended_error(lambda: magnitude(X, t=1.0, metric=metric, **options)) is not None
    )


@fuzz.fuzz_settings(5)
@given(seed=fuzz.seeds, n=st.sampled_from((60, 300)))
def test_one_space_serves_many_threads(seed, n):
    x = np.random.default_rng(seed).standard_normal(n)
    g = cf.line_gaps(x)
    space = as_space(x)
    ts = np.random.default_rng(seed).permutation(np.geomspace(0.1, 100, 24)).tolist()
    with ThreadPoolExecutor(8) as pool:
        result = list(pool.map(space.magnitude, ts))
    assert result == pytest.approx([cf.tree_magnitude(g, t) for t in ts], rel=REL)


@fuzz.fuzz_settings(10)
@given(
    X=fuzz.row_sets(max_n=6, kinds=("grid", "normal"), scales=(1.0,)),
    how=st.sampled_from(("samples", "similarity", "space")),
)
def test_what_was_made_of_samples_stands_for_them(X, how):
    X = X + 0.25
    made = {"samples": lambda: X, "similarity": lambda: as_similarity(X, k="rbf", sigma=2.0),
            "space": lambda: as_space(X, k="rbf", sigma=2.0)}[how]()  # fmt: skip
    options = {"k": "rbf", "sigma": 2.0} if how == "samples" else {}
    assert magnitude(made, t=1.5, **options) == pytest.approx(
        magnitude(as_similarity(X, k="rbf", sigma=2.0), t=1.5), rel=1e-10
    )
