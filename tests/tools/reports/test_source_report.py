"""The report of a `Sources` result: sections, tables, and escaping of names."""

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


def make_sources(n, prompts=12):
    X = np.random.default_rng(1).normal(size=(n, prompts, 3))
    return vendiscore.sources(X, names=[f"source {i}" for i in range(n)], k="cosine")


def test_report_of_sources_has_all_sections(tmp_path):
    pytest.importorskip("matplotlib")
    result = make_sources(30)
    report = vendiscore.report(result)
    assert report.title == "Diversity of 30 sources"
    assert report.numbers == result.to_dict()
    assert str(report).startswith("Diversity of 30 sources: VS = ")
    html_by_section = {section.name: section.html for section in report.sections}
    assert list(html_by_section) == ["score", "pictures", "sources", "pairs", "prompts", "settings"]
    assert result.sentence in html_by_section["score"]
    assert html_by_section["sources"].count("<tr>") == 31
    assert html_by_section["pairs"].count("<tr>") == 22
    assert html_by_section["prompts"].count("<tr>") == 13
    assert html_by_section["pictures"].count("<svg") == 2
    assert all(f"source {i}<" in html_by_section["pictures"] for i in range(30))
    assert result.signature in html_by_section["settings"]
    report.write_html(path := tmp_path / "r.html")
    assert path.read_text("utf-8") == vendiscore.report(make_sources(30)).html()


def test_names_and_prompts_are_escaped():
    result = vendiscore.sources(TEXTS, ["<b>p</b>", "$\\x{$", "p3"], ns=[1])
    document = vendiscore.report(result, title="A <i> title").html()
    assert not re.search(r"<script|<b>p|<i> title", document)
    assert "&lt;script&gt;" in document
    for kind in ("map", "heat"):
        result.plot(kind=kind).figure.canvas.draw()


def test_tables_list_all_rows_or_both_extremes():
    titles = [title for _, title, _, _ in iter_tables(make_sources(3, 2), 20, 5, 3)]
    assert titles[1:] == [
        "pairs, by decreasing similarity",
        "prompts, by decreasing effective number of sources",
    ]
    result = make_sources(9)
    rows_by_title = {title: rows for _, title, rows, _ in iter_tables(result, 4, 5, 3)}
    assert [len(rows) for rows in rows_by_title.values()] == [4, 5, 5, 3, 3]
    least_similar = [tuple(row.values()) for row in rows_by_title["least similar pairs"]]
    assert least_similar == result.pairs(5, farthest=True)


def test_report_of_sources_accepts_only_title():
    with pytest.raises(TypeError, match="supports only the argument `title`"):
        vendiscore.report(make_sources(3), q=2)
