"""Arguments as text: in step with the controls, editable, and with all values of the call."""

import re

import pytest
from accessibility import find_violations_in_both_themes
from browser_actions import (
    choose_files,
    choose_similarity,
    expect,
    expect_score,
    open_tab,
    paste,
    press_score,
)

pytest.importorskip("uvicorn")
from vendiscore import compute

TEXTS = ["a cat sat", "a cat ran", "the dog sat on the mat", "a bird"]
ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0], [2.0, 2.5], [0.5, 9.0]]
PASTED_ROWS = "\n".join(", ".join(map(str, row)) for row in ROWS)


def open_arguments(page):
    """Open “More options”, and return the text box of the arguments."""
    page.locator("#alike details > summary").click()
    box = page.get_by_role("textbox", name="Arguments")
    expect(box).to_be_visible()
    return box


def expect_values(page, expected: dict[str, float], column: int = 0) -> None:
    """Check a column of the table of all values."""
    table = page.get_by_role("region", name="All values")
    for name, value in expected.items():
        row = table.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name))
        text = row.first.get_by_role("cell").nth(column).text_content()
        assert float(text.replace("−", "-")) == pytest.approx(value, rel=1e-9, abs=1e-9)


def test_arguments_follow_the_controls_and_set_them(visit):
    page = visit()
    choose_similarity(page, "share words")
    box = open_arguments(page)
    expect(box).to_have_value('k="ngram_overlap", ns=[1, 2, 3, 4]')
    page.get_by_role("slider", name="Order q").fill("2")
    expect(box).to_have_value('k="ngram_overlap", ns=[1, 2, 3, 4], q=2')
    box.fill('k="ngram_overlap", ns=[1, 2], q=3')
    box.blur()
    expect(page.get_by_role("slider", name="Order q")).to_have_value("3")
    expect(page.get_by_role("checkbox", name="3", exact=True)).not_to_be_checked()
    paste(page, "\n".join(TEXTS))
    press_score(page)
    expect_score(page, compute(TEXTS, ns=[1, 2], q=3)["VS_q3"], 4)


def test_call_without_controls_shows_all_values(visit):
    page = visit()
    paste(page, "\n".join(TEXTS))
    text = 'k="word_overlap", q=[0.5, 2], measures=["VS", "IntDiv", "NgramDiversity"]'
    open_arguments(page).fill(text)
    press_score(page)
    expect(page.get_by_role("heading", name="All values")).to_be_visible()
    expect_values(
        page,
        compute(TEXTS, k="word_overlap", q=[0.5, 2], measures=["VS", "IntDiv", "NgramDiversity"]),
    )
    assert find_violations_in_both_themes(page) == []
    page.reload()
    expect(page.get_by_role("heading", name="All values")).to_be_visible()


def test_invalid_arguments_are_reported_at_the_box(visit):
    page = visit()
    box = open_arguments(page)
    box.fill("sigmaa=2")
    box.blur()
    alert = page.locator("#alike").get_by_role("alert")
    expect(alert).to_contain_text("Did you mean `sigma`?")
    assert find_violations_in_both_themes(page) == []
    page.get_by_role("button", name="Reset", exact=True).click()
    expect(alert).to_have_text("")


def test_magnitude_view_shows_area_scale_and_function(visit):
    page = visit()
    open_tab(page, "Vectors")
    paste(page, PASTED_ROWS)
    box = open_arguments(page)
    page.get_by_role("button", name="Magnitude", exact=True).click()
    expect(box).to_have_value('measures=["MagArea", "t_conv"], t_cut="t_conv"')
    press_score(page)
    expect_values(page, compute(ROWS, measures=["MagArea", "t_conv"], t_cut="t_conv"))
    expect(page.get_by_role("img", name=re.compile("^Magnitude function"))).to_be_visible()
    assert find_violations_in_both_themes(page) == []
    tick = page.locator(".r-chart .r-tick").first
    assert tick.evaluate("label => getComputedStyle(label).stroke") == "none"
    references = [[0.0, 1.0], [4.0, 4.0], [2.0, 1.0]]
    box.fill(f"measures=['MagDiff'], references={references}")
    press_score(page)
    expect_values(page, compute(ROWS, references, measures=["MagDiff"]))
    expect(page.locator(".r-curve")).to_have_count(2)


def test_magnitude_of_two_sets_shows_both(visit):
    page = visit()
    references = [[0.0, 1.0], [4.0, 4.0], [2.0, 1.0], [1.0, 3.0]]
    files = [
        (f"{name}.csv", "\n".join(",".join(map(str, row)) for row in rows).encode())
        for name, rows in (("near", ROWS), ("far", references))
    ]
    open_tab(page, "Compare")
    choose_files(page, *files, container=page.locator(".row:has(> #add-set)"))
    expect(page.locator(".set .read:visible")).to_have_count(2)
    expect(page.locator("input[name=kernel][value=cosine]")).to_be_checked()
    box = open_arguments(page)
    page.get_by_role("button", name="Magnitude", exact=True).click()
    expect(box).to_have_value('measures=["MagArea", "t_conv", "MagDiff"]')
    press_score(page)
    measures = ["MagArea", "t_conv", "MagDiff"]
    expect_values(page, compute(ROWS, references, measures=measures))
    del measures[2]
    expect_values(page, compute(references, references, measures=measures), column=1)
    table = page.get_by_role("region", name="All values")
    expect(table.get_by_role("columnheader")).to_have_text(["measure", "near", "far"])
    expect(page.locator(".r-curve")).to_have_count(2)
    expect(page.get_by_text("near has 5 samples, and far has 4.")).to_be_visible()
    assert find_violations_in_both_themes(page) == []
    page.reload()
    expect(page.locator(".r-curve")).to_have_count(2)
    expect(page.locator("input[name=kernel][value=cosine]")).to_be_checked()
    page.locator("#alike details > summary").click()
    page.get_by_role("button", name="Reset", exact=True).click()
    press_score(page)
    expect(page.locator("#result .r-sides")).to_contain_text("near")


def test_link_to_magnitude_of_an_example_shows_it(visit):
    text = "measures=%5B%22MagArea%22%2C+%22t_conv%22%5D"
    page = visit(fragment=f"#kind=vectors&kernel=cosine&arguments={text}&example=Three+clusters")
    expect(page.locator(".r-curve")).to_have_count(1)
    page.get_by_role("button", name="A circle").click()
    expect(page.locator("#result .r-bar")).to_contain_text("of ")
    expect(page.locator(".r-curve")).to_have_count(0)
