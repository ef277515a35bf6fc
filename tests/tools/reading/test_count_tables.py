"""Tables of counts are recognized in four forms, and keep their counts."""

import numpy as np
import pytest

from vendiscore import AmbiguousInputError, compute, read
from vendiscore.report import AskError, ReadOptions, RefusedError, read_data
from vendiscore.tools.reading.individuals import RepeatedLabels

COUNTS = ReadOptions(kind="counts")
R_TABLE = b'"","Acer","Betula","Fagus"\n"1",0,3,2\n"2",4,0,0\n"3",1,0,7\n'
LONG = b"site,species,count\nA,oak,3\nA,elm,2\nB,oak,1\nB,ash,9\nA,oak,1\n"


def offered_options(data):
    with pytest.raises(AskError) as caught:
        read_data("a.csv", data, ReadOptions())
    return [options for _, options in caught.value.choices]


@pytest.mark.parametrize("has_names", [False, True])
def test_counts_below_an_empty_header_are_ambiguous(has_names):
    data = R_TABLE
    orientations = [{"kind": "counts"}, {"kind": "counts", "transpose": True}]
    if has_names:  # of species, as programs for sequencing data write them
        data = data.replace(b'"1"', b'"A"').replace(b'"2"', b'"B"')
        orientations.reverse()
    assert offered_options(data) == [*orientations, {"kind": "vectors"}]
    sites = read_data("a.csv", data, COUNTS)
    np.testing.assert_array_equal(sites.counts.counts, [[0, 3, 2], [4, 0, 0], [1, 0, 7]])
    assert sites.counts.species == ["Acer", "Betula", "Fagus"]
    species = read_data("a.csv", data, ReadOptions(kind="counts", transpose=True))
    np.testing.assert_array_equal(species.counts.counts, sites.counts.counts.T)
    assert species.counts.groups == ["Acer", "Betula", "Fagus"]
    assert read_data("a.csv", data, ReadOptions(kind="vectors")).values.shape == (3, 3)


@pytest.mark.parametrize(
    "data",
    [
        b'"",age,children\n1,30,2\n2,41,1\n3,25,0\n4,60,5\n5,37,1\n',  # few zeros
        b",0,1\n0,0,3\n1,2,0\n2,0,0\n",  # numbered columns
        b'"",a,b\n1,0.5,0\n2,0,1\n3,0,0\n',
    ],
)
def test_other_numbers_below_an_empty_header_are_features(data):
    assert read_data("a.csv", data, ReadOptions()).kind == "vectors"


def test_rows_of_site_and_species_are_ambiguous():
    assert offered_options(LONG) == [
        {"kind": "counts"},
        {"column": "species", "kind": "values"},
    ]
    result = read_data("a.csv", LONG, COUNTS)
    np.testing.assert_array_equal(result.counts.counts, [[4, 2, 0], [1, 0, 9]])
    assert result.counts.species == ["oak", "elm", "ash"]
    assert result.counts.groups == ["A", "B"]
    assert result.taken == "16 labels (3 species at 2 sites), in 2 groups by column 'site'"
    assert list(result.values) == ["oak"] * 4 + ["elm"] * 2 + ["oak"] + ["ash"] * 9
    assert read_data("a.csv", LONG, ReadOptions(kind="counts", pool=True)).groups == []


def test_named_column_of_counts_is_used_among_other_numbers():
    data = b"plot,year,species,abundance\nA,2001,oak,3\nA,2001,elm,2\nB,2002,oak,1\n"
    result = read_data("a.csv", data, ReadOptions(kind="counts", by="year"))
    np.testing.assert_array_equal(result.counts.counts, [[3, 2], [1, 0]])
    assert (result.counts.sets, result.counts.groups) == (["2001", "2002"], ["A", "B"])
    np.testing.assert_array_equal(result.counts.of_set("2002").counts, [[1, 0]])


def test_invalid_counts_of_long_table_are_rejected():
    with pytest.raises(RefusedError, match="a count is a whole number"):
        read_data("a.csv", LONG.replace(b"elm,2", b"elm,-2"), COUNTS)


@pytest.mark.parametrize("name", ["count", "n", "Freq", "weight"])
def test_weighted_texts_are_ambiguous(name):
    data = f"text,{name}\na red fox,3\nthe blue sea,1\na tall tree,5\n".encode()
    assert offered_options(data) == [{"weights": name}, {"column": "text"}]
    result = read_data("a.csv", data, ReadOptions(weights=name))
    assert result.weights == [3, 1, 5]
    assert result.taken == f"3 texts of column 'text', weighted by column {name!r}"
    assert read_data("a.csv", data, ReadOptions(column="text")).weights == []


@pytest.mark.parametrize("name", ["word_count", "length", "score"])
def test_properties_of_texts_are_not_weights(name):
    data = f"text,{name}\na red fox,3\nthe blue sea,1\na tall tree,5\n".encode()
    assert len(read_data("a.csv", data, ReadOptions())) == 3


@pytest.mark.parametrize("cells", ["123", "012", "222"])
def test_row_numbers_are_not_weights(cells):
    rows = "".join(f"{cell},a red fox {cell}\n" for cell in cells)
    assert len(read_data("a.csv", f"n,text\n{rows}".encode(), ReadOptions())) == 3


def test_invalid_weight_is_reported():
    data = b"text,weight\na red fox,3\nthe blue sea,-1\na tall tree,x\n"
    result = read_data("a.csv", data, ReadOptions(weights="weight"))
    assert result.problems == {
        1: "is '-1', where a weight is a number of at least 0",
        2: "is 'x', where a weight is a number of at least 0",
    }


def test_repeated_labels_are_a_sequence():
    labels = RepeatedLabels(["a", "b", "c"], np.array([2, 0, 3]))
    assert list(labels) == list(np.asarray(labels)) == ["a", "a", "c", "c", "c"] == labels
    assert (len(labels), labels[1], labels[-1], labels[1:4]) == (5, "a", "c", ["a", "c", "c"])
    with pytest.raises(IndexError):
        labels[5]


def test_read_returns_arguments_for_counts_and_weights(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_bytes(R_TABLE)
    with pytest.raises(AmbiguousInputError) as caught:
        read(path)
    arguments = [options for _, options in caught.value.choices]
    assert {"kind": "counts", "transpose": True} in arguments
    counts = [[0, 3, 2], [4, 0, 0], [1, 0, 7]]
    for transpose, table in ((False, counts), (True, np.transpose(counts))):
        result = read(path, kind="counts", transpose=transpose)
        assert compute(**result.arguments) == pytest.approx(compute(counts=table))
    path.write_bytes(b"text,count\na red fox,3\nthe blue sea,1\n")
    result = read(path, weights="count")
    assert result.weights == [3, 1]
    expected = compute(["a red fox"] * 3 + ["the blue sea"])
    assert compute(**result.arguments) == pytest.approx(expected)
    with pytest.raises(ValueError, match="`transpose` requires"):
        read(path, transpose=True)


def test_numbered_species_are_counted():
    data = b"OTUs,s1,s2,s3\n1,5,1,0\n2,0,4,0\n3,2,0,7\n"
    samples = read_data("a.csv", data, ReadOptions())
    assert samples.values == ["1"] * 5 + ["3"] * 2 + ["1"] + ["2"] * 4 + ["3"] * 7
    assert list(samples.groups) == ["s1"] * 7 + ["s2"] * 5 + ["s3"] * 7
