"""Detection of integers that float64 cannot represent exactly."""

from contextlib import suppress

import numpy as np

from .errors import short_repr

MAX_EXACT_INTEGER = 1 << 53  # float64 represents all integers up to this one exactly


def describe_inexact_integer(entry: object) -> str:
    """Describe `entry` if it is an integer that float64 cannot represent exactly, else return "".

    The description is a predicate for a message about the sample that contains the entry.
    """
    if not isinstance(entry, (int, np.integer)):
        return ""
    with suppress(OverflowError):  # larger than the largest float
        if int(float(entry)) == int(entry):
            return ""
    return (
        f"has the integer {short_repr(int(entry))}, which float64 cannot represent exactly; "
        f"subtract the same number from all samples"
    )
