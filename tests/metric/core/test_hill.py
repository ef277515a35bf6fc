"""Hill numbers by hand, at each kind of order, of one set of shares and of many."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vendiscore import effective_number
from vendiscore.core.hill import (
    clip_number,
    hill_number,
    log_power_mean,
)

BY_HAND = [
    ([0.7, 0.2, 0.1], 0, 3),
    ([0.7, 0.2, 0.1, 0.0], 0, 3),
    ([0.7, 0.2, 0.1], 0.25, (0.7**0.25 + 0.2**0.25 + 0.1**0.25) ** (4 / 3)),
    ([0.7, 0.2, 0.1], 0.5, (0.7**0.5 + 0.2**0.5 + 0.1**0.5) ** 2),
    ([0.7, 0.2, 0.1], 1, 0.7**-0.7 * 0.2**-0.2 * 0.1**-0.1),
    ([0.7, 0.2, 0.1], 1.4, (0.7**1.4 + 0.2**1.4 + 0.1**1.4) ** -2.5),
    ([0.7, 0.2, 0.1], 2, 1 / 0.54),
    ([0.7, 0.2, 0.1], 3, (0.343 + 0.008 + 0.001) ** -0.5),
    ([0.7, 0.2, 0.1], math.inf, 1 / 0.7),
    ([1.0], 1, 1),
    ([0.25] * 4, 0.3, 4),
    ([0.25] * 4, 7, 4),
    ([1 - 1e-12, 1e-12], 400, 1 / (1 - 1e-12) ** (400 / 399)),  # the powers would vanish
]


@pytest.mark.parametrize(("shares", "q", "number"), BY_HAND)
def test_numbers_by_hand(shares, q, number):
    assert effective_number(shares, q) == pytest.approx(number, rel=1e-12)
    positive = np.array([share for share in shares if share])
    assert hill_number(positive, q) == pytest.approx(number, rel=1e-12)


@given(st.lists(st.floats(1e-9, 1), min_size=1, max_size=9), st.floats(0, 50), st.floats(0, 50))
def test_numbers_fall_with_the_order(weights, one, other):
    shares = np.array(weights) / sum(weights)
    high, low = effective_number(shares, min(one, other)), effective_number(shares, max(one, other))
    assert low <= high * (1 + 1e-9)
    assert low >= 1
    assert high <= len(shares)


def test_numbers_are_held_within_their_range():
    assert clip_number(0.9999999, 5) == 1.0
    assert clip_number(5.0000001, 5) == 5.0
    assert clip_number(np.float64(3.5), 5) == 3.5


def test_order_1_is_the_limit_of_the_others():
    shares = np.array([0.6, 0.3, 0.1])
    for q in (1 - 1e-9, 1 + 1e-9, 1 + 2**-52):
        assert effective_number(shares, q) == pytest.approx(effective_number(shares, 1), rel=1e-8)
    entropy = -(shares @ np.log(shares))
    assert log_power_mean(shares, np.log(shares), 1.0) == pytest.approx(entropy)


@pytest.mark.parametrize(
    ("shares", "q", "error", "message"),
    [
        ([0.5, 0.4], 1, ValueError, r"sum to 1, got a sum of 0\.9; divide `shares`"),
        ([1.5, -0.5], 1, ValueError, "must be at least 0, got -0.5"),
        ([0.5, 0.5], -1, ValueError, r"`q` must be a number in \[0, inf\]"),
        (
            [0.5, 0.5],
            "two",
            TypeError,
            r"`q` must be a number .* call the function once for each order",
        ),
        (
            "ab",
            1,
            TypeError,
            r"must be a one-dimensional array of proportions that sum to 1, got 'ab'",
        ),
        ([[0.5, 0.5]], 1, TypeError, r"use score\(samples\) for samples"),
    ],
)
def test_what_are_no_shares_is_refused(shares, q, error, message):
    with pytest.raises(error, match=message):
        effective_number(shares, q)


@pytest.mark.parametrize("kind", ["float16", "float32", "torch.float16", "torch.float32"])
@pytest.mark.parametrize("q", [0.5, 0.999, 1, 1.001, 2, 1e5, 1e39, math.inf])
def test_shares_of_any_precision_are_read_in_double(kind, q):
    shares = np.array([0.5, 0.3, 0.2])
    if kind.startswith("torch."):
        torch = pytest.importorskip("torch")
        coarse = torch.tensor(shares, dtype=getattr(torch, kind.removeprefix("torch.")))
        double = coarse.double().numpy()
    else:
        coarse = shares.astype(kind)
        double = coarse.astype(float)
    wanted = effective_number(double / double.sum(), q)
    assert float(effective_number(coarse, q)) == pytest.approx(wanted, rel=1e-12)


def test_many_half_precision_shares_count_as_many():
    shares = np.full(1000, 1e-3, np.float16)  # the sum of which is 1.0004
    assert effective_number(shares) == pytest.approx(1000)
    with pytest.raises(ValueError, match="got a sum of"):
        effective_number(np.full(1000, 1.1e-3, np.float16))


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, math.inf])
def test_rows_of_proportions_have_the_hill_number_of_each(q):
    rows = np.array([[0.7, 0.2, 0.1], [0.0, 0.6, 0.4], [1.0, 0.0, 0.0]])
    each = [effective_number(row, q) for row in rows]
    assert hill_number(rows, q) == pytest.approx(each, rel=1e-12)
