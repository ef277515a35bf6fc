"""Untrusted text is shown as text, and long text is folded."""

import html
import re

import pytest

from vendiscore.tools.reports.markup import (
    SEEN,
    escape,
    folded,
    listing,
    more,
    paragraph,
    preformatted,
)


def text_of(markup):
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


@pytest.mark.parametrize("text", ["<script>", "a & b", '"quoted"', "${x}", "`code`", "it's"])
def test_text_is_escaped_with_the_signs_of_templates(text):
    found = escape(text)
    assert html.unescape(found) == text
    assert not {*"<>\"'${}`"} & {*found}


def test_long_text_is_shortened():
    assert len(html.unescape(escape("x" * 500, 100))) <= 100
    assert escape("x" * 100, 100) == "x" * 100


@pytest.mark.parametrize("length", [1, SEEN])
def test_short_text_is_shown_whole(length):
    assert folded("x" * length, 1000) == f"<bdi>{'x' * length}</bdi>"
    assert not folded("x" * 1000, SEEN).startswith("<details")


def test_the_rest_of_a_long_text_is_shown_after_a_click():
    text = "<" * SEEN + "b" * 100
    found = folded(text, 1000)
    assert found.startswith("<details")
    assert text_of(found) == text[:SEEN] + "…" + text[SEEN:]
    cut = folded(text, SEEN + 40)
    assert text_of(cut) == f"{text[:SEEN]}…{'b' * 40}… and 60 more characters"


def test_sentences_are_a_paragraph():
    assert paragraph("One.", "", "Two <b>.") == "<p>One. Two &lt;b&gt;.</p>"
    assert paragraph("", "") == ""


def test_items_are_a_list():
    assert listing(["a", "<b>b</b>"]) == "<ul><li>a</li><li><b>b</b></li></ul>"
    assert listing([], "ol", "modes") == '<ol class="modes"></ol>'


def test_items_that_are_not_listed_are_counted():
    assert more(1200, " pairs") == "<p>And 1,200 more pairs.</p>"
    assert more(0, " pairs") == more(-3, " pairs") == ""


def test_code_is_escaped():
    assert text_of(preformatted("a < b\n")) == "a < b\n"
