"""Files of every kind can be uploaded, and wrong ones are refused in words."""

import io
import json
import re

import numpy as np
import pytest
from drawn import png
from in_browser import attach, expect, open_tab, press_score, score, shows, zipped

pytest.importorskip("gradio")
from vendiscore.app import examples
from vendiscore.scoring import compute

TEXTS = ["a b c", "a b d", "x y z"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("mine.txt", "\n".join(TEXTS)),
        ("mine.csv", "id,answer\n" + "\n".join(f"{i},{t}" for i, t in enumerate(TEXTS))),
        ("mine.jsonl", "\n".join(json.dumps({"id": "same", "answer": text}) for text in TEXTS)),
    ],
)
def test_texts_can_be_uploaded(visit, name, data):
    page = visit()
    attach(page, name, data.encode())
    if not name.endswith("txt"):
        expect(page.get_by_label("Column").locator("visible=true")).to_have_value("answer")
        expect(page.locator(".vs-read:visible")).to_contain_text("of column 'answer' of mine.")
    press_score(page)
    shows(page, compute(TEXTS, k="ngram_overlap")["VS"])
    expect(page.locator(".vs:visible")).to_contain_text("Read 3 ")


def test_another_column_can_be_picked(visit):
    page = visit()
    other = ["one two", "one three", "four five"]
    rows = "\n".join(f"{a};{b};{i},5" for i, (a, b) in enumerate(zip(TEXTS, other, strict=True)))
    attach(page, "mine.csv", f"left;right;mark\n{rows}".encode("utf-16"))
    expect(page.locator(".vs-read:visible")).to_contain_text("pick a column: left, right, mark")
    press_score(page)
    expect(page.get_by_role("alert").locator("visible=true")).to_contain_text("pick a column")
    page.get_by_label("Column").locator("visible=true").click()
    page.get_by_role("option", name="right").click()
    shows(page, compute(other, k="ngram_overlap")["VS"])
    expect(page.locator(".vs-read:visible")).to_contain_text("It begins: one two")


def test_what_was_turned_to_last_is_scored_and_never_an_example_for_a_refused_file(visit):
    page = visit()
    opener = page.get_by_role("button", name="Upload a file instead").locator("visible=true")
    opener.click()
    chooser = page.locator("[role=tabpanel]:visible input[type=file]").last
    chooser.set_input_files({"name": "a.exe", "mimeType": "text/plain", "buffer": b"MZ"})
    expect(page.get_by_text("Invalid file type: a.exe")).to_be_visible()
    press_score(page)
    expect(page.get_by_role("alert").locator("visible=true")).to_contain_text("No file has arrived")
    chooser.set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": b"a b\nc d\ne"})
    expect(page.locator(".vs-read:visible")).to_contain_text("Read 3 lines of a.txt")
    press_score(page)
    expect(score(page)).to_contain_text("effectively different of 3")
    page.get_by_label("Texts, one a line").fill("a b\nc d")
    press_score(page)
    expect(score(page)).to_contain_text("effectively different of 2")
    opener.click()
    press_score(page)
    expect(page.get_by_role("alert").locator("visible=true")).to_contain_text("No file has arrived")
    page.get_by_role("button", name="A primer").click()
    expect(score(page)).to_contain_text("effectively different of 5")


def npy(X: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, X)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["npy", "csv", "parquet"])
def test_vectors_can_be_uploaded(visit, kind):
    X = np.random.default_rng(0).normal(size=(12, 3)).round(3)
    if kind == "npy":
        data = npy(X)
    elif kind == "csv":
        data = ("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in X)).encode()
    else:
        pandas = pytest.importorskip("pandas")
        data = pandas.DataFrame(X, columns=["a", "b", "c"]).to_parquet()
    page = visit()
    open_tab(page, "Vectors")
    attach(page, f"mine.{kind}", data)
    press_score(page)
    shows(page, compute(X, k="rbf")["VS"])


def test_molecules_can_be_uploaded(visit):
    page = visit()
    open_tab(page, "Molecules")
    attach(page, "mine.csv", b"id,smiles\nX1,CCO\nX2,C1CC\nX3,CCC\nX4,foo(\nX5,c1ccccc1\n")
    press_score(page)
    problem = page.get_by_role("alert").locator("visible=true")
    expect(problem.locator("li")).to_have_text([re.compile("^row 3, 'C1CC'"), re.compile("^row 5")])
    page.get_by_label("Leave out what cannot be used").locator("visible=true").check()
    shows(page, compute(["CCO", "CCC", "c1ccccc1"], k="morgan")["VS"])
    expect(page.locator(".vs:visible")).to_contain_text("Left out 2 of 5 (rows 3, 5)")


def test_images_can_be_uploaded_as_a_zip(visit):
    images = examples.images()["Stripes at all angles"]
    page = visit()
    open_tab(page, "Images")
    attach(page, "mine.zip", zipped(images), "Upload a .zip instead")
    press_score(page)
    shows(page, compute([image.convert("RGB") for image in images], k="pixels")["VS"])


def drop(page, files: dict[str, bytes]) -> None:
    """Drop files on the empty gallery, as from another window."""
    transfer = page.evaluate_handle(
        """files => {
            const transfer = new DataTransfer();
            for (const [name, data] of Object.entries(files))
                transfer.items.add(new File([new Uint8Array(data)], name, {type: "image/png"}));
            return transfer;
        }""",
        {name: list(data) for name, data in files.items()},
    )
    target = page.get_by_role("button", name="Click to upload or drop files")
    target.locator("visible=true").last.dispatch_event("drop", {"dataTransfer": transfer})


def test_images_can_be_dropped_on_the_gallery(visit):
    images = examples.images()["Stripes at all angles"][:5]
    page = visit()
    open_tab(page, "Images")
    page.get_by_role("button", name="Clear", exact=True).locator("visible=true").click()
    drop(page, {f"{i}.png": png(image) for i, image in enumerate(images)})
    expect(page.get_by_role("button", name="Thumbnail 5 of 5")).to_be_visible()
    press_score(page)
    shows(page, compute([image.convert("RGB") for image in images], k="pixels")["VS"])


def test_a_wrong_file_is_refused_in_words_and_the_page_works_on(visit):
    page = visit()
    open_tab(page, "Vectors")
    attach(page, "mine.npy", b"\x80\x04K\x01.")
    press_score(page)
    expect(page.get_by_role("alert").locator("visible=true")).to_contain_text("not a .npy array")
    page.get_by_role("button", name="A circle").click()
    expect(score(page)).to_contain_text("effectively different of 24")
