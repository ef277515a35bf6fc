"""Repeated phrases in the browser: costs match the package, and samples are highlighted."""

import json
import re

import pytest
from accessibility import find_violations_in_both_themes
from browser_actions import (
    button,
    choose_similarity,
    download_file,
    expect,
    get_focused_name,
    open_tab,
    paste,
    press_score,
    read_table,
)

pytest.importorskip("uvicorn")
from vendiscore import phrases

PHRASE = "Great question! The answer is"
TEXTS = [
    *(f"{PHRASE} {word}." for word in ("red", "two", "Oslo", "in May", "no")),
    *("It depends.", "Nobody knows that.", "Ask me tomorrow, please.", "That is hard to say."),
]


def open_phrases(page, texts=TEXTS):
    """Score texts by the words they share, open the section of phrases, and return it."""
    choose_similarity(page, "share words")
    paste(page, "\n".join(texts))
    press_score(page)
    expect(page.locator("#result .r-bar")).to_be_visible()
    section = page.locator(".r-phrases")
    section.locator("summary").first.click()
    expect(section.get_by_role("region", name="Table of repeated phrases")).to_be_visible()
    return section


def test_costs_match_package(visit):
    page = visit()
    section = open_phrases(page)
    expected = phrases(TEXTS)
    rows = read_table(page, "Table of repeated phrases")
    assert [row["phrase"] for row in rows] == [row.phrase for row in expected.rows]
    assert [row["texts"] for row in rows] == [f"{row.n_texts:,}" for row in expected.rows]
    assert rows[0]["cost"] == f"{expected.rows[0].cost:.1f}"
    assert rows[0]["share"] == f"{100 * expected.rows[0].share:.1f} %"
    expect(section).to_contain_text(expected.sentence)
    everything = json.loads(download_file(page, "Everything (JSON)"))
    assert everything["phrases"]["phrases"][0]["cost"] == pytest.approx(expected.rows[0].cost)


def test_pressed_phrase_is_highlighted_in_samples(visit):
    page = visit()
    section = open_phrases(page)
    marks = page.locator(".r-all mark")
    expect(marks).to_have_count(0)
    phrase = button(page, PHRASE)
    phrase.focus()
    page.keyboard.press("Enter")
    expect(phrase).to_have_attribute("aria-pressed", "true")
    assert get_focused_name(page) == PHRASE
    expect(marks).to_have_text([PHRASE] * 5)
    expect(section.locator(".r-with-phrase")).to_contain_text(f"5 samples with “{PHRASE}”:")
    expect(section.locator(".r-with-phrase mark")).to_have_text([PHRASE] * 5)
    # Rows that are made or opened later are marked, too.
    page.get_by_label("filter", exact=True).fill("Oslo")
    expect(marks).to_have_count(1)
    page.locator(".r-open").first.click()
    expect(page.locator(".r-beneath .r-full mark").first).to_have_text(PHRASE)
    assert find_violations_in_both_themes(page) == []
    phrase.press("Enter")
    expect(page.locator("#result mark")).to_have_count(0)
    expect(section.locator(".r-with-phrase")).to_be_empty()
    expect(page.locator(".r-all .r-words").first).to_have_text(TEXTS[2])


def test_phrase_under_pointer_is_highlighted(visit):
    page = visit()
    open_phrases(page)
    button(page, PHRASE).hover()
    expect(page.locator(".r-all mark")).to_have_count(5)
    page.mouse.move(0, 0)
    expect(page.locator(".r-all mark")).to_have_count(0)


def test_listed_samples_go_to_their_rows(visit):
    page = visit(390, 844)
    section = open_phrases(page)
    button(page, PHRASE).click()
    section.locator(".r-with-phrase").get_by_role("button", name="#3", exact=True).click()
    expect(page.locator("tr[data-i='2'] .r-open")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert find_violations_in_both_themes(page) == []


def test_phrases_are_offered_for_texts_only(visit):
    page = visit()
    open_tab(page, "Vectors")
    page.locator("#examples button:visible").first.click()
    expect(page.locator("#result .r-bar")).to_be_visible()
    expect(page.locator(".r-phrases")).to_have_count(0)


def test_texts_without_repeated_phrases_have_sentence_only(visit):
    page = visit()
    choose_similarity(page, "share words")
    paste(page, "one two\nthree four\nfive six")
    press_score(page)
    expect(page.locator("#result .r-bar")).to_be_visible()
    page.locator(".r-phrases summary").first.click()
    expect(page.locator(".r-phrases")).to_contain_text(
        re.compile("No phrase that occurs in at least")
    )
    expect(page.locator(".r-phrases table")).to_have_count(0)
