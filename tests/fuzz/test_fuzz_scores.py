"""Scores of drawn samples agree with the definition, however they are asked for."""

import importlib.util
import itertools
import math

import fuzz
import kernel_strategies
import numpy as np
import pytest
import reference
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

import vendiscore
from vendiscore import compute, score_K
from vendiscore.result import key_at

# Orders below 1 may say that what they leave out as rounding counts.
pytestmark = pytest.mark.filterwarnings("ignore:.*may be rounding")

# Two right ways to a score differ by no more than this: rounding of n ≤ 12 eigenvalues, a
# thousandfold.
REL = 1e-9


def check_scores(case, orders, p, **more):
    """Return all orders at once are what the definition says, in [1, n] and not increasing."""
    n = len(case.K)
    got = fuzz.result_values(compute(case.samples, q=orders, p=p, **case.options, **more))
    values = reference.normalized_eigenvalues(case.K, p)
    assert len(got) == len(orders)
    for value, q in zip(got, orders, strict=True):
        fuzz.check_value(
            value, *reference.score_bounds(values, q, case.noise), REL + 10 * case.noise
        )
        assert 1 <= value <= n
    ordered = [value for _, value in sorted(zip(orders, got, strict=True))]
    assert all(b <= a * (1 + REL) for a, b in itertools.pairwise(ordered))


@fuzz.fuzz_settings(250)
@given(case=kernel_strategies.all_kernels, data=st.data())
def test_every_kernel_is_scored_by_its_definition(case, data):
    orders = data.draw(st.lists(fuzz.orders, min_size=1, max_size=4, unique=True))
    check_scores(case, orders, data.draw(fuzz.weights(len(case.K))))


@pytest.mark.skipif(not importlib.util.find_spec("rdkit"), reason="needs rdkit")
@fuzz.fuzz_settings(40)
@given(case=kernel_strategies.molecule_kernels(), data=st.data())
def test_molecules_are_scored_by_their_bits(case, data):
    check_scores(case, [0.5, 1, 2, math.inf], data.draw(fuzz.weights(len(case.K))))


@fuzz.fuzz_settings(80)
@given(case=kernel_strategies.all_kernels, data=st.data())
def test_every_order_alone_is_what_it_is_among_others(case, data):
    orders = data.draw(st.lists(fuzz.orders, min_size=2, max_size=4, unique=True))
    p = data.draw(fuzz.weights(len(case.K)))
    together = fuzz.result_values(compute(case.samples, q=orders, p=p, **case.options))
    values = reference.normalized_eigenvalues(case.K, p)
    for q, value in zip(orders, together, strict=True):
        alone = float(compute(case.samples, q=q, p=p, **case.options)[key_at(q)])
        low, high = reference.score_bounds(values, q, case.noise)
        assert alone == pytest.approx(value, rel=REL + 10 * case.noise + (high - low) / low)


@fuzz.fuzz_settings(80)
@given(case=kernel_strategies.vector_kernels(), data=st.data())
def test_order_and_repetition_of_samples_are_weights(case, data):
    X, n = np.asarray(case.samples), len(case.K)
    places = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=12))
    counts = np.bincount(places, minlength=n)
    used = np.flatnonzero(counts)
    q = data.draw(st.sampled_from((1, 1.5, 2, 10, math.inf)))  # lower ones may count rounding
    repeated = compute(X[places], q=q, **case.options)[key_at(q)]
    weighted = compute(X[used], q=q, p=counts[used] / counts.sum(), **case.options)[key_at(q)]
    turned = compute(X[used][::-1], q=q, p=counts[used][::-1] / counts.sum(), **case.options)[
        key_at(q)
    ]
    assert weighted == pytest.approx(repeated, rel=REL)
    assert turned == pytest.approx(weighted, rel=REL)


@fuzz.fuzz_settings(60)
@given(
    name=st.sampled_from(("cosine", "rbf", "laplacian")),
    X=fuzz.row_sets(scales=(1.0,), nonzero=True),
    exponent=st.integers(-498, 498),
    zeros=st.integers(0, 30),
    q=st.sampled_from((1, 1.5, 2, math.inf)),
)
def test_units_of_length_and_empty_columns_do_not_matter(name, X, exponent, zeros, q):
    plain = compute(X, k=name, q=q)[key_at(q)]
    scaled = np.ldexp(X, exponent)
    assume(np.array_equal(np.ldexp(scaled, -exponent), X))
    assert compute(scaled, k=name, q=q)[key_at(q)] == pytest.approx(plain, rel=REL)
    wide = np.hstack([X, np.zeros((len(X), zeros))])
    assert compute(wide, k=name, q=q)[key_at(q)] == pytest.approx(plain, rel=REL)
    masked = np.where(X == 0, -0.0, X)
    masked[::2] = X[::2] + 0.0
    assert compute(masked, k=name, q=q)[key_at(q)] == pytest.approx(plain, rel=1e-12)


# matrices K


@st.composite
def matrices(draw):
    """Return similarity matrices of unit diagonal: of features, drawn, of blocks, nearly
    singular."""
    n = draw(st.integers(1, 10))
    rng = np.random.default_rng(draw(fuzz.seeds))
    kind = draw(st.sampled_from(("features", "indefinite", "blocks", "negative", "identity")))
    if kind == "features":
        F = rng.standard_normal((n, draw(st.integers(1, 12))))
        K = F @ F.T
        K /= np.sqrt(np.outer(np.diag(K), np.diag(K)))
    elif kind == "blocks":
        group = rng.integers(0, 3, n)
        K = np.where(group[:, None] == group, 0.9, draw(st.sampled_from((0.0, -0.01, 0.3))))
    elif kind == "negative":
        K = np.full((n, n), -1.0 / max(1, n - 1) * draw(st.sampled_from((1.0, 0.5, 1e-6))))
    else:
        K = np.zeros((n, n)) if kind == "identity" else rng.uniform(-1, 1, (n, n))
        K = np.clip((K + K.T) / 2, -1, 1)
    np.fill_diagonal(K, 1.0)
    return K


@fuzz.fuzz_settings(120)
@given(K=matrices(), data=st.data())
def test_a_matrix_is_scored_or_refused_for_its_negative_eigenvalues(K, data):
    orders = data.draw(st.lists(fuzz.orders, min_size=1, max_size=3, unique=True))
    p = data.draw(fuzz.weights(len(K)))
    values = reference.normalized_eigenvalues(K, p)
    clipped = data.draw(st.booleans())
    mass = -values[values < 0].sum()
    if mass > 1.1e-6 and not clipped:
        # Orders 2 and ∞ alone do not look at the spectrum; then the number follows from the norm.
        error = fuzz.get_intended_error(lambda: compute(K, score_K=True, q=orders, p=p))
        assert error is not None or set(orders) <= {2, math.inf}
        if error is not None:
            assert type(error) is vendiscore.NotPSDError
        return
    assume(not 1e-7 < mass < 1.1e-6 or clipped)
    got = fuzz.result_values(
        compute(K, score_K=True, q=orders, p=p, psd="clip" if clipped else "check")
    )
    for value, q in zip(got, orders, strict=True):
        fuzz.check_value(
            value, *reference.score_bounds(values, q, 1e-15), REL + 2 * (mass < 1e-7) * mass
        )


@fuzz.fuzz_settings(80)
@given(
    K=matrices(),
    exponent=st.integers(-600, 600),
    q=st.sampled_from((1, 1.5, 2, math.inf)),
    data=st.data(),
)
def test_a_matrix_times_a_number_or_rescaled_is_the_same_normalized(K, exponent, q, data):
    p = data.draw(fuzz.weights(len(K)))
    values = reference.normalized_eigenvalues(K, p)
    assume(values[0] > -1e-8)
    low, high = reference.score_bounds(values, q, 1e-15)
    for scaled in (np.ldexp(K, exponent), K * np.outer(s := 0.5 + np.arange(len(K)), s)):
        for order in ([q], [1, q] if q != 1 else [1, 2]):
            got = compute(scaled, score_K=True, normalize=True, q=order, p=p)
            value = float(list(got.values())[order.index(q)])
            fuzz.check_value(value, low, high, REL + 2e-8)


@fuzz.fuzz_settings(60)
@given(K=matrices(), scale=st.sampled_from((1.0, 1e-6, 1e6, 1e-30, 1e30)), data=st.data())
def test_asymmetry_beyond_rounding_is_refused_at_every_scale_and_below_it_averaged(K, scale, data):
    n = len(K)
    assume(n > 1 and np.linalg.eigvalsh(K)[0] > 1e-4)
    i, j = data.draw(st.permutations(range(n)))[:2]
    asymmetric = K.copy()
    asymmetric[i, j] += data.draw(st.sampled_from((1e-7, -1e-7)))
    options = {
        "score_K": True,
        "normalize": True,
        "q": data.draw(st.sampled_from((1, 2, 3, math.inf))),
    }
    key = key_at(options["q"])
    got = compute(asymmetric * scale, **options)[key]
    assert got == pytest.approx(compute(asymmetric.T * scale, **options)[key], rel=1e-13)
    mean = (asymmetric + asymmetric.T) / 2
    assert got == pytest.approx(reference.vendi_score(mean, options["q"]), rel=1e-12)
    asymmetric[i, j] = K[i, j] + 0.01
    assert fuzz.get_intended_error(lambda: compute(asymmetric * scale, **options)) is not None


HOSTILE = (math.nan, math.inf, -math.inf, 1e308, -1e308, 1e-320, 2.0, -1.0, 0.0)


@fuzz.fuzz_settings(80)
@given(K=matrices(), data=st.data())
def test_a_broken_matrix_is_refused_with_a_sentence(K, data):
    i, j = (data.draw(st.integers(0, len(K) - 1)) for _ in range(2))
    broken = K.copy()
    broken[i, j] = broken[j, i] = data.draw(st.sampled_from(HOSTILE))
    q = data.draw(st.sampled_from((0, 1, [0.5, 1], 2, math.inf)))
    options = data.draw(st.sampled_from(({}, {"normalize": True}, {"psd": "clip"})))
    result = []
    error = fuzz.get_intended_error(
        lambda: result.extend(compute(broken, score_K=True, q=q, **options).values())
    )
    diagonal = np.diag(broken)
    bad = not np.isfinite(broken).all() or diagonal.min() <= 0
    root = np.sqrt(np.abs(diagonal))
    bad |= bool(np.any(np.abs(broken) / root > 1.01 * root[:, None])) if not bad else False
    bad |= "normalize" not in options and bool(np.abs(diagonal - 1).max() > 0.01)
    assert not bad or error is not None, f"scored as {result}"
    assert error is not None or all(math.isfinite(x) and 1 <= x <= len(K) for x in result)


@fuzz.fuzz_settings(60)
@given(
    X=fuzz.row_sets(max_n=6),
    name=st.sampled_from(("cosine", "rbf", "laplacian")),
    data=st.data(),
)
def test_rows_of_any_size_are_scored_or_refused_with_a_sentence(X, name, data):
    row, column = (data.draw(st.integers(0, size - 1)) for size in X.shape)
    value = data.draw(st.sampled_from((*HOSTILE, 1e-200, 1e200, 5e-324)))
    X = X.copy()
    X[row, column] = value
    q = data.draw(st.sampled_from((1, 2, math.inf)))
    result = []
    error = fuzz.get_intended_error(lambda: result.append(compute(X, k=name, q=q)[key_at(q)]))
    assert math.isfinite(value) or error is not None
    if error is None:
        k = {
            "cosine": lambda rows: reference.cosine,
            "rbf": reference.rbf,
            "laplacian": reference.laplacian,
        }
        values = reference.normalized_eigenvalues(
            reference.similarity_matrix(X.tolist(), k[name](X.tolist()))
        )
        fuzz.check_value(result[0], *reference.score_bounds(values, q), REL)


# other measures


@pytest.mark.filterwarnings("ignore:LC requires similarities of at least 0")
@fuzz.fuzz_settings(80)
@given(case=kernel_strategies.vector_kernels(), data=st.data())
def test_other_measures_are_those_of_their_definitions(case, data):
    K, X = case.K, np.asarray(case.samples)
    orders = data.draw(st.lists(fuzz.orders, min_size=1, max_size=3, unique=True))
    p = data.draw(fuzz.weights(len(K)))
    assume(min(reference.ordinariness(K, p)[1]) > 0.05)
    right = [reference.leinster_cobbold(K, q, p) for q in orders]
    result = {}
    error = fuzz.get_intended_error(
        lambda: result.update(compute(X, measures="LC", q=orders, p=p, **case.options))
    )
    assert error is None or max(right) > len(K)  # beyond its range where similarities are negative
    for value, wanted in zip(fuzz.result_values(result), right, strict=error is None):
        fuzz.check_value(value, wanted, wanted, REL)
    internal = compute(X, measures="IntDiv", p=p, **case.options)["IntDiv"]
    assert internal == pytest.approx(
        reference.internal_diversity(K, p), abs=1e-11 + 10 * case.noise
    )
    got = compute(X, measures=["AvgSim", "GMStds"], **case.options)
    assert got["AvgSim"] == pytest.approx(
        reference.average_similarity(K), abs=1e-11 + 10 * case.noise
    )
    # A mean is rounded, which moves the deviations from it by the square of that.
    least = np.std(X / (np.abs(X).max() or 1.0), axis=0).min()
    rel = 1e-9 + (4 * np.finfo(float).eps / least) ** 2 if least else 1e-9
    assert got["GMStds"] == pytest.approx(reference.geometric_mean_std(X.tolist()), rel=rel)


@fuzz.fuzz_settings(40)
@given(K=matrices(), q=fuzz.orders, p_seed=fuzz.seeds)
def test_a_diagonal_of_labels_gives_hill_numbers(K, q, p_seed):
    shares = np.random.default_rng(p_seed).random(len(K)) + 1e-3
    shares /= shares.sum()
    right = reference.hill_number(shares, q)
    fuzz.check_value(float(score_K(np.eye(len(K)), q=q, p=shares)), right, right, REL)
    fuzz.check_value(
        float(compute(list(range(len(K))), k="labels", q=q, p=shares)[key_at(q)]), right, right, REL
    )
    fuzz.check_value(vendiscore.effective_number(shares, q), right, right, REL)


@fuzz.fuzz_settings(30)
@given(
    X=fuzz.row_sets(nonzero=True, scales=(1.0, 1e-3, 1e3)), offset=st.sampled_from((0, 1e3, 1e7))
)
def test_deviations_of_sparse_columns_are_those_of_dense_ones(X, offset):
    X = np.round(X, 9) + offset
    assume(X.any(axis=1).all())  # a zero row has no direction
    sparse = compute(sp.csr_array(X), score_X=True, normalize=True, measures="GMStds")["GMStds"]
    assert sparse == pytest.approx(reference.geometric_mean_std(X.tolist()), rel=1e-6, abs=1e-6)
