"""Numbers are read with the decimal sign of their column; columns of ids are dropped."""

import json

import numpy as np
import pytest

from vendiscore.report import AskError, ReadOptions, RefusedError, read_data
from vendiscore.tools.reading.number_tables import check_no_class, take_numbers
from vendiscore.tools.reading.tables import parse_table

VECTOR_OPTIONS = ReadOptions(kind="vectors")


def read_numbers(text, options=VECTOR_OPTIONS):
    return take_numbers(parse_table(text, options), options)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1.5", "2.25"], [1.5, 2.25]),
        (["1,5", "2,25"], [1.5, 2.25]),
        (["1.234,5", "2,25"], [1234.5, 2.25]),
        (["1,234.5", "2.25"], [1234.5, 2.25]),
        (["-,5", "+2,5"], [-0.5, 2.5]),
        (["2,5e-1", "1,5E2"], [0.25, 150.0]),
    ],
)
def test_decimal_sign_is_detected_per_column(cells, expected):
    lines = [f"{cell};{i}.5" for i, cell in enumerate(cells)]
    result = read_numbers("\n".join(["x;y", *lines]))
    assert not result.problems
    np.testing.assert_array_equal(result.values[:, 0], expected)
    np.testing.assert_array_equal(result.values[:, 1], [0.5, 1.5])


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("", "has an empty cell"),
        ("oak", "has 'oak', which is not a number"),
        ("inf", "has inf"),
        ("1.2.3", "has '1.2.3', which is not a number"),
    ],
)
def test_invalid_cell_is_reported_with_row_and_column(cell, problem):
    result = read_numbers(f"x;y\n1;2.5\n3;{cell}\n5;6.5\n7;8.5\n")
    assert result.problems == {1: problem}
    assert result.place(1) == "row 3, column 'y'"


@pytest.mark.parametrize("name", ["id", "", "row_no"])
def test_row_number_columns_are_dropped(name):
    result = read_numbers(f"{name},x,y\n3,1.5,2\n1,2.5,4\n2,3.5,2\n")
    assert result.features == ["x", "y"]


def test_unnamed_row_numbers_are_ambiguous():
    with pytest.raises(AskError, match="does it number the rows"):
        read_numbers("1,1.5\n2,2.5\n3,3.5\n")
    assert read_numbers(
        "1,1.5\n2,2.5\n3,3.5\n", ReadOptions(kind="vectors", index=True)
    ).values.shape == (3, 1)


def test_table_without_numbers_is_rejected():
    with pytest.raises(RefusedError, match="There is no column of numbers"):
        read_numbers("a,b\nx,y\nz,w\n")


@pytest.mark.parametrize("name", ["NO2(GT)", "number_of_rooms", "glycemic index", "key"])
def test_repeated_integers_are_features(name):
    assert read_numbers(f"{name},x\n3,1.5\n3,2.5\n2,3.5\n").features == [name, "x"]


@pytest.mark.parametrize("name", ["user_id", "userId", "uuid", "rownames"])
def test_repeated_ids_are_not_features(name):
    assert read_numbers(f"{name},x\n3,1.5\n3,2.5\n2,3.5\n").features == ["x"]


@pytest.mark.parametrize("name", ["Sample", "sample_no", "station"])
def test_sample_and_site_numbers_are_not_features(name):
    assert read_numbers(f"{name},x\n1,1.5\n2,2.5\n3,3.5\n").features == ["x"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (",1,2\n1,1.0,0.5\n2,0.5,1.0\n", "similarities"),
        ("name,a,b\na,0.9999999999,0.25\nb,0.2500000001,1\n", "similarities"),
        (",7,2\n7,0.0,0.25\n2,0.25,0.0\n", "distances"),
        (",a,b\na,0.0,0.25\nb,0.25,0.0\n", "distances"),
    ],
)
def test_symmetric_tables_with_names_are_ambiguous(table, message):
    with pytest.raises(AskError, match=message) as caught:
        read_numbers(table)
    assert caught.value.choices[-1][1] == {"matrix": False}
    features = ReadOptions(kind="vectors", matrix=False)
    assert read_numbers(table, features).values.shape == (2, 2)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("K.vec", b"a 1 0.5\nb 0.5 1\n"),
        ("K.json", b"[[1, 0.5], [0.5, 1]]"),
        ("K.jsonl", b"[1, 0.5]\n[0.5, 1]\n"),
        ("K.csv", b"1,.5\n.5,1\n"),
    ],
)
def test_square_vectors_are_ambiguous_in_every_format(name, data):
    with pytest.raises(AskError, match="is it a matrix of similarities"):
        read_data(name, data, ReadOptions())
    for is_matrix in (True, False):
        result = read_data(name, data, ReadOptions(kind="vectors", matrix=is_matrix))
        np.testing.assert_array_equal(result.values, [[1, 0.5], [0.5, 1]])


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 0], [0, 1]],  # the score of this matrix and of its rows is the same
        [[2, 1], [1, 3]],
        [[1, 5], [5, 1]],
        [[1, 0.5], [0.25, 1]],
        [[0, -1], [-1, 0]],
    ],
)
def test_other_square_rows_are_features(rows):
    assert len(read_data("a.json", json.dumps(rows).encode(), ReadOptions())) == 2


def test_constant_diagonal_other_than_one_is_normalized():
    with pytest.raises(AskError, match="with 100 all along its diagonal") as caught:
        read_numbers("a,b\n100,25\n25,100\n")
    assert caught.value.choices[0][1] == {"matrix": True, "normalize": True}


def test_distances_become_similarities():
    table = "a,b\n0,2\n2,0\n"
    with pytest.raises(AskError, match="matrix of distances") as caught:
        read_numbers(table)
    assert caught.value.choices[0][1] == {"distances": True}
    result = read_numbers(table, ReadOptions(kind="vectors", distances=True))
    np.testing.assert_allclose(result.values, [[1, np.exp(-2)], [np.exp(-2), 1]])
    with pytest.raises(RefusedError, match="must be square, got 1 × 2"):
        read_numbers("a,b\n0,2\n", ReadOptions(kind="vectors", distances=True))
    with pytest.raises(RefusedError, match="must be 0 on its diagonal, got 1 in row 2, column 2"):
        read_numbers("a,b\n0,2\n2,1\n", ReadOptions(kind="vectors", distances=True))
    with pytest.raises(RefusedError, match="must be at least 0, got -2 in row 1, column 2"):
        read_numbers("a,b\n0,-2\n-2,0\n", ReadOptions(kind="vectors", distances=True))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["12%", "1.5%"], [0.12, 0.015]),
        (["1,2 %", "1,5 %"], [0.012, 0.015]),
        (["12\xa0%", "-3%"], [0.12, -0.03]),
        (["1.234,5%", "0,5%"], [12.345, 0.005]),
    ],
)
def test_percentages_are_numbers(cells, expected):
    result = read_numbers("x;y\n" + "".join(f"{cell};2.5\n" for cell in cells))
    assert not result.problems
    np.testing.assert_allclose(result.values[:, 0], expected)


def test_vectors_in_cells_can_be_printed_by_numpy():
    text = "label,embedding\na,[ 0.1 -2.  1e-3]\nb,[1. 2. 3.]\n"
    result = read_data("a.csv", text.encode(), ReadOptions())
    assert (result.column, result.kind) == ("embedding", "vectors")
    assert result.values.tolist() == [[0.1, -2.0, 0.001], [1.0, 2.0, 3.0]]


def test_named_symmetric_matrix_is_a_question_about_a_matrix():
    data = b",cat,dog,bird\ncat,5,1,2\ndog,1,7,3\nbird,2,3,4\n"
    with pytest.raises(AskError, match="symmetric, 3 × 3, with different numbers") as caught:
        read_data("a.csv", data, ReadOptions())
    assert "not symmetric" not in str(caught.value)


def write_rows(last_column, n_other=2, other="{i}.5"):
    """Write a table without names, with `n_other` columns before the last."""
    rows = ([other.format(i=i)] * n_other + [str(cell)] for i, cell in enumerate(last_column))
    return "\n".join(map(",".join, rows))


@pytest.mark.parametrize("classes", [[1, 2], [0, 1, 2], list(range(20))])
def test_repeated_whole_numbers_in_last_column_may_be_classes(classes):
    table = parse_table(write_rows(classes * 2), VECTOR_OPTIONS)
    with pytest.raises(AskError, match="Is it the class of the row") as caught:
        check_no_class(table, VECTOR_OPTIONS)
    assert [options for _, options in caught.value.choices] == [
        {"column": "column 1,column 2"},
        {"kind": "vectors"},
    ]


@pytest.mark.parametrize(
    "text",
    [
        write_rows([7] * 4),  # a constant does not distinguish classes
        write_rows([1, 2, 3, 2]),  # numbers that occur less than twice on average
        write_rows([0.5, 1.5] * 2),
        write_rows(list(range(21)) * 2),  # more numbers than a question lists
        write_rows([1, 2] * 2, n_other=1),
        write_rows([1, 2] * 2, n_other=20),
        write_rows([1, 2] * 2, other="{i}"),  # all columns have whole numbers
        "x,y,z\n" + write_rows([1, 2] * 2),  # the name of the column says what it is
    ],
)
def test_other_last_columns_are_not_classes(text):
    check_no_class(parse_table(text, VECTOR_OPTIONS), VECTOR_OPTIONS)


@pytest.mark.parametrize("options", [{"column": "column 1"}, {"index": False}])
def test_classes_are_not_ambiguous_if_columns_are_named(options):
    read_options = ReadOptions(kind="vectors", **options)
    check_no_class(parse_table(write_rows([1, 2] * 2), read_options), read_options)
