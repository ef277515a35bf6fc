"""A sample of a parameter grid contains every value, or every pair of values."""

import itertools
from types import SimpleNamespace

import parameter_grids
import pytest

VALUES = [0.5, 1.0, 2.0, 3.0, 30.0], ["rbf", "cosine", "labels"], [True, False]


def build_cells(*columns):
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
    all_cells = build_cells(*columns)
    result = parameter_grids.select_cells(all_cells)
    assert len(result) < len(all_cells)
    for indices in itertools.combinations(range(size + 1), size):
        expected = set(itertools.product(*(columns[index] for index in indices)))
        rows = [tuple(cell.callspec.params.values()) for cell in result]
        assert {tuple(row[index] for index in indices) for row in rows} == expected
    assert parameter_grids.select_cells(all_cells) == result


def test_small_grids_and_lists_of_cases_are_not_reduced():
    assert parameter_grids.find_deselected(build_cells([0, 1], [0, 1, 2])) == set()
    assert parameter_grids.find_deselected(build_cells(list(range(200)))) == set()
    assert parameter_grids.find_deselected([SimpleNamespace(path="README.md")]) == set()
