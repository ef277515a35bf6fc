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
    np.testing.assert_array_equal(result.counts.select_set("2002").counts, [[1, 0]])


def test_invalid_counts_of_long_table_are_rejected():
    with pytest.raises(RefusedError, match="must be a whole number"):
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
        1: "must be a number of at least 0, got '-1'",
        2: "must be a number of at least 0, got 'x'",
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


COORDINATES = b"site,lat,lon,wren,crow\nA,1.5,2.5,3,0\nB,1.6,2.6,,4\n"


def test_coordinates_are_left_out_and_empty_cells_are_zeros():
    read_counts = read_data("a.csv", COORDINATES, COUNTS)
    np.testing.assert_array_equal(read_counts.counts.counts, [[3, 0], [0, 4]])
    assert read_counts.counts.species == ["wren", "crow"]
    assert "coordinates are left out: lat, lon" in read_counts.taken
    assert "1 empty cell is read as 0" in read_counts.taken


@pytest.mark.parametrize(
    ("header", "species"),
    [
        ("site,X1,X2,X3,X4", ["X1", "X2", "X3", "X4"]),  # names that R writes for any columns
        ("X,x,y,wren,crow", ["wren", "crow"]),  # names of rows in column X, as R writes them
        ("site,x,y,z,w", ["z", "w"]),
        ("lat,x1,y1,z,w", ["x1", "y1", "z", "w"]),
    ],
)
def test_only_named_pairs_of_numbers_are_coordinates(header, species):
    data = f"{header}\nA,1,2,3,0\nB,1,2,0,4\n".encode()
    assert read_data("a.csv", data, COUNTS).counts.species == species


def test_leading_coordinates_do_not_make_first_species_the_names():
    data = b"lat,lon,sp1,sp2,sp3\n3,1,0,2,3\n2,4,1,0,3\n2,1,2,0,0\n"
    assert {"kind": "counts"} in offered_options(data)
    assert read_data("a.csv", data, COUNTS).counts.species == ["lat", "lon", "sp1", "sp2", "sp3"]


def test_coordinates_can_define_sets():
    counts = read_data("a.csv", COORDINATES, ReadOptions(kind="counts", by="lat"))
    assert {*counts.sets} == {"1.5", "1.6"}


def test_empty_cells_of_groups_are_not_zero():
    data = b"site,year,wren,crow\nA,2001,3,\nB,,0,4\n"
    counts = read_data("a.csv", data, ReadOptions(kind="counts", group_by="year"))
    assert "0" not in {*counts.groups}


SQUARE_COUNTS = b"site,A1,A2,A3\nA1,5,1,0\nA2,2,7,1\nA3,0,3,4\n"


@pytest.mark.parametrize("first", [b"site", b"species"])
def test_counts_may_have_the_same_names_of_rows_and_columns(first):
    data = SQUARE_COUNTS.replace(b"site", first)
    counts = read_data("a.csv", data, COUNTS)
    expected = [[5, 1, 0], [2, 7, 1], [0, 3, 4]]
    if first == b"species":
        expected = np.transpose(expected)
    np.testing.assert_array_equal(counts.counts.counts, expected)


def test_note_on_empty_cells_does_not_depend_on_the_format(tmp_path):
    rows = [{"site": "A", "wren": 3, "crow": None}, {"site": "B", "wren": 1, "crow": 4}]
    frame = pytest.importorskip("pandas").DataFrame(rows)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    for name in ("a.parquet", "a.jsonl"):
        assert "1 empty cell is read as 0" in read(tmp_path / name, kind="counts").sentence


@pytest.mark.parametrize(
    ("text", "options", "hint"),
    [
        (b"place,n\na,3\nb,4\n", {}, "if its rows are species, pass `transpose`"),
        (b"place,oak,elm\na,3,4\n", {"transpose": True}, "columns are species, remove `transpose`"),
    ],
)
def test_counts_of_one_species_are_rejected(text, options, hint):
    with pytest.raises(RefusedError, match=f"counts of one species, .* at 2 sites; .*{hint}"):
        read_data("a.csv", text, ReadOptions(kind="counts", **options))


def test_question_about_one_column_uses_singular():
    with pytest.raises(AskError, match=r"^Does oak count the individuals"):
        read_data("a.csv", b"site,oak\na,3\nb,4\n", ReadOptions())
    with pytest.raises(AskError, match=r"^Do oak, elm count the individuals"):
        read_data("a.csv", b"site,oak,elm\na,3,1\nb,4,2\n", ReadOptions())


def test_description_of_one_site_uses_singular():
    samples = read_data("a.csv", b"site,oak,elm\na,3,1\n", ReadOptions(kind="counts"))
    assert samples.taken == "4 labels (2 species at 1 site), in 1 group by column 'site'"
