"""Saved charts are complete files, and results fit on a phone."""

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from browser_actions import button, choose_similarity, expect, open_tab, paste, press_score

pytest.importorskip("uvicorn")
from PIL import Image

SVG = "{http://www.w3.org/2000/svg}"
PHONE = (390, 844)
CHARTS = {
    "Similarity to the nearest sample": ["similarity to the nearest sample", "samples"],
    "Map": ["Similar samples are close to each other; the axes have no meaning."],
    "Spectrum": ["direction, largest first", "proportion of the set (%)"],
    "Profile": ["order q", "effective number of samples"],
    "Growth": ["samples", "effective number of samples"],
    "Similarities": ["samples, clustered", "samples, in the same order", "similarity"],
}


def score_example(page, example: str = "A model in a rut") -> None:
    button(page, example).click()
    expect(page.locator("#result .r-bar")).to_be_visible()
    expect(page.locator("#progress")).to_be_hidden()


def save_chart(page, chart: str, kind: str) -> bytes:
    button(page, f"Save the chart: {chart}").click()
    with page.expect_download() as waiting:
        page.locator(".r-panel:visible").get_by_role("button", name=kind).click()
    assert waiting.value.suggested_filename.endswith(f".{kind.lower()}")
    with open(waiting.value.path(), "rb") as file:
        return file.read()


def save_all_charts(page) -> dict[str, bytes]:
    score_example(page)
    page.get_by_role("heading", name="For papers").click()
    expect(page.locator(".r-papers img")).to_have_count(4)
    files = {}
    for chart in CHARTS:
        files[chart] = save_chart(page, chart, "SVG")
    return files


def test_saved_svg_charts_have_titles_and_ignore_theme(visit):
    light = save_all_charts(visit(color_scheme="light"))
    for chart, titles in CHARTS.items():
        drawing = ElementTree.fromstring(light[chart])
        words = [text.text for text in drawing.iter(f"{SVG}text")]
        assert words[0] == chart
        assert words[1].startswith("A model in a rut · ")
        assert set(titles) <= set(words)
        assert not re.search(rb'currentColor|var\(|href="(?!#|data:)', light[chart])
        assert drawing.find(f"{SVG}rect").get("fill") == "#ffffff"
    dark = save_all_charts(visit(color_scheme="dark"))
    assert dark == light


@pytest.mark.parametrize("chart", ["Similarity to the nearest sample", "Map"])
def test_saved_png_has_white_background_and_triple_resolution(visit, chart):
    page = visit(color_scheme="dark")
    score_example(page)
    drawing = ElementTree.fromstring(save_chart(page, chart, "SVG"))
    picture = Image.open(io.BytesIO(save_chart(page, chart, "PNG")))
    assert picture.size == tuple(3 * int(drawing.get(name)) for name in ("width", "height"))
    pixels = np.asarray(picture.convert("RGB"))
    assert (pixels[[0, -1]] == 255).all()
    assert pixels.min() < 100
    if chart == "Map":  # the colour of the largest theme
        assert (0x7C, 0x6C, 0xF2) in {tuple(pixel) for pixel in pixels.reshape(-1, 3).tolist()}


def test_server_pictures_have_their_size_before_loading(visit):
    page = visit()
    score_example(page)
    page.get_by_role("heading", name="For papers").click()
    pictures = page.locator(".r-papers img")
    expect(pictures).to_have_count(4)
    for picture in pictures.all():
        picture.evaluate("image => image.decode()")
        box_ratio, natural_ratio = picture.evaluate(
            "image => [image.getAttribute('width') / image.getAttribute('height'),"
            " image.naturalWidth / image.naturalHeight]"
        )
        assert box_ratio == pytest.approx(natural_ratio, rel=0.02)


@pytest.mark.parametrize("size", [(1280, 800), (320, 800)], ids=str)
def test_labels_of_scale_do_not_overlap(visit, size):
    page = visit(*size)
    score_example(page)
    names = page.locator(".r-scale text")
    expect(names.nth(3)).to_be_visible()
    # Measured at one moment, because the page may still be scrolling.
    boxes = names.evaluate_all("all => all.map(each => each.getBoundingClientRect().toJSON())")
    for i, a in enumerate(boxes):
        assert 0 <= a["x"] <= a["x"] + a["width"] <= size[0]
        for b in boxes[:i]:
            no_overlap = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
            assert no_overlap or abs(a["y"] - b["y"]) > 12


def test_table_rows_are_cards_on_phone(visit):
    page = visit(*PHONE)
    score_example(page)
    table = page.get_by_role("region", name="Table of all samples")
    line = table.locator("tbody tr").first
    for column in ("theme", "nearest", "similarity", "contribution"):
        cell = line.locator(f"[data-head={column}]")
        expect(cell).to_be_visible()
        assert column in cell.evaluate("cell => getComputedStyle(cell, '::before').content")
        assert cell.evaluate(
            "cell => cell.getBoundingClientRect().top >="
            " cell.parentElement.querySelector('.r-sample').getBoundingClientRect().bottom - 1"
        )
    assert table.evaluate("node => node.scrollWidth <= node.clientWidth")
    table.get_by_role("button", name="contribution").click()
    expect(table.get_by_role("columnheader", name="contribution")).to_have_attribute(
        "aria-sort", "descending"
    )
    open_tab(page, "Compare")
    page.get_by_role("button", name="In a rut or not").click()
    expect(page.locator("#result .r-drawn")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize(("tab", "n"), [("Text", 1_000), ("Vectors", 2_000)])
def test_charts_of_random_subset_have_note(visit, tab, n):
    page = visit()
    open_tab(page, tab)
    if tab == "Text":
        rows = [f"{a} {b} {a + b}" for a in range(70) for b in range(30)]
        paste(page, "\n".join(rows))
        choose_similarity(page, "share words")
    else:
        paste(page, "\n".join(f"{np.cos(i):.4f},{np.sin(i):.4f},1" for i in range(2_100)))
    press_score(page)
    note = page.get_by_text(f"This figure shows a random subset of {n:,} of all 2,100 samples.")
    expect(note.locator("visible=true")).to_have_count(2)  # the histogram and the map


def test_charts_have_no_subset_note_if_only_rows_were_dropped(visit):
    page = visit()
    open_tab(page, "Vectors")
    paste(page, "1,0\n0,1\n1,x\n1,1\n2,1")
    press_score(page)
    expect(page.locator("#result .r-bar")).to_be_visible()
    expect(page.get_by_text("This figure shows a random subset")).to_have_count(0)
