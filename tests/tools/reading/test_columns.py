"""The column of samples is chosen where it is plain, and asked for where it is not."""

import pytest

from vendiscore.report import AskError, Wanted
from vendiscore.tools.reading.columns import choose
from vendiscore.tools.reading.tables import table

PROSE = "the cat sat,a dog ran"


def head(names, *rows):
    return table("\n".join([names, *rows]), Wanted(), sign=",")


@pytest.mark.parametrize(
    ("names", "row", "column", "kind"),
    [
        ("id,answer", "1,a cat sat", "answer", "texts"),
        ("prompt,text", "why is it,as it is", "text", "texts"),
        ("answer,reference", "a cat sat,a cat ran", "answer", "texts"),
        ("city,note", "Rome,a fine old town", "note", "texts"),
        ("smiles,mass", "CCO,46.1", "smiles", "molecules"),
        ("name,x,y", "iron,1.5,2.5", None, "vectors"),
        ("x,label", "1.5,2", "x", "vectors"),
    ],
)
def test_unambiguous_columns_are_detected(names, row, column, kind):
    chosen = choose(head(names, row, row), Wanted())
    assert kind == chosen.kind
    assert chosen.column in (column, None)


@pytest.mark.parametrize("names", ["left,right", "answer,response"])
def test_two_prose_columns_are_ambiguous(names):
    with pytest.raises(AskError, match="could be meant") as caught:
        choose(head(names, PROSE, PROSE), Wanted())
    asked = [options for _, options in caught.value.choices]
    assert asked == [{"column": name} for name in names.split(",")]


@pytest.mark.parametrize("names", ["left,right", "answer,response"])
def test_every_offered_choice_resolves_ambiguity(names):
    read = head(names, PROSE, PROSE)
    with pytest.raises(AskError) as caught:
        choose(read, Wanted())
    for name, options in caught.value.choices:
        assert choose(read, Wanted(**options)).column == name


def test_prompt_and_model_columns_are_detected_unless_pooled():
    read = head("prompt,model,answer", "why is it,m,as it is")
    assert choose(read, Wanted())[:4] == ("answer", "texts", "prompt", "model")
    assert choose(read, Wanted(pool=True))[:4] == ("answer", "texts", "", "")


def test_group_column_is_never_sample_column():
    read = head("left,right", PROSE)
    assert choose(read, Wanted(group_by="left")).column == "right"


def test_site_tables_are_ambiguous():
    read = head("site,cat,dog", "north,1,2", "south,3,0")
    with pytest.raises(AskError) as caught:
        choose(read, Wanted())
    assert [options["kind"] for _, options in caught.value.choices] == ["counts", "vectors"]
