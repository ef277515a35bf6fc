"""The web app picks another kernel for texts that its English encoder does not suit."""

import warnings

import pytest
from browser_actions import (
    button,
    choose_similarity,
    expect,
    expect_read_note,
    expect_score,
    open_tab,
    paste,
    press_score,
)

pytest.importorskip("uvicorn")
from vendiscore import compute
from vendiscore_page.answers import offered_encoders

JAPANESE = ["猫がソファで寝ている。", "今日は株価が急落した。", "彼女は毎晩バイオリンを弾く。"]
ENGLISH = ["A cat sat on the mat.", "Stocks fell sharply.", "She plays the violin."]
PROTEINS = [
    "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ",
    "MKTAYIAKQRQISFVKSHFSRQLEERLGMIEVQ",
    "GSHMASMTGGQQMGRGSEFELRRQACGRTLVDK",
]
LETTERS = {"k": "ngram_overlap", "analyzer": "char"}
MEANING = offered_encoders.ALLOWED["texts"]["MiniLM"]
REASON = "Score by meaning: not computed, because the texts are mostly Japanese"


def expect_selected_kernel(page, label: str) -> None:
    expect(page.locator("#alike").get_by_role("radio", name=label)).to_be_checked()


def test_japanese_uses_ngrams_until_user_selects_meaning(visit):
    page = visit()
    paste(page, "\n".join(JAPANESE))
    expect_read_note(page, "the texts are mostly Japanese")
    expect_selected_kernel(page, "share words")
    press_score(page)
    expect_score(page, compute(JAPANESE, **LETTERS)["VS"], 3)
    expect(page.locator("#result .r-second")).to_contain_text(REASON)
    choose_similarity(page, "mean the same")
    press_score(page)
    with warnings.catch_warnings(action="ignore"):
        expect_score(page, compute(JAPANESE, **MEANING)["VS"], 3)
    expect(page.locator("#result .r-second")).to_contain_text("by wording (n-grams)")
    expect_selected_kernel(page, "mean the same")


def test_english_after_japanese_uses_meaning(visit):
    page = visit()
    paste(page, "\n".join(JAPANESE))
    expect_selected_kernel(page, "share words")
    button(page, "Clear").click()
    paste(page, "\n".join(ENGLISH))
    expect_read_note(page, "3 lines")
    expect_selected_kernel(page, "mean the same")
    press_score(page)
    expect_score(page, compute(ENGLISH, **MEANING)["VS"], 3)


def test_pasted_proteins_use_characters(visit):
    page = visit()
    paste(page, "\n".join(PROTEINS))
    expect_read_note(page, "sequences of letters")
    press_score(page)
    expect_score(page, compute(PROTEINS, **LETTERS)["VS"], 3)


def test_sets_in_japanese_use_ngrams(visit):
    page = visit()
    open_tab(page, "Compare")
    boxes = page.locator("#sets textarea")
    paste(page, "\n".join(JAPANESE), boxes.nth(0))
    expect_selected_kernel(page, "share words")
    paste(page, "\n".join(JAPANESE[::-1]), boxes.nth(1))
    choose_similarity(page, "mean the same")
    page.locator("#score").focus()
    expect_selected_kernel(page, "mean the same")
