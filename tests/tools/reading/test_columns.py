"""The column of samples is detected if it is unambiguous; otherwise choices are offered."""

import pytest

from vendiscore.report import AskError, Wanted
from vendiscore.tools.reading.columns import choose
from vendiscore.tools.reading.tables import table

PROSE = "the cat sat,a dog ran"


def build_preview(names, *rows):
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
    detected = choose(build_preview(names, row, row), Wanted())
    assert kind == detected.kind
    assert detected.column in (column, None)


@pytest.mark.parametrize("names", ["left,right", "answer,response"])
def test_two_prose_columns_are_ambiguous(names):
    with pytest.raises(AskError, match="could be meant") as caught:
        choose(build_preview(names, PROSE, PROSE), Wanted())
    offered = [options for _, options in caught.value.choices]
    assert offered == [{"column": name} for name in names.split(",")]


@pytest.mark.parametrize("names", ["left,right", "answer,response"])
def test_every_offered_choice_resolves_ambiguity(names):
    preview = build_preview(names, PROSE, PROSE)
    with pytest.raises(AskError) as caught:
        choose(preview, Wanted())
    for name, options in caught.value.choices:
        assert choose(preview, Wanted(**options)).column == name


def test_prompt_and_model_columns_are_detected_unless_pooled():
    preview = build_preview("prompt,model,answer", "why is it,m,as it is")
    assert choose(preview, Wanted())[:4] == ("answer", "texts", "prompt", "model")
    assert choose(preview, Wanted(pool=True))[:4] == ("answer", "texts", "", "")


def test_group_column_is_never_sample_column():
    preview = build_preview("left,right", PROSE)
    assert choose(preview, Wanted(group_by="left")).column == "right"


def test_site_tables_are_ambiguous():
    preview = build_preview("site,cat,dog", "north,1,2", "south,3,0")
    with pytest.raises(AskError) as caught:
        choose(preview, Wanted())
    assert [options["kind"] for _, options in caught.value.choices] == ["counts", "vectors"]
