"""The files people have are read right, or refused with the row and what to do about it."""

import csv
import io
import json
import tempfile
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from vendiscore.app import limits, reading
from vendiscore.app.limits import RefusedError

pytest.importorskip("rdkit")

TEXTS = ["Yes, it is so.", "No; never again, I think.", "Perhaps we could."]
QUOTED = [f'"{text}"' for text in TEXTS]
IDS = "\n".join(f"{i},{text}" for i, text in enumerate(QUOTED, 101))
TABS = "\n".join(f"{i}\t{text}" for i, text in enumerate(TEXTS, 101))
COUNTED = "\n".join(f"{i},{text}" for i, text in enumerate(QUOTED))
CHINESE = ["今天天气很好。", "我喜欢吃苹果。", "他明天去上海。"]
UMLAUTS = ["Schöne Grüße", "Äpfel", "zu früh"]


@pytest.mark.parametrize(
    ("name", "data", "column", "first"),
    [
        ("id first.csv", "id,answer\n" + IDS, "answer", 2),
        ("windows.csv", "id,answer\r\n" + IDS.replace("\n", "\r\n"), "answer", 2),
        ("last.csv", "answer,mark,id\n" + "\n".join(f"{t},1.5,7" for t in QUOTED), "answer", 2),
        ("pandas.csv", ",text\n" + COUNTED, "text", 2),
        ("pandas numbers.csv", ",0\n" + COUNTED, "0", 2),
        ("no header.csv", IDS, "column 2", 1),
        ("texts only.csv", "\n".join(QUOTED), "no row of names", 1),
        ("tabs.tsv", "id\tanswer\n" + TABS, "answer", 2),
        ("tabs.csv", "id\tanswer\n" + TABS, "answer", 2),
        ("bars.csv", "id|answer\n" + "\n".join(f"7|{t}" for t in TEXTS), "answer", 2),
        ("excel.csv", "id;Antwort;Note\n" + "\n".join(f"7;{t};1,5" for t in QUOTED), "Antwort", 2),
        ("said.csv", "sep=;\r\nid;answer\r\n" + "\r\n".join(f"7;{t}" for t in QUOTED), "answer", 2),
        ("bom.csv", b"\xef\xbb\xbf" + f"id,answer\n{IDS}".encode(), "answer", 2),
        ("utf-16.csv", f"id\tanswer\n{TABS}".encode("utf-16"), "answer", 2),
        ("one column.csv", "answer\n" + "\n".join(TEXTS), "answer", 2),
        ("spaces.csv", "id, answer\n" + "\n".join(f"7, {t}" for t in QUOTED), "answer", 2),
        ("prompts.csv", "prompt,model,answer\n" + "\n".join(f"Is it so?,m,{t}" for t in QUOTED),
         "answer", 2),
        ("unnamed.csv", "mark,class,what they said\n" + "\n".join(f"3,a b,{t}" for t in QUOTED),
         "what they said", 2),
    ],
    ids=lambda value: value if isinstance(value, str) and value[-4:] in (".csv", ".tsv") else "",
)  # fmt: skip
def test_the_texts_of_a_table_are_found_and_what_was_read_is_said(save, name, data, column, first):
    found = reading.texts(save(name, data))
    assert found.values == TEXTS
    assert list(found.places) == [first, first + 1, first + 2]
    assert not found.problems
    (note,) = found.notes
    assert name in note
    assert "Read 3 rows of " in note
    assert column in note
    assert "It begins: Yes, it is so. · No; never" in note


WORDS = st.text(st.sampled_from("abcdefgh,;|\t'\"\n.äß好"), min_size=1, max_size=9)
SENTENCES = st.lists(WORDS, min_size=3, max_size=9).map(" ".join).filter(str.strip)


@hypothesis.given(
    st.lists(SENTENCES, min_size=2, max_size=12),
    st.sampled_from(",;\t|"),
    st.sampled_from([["id", "answer"], ["", "text"], ["", "0"], None]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_csv_writers_write_is_read_back_or_asked_for(texts, delimiter, header, encoding):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter)
    writer.writerows([header] if header else [])
    writer.writerows([i, text] for i, text in enumerate(texts))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_bytes(buffer.getvalue().encode(encoding))
        try:
            found = reading.texts(str(path))
        except RefusedError:
            hypothesis.event("refused")
            return
    assert found.values == [text.strip() for text in texts]
    assert not found.problems


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_chinese_is_read_in_every_unicode_and_refused_in_none(save, encoding):
    text = "编号,回答\n" + "\n".join(f"{i},{answer}" for i, answer in enumerate(CHINESE))
    marked = "\ufeff" + text if encoding in ("utf-16-le", "utf-16-be") else text
    assert reading.texts(save("a.csv", marked.encode(encoding))).values == CHINESE
    with pytest.raises(RefusedError, match="save it as UTF-8"):
        reading.texts(save("a.csv", text.encode("gbk")))


def test_what_excel_saves_in_the_west_is_read_and_said(save):
    data = "Nr;Antwort\n" + "\n".join(f"{i};{text}" for i, text in enumerate(UMLAUTS))
    found = reading.texts(save("a.csv", data.encode("cp1252")))
    assert found.values == UMLAUTS
    assert "read as Windows-1252" in found.notes[0]
    assert "split by semicolons" in found.notes[0]


def test_rows_are_numbered_as_in_a_spreadsheet_by_quotes_and_blank_lines(save):
    found = reading.texts(save("a.csv", 'id,answer\n1,"two\nlines"\n\n2,x\n3,\n4\n'))
    assert found.values == ["two\nlines", "x", "", ""]
    assert list(found.places) == [2, 4, 5, 6]
    assert found.problems == {2: "is empty", 3: "is empty"}


def test_a_row_with_an_unquoted_comma_is_a_problem_of_that_row_and_nothing_is_cut(save):
    found = reading.texts(save("a.csv", "id,answer\n1,good\n2,bad, so bad\n3,fine\n"))
    assert found.values == ["good", "bad, so bad", "fine"]
    assert list(found.problems) == [1]
    assert "has 3 cells, split by commas, where the header has 2" in found.problems[1]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("id,answer\n1,yes, so\n2,no, never\n", "row 2 has 3, row 3 has 3. Put cells that hold"),
        ("Well, yes.\nno\nI think, maybe, so.\n", "row 3 has 3. Put cells that hold such signs"),
        ("a,b\nhello you there,good bye now\nhello me,good day\n", "pick a column: a, b"),
        ("text,answer\nhello you there,good bye now\n", "Columns text, answer could be meant"),
        ("id,mark\n1,2\n2,3\n", "No column is clearly meant; pick a column: id, mark"),
    ],
)
def test_what_cannot_be_told_is_asked_for(save, data, said):
    with pytest.raises(RefusedError) as caught:
        reading.texts(save("a.csv", data))
    assert said in str(caught.value)


def test_lines_of_json_may_have_several_fields_and_bad_lines_are_listed(save):
    rows = [
        json.dumps({"id": f"x{i}", "prompt": "Is it so, then?", "answer": text}, ensure_ascii=False)
        for i, text in enumerate([*TEXTS, "one\u2028line"])
    ]
    found = reading.texts(
        save("a.jsonl", "\n".join([*rows, "", "{", '{"id": "y"}', '{"answer": 3}']))
    )
    assert found.values[:4] == [*TEXTS, "one\u2028line"]
    assert list(found.places) == [1, 2, 3, 4, 6, 7, 8]
    assert list(found.problems) == [4, 5, 6]
    assert "not valid JSON" in found.problems[4]
    assert found.problems[6] == "is int, not a string"
    assert "column 'answer' of a.jsonl" in found.notes[0]


@pytest.mark.parametrize(
    ("data", "first"),
    [
        ("compound_id,SMILES\nC1,CCO\nC2,CCC\nC3,CCN\n", 2),
        ("CID,IsomericSMILES,name\n1,CCO,CO\n2,CCC,NO\n3,CCN,CN\n", 2),
        ("name;structure\nethanol;CCO\npropane;CCC\nethylamine;CCN\n", 2),
        ("CCO,ethanol\nCCC,propane\nCCN,ethylamine\n", 1),
        ("CCO\nCCC\nCCN\n", 1),
        ("structure\nCCO\nCCC\nCCN\n", 2),
    ],
)
def test_the_column_of_molecules_is_found(save, data, first):
    found = reading.texts(save("a.csv", data), None, "molecule")
    assert found.values == ["CCO", "CCC", "CCN"]
    assert list(found.places) == [first, first + 1, first + 2]


def test_two_columns_of_molecules_are_asked_about(save):
    path = save("a.csv", "smiles,canonical_smiles\nCCO,OCC\n")
    with pytest.raises(RefusedError, match="smiles, canonical_smiles could be meant"):
        reading.texts(path, None, "molecule")
    assert reading.texts(path, "canonical_smiles", "molecule").values == ["OCC"]
    assert reading.columns(path, "molecule") == (["smiles", "canonical_smiles"], None)


X = np.array([[0.5, 1.5, -2e-3], [3.5, 4.5, 5.5], [1.25, 0.0, 7.0], [8.5, 2.5, 3.5]])


def rows(X, separator=",", decimal=".", index=None) -> str:
    lines = [separator.join(str(x).replace(".", decimal) for x in row) for row in X]
    return "\n".join(f"{i}{separator}{line}" for i, line in zip(index, lines, strict=True)) \
        if index is not None else "\n".join(lines)  # fmt: skip


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (rows(X), "no row of names"),
        ("a,b,c\n" + rows(X), "the first row names the columns a, b, c"),
        ("0,1,2\n" + rows(X), "the first row names the columns 0, 1, 2"),
        (",0,1,2\n" + rows(X, index=range(4)), "left out: column 1 (it numbers the rows)"),
        ("Unnamed: 0,a,b,c\n" + rows(X, index=range(4)), "left out: Unnamed: 0"),
        ("id,a,b,c\n" + rows(X, index=[7, 9, 12, 14]), "left out: id (it numbers the rows)"),
        ("what,a,b,c\n" + rows(X, index="uvwx"), "left out: what (no numbers)"),
        (rows(X, ";", ","), "decimal commas"),
        ("a;b;c\n" + rows(X, ";", ","), "split by semicolons; decimal commas"),
        ("a\tb\tc\n" + rows(X, "\t", ","), "split by tabs; decimal commas"),
        (rows(X, '","', ",").replace("\n", '"\n"').join('""'), "decimal commas"),
        (rows(X, " "), "split by spaces"),
    ],
)
def test_rows_of_numbers_are_read_without_names_and_indices(save, data, said):
    found = reading.matrix(save("a.csv", data))
    assert np.array_equal(found.values, X)
    assert not found.problems
    assert said in found.notes[0]
    assert "Read 4 rows of 3 numbers of a.csv" in found.notes[0]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("0,1,2\n5,6,7\n8,9,1\n", "are these the names of the columns, or a sample?"),
        ("0,5\n1,7\n2,9\n3,4\n", "does it number the rows? Put a row of names above"),
        ("x,y\nu,v\n", "no column of numbers; row 2 has u, v"),
    ],
)
def test_numbers_that_may_be_names_are_asked_about(save, data, said):
    with pytest.raises(RefusedError) as caught:
        reading.matrix(save("a.csv", data))
    assert said in str(caught.value)


def test_numbers_in_a_box_are_meant_as_they_stand():
    assert reading.numbers("0,1\n1,0").values.tolist() == [[0, 1], [1, 0]]
    assert reading.numbers("0 5\n1 7\n2 9").values.tolist() == [[0, 5], [1, 7], [2, 9]]
    assert reading.numbers("1,5 2,5\n3,5 4,5").values.tolist() == [[1.5, 2.5], [3.5, 4.5]]
    assert reading.numbers("1.5, 2\n3, 4").notes == ()
    assert "decimal commas" in reading.numbers("1,5; 2\n3; 4").notes[0]


def test_all_bad_rows_of_numbers_are_listed(save):
    found = reading.matrix(save("a.csv", "x,y\n1,2\n3,nan\n1,abc\n5\n5,\n2,3,4\n6,7\n8,9\n"))
    assert {found.places[i]: problem for i, problem in found.problems.items()} == {
        3: "has nan",
        4: "has 'abc', which is not a number",
        5: "has an empty cell",
        6: "has an empty cell",
        7: reading.table("x,y\n2,3,4\n5,6", limits.TABLE).problems[0],
    }
    thousands = reading.matrix(save("a.csv", 'x,y\n"1,500",2\n3,4\n5,6\n'))
    assert thousands.problems == {0: "has '1,500', which is not a number"}


PARAGRAPHS = "\n\n".join(
    f"Answer {i} is this.\nIt has a second line.\n  And a third." for i in range(20)
)


def test_paragraphs_are_lines_unless_one_says_so_and_one_is_told():
    found = reading.lines(PARAGRAPHS)
    assert len(found) == 60
    assert list(found.places[:4]) == [1, 2, 3, 5]
    assert "They stand in 20 paragraphs" in found.notes[0]
    assert reading.lines(PARAGRAPHS.replace("\n\n", "\n")).notes == ()
    assert reading.lines("a\n\nb\n\nc").notes == ()


@pytest.mark.parametrize(
    ("box", "separator"),
    [
        (PARAGRAPHS, reading.BLANK),
        (PARAGRAPHS.replace("\n\n", "\r\n \r\n\r\n"), reading.BLANK),
        (PARAGRAPHS.replace("\n\n", "\n---\n"), "---"),
        (PARAGRAPHS.replace("\n\n", "\n---\n").replace("third", "|---|"), "---"),
        (PARAGRAPHS.replace("\n\n", "<|end|>"), "<|end|>"),
    ],
)
def test_texts_can_be_separated_by_blank_lines_or_a_sign(save, box, separator):
    found = reading.lines(box, separator)
    assert len(found) == 20
    assert found.values[3].startswith("Answer 3 is this.\nIt has a second line.\n")
    assert "Read 20 pa" in found.notes[0]
    assert reading.texts(save("a.txt", box), separator=separator).values == found.values
