"""A pasted table is read as the same bytes in a file are, and prose with commas stays prose."""

import csv
import io

import hypothesis
import numpy as np
import pytest
import user_files as have
from hypothesis import strategies as st

from vendiscore.report import AskError
from vendiscore_page.inputs import examples
from vendiscore_page.inputs.pasted_forms import form_of
from vendiscore_page.inputs.uploads import Asked, Given, read

pytest.importorskip("rdkit")
SAMPLES = ("kind", "values", "unit", "problems", "groups", "columns", "column", "by", "how")


def pasted(text: str, **asked):
    return read(Given(text=text), Asked(**asked))


def filed(text: str, name: str = "a.csv", **asked):
    return read(Given(files=[(name, text.encode())]), Asked(**asked))


@pytest.mark.parametrize("case", have.pasted_tables(), ids=lambda case: case.name)
def test_pasted_table_equals_csv_file(case):
    text, asked = case.data.decode(), {"by": "model"} if "model" in case.name else {}
    one, other = pasted(text, **asked), filed(text, **asked)
    for name in SAMPLES:
        assert getattr(one, name) == getattr(other, name)
    assert one.values == case.values
    assert list(one.places) == list(other.places) == case.places
    assert (one.name, other.name) == ("pasted › answer", "a.csv › answer")
    assert case.said in f"{other.sentence} {other.notes[0]}"
    assert one.notes == tuple(note.replace("a.csv", "the box") for note in other.notes)


@pytest.mark.parametrize("case", have.pasted_tables(), ids=lambda case: case.name)
def test_table_can_be_read_as_lines_or_rows(case):
    text = case.data.decode()
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    result = pasted(text)
    assert (result.separator, result.splits) == ("row", (("row", 3), ("line", len(lines))))
    again = pasted(text, separator="line")
    assert again.values == lines
    assert dict(again.splits)["row"] == 3
    assert filed(text, "a.txt", separator="line").values == lines
    assert filed(text, "pasted.txt").values == case.values
    assert pasted(text, separator="row").values == case.values
    assert filed(text, separator="row").values == case.values


@hypothesis.settings(max_examples=60)
@hypothesis.given(
    st.lists(st.tuples(*[st.text("ab ,;\t|\"'\n.äß好", max_size=9)] * 2), min_size=2, max_size=9),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_pasted_table_with_standard_names_equals_file(rows, sign, end):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=sign, lineterminator=end)
    writer.writerows([("id", "answer", "model"), *((i, *row) for i, row in enumerate(rows))])
    one = pasted(buffer.getvalue(), column="answer", kind="texts")
    other = filed(buffer.getvalue(), column="answer", kind="texts")
    assert (one.values, one.places, one.problems) == (other.values, other.places, other.problems)


@pytest.mark.parametrize(
    "text",
    [
        "Antwort;Modell\nJa, gern;a\nNein, nie;b\n",
        "Antwort,Modell\nJa gern,a\nNein nie,b\nDoch doch,c",
        "model,answer\na,yes, so\nb,no, never\nc,fine\nd,good",
        "smiles,name\nCCO,ethanol\nCCC,propane",
        "title,text\nethanol,so it is\npropane,no it is",
        "what;a;b;c\nu;1,5;2,0;3\nv;1,0;2,5;1\nw;3,5;2,5;7",
        "x,y,z\n1,2,3\n4,5,x\n6,7,8\n9,9,9",
    ],
)
def test_tables_with_other_names_or_invalid_rows_equal_file(text):
    result, same = pasted(text), filed(text)
    assert (result.kind, list(result.places)) == (same.kind, list(same.places))
    assert np.array_equal(result.values, same.values, equal_nan=result.kind == "vectors")
    assert result.problems == same.problems


@pytest.mark.parametrize(
    "text",
    [
        "Hello, world\nGoodbye, moon\nYes, indeed",
        "No, I never said that\nYes, I did say so",
        "Yes, it is so.\nNo; never again, I think.\nPerhaps we could.",
        "Well; so be it\nGood; that is all",
        "Berlin, Germany\nParis, France",
        'He said, "never"\nShe said, "ever"',
        '"Hello there."\n"Good bye."',
        "x = 1;\ny = 2;",
        "Πού πας;\nΤι κάνεις;",
        "CCO |$R1$|\nCCC |$R2$|",
        "- Reference: {func}`a.select`, {class}`a.Selection`.\n- `cosine` (or not), none.",
    ],
)
def test_prose_with_commas_is_not_read_as_table(text):
    for result in (pasted(text, kind="texts"), filed(text, "a.txt", kind="texts")):
        assert result.values == text.split("\n")
        assert result.separator == "line"


@pytest.mark.parametrize(
    "text",
    [
        "1,hello there\n2,bye now\n3,hello again",
        "1,2-dichloroethane\n1,3-butadiene\n1,4-dioxane",
        "N,N-dimethylaniline\nN,N-diethylaniline\nN,N-dibutylaniline",
        "1,5 Liter Milch\n0,5 Liter Wasser",
        "cat,dog\nsun,moon",
        "今天,天气好\n明天,天气坏",
    ],
)
def test_lines_with_equal_cell_counts_raise_ask_error(text):
    doors = {"separator": pasted, "type": lambda text: filed(text, "a.txt")}
    for field, door in doors.items():
        with pytest.raises(AskError, match="as many cells each: is it a table") as caught:
            door(text)
        assert [[*options] for _, options in caught.value.choices] == [[field], [field]]
    assert pasted(text, separator="line").values == text.split("\n")
    assert pasted(text, separator="row", header=False, column="column 2").separator == "row"


def test_examples_are_not_detected_as_tables():
    for kind in ("texts", "molecules"):
        for example in examples.MENU[kind]:
            assert form_of(example.text, sure=False) == ""


def test_pasted_rows_with_extra_cells_raise_ask_error():
    text = "id,answer\n1,yes, so\n2,no, never\n"
    for read_ in (pasted, filed):
        with pytest.raises(AskError, match="row 2 has 3, row 3 has 3") as caught:
            read_(text)
    assert pasted(text, **caught.value.choices[0][1]).values == text.strip().split("\n")


COLUMN = [
    "Go to bed at nine.\n\nEvery night.",
    "Quit, now.",
    'It is "fine", she said.\nReally.',
    "Go.",
]


def copied(cells: list[str]) -> str:
    """Return cells as a spreadsheet copies them: in quotes where they have line breaks."""
    return "\n".join(
        '"' + cell.replace('"', '""') + '"' if "\n" in cell else cell for cell in cells
    )


@pytest.mark.parametrize("header", [[], ["answer"]])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_pasted_spreadsheet_column_keeps_line_breaks_in_cells(header, ending):
    result = pasted(copied(header + COLUMN).replace("\n", ending))
    assert [text.replace("\r\n", "\n") for text in result.values] == COLUMN
    assert result.kind == "texts"
    assert result.separator == "row"
    assert "split by" not in result.how
    lines = dict(result.splits)["line"]
    assert len(pasted(copied(header + COLUMN), separator="line")) == lines == 6 + len(header)


@pytest.mark.parametrize(
    "text",
    [
        '"Where are you?\nHere," she said.\nHe left.',
        '"Where are you?\nHere."\n"No."\nHe left.',
        'He came in.\n\n"Where are you?\nHere."\n\nHe left.',
        '"Where are you?\nHere."',
        '"Where are you?\nHere.\nHe left.',
    ],
    ids=["inside", "a quoted line", "paragraphs", "alone", "open"],
)
def test_quotes_in_prose_are_not_read_as_cells(text):
    assert form_of(text, sure=False) == ""
