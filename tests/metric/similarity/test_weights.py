"""Validation and conversion of the weights `p`."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from vendiscore.similarity.weights import check_weights, normalize_weights

P = [0.5, 0.25, 0.25]


@pytest.mark.parametrize(
    "p",
    [
        P,
        tuple(P),
        np.array(P),
        np.array(P, np.float32),
        np.array(P, np.float16),
        np.array(P, object),
        np.ma.masked_array(P),
        [Fraction(1, 2), Decimal("0.25"), np.float16(0.25)],
        pd.Series(P, index=[7, 8, 9]),
        pa.array(P),
        (x for x in P),
    ],
)
def test_check_weights_converts_to_double_precision(p):
    weights = check_weights(p, 3)
    assert weights.dtype == np.float64
    np.testing.assert_array_equal(weights, P)


def test_weights_are_tensors_if_weights_or_samples_are():
    torch = pytest.importorskip("torch")
    scalar = torch.tensor(0.5, requires_grad=True)
    like = torch.ones(3)
    for p in (torch.tensor(P), torch.tensor(P).half(), [scalar, 0.25, torch.tensor(0.25)]):
        weights = check_weights(p, 3)
        assert weights.dtype == torch.float64
        assert weights.tolist() == P
    for p in (P, np.array(P), torch.tensor(P)):
        assert torch.equal(check_weights(p, 3, like=like), torch.tensor(P, dtype=torch.float64))
    check_weights([scalar, 0.25, 0.25], 3)[1].backward()
    assert scalar.grad is not None


@pytest.mark.parametrize(
    "p",
    [
        "abc",
        ["0.5", "0.25", "0.25"],
        [0.5, 0.25, None],
        [0.5, 0.25, 0.25 + 0j],
        np.array(P) + 0j,
        [True, False, False],
        0.5,
        [[0.5], [0.25, 0.25]],
        {"a": 0.5},
        [10**400, 0, 0],
    ],
)
def test_invalid_weights_are_rejected(p):
    with pytest.raises((TypeError, ValueError), match="`p` must"):
        check_weights(p, 3)


def test_complex_and_boolean_tensors_are_rejected():
    torch = pytest.importorskip("torch")
    for p in (torch.tensor(P) + 0j, [torch.tensor(0.5 + 0j), 0.25, 0.25], torch.ones(3) > 0):
        with pytest.raises((TypeError, ValueError), match=r"`p` must be (a )?number"):
            check_weights(p, 3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_weights_sum_to_one_within_their_precision(dtype):
    torch = pytest.importorskip("torch")
    p = torch.rand(50, generator=torch.Generator().manual_seed(0)).softmax(0)
    half = p.to(getattr(torch, dtype))
    assert check_weights(half, 50).sum().item() == pytest.approx(1)
    with pytest.raises(ValueError, match=r"`p` must sum to 1, got 1.1"):
        check_weights(half * 1.1, 50)


def test_tiny_weights_are_accepted_in_any_numpy_error_state():
    with np.errstate(all="raise"):
        weights = check_weights([1.0, 1e-300, 5e-324], 3)
    assert weights.tolist() == [1.0, 1e-300, 5e-324]


def test_normalize_weights_rejects_sums_that_differ_from_one():
    with pytest.raises(ValueError, match=r"`p` must sum to 1, got 0\.75; pass p / p\.sum\(\)"):
        normalize_weights(np.array([0.25, 0.5]), 0.0)
    assert normalize_weights(np.array([0.5, 0.4999]), 1e-3).sum() == pytest.approx(1)
