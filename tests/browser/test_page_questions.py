"""The menu of questions about a table, and saved rows with the ids of the table."""

import csv
import re

import pytest
from accessibility import find_violations_in_both_themes
from browser_actions import (
    button,
    choose_files,
    choose_question,
    choose_similarity,
    expect,
    expect_comparison,
    expect_read_note,
    expect_score,
    find_question_menu,
    find_row,
    open_tab,
    paste,
    press_score,
)

pytest.importorskip("uvicorn")
from vendiscore import compare, compute, select

PROMPTS = ["Name a fruit.", "Describe the sea.", "Why do cats purr?"]
ROWS = [
    (f"row{i}", model, prompt, f"{word} {prompt[:-1].lower()} {i % 2}")
    for i, (prompt, model, word) in enumerate(
        (prompt, model, word)
        for prompt in PROMPTS
        for model, words in (("dull", "so so"), ("vivid", "bright ideas"))
        for word in words.split()
    )
]
IDS, MODELS, PROMPT_COLUMN, TEXTS = map(list, zip(*ROWS, strict=True))
TABLE = "id,model,prompt,answer\n" + "".join(",".join(each) + "\n" for each in ROWS)
MOST_DIVERSE = "Which of the 2 models is most diverse?"
NGRAMS = {"k": "ngram_overlap"}


def choose_table(page, data: str = TABLE) -> None:
    choose_similarity(page, "share words")
    choose_files(page, ("answers.csv", data.encode()))


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)], ids=["desk", "phone"])
def test_score_of_table_with_models_and_prompts_shows_matrix(visit, size):
    page = visit(*size)
    choose_table(page)
    menu = find_question_menu(page)
    expect(menu).to_have_value(MOST_DIVERSE)
    press_score(page)
    expect(page.get_by_role("region", name="Prompt × model")).to_be_visible()
    expect_comparison(page, compare(TEXTS, by=MODELS, groups=PROMPT_COLUMN, **NGRAMS))
    expect(page.locator(".r-about")).to_contain_text("effective number, mean over 3 prompts")
    expect(menu).to_have_value(MOST_DIVERSE)
    assert find_violations_in_both_themes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_question_menu_stays_above_results(visit):
    page = visit()
    choose_table(page)
    menu = find_question_menu(page)
    expect(menu.locator("option").first).to_be_attached()
    questions = menu.locator("option").all_inner_texts()
    choose_question(page, "Score each of 3 prompts")
    expected = compute(TEXTS, groups=PROMPT_COLUMN, **NGRAMS)
    expect_score(page, expected["VS"], "4 per group")
    expect(page.get_by_role("combobox", name="Group column")).to_have_value("prompt")
    choose_question(page, "Score all 12 rows")
    expect_score(page, compute(TEXTS, **NGRAMS)["VS"], 12)
    expect(page.get_by_role("combobox", name="Group column")).to_have_value("")
    choose_question(page, "Find near-duplicates")
    expect(page.locator(".r-groups")).to_be_in_viewport()
    expect(menu).to_have_value("Find near-duplicates")
    choose_question(page, "What is the effective number of models?")
    expect(page.locator(".r-sources")).to_be_in_viewport()
    expect(page.get_by_role("tab", name="Compare")).to_have_attribute("aria-selected", "true")
    expect(menu).to_have_value("What is the effective number of models?")
    assert menu.locator("option").all_inner_texts() == questions
    # The other tab keeps its settings of the table.
    open_tab(page, "Text")
    expect(page.get_by_role("combobox", name="Group column")).to_have_value("")
    expect_score(page, compute(TEXTS, **NGRAMS)["VS"], 12)
    open_tab(page, "Compare")
    choose_question(page, "Score each of 3 prompts")
    expect(page.get_by_role("tab", name="Text")).to_have_attribute("aria-selected", "true")
    expect_score(page, expected["VS"], "4 per group")
    expect(menu).to_have_value("Score each of 3 prompts")


def test_set_is_not_scored_in_place_of_other_samples(visit):
    page = visit()
    paste(page, "other samples\nof the user")
    expect_read_note(page, "2 lines")
    open_tab(page, "Compare")
    choose_similarity(page, "share words")
    choose_files(page, ("a.csv", TABLE.encode()), container=page.locator(".set").first)
    menu = find_question_menu(page)
    expect(menu).to_have_value(MOST_DIVERSE)
    assert menu.locator("option").all_inner_texts() == [
        MOST_DIVERSE,
        "What is the effective number of models?",
    ]
    paste(page, "one\ntwo\nthree\nfour", page.get_by_role("textbox", name="Samples of B"))
    expect(menu).to_have_count(0)


def test_many_groups_are_sorted_and_folded(visit):
    page = visit()
    groups = [
        [f"{i} is a word", "the same words", "the same words"][: 2 + i % 2] for i in range(13)
    ]
    rows = [f"prompt {i},{text}" for i, texts in enumerate(groups) for text in texts]
    choose_table(page, "prompt,answer\n" + "\n".join(rows))
    press_score(page)
    summary = page.locator("#result summary", has_text="Scores of your 13 groups")
    table = page.get_by_role("region", name="Table of the groups")
    expect(table).to_be_hidden()
    summary.click()
    scores = [float(cell) for cell in table.locator("tbody td:nth-child(3)").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    assert find_violations_in_both_themes(page) == []


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)], ids=["desk", "phone"])
def test_selected_rows_are_saved_with_table_ids(visit, size):
    page = visit(*size)
    choose_table(page)
    choose_question(page, "Select diverse rows")
    page.get_by_label("subset size").fill("5")
    button(page, "Select").click()
    expected = select(TEXTS, 5, **NGRAMS)
    section = page.locator(".r-subset")
    expect(section).to_contain_text(f"5 samples: effective number {expected.scores[-1]:.1f}.")
    button(page, "Copy the IDs").click()
    expect(section.get_by_role("status")).to_contain_text("copied")
    ids = [IDS[i] for i in expected.places]
    assert page.evaluate("navigator.clipboard.readText()").split() == ids
    with page.expect_download() as waiting:
        button(page, "Save these samples (CSV)").click()
    with open(waiting.value.path(), encoding="utf-8-sig", newline="") as file:
        saved = list(csv.DictReader(file))
    expected_rows = [
        dict(zip(("id", "model", "prompt", "answer"), ROWS[i], strict=True))
        for i in expected.places
    ]
    assert [{name: line[name] for name in expected_rows[0]} for line in saved] == expected_rows
    assert {*saved[0]} - {*expected_rows[0]} == {
        "adds_percent",
        "similarity",
        "keep",
        "theme",
        "nearest",
    }
    expect(find_row(page, "row11")).to_contain_text(TEXTS[11])
    assert find_violations_in_both_themes(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_column_role_can_be_changed(visit):
    page = visit()
    choose_table(page)
    page.get_by_role("combobox", name="Model (2)").select_option("")
    expect(page.get_by_role("combobox", name="Label (2)")).to_have_value("model")
    menu = find_question_menu(page)
    expect(menu).to_contain_text("Which of the 2 groups by “model” is most diverse?")
    page.locator("#read summary", has_text="Other columns").click()
    page.get_by_role("combobox", name="Model", exact=True).select_option("model")
    expect(menu).to_have_value(MOST_DIVERSE)


def test_one_column_per_model_is_compared(visit):
    page = visit()
    table = "prompt,model_a,model_b\n" + "".join(
        f"Write about {i}.,the same words again,other {i} words and {i * i} more of them at {i}\n"
        for i in range(12)
    )
    choose_table(page, table)
    button(page, "Each of model_a, model_b contains the answers of one model").click()
    expect_read_note(page, "24 rows")
    choose_question(page, MOST_DIVERSE)
    a, b = (
        ["the same words again"] * 12,
        [f"other {i} words and {i * i} more of them at {i}" for i in range(12)],
    )
    expect(page.locator("#result .r-bar")).to_be_visible()
    expect_comparison(page, compare({"model_a": a, "model_b": b}, **NGRAMS))


def test_large_paste_is_kept_as_file_on_both_tabs(visit):
    page = visit()
    large = "\n".join(f"line {i} of many" for i in range(300_000))
    assert len(large) > 5_000_000
    paste(page, large)
    expect(page.locator("#chip")).to_contain_text("too long for the box and is kept as a file")
    expect(page.locator("#box")).to_have_value("")
    expect_read_note(page, re.compile("A random subset of 1,000 of 300,000"))
    open_tab(page, "Compare")
    box = page.locator(".set textarea").nth(0)
    paste(page, large[:300_000], textbox=box)
    expect(page.locator(".set").first).to_contain_text("too long for the box")
    expect(box).to_have_value("")
    expect(page.locator(".set").first).to_contain_text("A random subset of 1,000 of")
