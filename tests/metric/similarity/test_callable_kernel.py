"""Kernels that are Python functions of two samples."""

import math

import numpy as np
import pytest
import scipy.sparse

from vendiscore import as_similarity, compute, score


def exponential(a, b):
    return math.exp(-abs(a - b))


def kernel_asymmetric_at(i, j):
    def k(a, b):
        return 1.0 if a == b else 0.9 if (a, b) == (i, j) else 0.1

    return k


@pytest.mark.parametrize("n", [2, 3, 20, 63])
def test_asymmetry_of_any_pair_is_found_for_few_samples(n):
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    for i, j in pairs[:: max(1, len(pairs) // 40)]:
        with pytest.raises(ValueError, match=rf"`k` must be symmetric.*samples\[{min(i, j)}\]"):
            compute(list(range(n)), k=kernel_asymmetric_at(i, j))


@pytest.mark.parametrize(("n", "expected"), [(1, "0/0"), (63, "1953/1953"), (300, "2000/44850")])
def test_settings_count_pairs_evaluated_in_both_orders(n, expected):
    evaluated_pairs = set()

    def k(a, b):
        evaluated_pairs.add((a, b))
        return exponential(a, b)

    assert as_similarity(list(range(n)), k=k).settings["symmetric_pairs"] == expected
    n_both_orders = sum((b, a) in evaluated_pairs for a, b in evaluated_pairs if a < b)
    assert f"{n_both_orders}/{n * (n - 1) // 2}" == expected


def test_one_float32_value_does_not_round_other_values():
    def k(a, b):
        return np.float32(1) if (a, b) == (0, 0) else exponential(a, b)

    samples = [0, 1, 2, 3]
    assert score(samples, k) == score(samples, exponential)
    single = as_similarity(samples, k=lambda a, b: np.float32(exponential(a, b)))
    assert single.K.dtype == np.float32


@pytest.mark.parametrize(
    "to_scalar",
    [
        float,
        np.float64,
        np.float32,
        lambda x: np.array([[x]]),
        lambda x: np.array(x),
        pytest.param(lambda x: pytest.importorskip("torch").tensor(x), id="tensor"),
        pytest.param(
            lambda x: pytest.importorskip("torch").tensor(x, requires_grad=True), id="with gradient"
        ),
    ],
)
def test_kernel_may_return_any_scalar_type(to_scalar):
    assert score([0, 1, 5], lambda a, b: to_scalar(exponential(a, b))) == pytest.approx(
        score([0, 1, 5], exponential), rel=1e-6
    )


@pytest.mark.parametrize(
    "value", ["1", b"1", None, 1j, np.complex128(1), np.ones(2), [1.0], np.ma.masked]
)
def test_kernel_values_that_are_not_numbers_are_rejected(value):
    with pytest.raises(TypeError, match=r"`k` must return a number, got .* for samples 0 and 0"):
        compute([0, 1], k=lambda a, b: value)


@pytest.mark.parametrize("value", [np.nan, np.inf, 10**400])
def test_kernel_values_that_are_not_finite_are_rejected(value):
    with pytest.raises(ValueError, match=r"`k` must return finite numbers, got .* samples 0 and 2"):
        compute([0, 0, 1], k=lambda a, b: value if a != b else 1.0)


def test_exceptions_of_the_kernel_get_a_note_with_the_pair():
    def k(a, b):
        return 1.0 if a == b else 1 / (a + b - 5)

    with pytest.raises(ZeroDivisionError) as caught:
        compute([1, 1, 7, 4], k=k)
    assert caught.value.__notes__ == ["raised by `k` for samples 0 and 3"]


def test_one_in_25_pairs_is_evaluated_in_both_orders_for_many_samples():
    calls = []

    def k(a, b):
        calls.append((a, b))
        return float(a == b)

    n = 400
    as_similarity(list(range(n)), k=k).dense()
    pairs = n * (n - 1) // 2
    reversed_pairs = {(a, b) for a, b in calls if a > b}
    assert len(reversed_pairs) == pairs // 25 == 3_192
    assert len(calls) == pairs + n + len(reversed_pairs)


def test_functions_of_two_samples_reject_sparse_matrices():
    samples = scipy.sparse.csr_array(np.eye(3))
    message = r"`samples` is a sparse matrix; pass samples\.toarray\(\), or name a kernel"
    with pytest.raises(TypeError, match=message):
        compute(samples, k=lambda a, b: 1.0)
