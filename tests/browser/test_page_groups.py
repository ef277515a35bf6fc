"""Texts are split at a separator and grouped by a table column in the web app."""

import pytest
from browser_actions import (
    choose_files,
    choose_similarity,
    expect,
    expect_read_note,
    expect_score,
    paste,
    press_score,
)

pytest.importorskip("uvicorn")
from vendiscore import compute

TEXTS = [["a cat sat", "a dog sat", "the cat ran"], ["red", "red", "blue"]]
ALL_TEXTS = [text for group in TEXTS for text in group]
PASTED_TEXT = "\n\n".join("\n".join(group) for group in TEXTS)
GROUP_SIZE = "3 per group"


def find_group_table(page):
    return page.get_by_role("region", name="Table of the groups").locator("tbody")


def test_texts_are_split_at_lines_or_blank_lines(visit):
    page = visit()
    choose_similarity(page, "share words")
    paste(page, PASTED_TEXT)
    press_score(page)
    expect_score(page, compute(ALL_TEXTS, k="ngram_overlap")["VS"], 6)
    page.get_by_role("radio", name="blank line").check()
    expect(page.locator(".r-was")).to_contain_text("samples have changed")
    press_score(page)
    paragraphs = ["\n".join(group) for group in TEXTS]
    expect_score(page, compute(paragraphs, k="ngram_overlap")["VS"], 2)


def test_table_is_grouped_by_column(visit):
    page = visit()
    choose_similarity(page, "share words")
    rows = [f"{text},prompt {i}" for i, group in enumerate(TEXTS) for text in group]
    choose_files(page, ("mine.csv", "\n".join(["answer,prompt", *rows]).encode()))
    page.get_by_role("combobox", name="Group column").select_option("prompt")
    press_score(page)
    expect_score(page, compute(TEXTS, k="ngram_overlap")["VS"], GROUP_SIZE)
    expect(find_group_table(page).get_by_role("rowheader")).to_have_text(["prompt 0", "prompt 1"])
    for group, line in zip(TEXTS, find_group_table(page).get_by_role("row").all(), strict=True):
        expect(line).to_contain_text(f"3{compute(group, k='ngram_overlap')['VS']:.1f}")


def test_texts_are_split_at_custom_separator(visit):
    page = visit()
    choose_similarity(page, "share words")
    paste(page, "a b\nc\n@@\nd e\n@@\na b\ng")
    separator = page.get_by_label("Split by another separator")
    separator.fill("@@")
    separator.press("Enter")
    expect_read_note(page, "3 parts")
    press_score(page)
    expect_score(page, compute(["a b\nc", "d e", "a b\ng"], k="ngram_overlap")["VS"], 3)
