"""The web app starts with the result of an example, which user samples replace."""

import json
import re

import pytest
from browser_actions import (
    button,
    choose_files,
    choose_similarity,
    expect,
    find_question_menu,
    get_focused_name,
    open_tab,
    paste,
    press_score,
    score_number,
)

pytest.importorskip("uvicorn")
from vendiscore_page.inputs import examples
from vendiscore_page.serving.static_files import STATIC

CACHED_EXAMPLE = json.loads((STATIC / "example.json").read_text("utf-8"))
THREE_MODELS = examples.find_example(examples.THREE_MODELS).text.encode()
# Visible sentences of at least four words.
SENTENCES_SCRIPT = """() => document.querySelector("main").innerText.split(/(?<=[.!?])\\s+|\\n/)
    .map((each) => each.trim()).filter((each) => each.split(/\\s+/).length > 3)"""


def test_start_page_shows_example(visit):
    page = visit()
    example = page.locator("#example")
    for row in CACHED_EXAMPLE["rows"]:
        expect(example.locator(".r-sides")).to_contain_text(f"{row['name']} {row['matched']:.1f}")
    expect(example.locator("table").first).to_contain_text("Open a novel")
    expect(page.get_by_role("link", name="Paper")).to_have_attribute(
        "href", "https://arxiv.org/abs/2210.02410"
    )
    expect(page.locator("#said")).to_have_text("")  # no announcement for the initial example
    assert "<noscript><p" in page.request.get(page.url).text()
    open_tab(page, "Molecules")
    expect(example).to_be_visible()
    button(page, "Scents").click()
    expect(score_number(page)).to_contain_text("of 16")
    open_tab(page, "Text")
    expect(example).to_have_count(0)


def test_controls_are_those_of_the_example_until_the_user_has_samples(visit):
    page = visit()
    expect(page.locator("#example .r-about")).to_contain_text("n-grams")
    kernel = page.get_by_role("radio", name=re.compile("share words|mean the same"), checked=True)
    expect(kernel).to_have_value(CACHED_EXAMPLE["kernel"])
    open_tab(page, "Compare")
    expect(kernel).to_have_value(CACHED_EXAMPLE["kernel"])
    open_tab(page, "Text")
    paste(page, "one two\nthree four\none two")
    expect(kernel).to_have_value("MiniLM")
    page.get_by_role("button", name="Clear").click()
    button(page, "Twelve story openings").click()
    expect(score_number(page)).to_contain_text("of 12")
    expect(kernel).to_have_value("MiniLM")


def test_example_stays_and_error_is_focused_without_samples(visit):
    page = visit(1280, 800)
    press_score(page)
    alert = page.locator("#samples").get_by_role("alert")
    expect(alert).to_be_focused()
    expect(alert).to_be_in_viewport(ratio=1)
    expect(page.locator("#example")).to_be_visible()
    open_tab(page, "Compare")
    press_score(page)
    expect(page.locator("#compare").get_by_role("alert")).to_be_focused()
    assert get_focused_name(page).startswith("A comparison needs at least two sets")


def test_table_is_compared_with_settings_in_view(visit):
    page = visit(1280, 800)
    choose_files(page, ("answers.csv", THREE_MODELS))
    menu = find_question_menu(page)
    expect(menu).to_have_value("Which of the 3 models is most diverse?")
    expect(menu).to_be_in_viewport(ratio=1)
    choose_similarity(page, "share words")
    for _ in range(2):  # the second time, the file is already loaded
        press_score(page)
        expect(page.locator("#result .r-sides")).to_contain_text("Raven")
        expect(page.locator("#progress")).to_be_hidden()
        boxes = [page.locator(item).bounding_box() for item in ("#kernels .kernels", "#score")]
        assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"] < 800 - boxes[1]["height"]
        for row in CACHED_EXAMPLE["rows"]:
            set_score = f"{row['name']} {row['matched']:.1f}"
            expect(page.locator("#result .r-sides")).to_contain_text(set_score)
        sentences = page.evaluate(SENTENCES_SCRIPT)
        texts = [row.split(",", 2)[2].strip('"') for row in THREE_MODELS.decode().splitlines()]
        assert [item for item in sentences if sentences.count(item) > 1 and item not in texts] == []
        open_tab(page, "Text")


def test_phone_shows_example_above_input(visit):
    page = visit(390, 844, has_touch=True, is_mobile=True)
    example = page.locator("#example")
    get_top = "() => document.querySelector('#example').getBoundingClientRect().top"
    assert page.evaluate(get_top) < page.locator("#box").bounding_box()["y"]
    assert page.locator("#box").bounding_box()["y"] < 844  # visible without scrolling
    button(page, "More of this example").tap()
    expect(example.locator(".r-answers s").first).to_be_visible()
    expect(example.get_by_text("Uncertainty and notes")).to_be_visible()
    paste(page, "one two\nthree four\none two")
    choose_similarity(page, "share words")
    page.locator("#score").tap()
    expect(score_number(page)).to_contain_text("of 3")
    expect(example).to_have_count(0)
