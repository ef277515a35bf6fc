"""Tables of any CSV dialect round-trip, and invalid rows are listed."""

import csv
import io
import json

import hypothesis
import numpy as np
import pytest
import user_files as files
from hypothesis import strategies as st

from vendiscore.report import AskError, ReadOptions
from vendiscore.tools.reading.tables import parse_table
from vendiscore_page import quotas
from vendiscore_page.inputs.file_code import IMPORTS
from vendiscore_page.inputs.uploads import InputSettings, RefusedError, UserInput, read

pytest.importorskip("rdkit")


def read_table(data: str | bytes, name: str = "a.csv", **options):
    data = data.encode() if isinstance(data, str) else data
    return read(UserInput(files=[(name, data)]), InputSettings(**options))


WORDS = st.text(st.sampled_from("abcdefgh,;|\t'\"\n.äß好"), min_size=1, max_size=9)
SENTENCES = st.lists(WORDS, min_size=3, max_size=9).map(" ".join).filter(str.strip)


@hypothesis.given(
    st.lists(SENTENCES, min_size=2, max_size=12),
    st.sampled_from(",;\t|"),
    st.sampled_from([["id", "answer"], ["", "text"], ["", "0"], None]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_csv_texts_round_trip(texts, delimiter, header, encoding):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter)
    writer.writerows([header] if header else [])
    writer.writerows([i, text] for i, text in enumerate(texts))
    try:
        result = read_table(buffer.getvalue().encode(encoding), kind="texts")
    except RefusedError:
        hypothesis.event("refused")
        return
    assert result.values == [text.strip() for text in texts]
    assert not result.problems


NUMBERS = st.floats(-1e9, 1e9).map(lambda x: round(x, 4) + 0.0)
ROWS = st.integers(2, 6).flatmap(
    lambda d: st.lists(st.lists(NUMBERS, min_size=d, max_size=d), min_size=3, max_size=9)
)


@hypothesis.given(
    ROWS,
    st.sampled_from([(",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ",")]),
    st.sampled_from(["names", "pandas", "ids", "labels", ""]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_csv_numbers_round_trip_exactly(rows, dialect, first_column, encoding):
    sep, decimal = dialect
    lines = [sep.join(repr(x).replace(".", decimal) for x in row) for row in rows]
    extra_names = {"names": [], "pandas": [""], "ids": ["id"], "labels": ["who"], "": []}[
        first_column
    ]
    header = sep.join([*extra_names, *(f"x{j}" for j in range(len(rows[0])))])
    if extra_names:
        index = [str(i) if first_column != "labels" else "u" * (i + 1) for i in range(len(lines))]
        lines = [f"{name}{sep}{line}" for name, line in zip(index, lines, strict=True)]
    text = "\n".join([header, *lines] if first_column else lines).encode(encoding)
    try:
        result = read_table(text, kind="vectors")
    except AskError:
        hypothesis.event("asked")
        return
    assert np.array_equal(result.values, rows)


FILES = {
    "a.csv": b"who,x,y\nu,1,2\nv,3,4\nw,5,7\n",
    "b.csv": b"id;x;y\n7;1,5;2\n8;3,25;4\n9;5;7\n",
    "a.npy": files.encode_npy(files.VECTORS),
    "a.npz": files.encode_npz(X=files.VECTORS, y=files.VECTORS[:2]),
    "a.json": json.dumps(files.VECTORS.tolist()).encode(),
    "a.parquet": files.encode_parquet(who=["u", "v"], e=[[1.0, 2.0], [3.0, 4.0]]),
    "a.txt": files.format_rows(files.VECTORS, " ").encode(),
}


@pytest.mark.parametrize("options", [{}, {"column": "y"}, {"by": "who"}])
@pytest.mark.parametrize("name", FILES)
def test_generated_code_reads_same_vectors(name, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(FILES[name])
    try:
        result = read_table(FILES[name], name, kind="vectors", **options)
    except RefusedError:
        assert options or name == "a.npz"
        return
    for dropped in [(), [1]]:
        subset = result.subset([i for i in range(len(result)) if i not in dropped])
        namespace = {}
        exec(f"import {IMPORTS}\ndata = {subset.python.read()}", namespace)
        assert np.array_equal(namespace["data"].values, subset.values)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_unicode_encodings_are_read_and_gbk_is_rejected(encoding):
    text = "编号,回答\n" + "\n".join(f"{i},{answer}" for i, answer in enumerate(files.CHINESE))
    text_with_bom = "\ufeff" + text if encoding in ("utf-16-le", "utf-16-be") else text
    assert read_table(text_with_bom.encode(encoding)).values == files.CHINESE
    with pytest.raises(RefusedError, match="save it as UTF-8"):
        read_table(text.encode("gbk"))


def test_row_numbers_match_spreadsheet_rows():
    result = read_table('id,answer\n1,"two\nlines"\n\n2,x\n3,\n4\n')
    assert result.values == ["two\nlines", "x", "", ""]
    assert list(result.places) == [2, 4, 5, 6]
    assert result.problems == {2: "is empty", 3: "is empty"}


def test_row_with_unquoted_comma_is_listed_as_problem():
    result = read_table("id,answer\n1,good\n2,bad, so bad\n3,fine\n")
    assert result.values == ["good", "bad, so bad", "fine"]
    assert list(result.problems) == [1]
    assert "has 3 cells, split by commas, where the header has 2" in result.problems[1]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("id,answer\n1,yes, so\n2,no, never\n", "row 2 has 3, row 3 has 3. Put cells that hold"),
        ("a,b\nhello you there,good bye now\nhello me,good day\n", "Columns a, b could be meant"),
        ("text,answer\nhello you there,good bye now\n", "Columns text, answer could be meant"),
        ("a,b\n" + "one two,three four\n" * 3, "Which column holds the samples?"),
        ("site,s1,s2\nA,1,2\nB,3,4\n", "Do s1, s2 count the individuals of a species at each"),
    ],
)
def test_page_asks_about_ambiguous_tables(data, message):
    with pytest.raises(AskError) as caught:
        read_table(data)
    assert message in str(caught.value)


def test_invalid_json_lines_are_listed():
    rows = [
        json.dumps({"id": f"x{i}", "prompt": "Is it so, then?", "answer": text}, ensure_ascii=False)
        for i, text in enumerate([*files.TEXTS, "one\u2028line"])
    ]
    result = read_table("\n".join([*rows, "", "{", '{"id": "y"}', '{"answer": 3}']), "a.jsonl")
    assert result.values[:4] == [*files.TEXTS, "one\u2028line"]
    assert list(result.places) == [1, 2, 3, 4, 6, 7, 8]
    assert list(result.problems) == [4, 5, 6]
    assert "not valid JSON" in result.problems[4]
    assert result.problems[6] == "is int 3, not text"
    assert "7 texts of column 'answer'" in result.sentence


def test_records_without_field_are_listed_as_problems():
    records = [{"e": [1, 2], "t": "a b"}, {"t": "c d"}, {"e": [3]}, {"e": [4, None]}, {"e": [5, 6]}]
    result = read_table(json.dumps(records), "a.json", kind="vectors")
    assert result.values[[0, 4]].tolist() == [[1, 2], [5, 6]]
    assert result.problems == {
        1: "is null, not a row of numbers",
        2: "has 1 numbers, the first 2",
        3: "has null, which is not a number",
    }
    assert read_table(json.dumps(records), "a.json", kind="texts").problems.keys() == {2, 3, 4}
    assert read_table("[1, 2.5, NaN]", "a.json").problems == {2: "has nan"}


def test_all_invalid_rows_of_numbers_are_listed():
    result = read_table("x,y\n1,2\n3,nan\n1,abc\n5\n5,\n2,3,4\n6,7\n8,9\n")
    assert {result.places[i]: problem for i, problem in result.problems.items()} == {
        3: "has nan",
        4: "has 'abc', which is not a number",
        5: "has an empty cell",
        6: "has an empty cell",
        7: parse_table("x,y\n2,3,4\n5,6", ReadOptions(limits=quotas.INPUT)).problems[0],
    }


def test_comma_in_quoted_number_is_thousands_separator():
    assert read_table('x,y\n"1,500",2\n3,4\n5,6\n').values.tolist() == [[1500, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize("data", [",,,\n,,\n", ";;\n", "\t\n\t\n", ",\n \n"])
@pytest.mark.parametrize("kind", [None, "texts", "molecules", "vectors"])
def test_table_of_blank_cells_is_rejected(data, kind):
    with pytest.raises(RefusedError, match="There are no"):
        read_table(data, kind=kind)


def test_tsv_is_split_only_at_tabs():
    result = read_table("id\tanswer\n1\tyes, so, it is\n2\tno; never, never\n", "a.tsv")
    assert result.values == ["yes, so, it is", "no; never, never"]
    assert list(result.places) == [2, 3]


def test_header_and_index_options_are_applied():
    data = "0,1,2\n5,6,7\n8,9,1\n"
    assert len(read_table(data, header=False)) == 3
    assert len(read_table(data, header=True)) == 2
    assert read_table("1,5\n2,7\n3,9\n4,4\n", index=True).values.tolist() == [[5], [7], [9], [4]]


def make_tables_with_odd_number(odd_number, sep, row):
    """Return tables with one odd number: with decimal commas, with a header, with points."""
    rows = [f"{i},5{sep}{i}{sep}0,25" for i in range(20)]
    rows.insert(row, f"7{sep}{odd_number}{sep}1,5")
    text = "\n".join(rows)
    return text, f"a{sep}b{sep}c\n{text}", text.translate(str.maketrans(",.", ".,"))


@pytest.mark.parametrize("sep", [";", "\t"])
@pytest.mark.parametrize("row", [0, 10, 20])
def test_only_number_with_other_decimal_sign_is_listed(sep, row):
    german, named, english = make_tables_with_odd_number("1.5", sep, row)
    for data in (german, named):
        result = read_table(data, kind="vectors")
        assert result.problems == {row: "has '1.5', which is not a number"}
        assert result.values[(row + 1) % 21, 2] == 0.25
    assert read_table(english, kind="vectors").problems == {row: "has '1,5', which is not a number"}


@pytest.mark.parametrize(
    ("number", "value"), [("1.234,5", 1234.5), ("1.234", 1234), ("12.345.678,9", 12345678.9)]
)
@pytest.mark.parametrize("sep", [";", "\t"])
def test_thousands_separator_is_read(number, value, sep):
    for data in make_tables_with_odd_number(number, sep, 10):
        result = read_table(data, kind="vectors")
        assert not result.problems
        assert result.values[10].tolist() == [7, value, 1.5]


def test_columns_may_use_different_decimal_signs():
    result = read_table("1,5;2.5\n3,5;4.5\n0;1\n", kind="vectors")
    assert result.values.tolist() == [[1.5, 2.5], [3.5, 4.5], [0, 1]]
