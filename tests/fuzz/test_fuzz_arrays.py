"""Scores do not depend on the container of the samples; gradients match finite differences."""

import datasets
import fuzz
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from vendiscore import compute, magnitude_function, magnitude_weights
from vendiscore.result import key_at

# Small integers, which all types below represent exactly.
integer_rows = st.builds(
    lambda n, d, seed: np.random.default_rng(seed).integers(0, 4, (n, d)).astype(float),
    st.integers(1, 7),
    st.integers(1, 5),
    fuzz.seeds,
).map(lambda X: np.where(X.any(axis=1, keepdims=True), X, 1.0))


def as_strided(X):
    wide = np.full((2 * len(X), 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def as_read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def column(X, kind=None):
    return datasets.Dataset.from_dict({"x": X.tolist()}).with_format(kind)["x"]


CONTAINERS = {
    "list": lambda X: X.tolist(),
    "tuples": lambda X: tuple(map(tuple, X.tolist())),
    "ints": lambda X: [[int(x) for x in row] for row in X],
    "list of arrays": lambda X: list(X),
    "generator": lambda X: (row for row in X),
    **{
        name: lambda X, name=name: X.astype(name)
        for name in (
            *("int8", "uint8", "int16", "uint64", ">i4"),
            *("float16", "float32", "longdouble", ">f8"),
        )
    },
    "Fortran": np.asfortranarray,
    "strided": as_strided,
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": as_read_only,
    "unmasked": np.ma.masked_array,
    "column": column,
    "NumPy column": lambda X: column(X, "numpy"),
    "frame": pd.DataFrame,
    "frame of Float32": lambda X: pd.DataFrame(X).astype("Float32"),
    "frame of Int64": lambda X: pd.DataFrame(X).astype("Int64"),
    "Arrow": lambda X: pa.array(X.tolist()),
    "chunked Arrow": lambda X: pa.chunked_array(
        [X[:1].tolist(), X[1:].tolist()], pa.list_(pa.float64())
    ),
    **{
        name: lambda X, name=name: getattr(sp, name)(X)
        for name in ("csr_array", "csc_array", "coo_array", "lil_array", "bsr_array", "dia_array",
                     "dok_array", "csr_matrix", "coo_matrix", "dok_matrix")
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def tensor_converters(torch):
    def grad(X):
        return torch.tensor(X, requires_grad=True)

    return {
        **{
            str(dtype): lambda X, dtype=dtype: torch.tensor(X).to(dtype)
            for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64,
                          torch.uint8)
        },
        "gradient": grad,
        "transposed": lambda X: torch.tensor(X.T.copy()).T,
        "list of tensors": lambda X: list(torch.tensor(X)),
        "torch column": lambda X: column(X, "torch"),
    }  # fmt: skip


SCORE_OPTIONS = (
    {"k": "cosine"},
    {"k": "linear", "normalize": True},
    {"k": "rbf"},
    {"k": "rbf", "sigma": 2.0},
    {"k": "laplacian"},
    {"score_X": True, "normalize": True},
    {"score_dual": True, "normalize": True},
)


@fuzz.fuzz_settings(60)
@given(
    X=integer_rows,
    container=st.sampled_from(sorted(CONTAINERS)),
    options=st.sampled_from(SCORE_OPTIONS),
    q=st.sampled_from((0.5, 1, 2, np.inf)),
)
def test_score_does_not_depend_on_the_container(X, container, options, q):
    expected = compute(X, q=q, **options)[key_at(q)]
    result = compute(CONTAINERS[container](X), q=q, **options)[key_at(q)]
    assert type(result) is float
    # Single precision has a larger tolerance; rounding may affect orders below 1.
    rel = 1e-9 if container not in ("float16", "float32", "frame of Float32") else 1e-6
    assert q < 1 < rel * 1e8 or result == pytest.approx(expected, rel=rel)


@fuzz.fuzz_settings(60)
@given(
    X=integer_rows,
    data=st.data(),
    options=st.sampled_from(SCORE_OPTIONS),
    q=st.sampled_from((1, 1.5, 2, np.inf)),
)
def test_tensor_score_equals_array_score(torch, X, data, options, q):
    converters = tensor_converters(torch)
    tensor_form = data.draw(st.sampled_from(sorted(converters)))
    p = data.draw(fuzz.weights(len(X)))
    expected = compute(X, q=q, p=p, **options)[key_at(q)]
    weights = p if p is None or data.draw(st.booleans()) else torch.tensor(p)
    is_exact = tensor_form in (
        "torch.float64",
        "torch.int64",
        "torch.uint8",
        "gradient",
        "transposed",
        "list of tensors",
    )
    result = compute(converters[tensor_form](X), q=q, p=weights, **options)[key_at(q)]
    assert float(result.detach()) == pytest.approx(expected, rel=1e-9 if is_exact else 1e-5)


@fuzz.fuzz_settings(30)
@given(X=integer_rows, data=st.data(), q=st.sampled_from((1, 1.5, 2, np.inf)))
def test_matrix_score_does_not_depend_on_the_container(torch, X, data, q):
    K = np.where(X[:, :1] == X[:, :1].T, 1.0, 0.25)
    np.fill_diagonal(K, 1.0)
    assert np.linalg.eigvalsh(K)[0] > -1e-9
    converters = {**CONTAINERS, **tensor_converters(torch)}
    supported_names = [
        name
        for name in converters
        if "int" not in name and name != "column" and name != ">i4" and "Int" not in name
    ]
    container = data.draw(st.sampled_from(sorted(supported_names)))
    result = compute(converters[container](K), score_K=True, q=q)[key_at(q)]
    result = result.detach() if torch.is_tensor(result) else result
    assert float(result) == pytest.approx(compute(K, score_K=True, q=q)[key_at(q)], rel=1e-6)


@fuzz.fuzz_settings(40)
@given(
    X=integer_rows,
    container=st.sampled_from(sorted(CONTAINERS)),
    metric=st.sampled_from(("euclidean", "manhattan", "cosine")),
)
def test_magnitude_does_not_depend_on_the_container(X, container, metric):
    options = {"scales": [0.7], "metric": metric}
    expected = magnitude_function(X, **options).values
    assert magnitude_function(CONTAINERS[container](X), **options).values == pytest.approx(
        expected, rel=1e-6
    )
    result = magnitude_weights(CONTAINERS[container](X), t=0.7, metric=metric)
    assert result == pytest.approx(magnitude_weights(X, t=0.7, metric=metric), rel=1e-5, abs=1e-5)


NUMBER_TYPES = (
    int,
    float,
    np.float64,
    np.longdouble,
    np.int16,
    np.int64,
    np.uint8,
    np.int8,
    np.float16,
    np.float32,
)


@fuzz.fuzz_settings(60)
@given(
    value=st.sampled_from((1, 2, 5, 16, 100)),
    number_type=st.sampled_from(NUMBER_TYPES),
    option=st.sampled_from(("rbf", "laplacian", "q", "ngram_overlap")),
    seed=fuzz.seeds,
)
def test_number_type_of_an_option_does_not_change_scores(value, number_type, option, seed):
    X = np.random.default_rng(seed).standard_normal((6, 3)) * value
    if option == "ngram_overlap":
        texts = ["a b c d e f", "a b", "c d e", "a b c d"]
        value = min(value, 2)
        is_integer_type = number_type in (
            int,
            *(
                number_type
                for number_type in NUMBER_TYPES
                if np.issubdtype(number_type, np.integer)
            ),
        )
        call = lambda ns: compute(texts, ns=ns)["VS"]  # noqa: E731
        if not is_integer_type:
            assert fuzz.get_intended_error(lambda: call(number_type(value))) is not None
            return
    elif option == "q":
        call = lambda q: compute(X, k="rbf", q=q)[key_at(q)]  # noqa: E731
    else:
        call = lambda sigma: compute(X, k=option, sigma=sigma)["VS"]  # noqa: E731
    assert call(number_type(value)) == pytest.approx(call(value), rel=1e-12)


# Gradients

DIFFERENTIABLE = (
    *SCORE_OPTIONS,
    {"k": "laplacian", "sigma": 1.5},
    {"score_K": True, "normalize": True},
)


def finite_difference(f, X, direction, step=2e-4):
    """Return the derivative of f(X + s·direction) at s = 0; the error is of order step⁴."""
    near, far = (f(X + s * direction) - f(X - s * direction) for s in (step, 2 * step))
    return (8 * near - far) / (12 * step)


@fuzz.fuzz_settings(80)
@given(
    options=st.sampled_from(DIFFERENTIABLE),
    q=st.sampled_from((0.5, 1, 1.5, 2, 3, np.inf)),
    n=st.integers(2, 7),
    d=st.integers(1, 9),
    seed=fuzz.seeds,
    data=st.data(),
)
def test_gradient_matches_finite_differences(torch, options, q, n, d, seed, data):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if "score_K" in options:
        X = np.eye(n) + 0.3 * (X @ X.T) / d
    p = data.draw(fuzz.weights(n))
    direction = rng.standard_normal(X.shape)
    direction = (direction + direction.T) / 2 if "score_K" in options else direction
    direction /= np.linalg.norm(direction)
    T = torch.tensor(X, requires_grad=True)
    value = compute(T, q=q, p=p, **options)[key_at(q)]
    value.backward()
    directional_derivative = float((T.grad * torch.tensor(direction)).sum())

    def f(X):
        return compute(X, q=q, p=p, **options)[key_at(q)]

    assert np.isfinite(directional_derivative)
    # Orders below 1 are not smooth in the smallest eigenvalues.
    is_smooth = q >= 1 and not (p is not None and p.min() == 0)
    has_kink = _has_kink(f, X, direction)
    if is_smooth and not has_kink:
        assert directional_derivative == pytest.approx(
            finite_difference(f, X, direction), rel=1e-4, abs=1e-5
        )


def _has_kink(f, X, direction):
    """Return whether f has a kink (|x − y| near 0, another median, two equal eigenvalues)."""
    a, b = finite_difference(f, X, direction, 4e-4), finite_difference(f, X, direction, 1e-4)
    return abs(a - b) > 1e-5 * max(1.0, abs(b))


@fuzz.fuzz_settings(30)
@given(
    n=st.integers(2, 6),
    q=st.sampled_from((0.5, 1, 1.5, 2, 3)),
    has_duplicate=st.booleans(),
    seed=fuzz.seeds,
)
def test_gradients_of_repeated_eigenvalues_are_finite_or_raise(torch, n, q, has_duplicate, seed):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    X = np.vstack([basis, basis[:1]]) if has_duplicate else basis
    T = torch.tensor(X, requires_grad=True)
    value = compute(T, score_X=True, normalize=True, q=q)[key_at(q)]
    (gradient,) = torch.autograd.grad(value, T, create_graph=True)
    assert bool(torch.isfinite(gradient).all())
    result = []

    def second_derivative():
        result.append(
            torch.autograd.grad(
                (gradient * gradient).sum() + (gradient * T.detach() ** 2).sum(), T
            )[0]
        )

    fuzz.get_intended_error(second_derivative)
    assert not result or bool(torch.isfinite(result[0]).all())
