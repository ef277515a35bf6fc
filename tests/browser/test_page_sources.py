"""The web app shows the effective number of models for tables with models and prompts."""

import json

import pytest
from accessibility import find_violations_in_both_themes
from browser_actions import (
    button,
    choose_files,
    choose_similarity,
    download_file,
    expect,
    open_tab,
    read_table,
)

pytest.importorskip("uvicorn")
pytest.importorskip("matplotlib")
from vendiscore import sources

PROMPTS = [
    "Name a fruit.",
    "Describe the sea.",
    "Why do cats purr?",
    "<img src=x onerror=alert(1)>",
]
ANSWERS = {
    "small": ["An apple.", "The sea is blue and wide.", "Cats purr to relax.", "No idea."],
    "large": ["An apple.", "The sea is blue and deep.", "Cats purr to relax now.", "No idea now."],
    "<b>other</b>": ["Mango!", "Salt and a grey line.", "Nobody knows.", "That is markup."],
}


def make_table(column: str) -> bytes:
    rows = [
        f'"{name}","{prompt if column == "prompt" else prompt.split()[0]}","{text}"\n'
        for name, texts in ANSWERS.items()
        for prompt, text in zip(PROMPTS, texts, strict=True)
    ]
    return (f"model,{column},answer\n" + "".join(rows)).encode()


def compare_table(page, column: str) -> None:
    open_tab(page, "Compare")
    choose_similarity(page, "share words")
    choose_files(page, ("answers.csv", make_table(column)), container=page.locator(".set").first)
    if column == "place":  # the column may define sets, like the models
        button(page, "All rows are one set").click()
    page.get_by_role("combobox", name="Group column").first.select_option("model")
    button(page, "Compare").click()
    expect(page.locator("#result .r-bar")).to_be_visible()


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)], ids=["desk", "phone"])
def test_table_of_models_and_prompts_shows_number_of_sources(visit, size):
    page = visit(*size)
    compare_table(page, "prompt")
    expected = sources(ANSWERS, PROMPTS, k="ngram_overlap")
    section = page.locator(".r-sources")
    expect(section.locator("h3")).to_have_text(
        f"Effective number of models: {expected.score:.1f} of 3"
    )
    assert size[0] > 400 or page.evaluate("document.documentElement.scrollHeight") <= 3_000
    section.locator("summary").click()
    expect(section).to_contain_text(expected.sentence)
    rows = {row["name"]: row for row in read_table(page, "Contributions of the models")}
    for row in expected.sources:
        assert float(rows[row.name]["contribution"]) == pytest.approx(row.adds, rel=5e-3)
        assert rows[row.name]["nearest"] == row.nearest
    expect(section).to_contain_text(expected.sentence)
    assert page.locator(".r-sources b, .r-sources img").count() == 0
    saved = json.loads(download_file(page, "Everything (JSON)"))
    assert saved["sources"]["VS"] == pytest.approx(expected.score, abs=1e-9)
    assert find_violations_in_both_themes(page) == []
    scroll_width = page.evaluate("document.documentElement.scrollWidth")
    assert scroll_width <= size[0]


def test_table_without_prompts_shows_no_number_of_sources(visit):
    page = visit()
    compare_table(page, "place")
    expect(page.locator("#result .r-drawn")).to_be_visible()
    expect(page.locator(".r-sources")).to_have_count(0)
