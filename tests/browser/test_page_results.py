"""The page shows what the package computes, and hands it over."""

import contextlib
import json

import pytest
from in_browser import (
    TABS,
    expect,
    number,
    open_tab,
    pick_kernel,
    playwright,
    press_score,
    score,
    shows,
)

pytest.importorskip("gradio")
from vendiscore.app import encoders, examples
from vendiscore.scoring import compute


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_shows_a_result_at_once_and_every_example_changes_it(visit, tab):
    page = visit()
    open_tab(page, tab)
    pictures = 2 if tab == "Compare" else 4
    kinds = {
        "Text": examples.TEXTS,
        "Images": examples.images(),
        "Molecules": examples.MOLECULES,
        "Vectors": examples.VECTORS,
        "Compare": examples.COMPARISONS,
    }
    seen = {page.locator(".vs:visible").inner_text()}
    for name in list(kinds[tab])[::-1]:
        before = page.locator(".vs:visible").inner_text()
        page.get_by_role("button", name=name).click()
        expect(page.locator(".vs:visible")).not_to_have_text(before, use_inner_text=True)
        expect(page.locator(".vs:visible figure svg")).to_have_count(pictures)
        seen.add(page.locator(".vs:visible").inner_text())
    assert len(seen) == 3
    if tab in ("Images", "Molecules"):
        image = page.locator(".vs:visible .vs-list img").first
        assert image.evaluate("image => image.naturalWidth") > 0


def test_an_example_can_be_had_again(visit):
    page = visit()
    open_tab(page, "Compare")
    for name in ["Scents, acetates, medicines", "In a rut or not"] * 2:
        page.get_by_role("button", name=name).click()
        kind = examples.COMPARISONS[name][0]
        expect(page.locator(".vs:visible")).to_contain_text(f" {kind}, ")
        expect(page.get_by_role("radio", name=kind)).to_be_checked()


def test_the_page_gives_the_number_of_the_package(visit):
    page = visit()
    page.get_by_role("button", name="A primer").click()
    shows(page, compute(examples.TEXTS["A primer"].splitlines(), k="ngram_overlap")["VS"])
    open_tab(page, "Images")
    images = next(iter(examples.images().values()))
    shows(page, compute(images, k="pixels", mode="RGB")["VS"])
    open_tab(page, "Molecules")
    shows(page, compute(examples.MOLECULES["Scents"].splitlines(), k="morgan")["VS"])
    open_tab(page, "Vectors")
    page.get_by_role("button", name="A matrix K").click()
    shows(page, compute([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]], score_K=True)["VS"])


def test_encoders_can_be_chosen(visit):
    page = visit()
    pick_kernel(page, "MiniLM")
    texts = examples.TEXTS["A model in a rut"].splitlines()
    right = compute(texts, **encoders.ALLOWED["texts"]["MiniLM"])["VS"]
    expect(score(page)).to_contain_text(f"≈ {right:.1f} effectively different of 12")
    assert number(page) == pytest.approx(right, rel=1e-5)
    for label in ("Lengths of n-grams", "n-grams of"):
        expect(page.get_by_text(label, exact=True)).to_be_hidden()
    open_tab(page, "Images")
    pick_kernel(page, "DINOv2")
    right = compute(next(iter(examples.images().values())), **encoders.ALLOWED["images"]["DINOv2"])[
        "VS"
    ]
    expect(page.locator(".vs-signature:visible")).to_contain_text("kernel=image_embeddings")
    assert number(page) == pytest.approx(right, rel=1e-5)


def test_controls_change_the_result(visit):
    page = visit()
    texts = examples.TEXTS["A model in a rut"].splitlines()
    page.get_by_label("number input for Order q").locator("visible=true").fill("2")
    page.keyboard.press("Tab")
    shows(page, compute(texts, k="ngram_overlap", q=2)["VS"])
    page.get_by_label("range slider for Order q").locator("visible=true").focus()
    page.keyboard.press("ArrowRight")
    shows(page, compute(texts, k="ngram_overlap", q=2.25)["VS"])
    page.keyboard.press("ArrowLeft")
    page.get_by_label("4", exact=True).locator("visible=true").uncheck()
    shows(page, compute(texts, k="ngram_overlap", ns=[1, 2, 3], q=2)["VS"])
    page.get_by_label("char").locator("visible=true").check()
    shows(page, compute(texts, k="ngram_overlap", ns=[1, 2, 3], analyzer="char", q=2)["VS"])


def test_paragraphs_can_be_scored_as_one_text_each(visit):
    page = visit()
    page.get_by_label("Texts, one a line").fill("a b\nc\n\nd e\nf\n\na b\ng")
    press_score(page)
    expect(page.locator(".vs:visible")).to_contain_text("They stand in 3 paragraphs")
    page.get_by_label("Between two texts").locator("visible=true").click()
    page.get_by_role("option", name="a blank line").click()
    shows(page, compute(["a b\nc", "d e\nf", "a b\ng"], k="ngram_overlap")["VS"])


def test_the_lines_of_python_can_be_copied(visit, server):
    page = visit()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.url)
    page.get_by_role("button", name="A primer").click()
    shows(page, compute(examples.TEXTS["A primer"].splitlines(), k="ngram_overlap")["VS"])
    page.get_by_role("button", name="Copy").locator("visible=true").click()
    code = page.evaluate("navigator.clipboard.readText()")
    assert code.splitlines()[0] == "import vendiscore"
    assert len(code.splitlines()) == 3
    assert "Look, Jane." in code


def downloaded(page, name):
    """What a link downloads; a page that is still busy may swallow the first click."""
    for patience in (10_000, 30_000):
        with contextlib.suppress(playwright.TimeoutError):
            with page.expect_download(timeout=patience) as waiting:
                page.get_by_role("link", name=name).locator("visible=true").click()
            return waiting.value
    raise AssertionError(f"no download of {name}")


def test_table_and_json_can_be_downloaded(visit):
    page = visit()
    with open(downloaded(page, "Everything (JSON)").path(), encoding="utf-8") as file:
        assert json.load(file)["VS"] == pytest.approx(number(page), abs=1e-6)
    assert downloaded(page, "Table (CSV)").suggested_filename == "vendiscore.csv"
