"""Correct answers and incomplete tables in the browser match the package."""

import pytest
from accessibility import find_violations_in_both_themes
from browser_actions import (
    button,
    choose_files,
    choose_question,
    choose_similarity,
    expect,
    expect_comparison,
    open_tab,
    read_table,
)

pytest.importorskip("uvicorn")
from vendiscore import compare

WORDS = ("red", "blue", "green", "grey", "pink", "white")


def make_rows() -> list[tuple[str, str, str, float, str]]:
    """Return graded answers: "narrow" repeats itself if it is correct, "m2" lacks a prompt."""
    rows = []
    for prompt in range(6):
        for model in ("wide", "narrow", "m2"):
            if (model, prompt) == ("m2", 0):
                continue
            for i, passed in enumerate(["true"] * (4 + prompt % 2) + ["false"]):
                is_repeated = model == "narrow" and passed == "true"
                word = WORDS[prompt % 2 * (i % 2) if is_repeated else i]
                text = f"{word} {prompt} thing"
                rows.append((model, f"Question {prompt}?", passed, (i + prompt) / 10, text))
    return rows


ROWS = make_rows()
MODELS, PROMPTS, PASSED, SCORES, TEXTS = map(list, zip(*ROWS, strict=True))
TABLE = "model,prompt,passed,score,answer\n" + "".join(
    ",".join(map(str, row)) + "\n" for row in ROWS
)
NGRAMS = {"k": "ngram_overlap"}


def choose_table(page, data: str = TABLE) -> None:
    choose_similarity(page, "share words")
    choose_files(page, ("graded.csv", data.encode()))


def compare_rows(correct, **options):
    return compare(TEXTS, by=MODELS, groups=PROMPTS, correct=correct, **NGRAMS, **options)


@pytest.mark.filterwarnings("ignore:1 of 18 cells")
@pytest.mark.parametrize("size", [(1280, 720), (390, 844)], ids=["desk", "phone"])
def test_correct_answers_and_missing_cells_match_package(visit, size):
    page = visit(*size)
    choose_table(page)
    choose_question(page, "Which of the 3 models is most diverse among correct answers?")
    section = page.locator(".r-quality")
    expect(section).to_be_in_viewport()
    expected = compare_rows([passed == "true" for passed in PASSED])
    expect_comparison(page, expected)
    expect(page.locator(".r-verdicts")).to_contain_text(
        "1 of 18 combinations of a set and a prompt have fewer than two samples."
    )
    expect(section.get_by_role("heading")).to_contain_text("column “passed”")
    rows = {row["sets"]: row for row in read_table(page, "Parts of the differences")}
    assert len(rows) == 3
    for parts in expected.quality_parts:
        sign, name = 1, f"{parts.a} − {parts.b}"
        if name not in rows:
            sign, name = -1, f"{parts.b} − {parts.a}"
        row = rows[name]
        assert row["answers per prompt"] == str(parts.size)
        assert row["prompts"] == f"{parts.prompts} of {parts.all_prompts}"
        value = f"{sign * parts.among_correct:.2f}".replace("-0.00", "0.00").replace("-", "−")
        assert row["among correct answers"].startswith(f"{value} (")
    expect(section).to_contain_text("Among correct answers, ")
    assert find_violations_in_both_themes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


@pytest.mark.filterwarnings("ignore:1 of 18 cells")
def test_column_of_correct_answers_and_threshold_can_be_selected(visit):
    page = visit()
    choose_table(page)
    choose_question(page, "Which of the 3 models is most diverse?")
    expect(page.locator("#result .r-bar")).to_be_visible()
    expect(page.locator(".r-quality")).to_have_count(0)
    column = page.get_by_role("combobox", name="Correct answers")
    assert column.locator("option").all_inner_texts() == ["not compared", "passed", "score"]
    column.select_option("score")
    threshold = page.get_by_role("spinbutton", name="Minimum quality")
    expect(threshold).to_have_value("0.5")
    threshold.fill("0.2")
    threshold.press("Tab")
    button(page, "Compare").click()
    expect(page.locator(".r-quality")).to_contain_text("column “score”, at least 0.2")
    expected = compare_rows([score >= 0.2 for score in SCORES])
    rows = read_table(page, "Parts of the differences")
    assert {row["prompts"] for row in rows} == {
        f"{parts.prompts} of {parts.all_prompts}" for parts in expected.quality_parts
    }
    assert find_violations_in_both_themes(page) == []
    column.select_option("")
    expect(threshold).to_have_count(0)
    button(page, "Compare").click()
    expect(page.locator(".r-quality")).to_have_count(0)


def test_tables_without_prompts_do_not_offer_correct_answers(visit):
    page = visit()
    open_tab(page, "Compare")
    choose_similarity(page, "share words")
    rows = "".join(f"{'ab'[i % 2]},{i % 2},text {i} of it\n" for i in range(12))
    choose_files(
        page,
        ("a.csv", f"model,passed,answer\n{rows}".encode()),
        container=page.locator(".set").first,
    )
    expect(page.get_by_role("combobox", name="Set column")).to_be_visible()
    expect(page.get_by_role("combobox", name="Correct answers")).to_have_count(0)
