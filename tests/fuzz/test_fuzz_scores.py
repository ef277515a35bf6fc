"""Scores of random samples match the definition in all input forms."""

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

# Orders below 1 may warn about truncated eigenvalues.
pytestmark = pytest.mark.filterwarnings("ignore:.*may be rounding")

# Correct algorithms differ by at most this: a thousand times the rounding of n ≤ 12 eigenvalues.
RELATIVE_TOLERANCE = 1e-9


def check_scores(case, orders, p, **extra_options):
    """Check that scores match the definition, lie in [1, n] and do not increase with the order."""
    n = len(case.K)
    scores = fuzz.result_values(
        compute(case.samples, q=orders, p=p, **case.options, **extra_options)
    )
    eigenvalues = reference.normalized_eigenvalues(case.K, p)
    assert len(scores) == len(orders)
    for value, q in zip(scores, orders, strict=True):
        fuzz.check_value(
            value,
            *reference.score_bounds(eigenvalues, q, case.noise),
            RELATIVE_TOLERANCE + 10 * case.noise,
        )
        assert 1 <= value <= n
    scores_by_order = [value for _, value in sorted(zip(orders, scores, strict=True))]
    assert all(b <= a * (1 + RELATIVE_TOLERANCE) for a, b in itertools.pairwise(scores_by_order))


@fuzz.fuzz_settings(250)
@given(case=kernel_strategies.all_kernels, data=st.data())
def test_scores_of_all_kernels_match_the_definition(case, data):
    orders = data.draw(st.lists(fuzz.orders, min_size=1, max_size=4, unique=True))
    check_scores(case, orders, data.draw(fuzz.weights(len(case.K))))


@pytest.mark.skipif(not importlib.util.find_spec("rdkit"), reason="needs rdkit")
@fuzz.fuzz_settings(40)
@given(case=kernel_strategies.molecule_kernels(), data=st.data())
def test_scores_of_molecules_match_the_definition(case, data):
    check_scores(case, [0.5, 1, 2, math.inf], data.draw(fuzz.weights(len(case.K))))


@fuzz.fuzz_settings(80)
@given(case=kernel_strategies.all_kernels, data=st.data())
def test_single_orders_equal_several_orders(case, data):
    orders = data.draw(st.lists(fuzz.orders, min_size=2, max_size=4, unique=True))
    p = data.draw(fuzz.weights(len(case.K)))
    joint_values = fuzz.result_values(compute(case.samples, q=orders, p=p, **case.options))
    eigenvalues = reference.normalized_eigenvalues(case.K, p)
    for q, value in zip(orders, joint_values, strict=True):
        single_value = float(compute(case.samples, q=q, p=p, **case.options)[key_at(q)])
        lower, upper = reference.score_bounds(eigenvalues, q, case.noise)
        assert single_value == pytest.approx(
            value, rel=RELATIVE_TOLERANCE + 10 * case.noise + (upper - lower) / lower
        )


@fuzz.fuzz_settings(80)
@given(case=kernel_strategies.vector_kernels(), data=st.data())
def test_repeated_samples_equal_larger_weights_and_sample_order_has_no_effect(case, data):
    X, n = np.asarray(case.samples), len(case.K)
    indices = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=12))
    counts = np.bincount(indices, minlength=n)
    used_indices = np.flatnonzero(counts)
    q = data.draw(st.sampled_from((1, 1.5, 2, 10, math.inf)))  # rounding affects lower orders
    repeated = compute(X[indices], q=q, **case.options)[key_at(q)]
    weighted = compute(X[used_indices], q=q, p=counts[used_indices] / counts.sum(), **case.options)[
        key_at(q)
    ]
    reversed_score = compute(
        X[used_indices][::-1], q=q, p=counts[used_indices][::-1] / counts.sum(), **case.options
    )[key_at(q)]
    assert weighted == pytest.approx(repeated, rel=RELATIVE_TOLERANCE)
    assert reversed_score == pytest.approx(weighted, rel=RELATIVE_TOLERANCE)


@fuzz.fuzz_settings(60)
@given(
    name=st.sampled_from(("cosine", "rbf", "laplacian")),
    X=fuzz.row_sets(scales=(1.0,), nonzero=True),
    exponent=st.integers(-498, 498),
    zeros=st.integers(0, 30),
    q=st.sampled_from((1, 1.5, 2, math.inf)),
)
def test_units_and_zero_columns_do_not_change_scores(name, X, exponent, zeros, q):
    expected = compute(X, k=name, q=q)[key_at(q)]
    scaled = np.ldexp(X, exponent)
    assume(np.array_equal(np.ldexp(scaled, -exponent), X))
    assert compute(scaled, k=name, q=q)[key_at(q)] == pytest.approx(
        expected, rel=RELATIVE_TOLERANCE
    )
    padded = np.hstack([X, np.zeros((len(X), zeros))])
    assert compute(padded, k=name, q=q)[key_at(q)] == pytest.approx(
        expected, rel=RELATIVE_TOLERANCE
    )
    masked = np.where(X == 0, -0.0, X)
    masked[::2] = X[::2] + 0.0
    assert compute(masked, k=name, q=q)[key_at(q)] == pytest.approx(expected, rel=1e-12)


# Matrices K


@st.composite
def similarity_matrices(draw):
    """Return a similarity matrix with unit diagonal, which may be indefinite or nearly singular."""
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
@given(K=similarity_matrices(), data=st.data())
def test_matrix_is_scored_or_rejected_for_negative_eigenvalues(K, data):
    orders = data.draw(st.lists(fuzz.orders, min_size=1, max_size=3, unique=True))
    p = data.draw(fuzz.weights(len(K)))
    eigenvalues = reference.normalized_eigenvalues(K, p)
    clip = data.draw(st.booleans())
    negative_mass = -eigenvalues[eigenvalues < 0].sum()
    if negative_mass > 1.1e-6 and not clip:
        # Orders 2 and ∞ do not compute all eigenvalues, so negative ones may remain undetected.
        error = fuzz.get_intended_error(lambda: compute(K, score_K=True, q=orders, p=p))
        assert error is not None or set(orders) <= {2, math.inf}
        if error is not None:
            assert type(error) is vendiscore.NotPSDError
        return
    assume(not 1e-7 < negative_mass < 1.1e-6 or clip)
    scores = fuzz.result_values(
        compute(K, score_K=True, q=orders, p=p, psd="clip" if clip else "check")
    )
    for value, q in zip(scores, orders, strict=True):
        fuzz.check_value(
            value,
            *reference.score_bounds(eigenvalues, q, 1e-15),
            RELATIVE_TOLERANCE + 2 * (negative_mass < 1e-7) * negative_mass,
        )


@fuzz.fuzz_settings(80)
@given(
    K=similarity_matrices(),
    exponent=st.integers(-600, 600),
    q=st.sampled_from((1, 1.5, 2, math.inf)),
    data=st.data(),
)
def test_normalize_makes_scores_independent_of_scaling(K, exponent, q, data):
    p = data.draw(fuzz.weights(len(K)))
    eigenvalues = reference.normalized_eigenvalues(K, p)
    assume(eigenvalues[0] > -1e-8)
    lower, upper = reference.score_bounds(eigenvalues, q, 1e-15)
    for scaled in (np.ldexp(K, exponent), K * np.outer(s := 0.5 + np.arange(len(K)), s)):
        for order in ([q], [1, q] if q != 1 else [1, 2]):
            result = compute(scaled, score_K=True, normalize=True, q=order, p=p)
            value = float(list(result.values())[order.index(q)])
            fuzz.check_value(value, lower, upper, RELATIVE_TOLERANCE + 2e-8)


@fuzz.fuzz_settings(60)
@given(
    K=similarity_matrices(), scale=st.sampled_from((1.0, 1e-6, 1e6, 1e-30, 1e30)), data=st.data()
)
def test_small_asymmetry_is_averaged_and_large_asymmetry_rejected(K, scale, data):
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
    result = compute(asymmetric * scale, **options)[key]
    assert result == pytest.approx(compute(asymmetric.T * scale, **options)[key], rel=1e-13)
    mean = (asymmetric + asymmetric.T) / 2
    assert result == pytest.approx(reference.vendi_score(mean, options["q"]), rel=1e-12)
    asymmetric[i, j] = K[i, j] + 0.01
    assert fuzz.get_intended_error(lambda: compute(asymmetric * scale, **options)) is not None


EXTREME_VALUES = (math.nan, math.inf, -math.inf, 1e308, -1e308, 1e-320, 2.0, -1.0, 0.0)


@fuzz.fuzz_settings(80)
@given(K=similarity_matrices(), data=st.data())
def test_invalid_matrix_is_rejected(K, data):
    i, j = (data.draw(st.integers(0, len(K) - 1)) for _ in range(2))
    modified = K.copy()
    modified[i, j] = modified[j, i] = data.draw(st.sampled_from(EXTREME_VALUES))
    q = data.draw(st.sampled_from((0, 1, [0.5, 1], 2, math.inf)))
    options = data.draw(st.sampled_from(({}, {"normalize": True}, {"psd": "clip"})))
    result = []
    error = fuzz.get_intended_error(
        lambda: result.extend(compute(modified, score_K=True, q=q, **options).values())
    )
    diagonal = np.diag(modified)
    is_invalid = not np.isfinite(modified).all() or diagonal.min() <= 0
    root = np.sqrt(np.abs(diagonal))
    is_invalid |= (
        bool(np.any(np.abs(modified) / root > 1.01 * root[:, None])) if not is_invalid else False
    )
    is_invalid |= "normalize" not in options and bool(np.abs(diagonal - 1).max() > 0.01)
    assert not is_invalid or error is not None, f"scored as {result}"
    assert error is not None or all(math.isfinite(x) and 1 <= x <= len(K) for x in result)


@fuzz.fuzz_settings(60)
@given(
    X=fuzz.row_sets(max_n=6),
    name=st.sampled_from(("cosine", "rbf", "laplacian")),
    data=st.data(),
)
def test_rows_of_any_magnitude_are_scored_or_rejected(X, name, data):
    row, column = (data.draw(st.integers(0, size - 1)) for size in X.shape)
    value = data.draw(st.sampled_from((*EXTREME_VALUES, 1e-200, 1e200, 5e-324)))
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
        eigenvalues = reference.normalized_eigenvalues(
            reference.similarity_matrix(X.tolist(), k[name](X.tolist()))
        )
        fuzz.check_value(result[0], *reference.score_bounds(eigenvalues, q), RELATIVE_TOLERANCE)


# Other measures


@pytest.mark.filterwarnings("ignore:LC requires similarities of at least 0")
@fuzz.fuzz_settings(80)
@given(case=kernel_strategies.vector_kernels(), data=st.data())
def test_other_measures_match_their_definitions(case, data):
    K, X = case.K, np.asarray(case.samples)
    orders = data.draw(st.lists(fuzz.orders, min_size=1, max_size=3, unique=True))
    p = data.draw(fuzz.weights(len(K)))
    assume(min(reference.ordinariness(K, p)[1]) > 0.05)
    expected = [reference.leinster_cobbold(K, q, p) for q in orders]
    result = {}
    error = fuzz.get_intended_error(
        lambda: result.update(compute(X, measures="LC", q=orders, p=p, **case.options))
    )
    assert error is None or max(expected) > len(K)  # negative similarities lead to values above n
    for value, expected_value in zip(fuzz.result_values(result), expected, strict=error is None):
        fuzz.check_value(value, expected_value, expected_value, RELATIVE_TOLERANCE)
    internal_diversity = compute(X, measures="IntDiv", p=p, **case.options)["IntDiv"]
    assert internal_diversity == pytest.approx(
        reference.internal_diversity(K, p), abs=1e-11 + 10 * case.noise
    )
    scores = compute(X, measures=["AvgSim", "GMStds"], **case.options)
    assert scores["AvgSim"] == pytest.approx(
        reference.average_similarity(K), abs=1e-11 + 10 * case.noise
    )
    # Rounding of the mean changes the variance by the square of the rounding error.
    min_std = np.std(X / (np.abs(X).max() or 1.0), axis=0).min()
    rel = 1e-9 + (4 * np.finfo(float).eps / min_std) ** 2 if min_std else 1e-9
    assert scores["GMStds"] == pytest.approx(reference.geometric_mean_std(X.tolist()), rel=rel)


@fuzz.fuzz_settings(40)
@given(K=similarity_matrices(), q=fuzz.orders, p_seed=fuzz.seeds)
def test_identity_matrix_and_labels_give_hill_numbers(K, q, p_seed):
    proportions = np.random.default_rng(p_seed).random(len(K)) + 1e-3
    proportions /= proportions.sum()
    expected = reference.hill_number(proportions, q)
    fuzz.check_value(
        float(score_K(np.eye(len(K)), q=q, p=proportions)), expected, expected, RELATIVE_TOLERANCE
    )
    fuzz.check_value(
        float(compute(list(range(len(K))), k="labels", q=q, p=proportions)[key_at(q)]),
        expected,
        expected,
        RELATIVE_TOLERANCE,
    )
    fuzz.check_value(
        vendiscore.effective_number(proportions, q), expected, expected, RELATIVE_TOLERANCE
    )


@fuzz.fuzz_settings(30)
@given(
    X=fuzz.row_sets(nonzero=True, scales=(1.0, 1e-3, 1e3)), offset=st.sampled_from((0, 1e3, 1e7))
)
def test_standard_deviations_of_sparse_columns_equal_dense_ones(X, offset):
    X = np.round(X, 9) + offset
    assume(X.any(axis=1).all())  # a zero row has no direction
    sparse = compute(sp.csr_array(X), score_X=True, normalize=True, measures="GMStds")["GMStds"]
    assert sparse == pytest.approx(reference.geometric_mean_std(X.tolist()), rel=1e-6, abs=1e-6)
