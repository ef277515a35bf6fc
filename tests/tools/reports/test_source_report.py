"""The report of how many sources differ: its tables and pictures, and names that are hostile."""

import re

import numpy as np
import pytest

import vendiscore
from vendiscore.tools.reports.source_report import iter_tables

TEXTS = {
    "<script>alert(1)</script>": ["red fox", "a tall tree", "x $y$ z"],
    '$\\frac{{a$ & "b" {{x}}': ["red fox", "a tree", "q"],
    "name\n  of two lines": ["blue sea", "old house", "the dog"],
}


def drawn(n, prompts=12):
    X = np.random.default_rng(1).normal(size=(n, prompts, 3))
    return vendiscore.sources(X, names=[f"source {i}" for i in range(n)], k="cosine")


def test_it_has_the_sentence_all_tables_pictures_and_how_to_find_it_again(tmp_path):
    pytest.importorskip("matplotlib")
    result = drawn(30)
    report = vendiscore.report(result)
    assert report.title == "Diversity of 30 sources"
    assert report.numbers == result.to_dict()
    assert str(report).startswith("Diversity of 30 sources: VS = ")
    parts = {part.name: part.html for part in report.sections}
    assert list(parts) == ["score", "pictures", "sources", "pairs", "prompts", "settings"]
    assert result.sentence in parts["score"]
    assert parts["sources"].count("<tr>") == 31
    assert parts["pairs"].count("<tr>") == 22
    assert parts["prompts"].count("<tr>") == 13
    assert parts["pictures"].count("<svg") == 2
    assert all(f"source {i}<" in parts["pictures"] for i in range(30))
    assert result.signature in parts["settings"]
    report.write_html(path := tmp_path / "r.html")
    assert path.read_text("utf-8") == vendiscore.report(drawn(30)).html()


def test_hostile_names_and_prompts_are_text():
    result = vendiscore.sources(TEXTS, ["<b>p</b>", "$\\x{$", "p3"], ns=[1])
    written = vendiscore.report(result, title="A <i> title").html()
    assert not re.search(r"<script|<b>p|<i> title", written)
    assert "&lt;script&gt;" in written
    for kind in ("map", "heat"):
        result.plot(kind=kind).figure.canvas.draw()


def test_tables_have_both_ends_or_all():
    few = [title for _, title, _, _ in iter_tables(drawn(3, 2), 20, 5, 3)]
    assert few[1:] == [
        "pairs, by decreasing similarity",
        "prompts, by decreasing effective number of sources",
    ]
    result = drawn(9)
    many = {title: rows for _, title, rows, _ in iter_tables(result, 4, 5, 3)}
    assert [len(rows) for rows in many.values()] == [4, 5, 5, 3, 3]
    far = [tuple(row.values()) for row in many["least similar pairs"]]
    assert far == result.pairs(5, farthest=True)


def test_keywords_belong_to_the_call_that_found_sources():
    with pytest.raises(TypeError, match="supports only the argument `title`"):
        vendiscore.report(drawn(3), q=2)
