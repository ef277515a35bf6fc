"""Columns of a table that state whether answers are correct, or how good they are."""

import math

from vendiscore.tools.reading.table_samples import BOOLEANS

from ..inputs.visitor_samples import Samples

_MAX_THRESHOLD = 0.5  # default minimum quality of values between 0 and 1


def find_boolean_columns(samples: Samples) -> list[str]:
    """Return the columns that contain both true and false values, and nothing else."""
    names = []
    for name, cells in _collect_other_columns(samples).items():
        values = {BOOLEANS.get(str(cell).strip().lower()) for cell in cells}
        if values == {True, False}:
            names.append(name)
    return names


def find_numeric_columns(samples: Samples) -> dict[str, float]:
    """Return the columns of numbers with the default threshold from which answers are correct.

    The threshold is 0.5 for values between 0 and 1, otherwise the median.
    """
    thresholds = {}
    boolean = find_boolean_columns(samples)
    for name, cells in _collect_other_columns(samples).items():
        values = list(map(_to_number, cells))
        if name in boolean or len({*values}) < 2 or not all(map(math.isfinite, values)):
            continue
        is_proportion = min(values) >= 0 and max(values) <= 1
        median = sorted(values)[len(values) // 2]
        thresholds[name] = _MAX_THRESHOLD if is_proportion else median
    return thresholds


def _collect_other_columns(samples: Samples) -> dict[str, list[object]]:
    """Return the cells of the columns without another role, by name."""
    used = {samples.column, samples.by, samples.sets_by, samples.prompt_column}
    used |= {column for role, (column, _) in samples.roles.items() if role != "label"}
    return {name: list(cells) for name, cells in samples.cells.items() if name not in used}


def _to_number(cell: object) -> float:
    """Return a cell as a number; NaN if it is not one."""
    try:
        return float(str(cell))
    except ValueError:
        return math.nan
