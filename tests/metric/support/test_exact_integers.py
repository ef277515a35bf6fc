"""Only integers without an exact float64 value are reported."""

import numpy as np
import pytest

from vendiscore.support.exact_integers import MAX_EXACT_INTEGER, describe_inexact_integer


@pytest.mark.parametrize(
    "entry",
    [
        0,
        -5,
        True,
        MAX_EXACT_INTEGER,
        -MAX_EXACT_INTEGER,
        MAX_EXACT_INTEGER + 2,
        2**1000,
        np.int8(-3),
        np.uint64(2**63),
        0.1,
        "a",
        None,
    ],
)
def test_exact_integers_and_other_entries_are_accepted(entry):
    assert describe_inexact_integer(entry) == ""


@pytest.mark.parametrize(
    "entry",
    [
        MAX_EXACT_INTEGER + 1,
        -MAX_EXACT_INTEGER - 1,
        2**63 - 1,
        np.int64(2**63 - 1),
        np.uint64(2**64 - 1),
        10**400,
    ],
)
def test_message_contains_the_inexact_integer_and_the_reason(entry):
    message = describe_inexact_integer(entry)
    assert str(int(entry))[:20] in message
    assert "which float64 cannot represent" in message


def test_integers_up_to_the_limit_are_exact_in_float64():
    integers = [MAX_EXACT_INTEGER - i for i in range(10)]
    assert [int(float(integer)) for integer in integers] == integers
    assert float(MAX_EXACT_INTEGER + 1) == float(MAX_EXACT_INTEGER)
