"""Untrusted text is shown as text, and long text is folded."""

import html
import re

import pytest

from vendiscore.tools.reports.markup import (
    PREVIEW_CHARACTERS,
    escape,
    render_code,
    render_collapsible,
    render_list,
    render_paragraph,
    render_remaining_count,
)


def text_of(markup):
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


@pytest.mark.parametrize("text", ["<script>", "a & b", '"quoted"', "${x}", "`code`", "it's"])
def test_text_is_escaped_with_the_signs_of_templates(text):
    markup = escape(text)
    assert html.unescape(markup) == text
    assert not {*"<>\"'${}`"} & {*markup}


def test_long_text_is_shortened():
    assert len(html.unescape(escape("x" * 500, 100))) <= 100
    assert escape("x" * 100, 100) == "x" * 100


@pytest.mark.parametrize("length", [1, PREVIEW_CHARACTERS])
def test_short_text_is_shown_whole(length):
    assert render_collapsible("x" * length, 1000) == f"<bdi>{'x' * length}</bdi>"
    assert not render_collapsible("x" * 1000, PREVIEW_CHARACTERS).startswith("<details")


def test_the_rest_of_a_long_text_is_shown_after_a_click():
    text = "<" * PREVIEW_CHARACTERS + "b" * 100
    markup = render_collapsible(text, 1000)
    assert markup.startswith("<details")
    assert text_of(markup) == text[:PREVIEW_CHARACTERS] + "…" + text[PREVIEW_CHARACTERS:]
    cut = render_collapsible(text, PREVIEW_CHARACTERS + 40)
    assert text_of(cut) == f"{text[:PREVIEW_CHARACTERS]}…{'b' * 40}… and 60 more characters"


def test_sentences_are_a_paragraph():
    assert render_paragraph("One.", "", "Two <b>.") == "<p>One. Two &lt;b&gt;.</p>"
    assert render_paragraph("", "") == ""


def test_items_are_a_list():
    assert render_list(["a", "<b>b</b>"]) == "<ul><li>a</li><li><b>b</b></li></ul>"
    assert render_list([], "ol", "modes") == '<ol class="modes"></ol>'


def test_items_that_are_not_listed_are_counted():
    assert render_remaining_count(1200, "pair") == "<p>And 1,200 more pairs.</p>"
    assert render_remaining_count(1, "pair", " of 3") == "<p>And 1 more pair of 3.</p>"
    assert render_remaining_count(0, "pair") == render_remaining_count(-3, "pair") == ""


def test_code_is_escaped():
    assert text_of(render_code("a < b\n")) == "a < b\n"
