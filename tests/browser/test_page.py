"""The page in a real browser: every tab, every kind of upload, a phone, the dark, a keyboard."""

import contextlib
import io
import json
import os
import re
import shutil
import zipfile

import numpy as np
import pytest
from drawn import png

playwright = pytest.importorskip("playwright.sync_api")
pytest.importorskip("gradio")
from vendiscore.app import encoders, examples  # noqa: E402
from vendiscore.app.comparing import compare  # noqa: E402
from vendiscore.scoring import compute  # noqa: E402

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""
SWITCHES = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update"
)
TABS = ("Text", "Images", "Molecules", "Vectors", "Compare")
expect = playwright.expect
expect.set_options(timeout=20_000)  # a busy machine is no failure


@pytest.fixture(scope="module")
def browser():
    if not os.path.exists(CHROMIUM):
        pytest.skip("no chromium: apt-get install chromium, or set CHROMIUM")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=SWITCHES.split(" "))
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, server):
    """Opens the page; after the test, nothing was asked of another host and nothing went wrong."""
    contexts, wrong = [], []

    def open_page(width: int = 1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda line: line.type == "error" and wrong.append(line.text))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: local(request.url) or wrong.append(request.url))
        page.goto(server.url)
        expect(score(page)).to_be_visible()
        return page

    def local(url: str) -> bool:
        return url.startswith((server.url, "data:", "blob:"))

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def open_tab(page, name: str) -> None:
    tab = page.get_by_role("tab", name=name, exact=True)
    if not tab.is_visible():  # on a narrow screen, gradio keeps some behind a button
        page.locator(".overflow-menu > button").click()
        page.locator(".overflow-dropdown button", has_text=name).click()
    else:
        tab.click()
    expect(page.locator(".vs:visible")).to_be_visible()


def score(page):
    return page.locator(".vs-score:visible")


def number(page) -> float:
    """The score to six digits."""
    text = page.locator(".vs-signature:visible").inner_text()
    return float(re.search(r"VS = ([\d.]+)", text).group(1))


def pick_kernel(page, name: str) -> None:
    page.get_by_label("Kernel").locator("visible=true").click()
    page.get_by_role("option", name=name).click()


def press_score(page) -> None:
    page.get_by_role("button", name="Score", exact=True).locator("visible=true").click()


def shows(page, value: float) -> None:
    expect(page.locator(".vs-signature:visible")).to_contain_text(f"VS = {value:.6f}")


def attach(page, name: str, data: bytes, accordion: str = "Upload a file instead") -> None:
    page.get_by_role("button", name=accordion).locator("visible=true").click()
    expect(page.get_by_text("Drop File Here").locator("visible=true").last).to_be_visible()
    chooser = page.locator("[role=tabpanel]:visible input[type=file]")
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    chooser.last.set_input_files(file)
    expect(page.get_by_text(name.rpartition(".")[0]).locator("visible=true").first).to_be_visible()


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


def zipped(images) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for i, image in enumerate(images):
            archive.writestr(f"folder/{i}.png", png(image))
    return buffer.getvalue()


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


def test_a_wrong_file_is_refused_in_words_and_the_page_works_on(visit):
    page = visit()
    open_tab(page, "Vectors")
    attach(page, "mine.npy", b"\x80\x04K\x01.")
    press_score(page)
    expect(page.get_by_role("alert").locator("visible=true")).to_contain_text("not a .npy array")
    page.get_by_role("button", name="A circle").click()
    expect(score(page)).to_contain_text("effectively different of 24")


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


def test_the_page_works_by_keyboard(visit):
    page = visit()
    page.get_by_label("Texts, one a line").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("one two\nthree four\n")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText") == "Score":
            break
    page.keyboard.press("Enter")
    expect(score(page)).to_contain_text("2.0 effectively different of 2")
    page.get_by_role("tab", name="Text").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="Images").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Images")).to_have_attribute("aria-selected", "true")


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
    result = compare(sets, k="ngram_overlap")
    assert cells(page, 0)[3] == f"{result.mean(0):.2f} ± {result.error(0):.2f}"


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
    expect(page.locator(".vs:visible")).to_contain_text("A is more diverse than B: of 6 images")
    for i, images in enumerate(sets):
        right = compute(images, k="pixels", mode="RGB")["VS"]
        assert cells(page, i)[2] == f"{right:.2f}"


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


def test_html_script_and_templates_are_shown_as_text(visit):
    page = visit()
    texts = ["<img src=x onerror=alert(1)> one", "<script>alert(2)</script>", "${alert(3)} {{3*3}}"]
    page.get_by_label("Texts, one a line").fill("\n".join(texts))
    press_score(page)
    expect(score(page)).to_contain_text("of 3")
    for text in texts:
        expect(page.locator(".vs:visible")).to_contain_text(text)
    page.wait_for_timeout(300)


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


@pytest.mark.parametrize("width", [390, 1280])
def test_no_tab_scrolls_sideways(visit, width):
    page = visit(width)
    for tab in TABS:
        open_tab(page, tab)
        wide, window = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        assert wide <= window == width
        # What would stick out can also be cut off.
        for part in (".vs:visible", ".vs figure:visible", "button:visible", ".cm-editor:visible"):
            for box in page.locator(part).evaluate_all(
                "all => all.map(e => e.getBoundingClientRect())"
            ):
                assert 0 <= box["left"] <= box["right"] <= width, (tab, part)


def test_ink_is_light_in_the_dark_and_dark_in_the_light(visit):
    for scheme, dark in (("dark", True), ("light", False)):
        page = visit(color_scheme=scheme)
        ink = page.locator(".vs:visible svg").first.evaluate("e => getComputedStyle(e).color")
        brightness = np.mean([int(x) for x in re.findall(r"\d+", ink)[:3]])
        assert (brightness > 128) == dark
