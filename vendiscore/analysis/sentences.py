"""The documented import path of `vendiscore.tools.analysis.sentences`."""

from ..tools.analysis.sentences import (
    about,
    beside,
    copies,
    heat,
    how,
    interval,
    left_out,
    looked_at,
    meaning,
    measure,
    numbers,
    short,
)

__all__ = [
    "about",
    "beside",
    "copies",
    "heat",
    "how",
    "interval",
    "left_out",
    "looked_at",
    "meaning",
    "measure",
    "numbers",
    "short",
]
