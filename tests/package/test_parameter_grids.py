"""The sample of a grid of parameters keeps every value, or every pair of values."""

import itertools
from types import SimpleNamespace

import parameter_grids
import pytest

VALUES = [0.5, 1.0, 2.0, 3.0, 30.0], ["rbf", "cosine", "labels"], [True, False]


def cells(*columns):
    return [
        Cell(str(row), SimpleNamespace(params=dict(zip("abc", row, strict=False))))
        for row in itertools.product(*columns)
    ]


class Cell:
    """One call of a parametrised test, as pytest collects it."""

    path, originalname = "test_x.py", "test_x"

    def __init__(self, name, callspec):
        self.name, self.callspec = name, callspec

    def get_closest_marker(self, name):
        return None


@pytest.mark.parametrize("size", [1, 2])
def test_sample_covers_values_or_pairs_of_parameter_values(size):
    columns = VALUES[: size + 1]
    every = cells(*columns)
    result = parameter_grids.select_cells(every)
    assert len(result) < len(every)
    for places in itertools.combinations(range(size + 1), size):
        wanted = set(itertools.product(*(columns[place] for place in places)))
        rows = [tuple(cell.callspec.params.values()) for cell in result]
        assert {tuple(row[place] for place in places) for row in rows} == wanted
    assert parameter_grids.select_cells(every) == result


def test_small_grids_and_lists_of_cases_are_not_reduced():
    assert parameter_grids.find_deselected(cells([0, 1], [0, 1, 2])) == set()
    assert parameter_grids.find_deselected(cells(list(range(200)))) == set()
    assert parameter_grids.find_deselected([SimpleNamespace(path="README.md")]) == set()
