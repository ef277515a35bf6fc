"""When a series of scores has collapsed, so that noise does not raise an alarm.

Scores of a few generations go up and down by chance. An alarm needs several in a row below a
threshold, and is not given again before several in a row were well above it.
"""

from __future__ import annotations

from collections.abc import Sequence

# A series is well again above the threshold times this.
RECOVERED = 1.25


def collapses(values: Sequence[float], collapse: float, patience: int) -> list[int]:
    """The places in a series of VS where a warning is due; see `DiversityCallback`.

    >>> collapses([5, 4.5, 2, 1.5, 1.5, 4, 4, 1, 1], collapse=0.5, patience=2)
    [3, 8]
    """
    line = collapse * (values[0] - 1) if collapse < 1 else collapse - 1
    below = above = 0
    fallen, due = False, []
    for place, value in enumerate(values):
        below = below + 1 if value - 1 <= line else 0
        above = above + 1 if value - 1 > RECOVERED * line else 0
        if not fallen and below >= patience:
            fallen = True
            due.append(place)
        elif above >= patience:
            fallen = False
    return due
