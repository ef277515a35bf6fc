"""Integers that float64 represents exactly."""

from contextlib import suppress

import numpy as np

from .errors import quoted

WHOLE = 1 << 53  # every whole number up to this one is a float64


def inexact(entry: object) -> str:
    """Say that an integer has no float64 of its value; return "" for any other entry."""
    if not isinstance(entry, (int, np.integer)):
        return ""
    with suppress(OverflowError):
        if int(float(entry)) == int(entry):
            return ""
    shown = f"{quoted(int(entry))}"
    return f"has the integer {shown}, which float64 cannot hold; subtract a number from all samples"
