"""The page is for everyone: on a phone, in the dark, by keyboard, and whatever a text says."""

import re

import numpy as np
import pytest
from in_browser import TABS, expect, open_tab, press_score, score


def test_the_page_works_by_keyboard(visit):
    page = visit()
    page.get_by_label("Texts, one a line").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("one two\nthree four\n")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText") == "Score":
            break
    page.keyboard.press("Enter")
    expect(score(page)).to_contain_text("2.0 effectively different of 2")
    page.get_by_role("tab", name="Text").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="Images").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Images")).to_have_attribute("aria-selected", "true")


def test_html_script_and_templates_are_shown_as_text(visit):
    page = visit()
    texts = ["<img src=x onerror=alert(1)> one", "<script>alert(2)</script>", "${alert(3)} {{3*3}}"]
    page.get_by_label("Texts, one a line").fill("\n".join(texts))
    press_score(page)
    expect(score(page)).to_contain_text("of 3")
    for text in texts:
        expect(page.locator(".vs:visible")).to_contain_text(text)
    page.wait_for_timeout(300)


@pytest.mark.parametrize("width", [390, 1280])
def test_no_tab_scrolls_sideways(visit, width):
    page = visit(width)
    for tab in TABS:
        open_tab(page, tab)
        wide, window = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide <= window == width
        # What would stick out can also be cut off.
        for part in (".vs:visible", ".vs figure:visible", "button:visible", ".cm-editor:visible"):
            for box in page.locator(part).evaluate_all(
                "all => all.map(e => e.getBoundingClientRect())"
            ):
                assert 0 <= box["left"] <= box["right"] <= width, (tab, part)


def test_ink_is_light_in_the_dark_and_dark_in_the_light(visit):
    for scheme, dark in (("dark", True), ("light", False)):
        page = visit(color_scheme=scheme)
        ink = page.locator(".vs:visible svg").first.evaluate("e => getComputedStyle(e).color")
        brightness = np.mean([int(x) for x in re.findall(r"\d+", ink)[:3]])
        assert (brightness > 128) == dark
