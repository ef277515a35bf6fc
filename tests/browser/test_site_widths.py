"""Pages of the documentation fit windows of many widths."""

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
WIDTHS = (320, 390, 768, 1010, 1024, 1100, 1200, 1280, 1313, 1366, 1400, 1440, 1560, 1920)
# The furo theme hides content that is wider than the window.
SCROLL_WIDTH_SCRIPT = "document.documentElement.scrollWidth"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the theme and style of the documentation site."""
    pytest.importorskip("furo")
    pytest.importorskip("myst_parser")
    folder = tmp_path_factory.mktemp("page")
    code = f"```python\n{'x' * 100}\n```\n"
    headings = "".join(f"## Part {i}\n\n{'words ' * 60}\n\n{code}\n" for i in range(3))
    (folder / "index.md").write_text(f"# Title\n\n{headings}", encoding="utf-8")
    settings = ("extensions=myst_parser", "html_theme=furo", "html_css_files=site.css")
    settings += (f"html_static_path={DOCS / 'static'}",)
    options = [option for setting in settings for option in ("-D", setting)]
    command = [sys.executable, "-m", "sphinx", "-q", "-C", *options, str(folder)]
    subprocess.run([*command, str(folder / "html")], check=True)
    return folder / "html" / "index.html"


def test_page_fits_every_window_width(browser, page: Path) -> None:
    site_page = browser.new_page()
    site_page.goto(page.as_uri())
    reached = {}
    for width in WIDTHS:
        site_page.set_viewport_size({"width": width, "height": 800})
        reached[width] = site_page.evaluate(SCROLL_WIDTH_SCRIPT)
    site_page.close()
    assert reached == {width: width for width in WIDTHS}
