"""Actions in a browser, such as opening a tab, pasting and scoring, and checks of the page."""

from __future__ import annotations

import io
import re
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from image_samples import encode_png

if TYPE_CHECKING:
    from page_tasks import Task

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
expect.set_options(timeout=60_000)  # a busy machine is not a failure
TABS = ("Text", "Images", "Molecules", "Vectors", "Compare")
_UPLOAD_FOLDER = tempfile.TemporaryDirectory(prefix="vendiscore-chosen-")  # until Python ends
# The browser counts mouse presses.
# Playwright stops events at the window and repeats them if the element has moved meanwhile, so the
# document receives each click once.
COUNT_CLICKS_SCRIPT = (
    "window.clicks = 0; document.addEventListener('pointerdown', () => (window.clicks += 1), true);"
)
# Accessible name of the focused element.
FOCUSED_NAME_SCRIPT = """(document.activeElement.ariaLabel
    || document.activeElement.labels?.[0]?.innerText
    || document.activeElement.innerText || '').trim()"""


def count_clicks(page) -> int:
    """Return how often the mouse was pressed since the page was loaded."""
    return page.evaluate("window.clicks")


def button(page, name: str):
    return page.get_by_role("button", name=name, exact=True)


def open_tab(page, name: str) -> None:
    tab = page.get_by_role("tab", name=name, exact=True)
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")


def paste(page, text: str, textbox=None) -> None:
    """Click into the box, and paste."""
    (textbox or page.locator("#box")).click()
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("ControlOrMeta+V")


def choose_files(page, *files: tuple[str, bytes] | Path, container=None) -> None:
    """Click "Choose files", and choose files given as (name, data) or as paths."""
    chooser = (container or page.locator("#samples")).locator("label:has(input[type=file])")
    with page.expect_file_chooser() as window:
        chooser.click()
    folder = Path(tempfile.mkdtemp(dir=_UPLOAD_FOLDER.name))  # read after this call, too
    window.value.set_files([_write_upload(file, folder) for file in files])


def get_focused_name(page) -> str:
    return page.evaluate(FOCUSED_NAME_SCRIPT)


def tab_to(page, name: str) -> None:
    """Press Tab until the element whose name starts with `name` has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if get_focused_name(page).startswith(name):
            return
    raise AssertionError(
        f"{name!r} cannot be reached by Tab; the focus is on {get_focused_name(page)!r}"
    )


def drop_files(page, *files: tuple[str, bytes], selector: str = "body") -> None:
    """Drop files onto an element."""
    transfer = page.evaluate_handle(
        """files => {
            const transfer = new DataTransfer();
            for (const [name, data] of files)
                transfer.items.add(new File([new Uint8Array(data)], name));
            return transfer;
        }""",
        [[name, list(data)] for name, data in files],
    )
    for event in ("dragenter", "dragover", "drop"):
        page.locator(selector).first.dispatch_event(event, {"dataTransfer": transfer})


def _write_upload(file: tuple[str, bytes] | Path, folder: Path) -> Path:
    """Write the contents of a file to `folder`, unless a path is passed, and return the path.

    Uploading a path is about ten times as fast as sending the contents to the browser.
    """
    if isinstance(file, Path):
        return file
    name, data = file
    (folder / name).write_bytes(data)
    return folder / name


def expect_read_note(page, text: str | re.Pattern[str]) -> None:
    """Check the note below the samples about the file."""
    expect(page.locator("#read")).to_contain_text(text)


def press_score(page) -> None:
    page.locator("#score").click()


def choose_similarity(page, label: str) -> None:
    """Select a similarity by its label."""
    page.locator("#alike").get_by_role("radio", name=label).click()


def find_question_menu(page):
    return page.get_by_role("combobox", name="Show:", exact=True)


def choose_question(page, label: str) -> None:
    """Choose a question of a table in the menu above the result, with two presses of the mouse."""
    menu = find_question_menu(page)
    for _ in range(2):  # the menu of the browser itself cannot be pressed by a test
        menu.click()
        page.keyboard.press("Escape")
    menu.select_option(label)


def score_number(page):
    return page.locator("#result .r-number")


def expect_score(page, value: float, n: int | str) -> None:
    """Check that an up-to-date score is shown, rounded to one decimal."""
    total = f"{n:,}" if isinstance(n, int) else n
    expect(score_number(page)).to_have_text(re.compile(rf"^≈ {value:,.1f} of {total}( ± [\d.]+)?$"))
    expect(page.locator("#result .r-was")).to_be_hidden()
    expect(page.locator("#progress")).to_be_hidden()


def find_group(page, position: int):
    """Return a group of near-duplicates by its position, largest first."""
    return page.locator(".r-groups > details").nth(position)


def find_row(page, label: int | str):
    """Return the table row of a sample."""
    name = page.get_by_role("rowheader", name=str(label), exact=True)
    return (
        page.get_by_role("region", name="Table of all samples").get_by_role("row").filter(has=name)
    )


def read_table(page, label: str) -> list[dict[str, str]]:
    """Return the table of a region as one dict per row."""
    expect(page.locator("[inert]")).to_have_count(0)  # the example, which a result replaces
    table = page.locator(f"[aria-label='{label}'] table")
    header = table.locator("thead th").all_text_contents()
    rows = table.locator("tbody tr").all()
    return [
        dict(zip(header, row.locator("th, td").all_text_contents(), strict=True)) for row in rows
    ]


def expect_comparison(page, expected) -> None:
    """Check that the tables behind “Uncertainty and notes” show the numbers of a comparison."""
    sets = {row.name: row for row in expected.sets}
    for cells in read_table(page, "Scores of the sets"):
        row = sets.pop(cells["set"])
        values = [float(cells[name].replace(",", "")) for name in ("n", "VS", "matched")]
        assert values == pytest.approx([row.n, row.score, row.matched], rel=5e-3)
    assert not sets
    for cells in read_table(page, "Differences between the sets"):
        a, b = cells["a"], cells["b"]
        (row,) = (pair for pair in expected.pairs if {pair.a, pair.b} == {a, b})
        sign = 1 if row.a == a else -1
        values = float(cells["difference"].replace("−", "-").replace(",", ""))
        assert values == pytest.approx(sign * row.difference, rel=5e-3, abs=1e-9)
        assert float(cells["p"].replace("−", "-")) == pytest.approx(row.p_adjusted, rel=5e-3)
        assert cells["verdict"] == expected.verdict(a, b)


def open_more_settings(page) -> None:
    """Open the section with more settings."""
    page.locator("#alike details > summary").click()


def download_file(page, name: str) -> bytes:
    """Return the file that an entry of the download menu saves."""
    button(page, "Download").click()
    return save_file(page, name, page.locator(".r-panel:visible"))


def save_file(page, name: str, container=None) -> bytes:
    """Return the file that a button saves."""
    with page.expect_download() as waiting:
        (container or page).get_by_role("button", name=name).click()
    with open(waiting.value.path(), "rb") as file:
        return file.read()


STEP_FUNCTIONS = {
    "open": open_tab,
    "paste": paste,
    "choose": lambda page, name, data, at: choose_files(
        page, (name, data), container=None if at is None else page.locator(".set").nth(at)
    ),
    "choose_sets": lambda page, *files: choose_files(
        page, *files, container=page.locator(".row:has(> #add-set)")
    ),
    "press": lambda page, name: button(page, name).click(),
    "ask": choose_question,
    "download": download_file,
    "save": save_file,
    "tab_to": tab_to,
    "fill": lambda page, name, text: page.get_by_label(name).fill(text),
    "type": lambda page, text: page.keyboard.insert_text(text),
    "key": lambda page, key: page.keyboard.press(key),
}


def perform_step(page, verb: str, *objects) -> bytes | None:
    """Perform a step such as ("press", "Score"); return the file it downloads."""
    return STEP_FUNCTIONS[verb](page, *objects)


def perform_task(page, task: Task, start: int = 0) -> bytes | None:
    """Perform the steps of a task; check its result and its number of clicks.

    Return the bytes of the file that the last step downloaded, or None.
    """
    for step in task.steps[start:]:
        data = perform_step(page, *step)
    expect(page.locator(task.selector)).to_contain_text(task.expected_text)
    expect(page.locator("#result .r-was")).to_be_hidden()
    expect(page.locator("#progress")).to_be_hidden()
    assert count_clicks(page) <= task.max_clicks
    return data


def zip_images(images: Sequence[object]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for i, image in enumerate(images):
            archive.writestr(f"folder/{i:03}.png", encode_png(image))
    return buffer.getvalue()
