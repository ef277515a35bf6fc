"""The web app conditions scores on one prompt or on a column of prompts."""

import re

import pytest
from browser_actions import (
    button,
    choose_files,
    choose_similarity,
    download_file,
    expect,
    expect_comparison,
    expect_read_note,
    expect_score,
    open_tab,
    paste,
    press_score,
)

pytest.importorskip("uvicorn")
from vendiscore import compare, compute

PROMPT = "Write one sentence about a red apple on a tree."
ANSWERS = [
    *("A red apple fell.", "A red apple on a tree is ripe.", "One apple on a tree, one wish."),
    *("Red is the apple, green the tree.", "Nobody ate it.", "The tree dropped a red apple."),
    *("A sentence about fruit.", "Apples on a tree sway."),
]
OTHER_ANSWERS = [
    "A red apple.",
    "One red apple on a tree.",
    "The red apple on a tree.",
    "A tree, an apple.",
]
PROMPTS = [PROMPT, "Name a colour of the sky.", "Say why a river bends."]
ROWS = [
    (PROMPTS[j], f"{text} {j} of {PROMPTS[j].split()[-1]}") for j in range(3) for text in ANSWERS
]
TABLE = "question,answer\n" + "".join(f'"{q}","{a}"\n' for q, a in ROWS)
NGRAMS = {"k": "ngram_overlap"}


def write_prompt(page, text: str) -> None:
    page.locator(".prompt > summary").click()
    page.get_by_role("textbox", name="Prompt (optional)").fill(text)


def expect_outdated(page, text: str) -> None:
    expect(page.locator("#result .r-was")).to_contain_text(text)


def test_pasted_answers_are_conditioned_on_prompt(visit):
    page = visit()
    choose_similarity(page, "share words")
    expect(page.locator(".prompt")).to_be_hidden()
    paste(page, "\n".join(ANSWERS))
    expect_read_note(page, "8 lines")
    press_score(page)
    expect_score(page, compute(ANSWERS, **NGRAMS)["VS"], 8)
    write_prompt(page, PROMPT)
    expect_outdated(page, "settings have changed")
    page.keyboard.press("Control+Enter")
    expected = compute(ANSWERS, prompts=PROMPT, given_prompt=True, **NGRAMS)["VS"]
    expect_score(page, expected, 8)
    expect(page.locator(".r-about")).to_contain_text("conditioned on the prompt")
    expect(page.locator(".r-sentence")).to_contain_text("conditioned on the prompt")
    saved = download_file(page, "Everything (JSON)").decode()
    assert PROMPT in saved
    assert f'"VS": {expected:.10f}'[:-2] in saved
    expect(page).to_have_url(re.compile("prompt=Write"))
    page.reload()
    expect_score(page, expected, 8)
    expect(page.locator(".prompt > summary")).to_contain_text(PROMPT[:30])
    button(page, "Clear").click()
    expect(page.locator(".prompt")).to_be_hidden()


def test_url_restores_example_and_prompt(visit):
    page = visit(fragment="#kind=texts&kernel=ngram_overlap&example=A+primer&prompt=See+Jane")
    expect(page.locator(".r-about")).to_contain_text("conditioned on the prompt")
    expect(page.locator(".prompt > summary")).to_contain_text("See Jane")
    button(page, "Twelve story openings").click()
    expect(page.locator(".r-about")).to_contain_text("Twelve story openings")
    expect(page.locator(".r-about")).not_to_contain_text("conditioned on the prompt")


def test_table_is_conditioned_on_prompt_column(visit):
    page = visit()
    choose_similarity(page, "share words")
    choose_files(page, ("answers.csv", TABLE.encode()))
    expect_read_note(page, "24 rows")
    page.get_by_role("checkbox", name="condition on the prompt (column “question”)").check()
    expect(page.locator(".prompt")).to_be_hidden()
    press_score(page)
    prompts, answers = zip(*ROWS, strict=True)
    expected = compute(list(answers), prompts=list(prompts), given_prompt=True, **NGRAMS)["VS"]
    expect_score(page, expected, "8 per group")
    page.get_by_role("combobox", name="Group column").select_option("question")
    expect_outdated(page, "samples have changed")
    press_score(page)
    groups = compute(
        list(answers), groups=prompts, prompts=list(prompts), given_prompt=True, **NGRAMS
    )["VS"]
    expect_score(page, groups, "8 per group")
    button(page, "Compare these 3 groups").click()
    expect(page.locator("#result .r-about")).to_contain_text("conditioned on the prompt")


def test_two_sets_are_compared_with_conditioning_prompt(visit):
    page = visit()
    open_tab(page, "Compare")
    choose_similarity(page, "share words")
    for at, texts in enumerate((ANSWERS, OTHER_ANSWERS)):
        paste(page, "\n".join(texts), textbox=page.locator(".set textarea").nth(at))
    write_prompt(page, PROMPT)
    button(page, "Compare").click()
    expect(page.locator("#result .r-about")).to_contain_text("conditioned on the prompt")
    sets = {"A": ANSWERS, "B": OTHER_ANSWERS}
    expect_comparison(page, compare(sets, prompts=PROMPT, given_prompt=True, **NGRAMS))
    page.get_by_role("textbox", name="Prompt (optional)").fill("")
    expect_outdated(page, "settings have changed")
