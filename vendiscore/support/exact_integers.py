"""Integers that float64 represents exactly."""

from contextlib import suppress

import numpy as np

from .errors import short_repr

MAX_EXACT_INTEGER = 1 << 53  # float64 represents every integer up to this one exactly


def describe_inexact_integer(entry: object) -> str:
    """Describe an integer that float64 cannot represent exactly; "" for any other entry."""
    if not isinstance(entry, (int, np.integer)):
        return ""
    with suppress(OverflowError):
        if int(float(entry)) == int(entry):
            return ""
    shown = f"{short_repr(int(entry))}"
    return f"has the integer {shown}, which float64 cannot hold; subtract a number from all samples"
