"""Buttons for questions about a table, and saved rows with the ids of the table."""

import csv
import re

import pytest
from accessibility import find_violations_in_both_themes
from browser_actions import (
    button,
    choose_files,
    choose_similarity,
    expect,
    expect_comparison,
    expect_read_note,
    expect_score,
    find_row,
    open_tab,
    paste,
)

pytest.importorskip("gradio")
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
NGRAMS = {"k": "ngram_overlap"}


def choose_table(page, data: str = TABLE) -> None:
    choose_similarity(page, "share words")
    choose_files(page, ("answers.csv", data.encode()))


def test_question_buttons_apply_table_options(visit):
    page = visit()
    choose_table(page)
    button(page, "Score each of 3 prompts").click()
    expected = compute(TEXTS, groups=PROMPT_COLUMN, **NGRAMS)
    expect_score(page, expected["VS"], "4 per group")
    expect(page.get_by_role("combobox", name="Group column")).to_have_value("prompt")
    button(page, "Score all 12 rows").click()
    expect_score(page, compute(TEXTS, **NGRAMS)["VS"], 12)
    expect(page.get_by_role("combobox", name="Group column")).to_have_value("")
    button(page, "Find near-duplicates").click()
    expect(page.locator(".r-groups")).to_be_in_viewport()
    button(page, "What is the effective number of models?").click()
    expect(page.locator(".r-sources")).to_be_in_viewport()
    expect(page.get_by_role("tab", name="Compare")).to_have_attribute("aria-selected", "true")
    # The other tab keeps its settings of the table.
    open_tab(page, "Text")
    expect(page.get_by_role("combobox", name="Group column")).to_have_value("")
    expect_score(page, compute(TEXTS, **NGRAMS)["VS"], 12)


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)], ids=["desk", "phone"])
def test_selected_rows_are_saved_with_table_ids(visit, size):
    page = visit(*size)
    choose_table(page)
    button(page, "Select diverse rows").click()
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
    expect(button(page, "Which of the 2 groups by “model” is most diverse?")).to_be_visible()
    page.locator("#read summary", has_text="Other columns").click()
    page.get_by_role("combobox", name="Model", exact=True).select_option("model")
    expect(button(page, "Which of the 2 models is most diverse?")).to_be_visible()


def test_one_column_per_model_is_compared(visit):
    page = visit()
    table = "prompt,model_a,model_b\n" + "".join(
        f"Write about {i}.,the same words again,other {i} words and {i * i} more of them at {i}\n"
        for i in range(12)
    )
    choose_table(page, table)
    button(page, "Each of model_a, model_b contains the answers of one model").click()
    expect_read_note(page, "24 rows")
    button(page, "Which of the 2 models is most diverse?").click()
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
