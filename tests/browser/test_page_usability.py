"""The web app works by keyboard, on a phone, in dark mode and with markup in samples."""

import re

import numpy as np
import pytest
from browser_actions import (
    TABS,
    button,
    choose_files,
    choose_similarity,
    count_clicks,
    expect,
    find_group,
    find_row,
    get_focused_name,
    open_tab,
    paste,
    perform_task,
    press_score,
    score_number,
    tab_to,
)

pytest.importorskip("uvicorn")
import page_tasks

RESULT_SELECTORS = ("#result .r-bar", "#result figure", "#result table", "#result section > *")
# Outline, position and section of the focused element.
FOCUS_SCRIPT = """() => {
    const at = document.activeElement;
    const shown = at.matches(".visually-hidden") ? at.parentElement : at;
    const {top, bottom} = at.getBoundingClientRect();
    const parts = document.querySelectorAll("header, #samples, #alike, .go, #result, footer");
    const part = [...parts].findIndex((each) => each.contains(at));
    return [getComputedStyle(shown).outlineStyle, [top, bottom], part];
}"""
INPUT_SELECTORS = ("#samples > *", "#alike > *", "#score", "#clear")


def test_page_can_be_used_by_keyboard(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert get_focused_name(page) == "Skip to the result"
    tab_to(page, "Text")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Images")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Home")
    page.keyboard.press("Shift+Tab")
    perform_task(page, page_tasks.score_by_keyboard())
    expect(page.get_by_role("radio", name="share words")).to_be_checked()
    expect(page.locator("#said")).to_contain_text("of 3 texts.")
    tab_to(page, "Score")
    tab_to(page, "Download")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    assert get_focused_name(page).startswith("Report")
    page.keyboard.press("Escape")
    assert get_focused_name(page) == "Download"
    tab_to(page, "similarity threshold")
    for _ in range(40):
        page.keyboard.press("ArrowLeft")
    expect(find_group(page, 0)).to_contain_text("2 ×")
    assert count_clicks(page) == 0


def test_focus_is_visible_and_follows_page_order(visit):
    page = visit()
    button(page, "A primer").click()
    expect(score_number(page)).to_contain_text("of 5")
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    sections = []
    for _ in range(30):
        page.keyboard.press("Tab")
        outline, box, section = page.evaluate(FOCUS_SCRIPT)
        assert outline != "none", get_focused_name(page)
        assert box[1] > 0, get_focused_name(page)
        assert box[0] < 720, get_focused_name(page)
        sections.append(section)
    assert sections[1:] == sorted(
        sections[1:]
    )  # the first focused element is the link to the result


def test_markup_in_samples_is_shown_as_text(visit):
    page = visit()
    texts = [
        "<img src=x onerror=alert(1)> one",
        "<script>alert(2)</script>",
        "${alert(3)} {{3*3}}",
        '"><svg onload=alert(4)>',
        "</textarea><b>bold</b>",
    ]
    before = page.locator("#result, #samples").locator("script, b:text-is('bold')").count()
    table = "text,</b><b>group\n" + "\n".join(
        '"{}",<i>{}</i>'.format(text.replace('"', '""'), i % 2) for i, text in enumerate(texts)
    )
    choose_files(page, ("<img src=x onerror=alert(5)>.csv", table.encode()))
    question = page.get_by_role("group", name="Is each value of column '</b><b>group' a set")
    question.get_by_role("button", name="All rows are one set").click()
    choose_similarity(page, "share words")
    press_score(page)
    expect(score_number(page)).to_contain_text("of 5")
    for number, text in enumerate(texts, 2):
        expect(find_row(page, number)).to_contain_text(text)
    expect(page.locator(".r-about")).to_contain_text("<img src=x onerror=alert(5)>.csv")
    page.get_by_role("combobox", name="Group column").select_option("</b><b>group")
    press_score(page)
    expect(page.get_by_role("rowheader", name="<i>1</i>")).to_be_visible()
    page.get_by_role("heading", name="For papers").click()
    expect(page.locator(".r-papers figure img[src]").first).to_be_visible()
    open_tab(page, "Compare")
    page.locator("#clear-sets").click()  # remove the groups of the other tab
    page.get_by_label("Name of the set").first.fill(texts[0])
    for number in (0, 1):
        paste(page, "\n".join(texts[number:]), page.locator(".set textarea").nth(number))
    choose_similarity(page, "share words")
    press_score(page)
    expect(page.locator("[aria-label='Scores of the sets']")).to_contain_text(texts[0])
    assert page.locator("img[onerror], svg[onload], main script").count() == before == 0


@pytest.mark.parametrize("width", [320, 768, 1280])
def test_tabs_fit_window_width(visit, width):
    page = visit(width, 844)
    for tab in TABS:
        open_tab(page, tab)
        page.locator("#examples button:visible, #sets-examples button:visible").first.click()
        expect(page.locator("#result .r-bar")).to_be_visible()
        scroll_width, window_width = page.evaluate(
            "[document.documentElement.scrollWidth, window.innerWidth]"
        )
        assert scroll_width <= window_width == width, tab
        for selector in (*RESULT_SELECTORS, *INPUT_SELECTORS):
            boxes = page.locator(f"{selector}:visible").evaluate_all(
                "all => all.filter(e => !e.closest('.r-scroll, .r-across-scroll, pre')"
                " && !e.closest('.visually-hidden')).map(e => e.getBoundingClientRect())"
            )
            for box in boxes:
                assert -1 <= box["left"] <= box["right"] <= width + 1, (tab, selector)


def test_settings_and_score_fit_on_one_screen(visit):
    page = visit(1280, 720)
    paste(page, "\n".join(f"answer {i} says {i % 3} things of its own" for i in range(20)))
    press_score(page)
    expect(score_number(page)).to_contain_text("of 20")
    expect(page.locator(".r-legend button").first).to_be_attached()
    page.evaluate("scrollTo(0, 0)")
    selectors = (
        "#box",
        "#kernels .kernels",
        "#alike details > summary",
        "#score",
        "#result .r-bar",
    )
    for selector in (*selectors, ".r-sentence", ".r-scale"):
        expect(page.locator(selector)).to_be_in_viewport(ratio=1)
    page.mouse.move(900, 500)
    page.mouse.wheel(0, 1500)
    scrolled = (page.evaluate("scrollY") > 500 or page.wait_for_timeout(50) for _ in range(200))
    assert any(scrolled)  # wait_for_function evaluates text in the page, whose policy forbids that
    widths = [page.locator(each).bounding_box()["width"] for each in (".r-all", "#panel")]
    assert widths[0] == pytest.approx(widths[1], abs=1)  # below the settings, all of the page


def test_opened_menu_is_scrolled_into_view(visit):
    page = visit(640, 360)
    button(page, "A primer").click()
    expect(score_number(page)).to_contain_text("of 5")
    expect(page.locator("#progress")).to_be_hidden()
    button(page, "Download").evaluate("face => face.scrollIntoView({ block: 'end' })")
    button(page, "Download").press("Enter")
    expect(page.locator(".r-panel:visible")).to_be_in_viewport(ratio=1)


def test_phone_shows_samples_then_settings_then_result(visit):
    page = visit(390, 844, has_touch=True, is_mobile=True)
    paste(page, "one two\nthree four\none two")
    choose_similarity(page, "share words")
    page.locator("#score").tap()
    expect(score_number(page)).to_contain_text("of 3")
    expect(page.locator("#result .r-bar")).to_be_in_viewport(ratio=1)  # scrolled into view
    order = ("header", "#box", "#read", "#kernels", "#score", ".r-summary", ".r-groups", ".r-all")
    # Measured at one moment, because the page may still be scrolling.
    top = "parts => parts.map(part => document.querySelector(part).getBoundingClientRect().top)"
    tops = page.evaluate(top, order)
    assert tops == sorted(tops)
    # Buttons are large enough for touch.
    for name in ("Score", "Download", "Clear"):
        box = button(page, name).bounding_box()
        assert min(box["width"], box["height"]) >= 24, name


def test_text_colour_contrasts_with_theme(visit):
    page = visit()
    button(page, "A primer").click()
    expect(score_number(page)).to_contain_text("of 5")
    page.get_by_role("heading", name="For papers").click()
    expect(page.locator(".r-papers figure img[src]").first).to_be_visible()
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        for selector in ("#result", "#samples", "footer"):
            colour = page.locator(selector).evaluate("e => getComputedStyle(e).color")
            brightness = np.mean([int(x) for x in re.findall(r"\d+", colour)[:3]])
            assert (brightness > 128) == (scheme == "dark"), selector
