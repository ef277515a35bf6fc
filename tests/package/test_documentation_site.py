"""The built documentation: no external resources, no broken links; tutorials run."""

import os
import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SOURCES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if path.relative_to(DOCS).parts[0] not in ("_build", "paper")  # as docs/conf.py
)
TUTORIALS = sorted((DOCS / "tutorials").glob("*.py"))


class Page(HTMLParser):
    """A page of the site: its anchors, links and loaded resources."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        result = {name: value or "" for name, value in attrs}
        self.anchors |= {result[name] for name in ("id", "name") if name in result}
        if tag == "a" and "href" in result:
            self.links.append(result["href"])
        elif tag == "link" and result.get("rel") not in ("canonical", "index", "search"):
            self.loaded.append(result.get("href", ""))
        if tag not in ("a", "link"):
            self.loaded += [result[name] for name in ("src", "data", "poster") if name in result]
            self.loaded += [part.split()[0] for part in result.get("srcset", "").split(",") if part]
        self.loaded += re.findall(r"url\(([^)]*)\)", result.get("style", ""))


@pytest.fixture(scope="module")
def site() -> Path:
    """Folder of the site, which `.ci/run` builds and passes in VENDISCORE_SITE."""
    if not (built := os.environ.get("VENDISCORE_SITE")):
        pytest.skip("set VENDISCORE_SITE to FOLDER: python -m sphinx -W docs FOLDER")
    return Path(built)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def is_external(address: str) -> bool:
    return bool(re.match(r"(?i)\s*['\"]?(?:[a-z]+:)?//", address))


def test_pages_load_no_external_resources(site: Path, pages: dict[Path, Page]) -> None:
    assert len(pages) > len(SOURCES)
    loaded = [address for page in pages.values() for address in page.loaded]
    assert len(loaded) > len(pages)  # every page has at least a style sheet
    assert [address for address in loaded if is_external(address)] == []
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        addresses = re.findall(r"url\(([^)]*)\)|@import\s+([^;]*);", text)
        assert [a or b for a, b in addresses if is_external(a or b)] == [], style
    for script in (*site.rglob("*.js"), *pages):
        text = script.read_text(encoding="utf-8")
        request_pattern = (
            r"(?:fetch|import|sendBeacon|open|importScripts)\(\s*[^)]{0,40}['\"](?:https?:)?//"
        )
        assert re.findall(request_pattern, text) == [], script


def test_links_have_existing_targets(site: Path, pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                # External addresses are not requested; they must be well-formed.
                assert re.fullmatch(r"https://[\w.-]+\.[a-z]+(/[^\s]*)?", link), (path, link)
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                broken.append((path.relative_to(site), link))
                continue
            anchors = pages[target].anchors if target in pages else {parts.fragment}
            if parts.fragment and unquote(parts.fragment) not in anchors:
                broken.append((path.relative_to(site), link))
    assert broken == []


def test_pages_have_edit_link_and_versions_if_addresses_are_set(
    site: Path, pages: dict[Path, Page]
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = [path.read_text(encoding="utf-8") for path in pages]
    menus = sum('<details class="versions"' in text for text in texts)
    assert menus == len(pages) * ("Documentation" in project["urls"])
    links = sum('class="edit-this-page"' in text for text in texts)
    assert (links >= len(SOURCES)) if "Repository" in project["urls"] else (links == 0)


def test_formulas_are_mathml(pages: dict[Path, Page]) -> None:
    texts = [path.read_text(encoding="utf-8") for path in pages]
    assert sum(text.count("<math ") for text in texts) > 30


def test_llms_txt_lists_every_page(site: Path) -> None:
    listed = re.findall(r"\]\(([^)]+)\): \S", (site / "llms.txt").read_text(encoding="utf-8"))
    page_names = {p.relative_to(DOCS).with_suffix(".html").as_posix() for p in SOURCES}
    assert page_names - {"index.html"} <= set(listed)
    assert all((site / address).exists() for address in listed)


# The site's build runs all of them in their folder; a path of a file may be right there alone.
@pytest.mark.parametrize(
    "tutorial",
    [path for path in TUTORIALS if "Path(" in path.read_text(encoding="utf-8")],
    ids=lambda path: path.stem,
)
def test_tutorial_runs_as_script_from_any_folder(tutorial: Path, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    removed_variables = ("DISPLAY", "VENDISCORE_DATA")
    environment = {
        name: value for name, value in os.environ.items() if name not in removed_variables
    }
    environment |= {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg", "TQDM_DISABLE": "1"}
    # Where there is a display, matplotlib says that this backend does not show.
    quiet = "ignore:FigureCanvasAgg is non-interactive"
    command = [sys.executable, "-W", "error", "-W", quiet, str(tutorial)]
    process = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.strip()
    assert list(tmp_path.iterdir()) == []  # it writes no files


def test_python_in_documents_is_written_as_doctest() -> None:
    code_without_prompt = re.compile(r"^```python\n(?!>>> )", re.MULTILINE)
    assert [
        path for path in SOURCES if code_without_prompt.search(path.read_text(encoding="utf-8"))
    ] == []
