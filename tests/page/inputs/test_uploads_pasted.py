"""A pasted table is read like a file, and prose with commas is not read as a table."""

import csv
import io

import hypothesis
import numpy as np
import pytest
import user_files as have
from hypothesis import strategies as st

from vendiscore.report import AskError
from vendiscore_page.inputs import examples
from vendiscore_page.inputs.pasted_forms import detect_format
from vendiscore_page.inputs.uploads import InputSettings, UserInput, read

pytest.importorskip("rdkit")
SAMPLES = ("kind", "values", "unit", "problems", "groups", "columns", "column", "by", "how")


def read_text(text: str, **options):
    return read(UserInput(text=text), InputSettings(**options))


def read_file(text: str, name: str = "a.csv", **options):
    return read(UserInput(files=[(name, text.encode())]), InputSettings(**options))


@pytest.mark.parametrize("case", have.pasted_tables(), ids=lambda case: case.name)
def test_pasted_table_equals_csv_file(case):
    text, options = case.data.decode(), {"by": "model"} if "model" in case.name else {}
    from_text, from_file = read_text(text, **options), read_file(text, **options)
    for name in SAMPLES:
        assert getattr(from_text, name) == getattr(from_file, name)
    assert from_text.values == case.values
    assert list(from_text.places) == list(from_file.places) == case.locations
    assert (from_text.name, from_file.name) == ("pasted › answer", "a.csv › answer")
    assert case.note in f"{from_file.sentence} {from_file.notes[0]}"
    assert from_text.notes == tuple(
        note.replace("a.csv", "the text box") for note in from_file.notes
    )


@pytest.mark.parametrize("case", have.pasted_tables(), ids=lambda case: case.name)
def test_table_can_be_read_as_lines_or_rows(case):
    text = case.data.decode()
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    result = read_text(text)
    assert (result.separator, result.splits) == ("row", (("row", 3), ("line", len(lines))))
    line_samples = read_text(text, separator="line")
    assert line_samples.values == lines
    assert dict(line_samples.splits)["row"] == 3
    assert read_file(text, "a.txt", separator="line").values == lines
    assert read_file(text, "pasted.txt").values == case.values
    assert read_text(text, separator="row").values == case.values
    assert read_file(text, separator="row").values == case.values


@hypothesis.settings(max_examples=60)
@hypothesis.given(
    st.lists(st.tuples(*[st.text("ab ,;\t|\"'\n.äß好", max_size=9)] * 2), min_size=2, max_size=9),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_pasted_table_with_standard_names_equals_file(rows, delimiter, line_end):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=line_end)
    writer.writerows([("id", "answer", "model"), *((i, *row) for i, row in enumerate(rows))])
    from_text = read_text(buffer.getvalue(), column="answer", kind="texts")
    from_file = read_file(buffer.getvalue(), column="answer", kind="texts")
    assert (from_text.values, from_text.places, from_text.problems) == (
        from_file.values,
        from_file.places,
        from_file.problems,
    )


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
    result, from_file = read_text(text), read_file(text)
    assert (result.kind, list(result.places)) == (from_file.kind, list(from_file.places))
    assert np.array_equal(result.values, from_file.values, equal_nan=result.kind == "vectors")
    assert result.problems == from_file.problems


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
    for result in (read_text(text, kind="texts"), read_file(text, "a.txt", kind="texts")):
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
def test_page_asks_whether_lines_with_equal_cell_counts_are_a_table(text):
    readers = {"separator": read_text, "type": lambda text: read_file(text, "a.txt")}
    for field, reader in readers.items():
        with pytest.raises(AskError, match="Is this a table") as caught:
            reader(text)
        assert [[*options] for _, options in caught.value.choices] == [[field], [field]]
    assert read_text(text, separator="line").values == text.split("\n")
    assert read_text(text, separator="row", header=False, column="column 2").separator == "row"


def test_examples_are_not_detected_as_tables():
    for kind in ("texts", "molecules"):
        for example in examples.MENU[kind]:
            assert detect_format(example.text, is_table_chosen=False) == ""


def test_page_asks_about_pasted_rows_with_extra_cells():
    text = "id,answer\n1,yes, so\n2,no, never\n"
    for reader in (read_text, read_file):
        with pytest.raises(AskError, match="row 2 has 3, row 3 has 3") as caught:
            reader(text)
    assert read_text(text, **caught.value.choices[0][1]).values == text.strip().split("\n")


COLUMN = [
    "Go to bed at nine.\n\nEvery night.",
    "Quit, now.",
    'It is "fine", she said.\nReally.',
    "Go.",
]


def copy_cells(cells: list[str]) -> str:
    """Return cells as copied from a spreadsheet: quoted if they contain line breaks."""
    return "\n".join(
        '"' + cell.replace('"', '""') + '"' if "\n" in cell else cell for cell in cells
    )


@pytest.mark.parametrize("header", [[], ["answer"]])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_pasted_spreadsheet_column_keeps_line_breaks_in_cells(header, ending):
    result = read_text(copy_cells(header + COLUMN).replace("\n", ending))
    assert [text.replace("\r\n", "\n") for text in result.values] == COLUMN
    assert result.kind == "texts"
    assert result.separator == "row"
    assert "split by" not in result.how
    lines = dict(result.splits)["line"]
    assert len(read_text(copy_cells(header + COLUMN), separator="line")) == lines == 6 + len(header)


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
    assert detect_format(text, is_table_chosen=False) == ""


def test_pasted_documents_of_several_lines_are_records():
    found = read_text('{\n "answer": "a cat sat"\n}\n{\n "answer": "a dog ran"\n}\n')
    assert found.values == ["a cat sat", "a dog ran"]
    assert detect_format('{\n "answer": "a cat sat"\n}\nand a dog', is_table_chosen=True) == ""


def test_question_about_layout_of_pasted_object_can_be_answered():
    text = '{"cat": ["a b", "c d"], "dog": ["e f", "g h"]}'
    with pytest.raises(AskError, match="What do the keys") as caught:
        read_text(text)
    assert "json-groups" in [options["type"] for _, options in caught.value.choices]
    assert [*read_text(text, type="json-groups").groups] == ["cat", "cat", "dog", "dog"]
