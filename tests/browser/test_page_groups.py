"""Groups in the browser: blocks of lines where one says so, and a column of a table."""

import pytest
from in_browser import attach, expect, press_score, score, shows

pytest.importorskip("gradio")
from vendiscore.scoring import compute

TEXTS = [["a cat sat", "a dog sat", "the cat ran"], ["red", "red", "blue"]]
FLAT = [text for group in TEXTS for text in group]
BOX = "\n\n".join("\n".join(group) for group in TEXTS)


def test_blank_lines_separate_groups_once_the_box_is_ticked(visit):
    page = visit()
    page.get_by_label("Texts, one a line").fill(BOX)
    press_score(page)
    shows(page, compute(FLAT, k="ngram_overlap")["VS"])
    tick = page.get_by_label("Blank lines separate groups")
    tick.check()
    shows(page, compute(TEXTS, k="ngram_overlap")["VS"])
    expect(score(page)).to_contain_text("the mean of 2 groups")
    expect(page.locator(".vs:visible tbody tr")).to_have_count(2)
    page.get_by_role("button", name="A primer").click()
    expect(score(page)).to_contain_text("effectively different of 5")
    expect(tick).not_to_be_checked()


def test_a_table_is_grouped_by_a_column(visit):
    page = visit()
    rows = [f"{text},prompt {i}" for i, group in enumerate(TEXTS) for text in group]
    attach(page, "mine.csv", "\n".join(["answer,prompt", *rows]).encode())
    press_score(page)
    shows(page, compute(FLAT, k="ngram_overlap")["VS"])
    page.get_by_label("Grouped by").locator("visible=true").click()
    page.get_by_role("option", name="prompt").click()
    shows(page, compute(TEXTS, k="ngram_overlap")["VS"])
    expect(page.locator(".vs-read:visible").first).to_contain_text("2 groups by column 'prompt'")
    expect(page.locator(".vs:visible tbody th")).to_have_text(["prompt 0", "prompt 1"])
