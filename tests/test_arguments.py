"""One argument of any scalar type is read as a plain value, or refused by its name."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from vendiscore.arguments import flag, has_gradient, integer, number, one_of


def test_scalars_of_all_kinds_become_plain_values():
    assert type(integer("ns", np.int8(3))) is int
    for value in (3, 3.0, np.float16(3), np.array(3), Fraction(3), Decimal(3)):
        assert (number("sigma", value, "a number"), type(number("sigma", value, ""))) == (3, float)
    assert flag("details", np.True_) is True
    assert one_of("psd", "clip", ("check", "clip")) == "clip"
    assert not has_gradient([np.ones(3), "a"])


@pytest.mark.parametrize("value", [True, np.True_, "3", b"3", 3j, np.complex64(3), None, [3], "x"])
def test_other_values_are_no_numbers(value):
    for read in (lambda: number("x", value, "a number"), lambda: integer("x", value)):
        with pytest.raises(TypeError, match=r"^`x` must be an? "):
            read()
