"""The pictures of the page in README.md.

python benchmarks/screenshots.py

With HF_HOME at a cache that `tests/helpers/hub_cache.py` filled, and HF_HUB_OFFLINE=1, samples are
compared by the encoders, as on the Space.
"""

from __future__ import annotations

import io
from pathlib import Path

from page import ROOT, SIZES, opened, visited
from page_tasks import models_in_one_table
from PIL import Image
from playwright.sync_api import Page

FOLDER = ROOT / "docs" / "images"
MOST = 150_000  # bytes of a picture
_DONE = "#result .r-bar >> visible=true"


def score(page: Page, tab: str, example: str) -> None:
    page.locator(f"#tab-{tab}").click()
    page.get_by_role("button", name=example, exact=True).click()
    page.locator(_DONE).wait_for()
    settle(page)


def compare_models(page: Page) -> None:
    """Choose one table of the answers of three models, and ask which is more diverse."""
    from in_browser import take  # which is found once `page` is imported

    task = models_in_one_table()
    for step in task.steps:
        take(page, *step)
    page.locator(task.place).wait_for()
    settle(page)


def settle(page: Page) -> None:
    """Wait for the last picture, and leave the top of the page without a mark of the mouse."""
    page.locator("#progress").wait_for(state="hidden")
    page.wait_for_load_state("networkidle")
    page.mouse.move(0, 0)
    page.evaluate("scrollTo(0, 0); document.activeElement.blur()")


def save(page: Page, name: str) -> None:
    """Return the page as it is, in fewer colours where the file would be large."""
    picture = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
    path = FOLDER / f"page-{name}.png"
    picture.save(path, optimize=True)
    if path.stat().st_size > MOST:
        few = picture.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
    size = path.stat().st_size
    if size > MOST:
        raise RuntimeError(f"{path.name} has {size:,} bytes, more than {MOST:,}")
    print(f"{Path(*path.parts[-3:])}: {picture.width} × {picture.height}, {size:,} bytes")


def main() -> None:
    with opened() as (browser, url):
        page = visited(browser, url, 1280, 900)
        score(page, "texts", "A model in a rut")
        save(page, "text")
        score(page, "compare", "Scents, acetates, medicines")
        save(page, "compare")
        page = visited(browser, url, 1280, 1010)
        compare_models(page)
        save(page, "models")
        page = visited(browser, url, *SIZES["phone"], device_scale_factor=2, is_mobile=True)
        score(page, "texts", "A model in a rut")
        page.locator("#result").evaluate("e => e.scrollIntoView()")
        save(page, "phone")
        page = visited(browser, url, 1280, 900, color_scheme="dark")
        score(page, "molecules", "Scents")
        save(page, "dark")


if __name__ == "__main__":
    main()
