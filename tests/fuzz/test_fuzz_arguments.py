"""Meaningless options are refused by name, functions that are not kernels by their pair."""

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

# For each option: a call that takes it, and a value with which the call is right.
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
NOTHING = (
    *(None, "", b"1", b"rbf", "nonsense", "false", "no", "1e", 1j, 2.5j, np.complex128(1)),
    *([], (), {}, set(), [None], ["x"], [[1]], [math.nan], {"a": 1}, object(), len),
    *(math.nan, -1, -0.5, -math.inf, 10**400, decimal.Decimal("NaN"), np.array("a")),
    np.zeros((2, 2)),
)
OPTIONAL = ("p", "sigma", "tokenizer", "t", "t_cut", "measures", "metric")


@fuzz.fuzz_settings(400)
@given(name=st.sampled_from(sorted(CALLS)), value=st.sampled_from(NOTHING))
def test_an_option_that_means_nothing_is_refused_by_its_name(name, value):
    assume(value is not None or name not in OPTIONAL)
    call, right = CALLS[name]
    call(right)
    assume(not (name in ("tokenizer", "k", "metric") and callable(value)))
    result = []
    error = fuzz.get_intended_error(lambda: result.append(call(value)))
    assert error is not None, f"{name}={value!r} gave {result}"
    assert name.rstrip("s") in str(error), error  # "unknown measure …" says as much


SAME = (
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
    kind=st.sampled_from(SAME),
    value=st.sampled_from((2, 3)),
)
def test_a_number_of_any_type_is_that_number_or_refused(name, kind, value):
    call, _ = CALLS[name]
    result = []
    error = fuzz.get_intended_error(lambda: result.append(call(kind(value))))
    if kind in (bool, np.bool_):
        assert error is not None, f"{name}={kind(value)} gave {result}"
        return
    if kind in (int, np.int64) or (
        kind in (float, np.float64) and name in ("q", "sigma", "t", "t_cut")
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
    kind=st.sampled_from(("twice", "text", "nan", "none", "array", "complex", "inf", "raise")),
)
def test_a_function_that_is_no_kernel_is_refused_with_its_pair(n, data, kind):
    i, j = sorted(data.draw(st.permutations(range(n)))[:2])
    back = data.draw(st.booleans()) and kind == "twice"
    odd = {"twice": 0.9, "text": "near", "nan": math.nan, "inf": math.inf, "none": None}
    odd |= {"array": np.ones(2), "complex": 0.5j}

    def k(a, b):
        if (a, b) == ((j, i) if back else (i, j)):
            if kind == "raise":
                raise KeyError("no such pair")
            return odd[kind]
        return 1.0 if a == b else 0.1

    result = []
    error = None
    try:
        error = fuzz.get_intended_error(lambda: result.append(compute(list(range(n)), k=k)))
    except AssertionError:
        if kind != "raise":  # what a function raises itself passes, as it is or with the pair
            raise
        return
    assert error is not None, result
    assert str(i) in str(error)
    assert str(j) in str(error)


@fuzz.fuzz_settings(40)
@given(
    n=st.integers(1, 8),
    seed=fuzz.seeds,
    kinds=st.lists(
        st.sampled_from((float, np.float32, np.float64, np.longdouble, np.array)),
        min_size=1,
        max_size=4,
    ),
)
def test_the_types_of_a_functions_values_do_not_matter(n, seed, kinds):
    x = np.random.default_rng(seed).standard_normal(n).tolist()
    called = []

    def mixed(a, b):
        called.append(1)
        value = math.exp(-abs(a - b))
        kind = kinds[len(called) % len(kinds)]
        return kind(value) if value == 1.0 or kind is not np.float32 else value

    right = compute(x, k=lambda a, b: math.exp(-abs(a - b)))["VS"]
    assert compute(x, k=mixed)["VS"] == pytest.approx(right, rel=1e-12)


@fuzz.fuzz_settings(40)
@given(
    values=st.lists(
        st.sampled_from((0.0, -0.0, 1.0, 1, True, False, 0, "1", 2.0)), min_size=1, max_size=8
    )
)
def test_a_function_sees_samples_as_they_are(values):
    def k(a, b):
        return float((type(a), str(a)) == (type(b), str(b)))

    right = {(type(v), str(v)) for v in values}
    assert compute(values, k=k, q=0)["VS_q0"] == len(right)


@fuzz.fuzz_settings(40)
@given(
    data=st.data(),
    q=st.sampled_from((1, 2, math.inf)),
    kind=st.sampled_from(("low", "high", "nan", "asymmetric", "short")),
)
def test_a_similarity_of_ones_own_that_is_none_is_refused(data, q, kind):
    n = data.draw(st.integers(2, 6))
    own = np.eye(n)
    i, j = data.draw(st.permutations(range(n)))[:2]
    own[i, j] = own[j, i] = {
        "nan": math.nan,
        "high": 1.5,
        "low": -1.5,
        "short": 0.5,
        "asymmetric": 0.5,
    }[kind]
    if kind == "asymmetric":
        own[j, i] = -0.5
    p = np.full(n - 1, 1 / (n - 1)) if kind == "short" else None
    result = []
    call = lambda: result.append(compute(vendiscore.MatrixSimilarity(own), q=q, p=p))  # noqa: E731
    assert fuzz.get_intended_error(call) is not None, result


@fuzz.fuzz_settings(30)
@given(
    n=st.integers(1, 6), d=st.integers(1, 4), seed=fuzz.seeds, what=st.sampled_from(("X", "K", "p"))
)
def test_masked_entries_are_not_scored(n, d, seed, what):
    rng = np.random.default_rng(seed)
    full = {"X": rng.standard_normal((n, d)) + 3, "K": np.eye(n), "p": np.full(n, 1 / n)}
    masked = np.ma.masked_array(full[what], mask=rng.random(full[what].shape) < 0.3)
    assume(masked.mask.any())
    full[what] = masked
    call = {"X": lambda: compute(full["X"], k="rbf"), "K": lambda: compute(full["K"], score_K=True),
            "p": lambda: compute(np.eye(n), score_K=True, p=full["p"])}[what]  # fmt: skip
    assert fuzz.get_intended_error(call) is not None
