"""Subsets of loaded samples keep locations, labels and problems."""

from types import SimpleNamespace

import numpy as np
import pytest

from vendiscore.tools.reading.samples import Samples

FULL = Samples(
    ["a", "b", "c", "d"],
    [1, 3, 4, 7],
    problems={1: "is blank", 3: "is odd"},
    wrong={3: "score"},
    groups=["x", "x", "y", "y"],
    sets=["m", "n", "m", "n"],
    quality=[0.1, 0.2, 0.3, 0.4],
    correct=[True, False, False, True],
    prompts=["p", "q", "p", "q"],
    column="answer",
    index=[0, 1, 2, 3],
    rows=[0, 2, 3, 6],
    count=4,
    written=lambda some: ",".join(map(str, some)),
)


def test_subset_keeps_labels_and_problems():
    subset = FULL.subset([3, 1])
    assert subset.values == ["d", "b"]
    assert subset.places == [7, 3]
    assert (subset.groups, subset.sets) == (["y", "x"], ["n", "n"])
    assert (subset.quality, subset.prompts) == ([0.4, 0.2], ["q", "q"])
    assert subset.correct == [True, False]
    assert (subset.rows, subset.index) == ([6, 2], [3, 1])
    assert subset.problems == {0: "is odd", 1: "is blank"}
    assert subset.wrong == {0: "score"}
    assert subset.written([0, 1]) == "3,1"
    assert (len(subset), subset.count, subset.column) == (2, 4, "answer")


def test_subset_of_subset_is_written_with_indices_of_file():
    assert FULL.subset([3, 1, 0]).subset([2, 0]).written([0, 1]) == "0,3"


def test_subset_keeps_missing_labels_empty():
    subset = Samples(["a", "b"], [1, 2]).subset([1])
    assert (subset.groups, subset.sets, subset.quality, subset.prompts, subset.rows) == ((),) * 5
    assert subset.written is subset.saved is None


def test_subset_of_array_is_array():
    subset = Samples(np.eye(3), [1, 2, 3]).subset([2, 0])
    assert isinstance(subset.values, np.ndarray)
    assert subset.values.tolist() == [[0, 0, 1], [1, 0, 0]]


def test_subset_is_saved_with_indices_of_file():
    saved = []
    samples = Samples([1, 2, 3], "abc", saved=lambda some, path: saved.append((some, path)))
    samples.subset([2, 0]).saved([1], "x.npy")
    assert saved == [([0], "x.npy")]


@pytest.mark.parametrize(
    ("i", "expected"), [(0, "line 1, column 'answer'"), (3, "line 7, column 'score'")]
)
def test_place_contains_column_of_problem(i, expected):
    assert FULL.place(i) == expected
    assert Samples(["a"], ["x.txt"], "file").place(0) == "file x.txt"


def test_taken_summarizes_samples():
    assert Samples(["a"], [1]).taken == "1 text"
    assert Samples(["a", "b"], [1, 2], above=["1 blank line"]).taken == "2 texts; 1 blank line"
    grouped = Samples(
        ["a"] * 4,
        [1] * 4,
        column="answer",
        groups=["x", "y", "x", "y"],
        sets=["m"] * 4,
        prompts=["p", "q", "r", "p"],
        grouping={"groups": "g", "prompts": "question"},
        record="the format of X",
    )
    assert grouped.taken == (
        "4 texts of column 'answer' (the format of X), in 2 groups by column 'g', in 1 set, "
        "answers to 3 prompts of column 'question'"
    )


def test_ignored_columns_are_listed_with_reasons():
    table = SimpleNamespace(names=["answer", "g", "id", "score"], above=["2 rows above"])
    samples = Samples(["a"], [1], column="answer", grouping={"groups": "g"}, table=table)
    assert samples.left_out == ["id", "score"]
    assert samples.taken.startswith("1 text of column 'answer'; left out: ")
    assert samples.taken.endswith("; 2 rows above")
    reasons = Samples(["a"], [1], features=["g", "score"], lost={"id": "text"}, table=table)
    assert reasons.left_out == ["answer", "id (text)"]
    assert Samples(["a"], [1], table=table).left_out == []
