"""Sets are compared on the page as by the package, and long work can be stopped."""

import numpy as np
import pytest
from in_browser import expect, open_tab, pick_kernel, press_score, zipped

pytest.importorskip("gradio")
from vendiscore.app import examples
from vendiscore.scoring import compute
from vendiscore.uncertainty import compare


def cells(page, row: int) -> list[str]:
    """A row of the table of a comparison: set, n, score, at matched size, against A."""
    return page.locator(".vs:visible tbody tr").nth(row).locator("th, td").all_inner_texts()


def test_the_page_compares_with_the_numbers_of_the_package(visit):
    page = visit()
    open_tab(page, "Compare")
    kind, *boxes = examples.COMPARISONS["In a rut or not"]
    sets = [box.splitlines() for box in boxes if box]
    assert kind == "texts"
    for i, texts in enumerate(sets):
        right = compute(texts, k="ngram_overlap")["VS"]
        assert cells(page, i)[:3] == ["AB"[i], str(len(texts)), f"{right:.2f}"]
    result = compare(*sets, level=0.99, permutations=299)
    for i, row in enumerate(result.sets):
        assert cells(page, i)[3] == f"{row.matched:.2f} ± {row.matched_se:.2f}"
    assert f"p = {result.pairs[0].p_adjusted:.2g}" in cells(page, 1)[4]


def test_sets_of_images_can_be_compared(visit):
    page = visit()
    open_tab(page, "Compare")
    page.get_by_label("images").locator("visible=true").check()
    _, copies, stripes = examples.images().values()
    sets = [stripes, copies]
    uploads = page.locator("[role=tabpanel]:visible input[type=file]")
    expect(uploads).to_have_count(3)
    for i, images in enumerate(sets):
        file = {"name": f"{i}.zip", "mimeType": "application/zip", "buffer": zipped(images)}
        uploads.first.set_input_files(file)  # an upload that is done has no input any more
        expect(uploads).to_have_count(2 - i)
    press_score(page)
    expect(page.locator(".vs:visible")).to_contain_text("A is more diverse than B: of ")
    for i, images in enumerate(sets):
        right = compute(images, k="pixels", mode="RGB")["VS"]
        assert cells(page, i)[2] == f"{right:.2f}"


def test_long_work_can_be_stopped(visit):
    page = visit()
    open_tab(page, "Compare")
    rng = np.random.default_rng(0)
    for letter, n in (("A", 1000), ("B", 900), ("C", 800)):
        rows = "\n".join(",".join(f"{x:.3f}" for x in row) for row in rng.normal(size=(n, 3)))
        page.get_by_role("textbox", name=f"Set {letter}").fill(rows)
    page.get_by_label("vectors").locator("visible=true").check()
    pick_kernel(page, "rbf")
    press_score(page)
    expect(page.locator(".vs-note:visible")).to_contain_text("% done")
    page.get_by_role("button", name="Stop").locator("visible=true").click()
    expect(page.locator(".vs-note:visible")).to_have_text("Stopped. Score starts again.")
    page.wait_for_timeout(3500)  # for what would still come
    expect(page.locator(".vs-note:visible")).to_have_text("Stopped. Score starts again.")
    page.get_by_role("button", name="In a rut or not").click()
    expect(page.locator(".vs:visible")).to_contain_text("B is more diverse than A")
