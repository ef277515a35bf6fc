"""Validation of the options of magnitude."""

import numpy as np
import pytest

from vendiscore.magnitude.magnitude_options import (
    MAX_SCALES,
    OPTION_CHECKS,
    check_magnitude_options,
    check_n_scales,
    check_scale,
    check_scales,
)


def test_check_scale_returns_nonnegative_float():
    assert check_scale("t", np.float32(2)) == 2.0
    assert str(check_scale("t", -0.0)) == "0.0"
    assert type(check_scale("t", 3)) is float
    for value in (-1e-9, np.inf, np.nan):
        with pytest.raises(ValueError, match="`t` must be a finite scale of at least 0"):
            check_scale("t", value)
    with pytest.raises(TypeError, match="`t`"):
        check_scale("t", "1")


def test_check_scales_returns_list_in_order():
    assert check_scales("scales", 2) == [2.0]
    assert check_scales("scales", np.array([2, 0.5])) == [2.0, 0.5]
    assert check_scales("scales", (t for t in (1, 2))) == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"`scales` .* got -1"):
        check_scales("scales", [1, -1])
    for value in ([], iter(())):
        with pytest.raises(ValueError, match="`scales` must contain at least one scale, got none"):
            check_scales("scales", value)


def test_check_n_scales_limits_number():
    assert check_n_scales(2) == 2
    assert check_n_scales(1, min_value=1) == 1
    assert check_n_scales(MAX_SCALES) == MAX_SCALES
    for value in (1, MAX_SCALES + 1):
        with pytest.raises(ValueError, match="`n_scales` must be an integer from 2 to 1000000"):
            check_n_scales(value)


@pytest.mark.parametrize(
    ("name", "value", "result"),
    [
        ("t_cut", None, None),
        ("t_cut", 2, 2.0),
        ("epsilon", 1e-6, 1e-6),
        ("epsilon", 0.999, 0.999),
        ("solver", "cg", "cg"),
        ("average", True, True),
        ("relative", np.False_, False),
    ],
)
def test_option_checks_return_plain_values(name, value, result):
    assert OPTION_CHECKS[name](value) == result


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("t_cut", 0, "above 0"),
        ("t_cut", np.inf, "above 0"),
        ("epsilon", 0, "between 0 and 1"),
        ("epsilon", 1, "between 0 and 1"),
        ("epsilon", 9e-7, "at least 1e-06"),
        ("solver", "lu", "'auto', 'cg' or 'cholesky'"),
    ],
)
def test_option_checks_reject_invalid_values(name, value, message):
    with pytest.raises(ValueError, match=f"`{name}` must be .*{message}"):
        OPTION_CHECKS[name](value)


def test_options_are_checked_in_passed_order():
    assert check_magnitude_options(t_cut=None, average=False) == {"t_cut": None, "average": False}
    with pytest.raises(ValueError, match="`epsilon`"):
        check_magnitude_options(epsilon=2, t_cut=-1)
    with pytest.raises(ValueError, match="`t_cut`"):
        check_magnitude_options(t_cut=-1, epsilon=2)
