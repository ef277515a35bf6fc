"""Single-precision products are used only if they are accurate enough."""

import warnings

import numpy as np
import pytest

from vendiscore import score_X
from vendiscore.spectral import single_precision
from vendiscore.spectral.single_precision import InaccurateError, decompose_in_single_precision

generator = np.random.default_rng(0)


def unit_float32(X):
    return (X / np.linalg.norm(X, axis=1)[:, None]).astype(np.float32)


@pytest.mark.parametrize(("n", "d"), [(1200, 120), (120, 1200)])
def test_float32_unit_rows_use_single_precision_from_order_1_on(n, d):
    X = unit_float32(generator.standard_normal((n, d)))
    for q in (1.0, 2.0, np.inf):
        exact = score_X(X.astype(np.float64), q)
        assert score_X(X, q) == pytest.approx(exact, rel=1e-6)
        assert score_X(X, q) != exact  # products are rounded
    double = X.astype(np.float64)
    assert score_X(X, 0.5) == pytest.approx(score_X(double, 0.5), rel=1e-12)
    p = generator.dirichlet(np.ones(n))
    assert score_X(X, 1.0, p) == pytest.approx(score_X(double, 1.0, p), rel=1e-12)


@pytest.mark.parametrize(
    ("rows", "n", "d", "q"),
    [
        *(
            (rows, n, d, q)
            for rows in ("not of unit length", "nearly equal", "collapsed")
            for n, d in ((1200, 120), (120, 1200))
            for q in (1.0, 2.0, np.inf)
        ),
        # The products of fewer rows than columns, and squares for order 2, are accurate here.
        ("few columns", 1200, 120, 1.0),
        ("few columns", 1200, 120, np.inf),
    ],
)
def test_unresolved_float32_rows_are_scored_in_double_precision(rows, n, d, q):
    X = generator.standard_normal((n, d)).astype(np.float32)
    if rows == "nearly equal":
        X = unit_float32(X * 1e-3 + 1)
    elif rows == "collapsed":
        X = unit_float32(np.concatenate([np.repeat(X[:1], n - 5, axis=0), X[:5]]))
    elif rows == "few columns":
        columns = generator.integers(0, 2, n)[:, None] * 2 + np.arange(2)
        X = np.zeros((n, d), dtype=np.float32)
        np.put_along_axis(X, columns, np.array([[0.6, 0.8]], dtype=np.float32), axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact = score_X(X.astype(np.float64), q)
        assert score_X(X, q) == pytest.approx(exact, rel=1e-12)


def decompose_with_eigenvalues(smallest, largest=0.4, columns=32, trace=1.0):
    """Decompose a matrix with an eigensolver that returns prescribed float32 eigenvalues."""
    values = np.full(columns, (1 - smallest - largest) / (columns - 2))
    values[0], values[-1] = smallest, largest
    C = np.eye(columns) / columns
    return decompose_in_single_precision(
        C, trace=trace, compute_eigenvalues=lambda A: values.astype(np.float32)
    )[0]


def test_eigenvalues_are_returned_if_the_estimated_error_is_small():
    exact = decompose_with_eigenvalues(0.0)
    for values in (exact, decompose_with_eigenvalues(-5e-7)):  # 5e-7 (1 + log(32 / 5e-7)) is 9.5e-6
        assert values.dtype == np.float64
        assert values.sum() == pytest.approx(1, abs=1e-12)
        assert values[1:] == pytest.approx(exact[1:], abs=1e-6)
    decompose_with_eigenvalues(0.0, largest=0.9)
    decompose_with_eigenvalues(0.0, trace=1 + 4e-7)


@pytest.mark.parametrize(
    "case",
    [
        {"smallest": -6e-7},
        {"smallest": 0.0, "largest": 0.91},
        {"smallest": 0.0, "columns": 15},  # all errors may be positive
        {"smallest": 0.0, "trace": 1 - 6e-7},
        {"smallest": -3e-7, "trace": 1 + 3e-7},
    ],
)
def test_eigenvalues_are_rejected_if_the_estimated_error_is_large(case):
    with pytest.raises(InaccurateError):
        decompose_with_eigenvalues(**case)


def test_single_precision_eigenvalues_are_scored_by_compute_hill_numbers(monkeypatch):
    X = unit_float32(generator.standard_normal((1200, 120)))
    expected = {q: score_X(X, q) for q in (1.0, 2.0)}
    calls = []
    original = single_precision.compute_hill_numbers
    monkeypatch.setattr(
        single_precision,
        "compute_hill_numbers",
        lambda *arguments: calls.append(list(arguments[1])) or original(*arguments),
    )
    assert {q: score_X(X, q) for q in expected} == expected
    assert calls == [[1.0], [2.0]]
