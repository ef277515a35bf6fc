"""Markup escapes untrusted text and collapses long text."""

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


def markup_text(markup):
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


@pytest.mark.parametrize("text", ["<script>", "a & b", '"quoted"', "${x}", "`code`", "it's"])
def test_escape_replaces_html_and_template_characters(text):
    markup = escape(text)
    assert html.unescape(markup) == text
    assert not {*"<>\"'${}`"} & {*markup}


def test_escape_truncates_long_text():
    assert len(html.unescape(escape("x" * 500, 100))) <= 100
    assert escape("x" * 100, 100) == "x" * 100


@pytest.mark.parametrize("length", [1, PREVIEW_CHARACTERS])
def test_render_collapsible_shows_short_text_in_full(length):
    assert render_collapsible("x" * length, 1000) == f"<bdi>{'x' * length}</bdi>"
    assert not render_collapsible("x" * 1000, PREVIEW_CHARACTERS).startswith("<details")


def test_render_collapsible_hides_the_remaining_text():
    text = "<" * PREVIEW_CHARACTERS + "b" * 100
    markup = render_collapsible(text, 1000)
    assert markup.startswith("<details")
    assert markup_text(markup) == text[:PREVIEW_CHARACTERS] + "…" + text[PREVIEW_CHARACTERS:]
    truncated = render_collapsible(text, PREVIEW_CHARACTERS + 40)
    preview = text[:PREVIEW_CHARACTERS]
    assert markup_text(truncated) == f"{preview}…{'b' * 40}… and 60 more characters"


def test_render_paragraph_joins_sentences():
    assert render_paragraph("One.", "", "Two <b>.") == "<p>One. Two &lt;b&gt;.</p>"
    assert render_paragraph("", "") == ""


def test_render_list_renders_items():
    assert render_list(["a", "<b>b</b>"]) == "<ul><li>a</li><li><b>b</b></li></ul>"
    assert render_list([], "ol", "modes") == '<ol class="modes"></ol>'


def test_render_remaining_count_counts_omitted_items():
    assert render_remaining_count(1200, "pair") == "<p>And 1,200 more pairs.</p>"
    assert render_remaining_count(1, "pair", " of 3") == "<p>And 1 more pair of 3.</p>"
    assert render_remaining_count(0, "pair") == render_remaining_count(-3, "pair") == ""


def test_render_code_escapes_code():
    assert markup_text(render_code("a < b\n")) == "a < b\n"
