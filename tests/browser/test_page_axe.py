"""axe-core finds no serious accessibility violation, in both themes and two sizes."""

import re

import pytest
from accessibility import find_violations_in_both_themes
from browser_actions import (
    TABS,
    button,
    choose_files,
    choose_similarity,
    drop_files,
    expect,
    open_tab,
    paste,
    press_score,
)
from user_files import ambiguous_files

pytest.importorskip("uvicorn")
SIZES = [(1280, 720), (390, 844)]


def open_all(page) -> None:
    """Open all collapsible parts of the page."""
    page.locator("details").evaluate_all("all => all.forEach((each) => (each.open = true))")
    if page.locator(".r-open").count():
        page.locator(".r-open").first.click()


# A phone shows the same parts in one column, so two tabs are enough.
TAB_SIZES = [(tab, SIZES[0]) for tab in TABS] + [(tab, SIZES[1]) for tab in ("Text", "Compare")]


@pytest.mark.parametrize(("tab", "size"), TAB_SIZES, ids=str)
def test_tabs_have_no_serious_violations(visit, tab, size):
    page = visit(*size)
    open_tab(page, tab)
    assert find_violations_in_both_themes(page) == []
    page.locator("#examples button:visible, #sets-examples button:visible").first.click()
    expect(page.locator("#result .r-bar")).to_be_visible()
    expect(page.locator("#progress")).to_be_hidden()
    page.get_by_role("button", name=re.compile("^Share this")).click()
    assert find_violations_in_both_themes(page) == []
    open_all(page)
    expect(page.locator(".r-papers figure img[src], .r-papers pre").first).to_be_visible()
    button(page, "Download").click()
    assert find_violations_in_both_themes(page) == []


@pytest.mark.parametrize("size", SIZES, ids=["desk", "phone"])
def test_questions_and_errors_have_no_serious_violations(visit, size):
    page = visit(*size)
    paste(page, "one two\nthree four\n\none two")
    choose_similarity(page, "share words")
    press_score(page)
    expect(page.locator("#result .r-bar")).to_be_visible()
    page.locator("#alike details > summary").click()
    page.get_by_role("slider", name="Order q").fill("3")
    expect(page.locator(".r-was")).to_be_visible()
    assert find_violations_in_both_themes(page) == []
    ambiguous_file = next(case for case in ambiguous_files() if case.name == "two.csv")
    choose_files(page, (ambiguous_file.name, ambiguous_file.data))
    expect(page.locator("#samples .question")).to_be_visible()
    assert find_violations_in_both_themes(page) == []
    choose_files(page, ("mine.csv", b"id,smiles\nX1,CCO\nX2,C1CC\nX3,CCC\n"))
    expect(page.locator("#samples .trouble")).to_be_visible()
    page.get_by_text("Which samples?").click()
    assert find_violations_in_both_themes(page) == []
    open_tab(page, "Compare")
    drop_files(page, ("a.csv", b"a,b\n1,2\n3,4\n"), selector=".set")
    expect(page.locator(".set .read:visible").first).to_be_visible()
    press_score(page)
    expect(page.locator("#sets-trouble .trouble")).to_be_visible()
    assert find_violations_in_both_themes(page) == []


@pytest.mark.parametrize("size", SIZES, ids=["desk", "phone"])
def test_arguments_waiting_and_magnitude_have_no_serious_violations(visit, size):
    page = visit(*size)
    requests = []
    page.route(
        "**/page/compute", lambda route: requests.append(route)
    )  # held until `continue_` is called
    open_tab(page, "Vectors")
    paste(page, "1, 2\n3, 4\n5, 7\n2, 2.5")
    for tab, n_curves in (("Vectors", 1), ("Compare", 2)):
        open_tab(page, tab)
        if tab == "Compare":
            button(page, "Clusters or a circle").click()
            expect(page.locator("#result .r-sides")).to_be_visible()
        if not page.locator("#arguments").is_visible():
            page.locator("#alike details > summary").click()
        button(page, "Magnitude").click()
        expect(page.locator("#arguments")).to_have_value(re.compile("MagArea"))
        assert find_violations_in_both_themes(page) == []
        page.locator("#score").click()
        expect(page.locator("#progress")).to_be_visible()
        assert find_violations_in_both_themes(page) == []
        requests.pop().continue_()
        expect(page.locator(".r-curve")).to_have_count(n_curves)
        assert find_violations_in_both_themes(page) == []
