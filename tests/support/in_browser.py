"""What visitors do in a browser: open a tab, attach a file, press Score, read the number."""

import io
import re
import zipfile

import pytest
from drawn import png

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
expect.set_options(timeout=20_000)  # a busy machine is no failure
TABS = ("Text", "Images", "Molecules", "Vectors", "Compare")


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


def zipped(images) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for i, image in enumerate(images):
            archive.writestr(f"folder/{i}.png", png(image))
    return buffer.getvalue()
