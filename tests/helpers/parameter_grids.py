"""Select a part of the cells of large parametrised tests.

A test with two parameters keeps every value of each, a test with more keeps every pair of values
(pairwise testing), one with the mark "whole" all. `pytest --grids rest` runs the other cells.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from zlib import crc32

import pytest

MAX_FULL_GRID = 12  # larger grids are sampled


def find_deselected(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Return the test items that are not selected from the grid of each test."""
    tests = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec") and not item.get_closest_marker("whole"):
            tests[item.path, item.originalname].append(item)
    return {
        item
        for cells in tests.values()
        if len(cells) > MAX_FULL_GRID
        for item in set(cells) - select_cells(cells)
    }


def select_cells(cells: list[pytest.Item]) -> set[pytest.Item]:
    """Return cells with every value (two parameters) or every pair of values of the grid."""
    names = cells[0].callspec.params
    # Parameters that one mark sets together have equal columns, and count as one.
    columns = {tuple(_value_codes(cell.callspec.params[name] for cell in cells)) for name in names}
    varied = sorted(column for column in columns if len(set(column)) > 1)
    if len(varied) < 2:
        return set(cells)
    size = 1 if len(varied) == 2 else 2
    combinations_of_cell = {
        cell: set(combinations(enumerate(row), size))
        for cell, row in zip(cells, zip(*varied, strict=True), strict=True)
    }
    missing = set().union(*combinations_of_cell.values())
    result = set()
    while missing:
        best = max(
            cells,
            key=lambda cell: (len(combinations_of_cell[cell] & missing), crc32(cell.name.encode())),
        )
        result.add(best)
        missing -= combinations_of_cell[best]
    return result


def _value_codes(values: Iterable[object]) -> Iterator[int]:
    """Number the values in the order in which they first appear."""
    seen: dict[int, int] = {}
    for value in values:
        yield seen.setdefault(id(value), len(seen))
