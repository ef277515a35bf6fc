"""Hill numbers of one or several rows of proportions, compared with manual calculations."""

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

MANUAL_VALUES = [
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
    ([1 - 1e-12, 1e-12], 400, 1 / (1 - 1e-12) ** (400 / 399)),  # the powers would underflow
]


@pytest.mark.parametrize(("proportions", "q", "expected"), MANUAL_VALUES)
def test_hill_numbers_match_manual_values(proportions, q, expected):
    assert effective_number(proportions, q) == pytest.approx(expected, rel=1e-12)
    positive = np.array([proportion for proportion in proportions if proportion])
    assert hill_number(positive, q) == pytest.approx(expected, rel=1e-12)


@given(st.lists(st.floats(1e-9, 1), min_size=1, max_size=9), st.floats(0, 50), st.floats(0, 50))
def test_effective_number_decreases_with_order(weights, first_order, second_order):
    proportions = np.array(weights) / sum(weights)
    high, low = (
        effective_number(proportions, min(first_order, second_order)),
        effective_number(proportions, max(first_order, second_order)),
    )
    assert low <= high * (1 + 1e-9)
    assert low >= 1
    assert high <= len(proportions)


def test_clip_number_limits_to_range():
    assert clip_number(0.9999999, 5) == 1.0
    assert clip_number(5.0000001, 5) == 5.0
    assert clip_number(np.float64(3.5), 5) == 3.5


def test_order_1_is_limit_of_nearby_orders():
    proportions = np.array([0.6, 0.3, 0.1])
    for q in (1 - 1e-9, 1 + 1e-9, 1 + 2**-52):
        assert effective_number(proportions, q) == pytest.approx(
            effective_number(proportions, 1), rel=1e-8
        )
    entropy = -(proportions @ np.log(proportions))
    assert log_power_mean(proportions, np.log(proportions), 1.0) == pytest.approx(entropy)


@pytest.mark.parametrize(
    ("proportions", "q", "error", "message"),
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
        ([10**400, 1], 1, TypeError, r"must be a one-dimensional array of proportions"),
        ([0.5, None, 0.5], 1, ValueError, r"some are missing \(NaN\); remove them"),
    ],
)
def test_effective_number_rejects_invalid_proportions(proportions, q, error, message):
    with pytest.raises(error, match=message):
        effective_number(proportions, q)


def test_effective_number_accepts_columns_of_data_frames():
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(["a", "a", "b"]).value_counts(normalize=True)
    expected = effective_number([2 / 3, 1 / 3])
    assert effective_number(column) == expected
    assert effective_number(column.astype("Float64")) == expected


@pytest.mark.parametrize("dtype", ["float16", "float32", "torch.float16", "torch.float32"])
@pytest.mark.parametrize("q", [0.5, 0.999, 1, 1.001, 2, 1e5, 1e39, math.inf])
def test_low_precision_proportions_are_converted_to_float64(dtype, q):
    proportions = np.array([0.5, 0.3, 0.2])
    if dtype.startswith("torch."):
        torch = pytest.importorskip("torch")
        low_precision = torch.tensor(
            proportions, dtype=getattr(torch, dtype.removeprefix("torch."))
        )
        double = low_precision.double().numpy()
    else:
        low_precision = proportions.astype(dtype)
        double = low_precision.astype(float)
    expected = effective_number(double / double.sum(), q)
    assert float(effective_number(low_precision, q)) == pytest.approx(expected, rel=1e-12)


def test_rounding_of_many_float16_proportions_is_accepted():
    proportions = np.full(1000, 1e-3, np.float16)  # their float16 sum is 1.0004
    assert effective_number(proportions) == pytest.approx(1000)
    with pytest.raises(ValueError, match="got a sum of"):
        effective_number(np.full(1000, 1.1e-3, np.float16))


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, math.inf])
def test_hill_number_of_rows_matches_single_rows(q):
    rows = np.array([[0.7, 0.2, 0.1], [0.0, 0.6, 0.4], [1.0, 0.0, 0.0]])
    expected = [effective_number(row, q) for row in rows]
    assert hill_number(rows, q) == pytest.approx(expected, rel=1e-12)
