"""Errors name invalid options, and the pair of samples for invalid kernel functions."""

import decimal
import fractions
import math

import fuzz
import magnitude_measures
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import vendiscore
from vendiscore import compute

X = np.random.default_rng(0).standard_normal((6, 2)) + 0.1
K = np.exp(-np.abs(X[:, :1] - X[:, :1].T))
TEXTS = ["a b c", "a b d", "c d e f", "a d a", "e e e", "f f a d"]
P = np.full(6, 1 / 6)

# For each option: a call that uses the option, and a valid value.
CALLS = {
    "q": (lambda q: compute(X, k="rbf", q=q), 1.5),
    "p": (lambda p: compute(X, k="rbf", p=p), P),
    "sigma": (lambda sigma: compute(X, k="rbf", sigma=sigma), 2.0),
    "ns": (lambda ns: compute(TEXTS, ns=ns, tokenizer=str.split), 1),
    "tokenizer": (lambda tokenizer: compute(TEXTS, tokenizer=tokenizer), str.split),
    "analyzer": (lambda analyzer: compute(TEXTS, analyzer=analyzer), "char"),
    "k": (lambda k: compute(X, k=k), "rbf"),
    "psd": (lambda psd: compute(K, score_K=True, psd=psd), "clip"),
    "score_K": (lambda score_K: compute(K, score_K=score_K), True),
    "normalize": (lambda normalize: compute(X, k="linear", normalize=normalize), True),
    "details": (lambda details: compute(X, k="rbf", details=details), True),
    "measures": (lambda measures: compute(X, k="rbf", measures=measures), "IntDiv"),
    "t": (lambda t: magnitude_measures.compute_magnitude(X, t=t), 1.5),
    "epsilon": (
        lambda epsilon: magnitude_measures.compute_magnitude(X, epsilon=epsilon),
        0.1,
    ),
    "n_scales": (
        lambda n_scales: magnitude_measures.compute_magnitude(X, n_scales=n_scales),
        5,
    ),
    "t_cut": (lambda t_cut: magnitude_measures.compute_magnitude(X, t_cut=t_cut), 3.0),
    "average": (
        lambda average: magnitude_measures.compute_magnitude(X, average=average),
        True,
    ),
    "absolute": (
        lambda absolute: magnitude_measures.compute_magnitude(X, X, absolute=absolute),
        True,
    ),
    "solver": (
        lambda solver: magnitude_measures.compute_magnitude(X, t=1, solver=solver),
        "cg",
    ),
    "metric": (
        lambda metric: magnitude_measures.compute_magnitude(X, t=1, metric=metric),
        "manhattan",
    ),
}
INVALID_VALUES = (
    *(None, "", b"1", b"rbf", "nonsense", "false", "no", "1e", 1j, 2.5j, np.complex128(1)),
    *([], (), {}, set(), [None], ["x"], [[1]], [math.nan], {"a": 1}, object(), len),
    *(math.nan, -1, -0.5, -math.inf, 10**400, decimal.Decimal("NaN"), np.array("a")),
    np.zeros((2, 2)),
)
OPTIONS_THAT_ACCEPT_NONE = ("p", "sigma", "tokenizer", "t", "t_cut", "measures", "metric")


@fuzz.fuzz_settings(400)
@given(name=st.sampled_from(sorted(CALLS)), value=st.sampled_from(INVALID_VALUES))
def test_invalid_option_value_raises_with_the_name_of_the_option(name, value):
    assume(value is not None or name not in OPTIONS_THAT_ACCEPT_NONE)
    call, valid_value = CALLS[name]
    call(valid_value)
    assume(not (name in ("tokenizer", "k", "metric") and callable(value)))
    result = []
    error = fuzz.get_intended_error(lambda: result.append(call(value)))
    assert error is not None, f"{name}={value!r} gave {result}"
    assert name.rstrip("s") in str(error), error  # matches "unknown measure …"


NUMBER_TYPES = (
    int,
    float,
    np.float64,
    np.int64,
    np.uint8,
    np.float32,
    np.array,
    str,
    fractions.Fraction,
    decimal.Decimal,
    np.longdouble,
    np.bool_,
    bool,
)


@fuzz.fuzz_settings(150)
@given(
    name=st.sampled_from(("q", "sigma", "t", "t_cut", "n_scales", "ns")),
    number_type=st.sampled_from(NUMBER_TYPES),
    value=st.sampled_from((2, 3)),
)
def test_number_of_any_type_is_accepted_as_equal_or_rejected(name, number_type, value):
    call, _ = CALLS[name]
    result = []
    error = fuzz.get_intended_error(lambda: result.append(call(number_type(value))))
    if number_type in (bool, np.bool_):
        assert error is not None, f"{name}={number_type(value)} gave {result}"
        return
    if number_type in (int, np.int64) or (
        number_type in (float, np.float64) and name in ("q", "sigma", "t", "t_cut")
    ):
        assert error is None, error
    if error is None:
        assert fuzz.result_values(result[0]) == pytest.approx(
            fuzz.result_values(call(value)), rel=1e-12
        )


@fuzz.fuzz_settings(60)
@given(
    n=st.integers(2, 30),
    data=st.data(),
    defect=st.sampled_from(("twice", "text", "nan", "none", "array", "complex", "inf", "raise")),
)
def test_invalid_kernel_function_raises_with_the_pair(n, data, defect):
    i, j = sorted(data.draw(st.permutations(range(n)))[:2])
    reverse_order = data.draw(st.booleans()) and defect == "twice"
    invalid_values = {"twice": 0.9, "text": "near", "nan": math.nan, "inf": math.inf, "none": None}
    invalid_values |= {"array": np.ones(2), "complex": 0.5j}

    def k(a, b):
        if (a, b) == ((j, i) if reverse_order else (i, j)):
            if defect == "raise":
                raise KeyError("no such pair")
            return invalid_values[defect]
        return 1.0 if a == b else 0.1

    result = []
    error = None
    try:
        error = fuzz.get_intended_error(lambda: result.append(compute(list(range(n)), k=k)))
    except AssertionError:
        if defect != "raise":  # exceptions of the kernel are passed on
            raise
        return
    assert error is not None, result
    assert str(i) in str(error)
    assert str(j) in str(error)


@fuzz.fuzz_settings(40)
@given(
    n=st.integers(1, 8),
    seed=fuzz.seeds,
    value_types=st.lists(
        st.sampled_from((float, np.float32, np.float64, np.longdouble, np.array)),
        min_size=1,
        max_size=4,
    ),
)
def test_types_of_kernel_values_do_not_change_scores(n, seed, value_types):
    x = np.random.default_rng(seed).standard_normal(n).tolist()
    calls = []

    def mixed_types_kernel(a, b):
        calls.append(1)
        value = math.exp(-abs(a - b))
        kind = value_types[len(calls) % len(value_types)]
        return kind(value) if value == 1.0 or kind is not np.float32 else value

    expected = compute(x, k=lambda a, b: math.exp(-abs(a - b)))["VS"]
    assert compute(x, k=mixed_types_kernel)["VS"] == pytest.approx(expected, rel=1e-12)


@fuzz.fuzz_settings(40)
@given(
    values=st.lists(
        st.sampled_from((0.0, -0.0, 1.0, 1, True, False, 0, "1", 2.0)), min_size=1, max_size=8
    )
)
def test_kernel_function_gets_unmodified_samples(values):
    def k(a, b):
        return float((type(a), str(a)) == (type(b), str(b)))

    distinct = {(type(v), str(v)) for v in values}
    assert compute(values, k=k, q=0)["VS_q0"] == len(distinct)


@fuzz.fuzz_settings(40)
@given(
    data=st.data(),
    q=st.sampled_from((1, 2, math.inf)),
    defect=st.sampled_from(("low", "high", "nan", "asymmetric", "short")),
)
def test_invalid_custom_similarity_is_rejected(data, q, defect):
    n = data.draw(st.integers(2, 6))
    matrix = np.eye(n)
    i, j = data.draw(st.permutations(range(n)))[:2]
    matrix[i, j] = matrix[j, i] = {
        "nan": math.nan,
        "high": 1.5,
        "low": -1.5,
        "short": 0.5,
        "asymmetric": 0.5,
    }[defect]
    if defect == "asymmetric":
        matrix[j, i] = -0.5
    p = np.full(n - 1, 1 / (n - 1)) if defect == "short" else None
    result = []
    call = lambda: result.append(compute(vendiscore.MatrixSimilarity(matrix), q=q, p=p))  # noqa: E731
    assert fuzz.get_intended_error(call) is not None, result


@fuzz.fuzz_settings(30)
@given(
    n=st.integers(1, 6),
    d=st.integers(1, 4),
    seed=fuzz.seeds,
    masked_argument=st.sampled_from(("X", "K", "p")),
)
def test_masked_entries_are_rejected(n, d, seed, masked_argument):
    rng = np.random.default_rng(seed)
    arguments = {"X": rng.standard_normal((n, d)) + 3, "K": np.eye(n), "p": np.full(n, 1 / n)}
    masked = np.ma.masked_array(
        arguments[masked_argument], mask=rng.random(arguments[masked_argument].shape) < 0.3
    )
    assume(masked.mask.any())
    arguments[masked_argument] = masked
    call = {
        "X": lambda: compute(arguments["X"], k="rbf"),
        "K": lambda: compute(arguments["K"], score_K=True),
        "p": lambda: compute(np.eye(n), score_K=True, p=arguments["p"]),
    }[masked_argument]
    assert fuzz.get_intended_error(call) is not None
