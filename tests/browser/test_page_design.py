"""Layout of the web app: sizes of type, the finding, empty states, the map and the scale."""

import re

import pytest
from browser_actions import button, choose_similarity, expect, get_focused_name, open_tab, paste

pytest.importorskip("uvicorn")
FOUND = "Raven gives 4.7 different answers out of 5; Parrot repeats itself: 2.4."
TABLE = "a,b\nred apple,green pear\nblue plum,white grape\nred apple,pink peach\n"
SIZES = [(1440, 900), (390, 844)]
# Font sizes of all visible elements that contain text.
FONT_SIZES_SCRIPT = """() => {
    const shown = [...document.body.querySelectorAll("*")].filter((each) => each.checkVisibility()
        && !each.closest(".visually-hidden, .skip, option, noscript")
        && (each.placeholder || [...each.childNodes].some(
            (node) => node.nodeType === 3 && node.data.trim())));
    const size = (each) => Math.round(10 * parseFloat(getComputedStyle(each).fontSize)) / 10;
    return [[...new Set(shown.map(size))].sort((a, b) => a - b),
            Math.max(...[...document.querySelectorAll(".r-number b, .r-sides b")].map(size))];
}"""
# Labels of a drawing that overlap.
COLLISIONS_SCRIPT = """(svg) => {
    const boxes = [...svg.querySelectorAll("text")].map((each) => each.getBoundingClientRect());
    return boxes.flatMap((a, i) => boxes.slice(0, i).filter((b) => a.left < b.right - 1
        && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)).length;
}"""


@pytest.mark.parametrize("size", SIZES, ids=["desk", "phone"])
def test_page_has_four_font_sizes_and_the_number_is_the_largest(visit, size):
    page = visit(*size)
    expect(page.locator("#example .r-finding")).to_have_text(FOUND)
    sizes, number = page.evaluate(FONT_SIZES_SCRIPT)
    assert len(sizes) <= 4
    assert number == sizes[-1]
    button(page, "A model in a rut").click()
    expect(page.locator("#result .r-finding")).to_have_text(
        re.compile(r"^These 12 texts count as only 4\.8")
    )
    page.locator("#result details").evaluate_all("all => all.forEach((each) => (each.open = true))")
    sizes, number = page.evaluate(FONT_SIZES_SCRIPT)
    assert len(sizes) <= 4
    assert number == sizes[-1]


def test_example_shows_two_prompts_and_strikes_repeated_answers(visit):
    example = visit().locator("#example")
    expect(example.locator("details[open] > summary")).to_have_text(
        ["Open a novel", "Name a goldfish"]
    )
    answers = example.locator(".r-answers")
    expect(answers).to_have_count(4)
    expect(answers.last).to_contain_text("Parrot 2.6 of 5 answers")
    expect(answers.last.locator("s")).to_have_text(["You could call it Goldie."])
    expect(answers.last.locator("li")).to_have_count(5)


def test_map_fills_the_page_and_labels_its_groups(visit):
    page = visit(1440, 900)
    labels = page.locator("#example .r-map .r-flag")
    expect(labels).to_have_text(["Raven", "Clerk", "Parrot"])
    box = page.locator("#example .r-map").bounding_box()
    assert box["width"] == pytest.approx(page.locator("#panel").bounding_box()["width"], abs=1)
    dots = [dot.bounding_box() for dot in page.locator("#example .r-point").all()]
    assert min(dot["x"] for dot in dots) - box["x"] < 50
    assert box["x"] + box["width"] - max(dot["x"] + dot["width"] for dot in dots) < 50
    assert page.locator("#example .r-map svg").evaluate(COLLISIONS_SCRIPT) == 0
    page.get_by_label("coloured by").select_option("prompt")
    expect(labels).to_have_count(8)
    expect(labels.first).to_have_text("Name a goldfish")


@pytest.mark.parametrize("size", SIZES, ids=["desk", "phone"])
def test_scale_has_printed_ticks_and_labels_that_do_not_collide(visit, size):
    page = visit(*size)
    button(page, "Twelve story openings").click()
    scale = page.locator(".r-scale")
    interval = r" \(95 % interval: [\d.]+ to [\d.]+\)" if size == SIZES[0] else ""
    expect(scale.locator(".r-marked")).to_have_text(
        re.compile(rf"^this set [\d.]+ of 12{interval}$")
    )
    expect(scale.locator(".r-tick").first).to_have_text("2")
    assert scale.evaluate(COLLISIONS_SCRIPT) == 0


def test_example_stays_dimmed_until_there_is_a_result(visit):
    page = visit()
    example, state = page.locator("#example"), page.locator("#result .empty")
    expect(state).to_contain_text("Drop your samples here")
    assert not example.evaluate("each => each.inert")
    paste(page, TABLE)
    expect(state).to_contain_text("A question about your samples")
    expect(example.locator(".r-finding")).to_be_visible()
    assert example.evaluate("each => each.inert")
    button(page, "Each line is a text").click()
    expect(state).to_contain_text("Ready")
    requests = []
    page.route("**/page/score", lambda route: requests.append(route))
    choose_similarity(page, "share words")
    page.locator("#score").click()
    expect(state).to_contain_text("Working on your samples")
    expect(example).to_be_visible()
    page.wait_for_timeout(100)
    requests.pop().continue_()
    expect(page.locator("#result .r-number")).to_contain_text("of 4")
    expect(example).to_have_count(0)


def test_failure_is_shown_where_the_result_will_be(visit):
    page = visit()
    page.locator("#score").click()
    state = page.locator("#result .empty")
    expect(state).to_contain_text("No result yet")
    assert not page.locator("#example").evaluate("each => each.inert")
    open_tab(page, "Images")
    expect(state).to_contain_text("Drop your samples here")


def test_invalid_dataset_name_keeps_what_was_typed(visit):
    page = visit()
    paste(page, "one two\nthree four\none two")
    page.locator(".hub summary").click()
    name = page.locator("#dataset-name")
    name.fill("not a name")
    button(page, "Load").click()
    expect(page.locator("#samples").get_by_role("alert")).to_contain_text("'not a name'")
    expect(name).to_have_value("not a name")
    expect(name).to_be_visible()
    expect(page.locator("#box")).to_have_value("one two\nthree four\none two")
    choose_similarity(page, "share words")
    page.locator("#score").click()
    expect(page.locator("#result .r-number")).to_contain_text("of 3")


def test_score_is_reached_by_at_most_twelve_tabs(visit):
    page = visit()
    for _ in range(12):
        page.keyboard.press("Tab")
        if get_focused_name(page) == "Score":
            break
    assert get_focused_name(page) == "Score"


def test_footer_links_paper_and_citation(visit):
    footer = visit().locator("footer")
    expect(footer.get_by_role("link", name="Paper")).to_be_visible()
    footer.get_by_text("Citation", exact=True).click()
    expect(footer.locator("pre")).to_contain_text("@article{friedman2023vendi")


def test_first_view_loads_within_a_second_at_1_6_megabits_per_second(visit):
    page = visit()
    expect(page.locator("#example .r-finding")).to_be_visible()
    sizes = page.evaluate(
        """() => ["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind))
            .map(({encodedBodySize}) => encodedBodySize)"""
    )
    assert min(sizes) > 0
    assert sum(sizes) <= 200_000  # bytes
