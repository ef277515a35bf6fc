"""The documentation: built without a warning, loads nothing from elsewhere, no dead links."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SOURCES = sorted(p for p in DOCS.rglob("*.md") if not p.is_relative_to(DOCS / "_build"))
TUTORIALS = sorted((DOCS / "tutorials").glob("*.py"))
FENCED = re.compile(r"^(`{3,}|:{3,})([^\n]*)\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)


class Page(HTMLParser):
    """A page of the site: its anchors, where it links to, what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "link" and found.get("rel") not in ("canonical", "index", "search"):
            self.loaded.append(found.get("href", ""))
        if tag not in ("a", "link"):
            self.loaded += [found[name] for name in ("src", "data", "poster") if name in found]
            self.loaded += [part.split()[0] for part in found.get("srcset", "").split(",") if part]
        self.loaded += re.findall(r"url\(([^)]*)\)", found.get("style", ""))


@pytest.fixture(scope="module")
def site() -> Path:
    """The site, built without a warning; `.ci/run` builds it and names its folder."""
    if not (built := os.environ.get("VENDISCORE_SITE")):
        pytest.skip("set VENDISCORE_SITE to FOLDER: python -m sphinx -W docs FOLDER")
    return Path(built)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def elsewhere(address: str) -> bool:
    return bool(re.match(r"(?i)\s*['\"]?(?:[a-z]+:)?//", address))


def test_a_page_loads_nothing_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    assert len(pages) > len(SOURCES)
    loaded = [address for page in pages.values() for address in page.loaded]
    assert len(loaded) > len(pages)  # every page has a style sheet: the test sees what is loaded
    assert [address for address in loaded if elsewhere(address)] == []
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        named = re.findall(r"url\(([^)]*)\)|@import\s+([^;]*);", text)
        assert [a or b for a, b in named if elsewhere(a or b)] == [], style
    for script in (*site.rglob("*.js"), *pages):
        text = script.read_text(encoding="utf-8")
        asked = r"(?:fetch|import|sendBeacon|open|importScripts)\(\s*[^)]{0,40}['\"](?:https?:)?//"
        assert re.findall(asked, text) == [], script


def test_every_link_leads_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                # Sites that cannot be asked here have at least well-formed addresses.
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


def test_formulas_are_drawn_by_the_browser(pages: dict[Path, Page]) -> None:
    texts = [path.read_text(encoding="utf-8") for path in pages]
    assert sum(text.count("<math ") for text in texts) > 30


def test_whole_tables_are_folded_below_the_rows_that_documents_show(site: Path) -> None:
    folded = re.compile(r"<details><summary>All rows</summary>(.*?)</details>", re.DOTALL)
    tables = folded.findall((site / "benchmarks.html").read_text(encoding="utf-8"))
    assert len(tables) > 8
    assert max(table.count("<tr") for table in tables) > 100


def test_every_page_stands_in_llms_txt(site: Path) -> None:
    listed = re.findall(r"\]\(([^)]+)\): \S", (site / "llms.txt").read_text(encoding="utf-8"))
    written = {p.relative_to(DOCS).with_suffix(".html").as_posix() for p in SOURCES}
    assert written - {"index.html"} <= set(listed)
    assert all((site / address).exists() for address in listed)


def test_every_tutorial_has_a_picture_and_a_notebook(site: Path) -> None:
    index = (site / "gallery" / "index.html").read_text(encoding="utf-8")
    assert len(TUTORIALS) == 9
    for tutorial in TUTORIALS:
        assert f"{tutorial.stem}.html" in index
        assert list(site.glob(f"_images/sphx_glr_{tutorial.stem}_001*.png")), tutorial
        assert list(site.glob(f"_downloads/*/{tutorial.stem}.ipynb")), tutorial


# The site's build runs all of them in their folder; a path of a file may be right there alone.
@pytest.mark.parametrize(
    "tutorial",
    [path for path in TUTORIALS if "Path(" in path.read_text(encoding="utf-8")],
    ids=lambda path: path.stem,
)
def test_a_tutorial_runs_as_a_script_from_any_folder(tutorial: Path, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    dropped = ("DISPLAY", "VENDISCORE_DATA")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment |= {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg", "TQDM_DISABLE": "1"}
    # Where there is a display, matplotlib says that this backend does not show.
    quiet = "ignore:FigureCanvasAgg is non-interactive"
    command = [sys.executable, "-W", "error", "-W", quiet, str(tutorial)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()
    assert list(tmp_path.iterdir()) == []  # it leaves nothing behind


def blocks() -> Iterator[tuple[Path, str, str]]:
    """Yield the fenced blocks of all pages: where, in what language, with what text."""
    for path in SOURCES:
        for _, language, text in FENCED.findall(path.read_text(encoding="utf-8")):
            yield path, language.strip(), text


def test_every_block_of_code_is_executed() -> None:
    """Examples by test_sources.py, sessions by test_cli_page.py, figures by the build."""
    counts: dict[str, int] = {}
    for path, language, text in blocks():
        kind = "directive" if language.startswith("{") else language
        counts[kind] = counts.get(kind, 0) + 1
        match kind:
            case "python":
                first, *_ = text.split("\n", 1)
                assert first.startswith(">>> "), f"{path.name}: a block that nothing runs\n{text}"
                prompts = re.findall(r"^(?:>>>|\.\.\.)(?: .*)?$", text, re.MULTILINE)
                assert prompts, path
            case "console":
                assert text.startswith("$ "), f"{path.name}: {text}"
            case "bash":
                assert path.stem in NEWCOMER, f"{path.name}: what runs this?\n{text}"
            case "yaml" | "bibtex" | "text":
                pass  # what is written into a file, or said
            case "directive":
                name, _, argument = language[1:].partition("}")
                assert name in DIRECTIVES, f"{path.name}: what runs {language}?"
                if name == "literalinclude":
                    included = (path.parent / argument.strip()).resolve()
                    assert included.is_relative_to(ROOT / "examples"), language
                    assert included.exists(), language
            case _:
                pytest.fail(f"{path.name}: a block of {language or 'no language'}")
    assert counts["python"] > 40
    assert counts["console"] > 5


# The tests of the harnesses run the files of `examples` that are shown.
DIRECTIVES = ("toctree", "eval-rst", "include", "literalinclude", "figure", "note", "warning")
NEWCOMER = ("start", "compare_models")  # .ci/newcomer.py runs their commands word for word


@pytest.mark.parametrize("word", ["deduplicate", "dedupe", "duplicates"])
def test_a_search_for_duplicates_finds_how_to_remove_them(site: Path, word: str) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    found = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))
    stem = pytest.importorskip("snowballstemmer").stemmer("english").stemWord(word)
    places = set()
    for terms in (found["terms"], found["titleterms"]):
        place = terms.get(stem, [])
        places |= set(place if isinstance(place, list) else [place])
    pages = [found["docnames"][i] for i in places]
    assert "tasks/near_duplicates" in pages
    assert "reference/samples" in pages


# A newcomer reads these in turn, and the opening of a tutorial.
PATH = ("start", "tasks/compare_models", "tasks/per_prompt", "tasks/near_duplicates")


@pytest.mark.parametrize("page", PATH)
def test_no_block_of_the_first_pages_has_more_than_ten_lines_before_a_result(page: str) -> None:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    for _, language, block in FENCED.findall(text):
        if language.strip() == "python":
            first = re.split(r"^(?!>>> |\.\.\.)", block, maxsplit=1, flags=re.MULTILINE)[0]
            assert first.count("\n") <= 10, block


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_opens_with_at_most_ten_statements(tutorial: Path) -> None:
    code = tutorial.read_text(encoding="utf-8").split('"""', 2)[2]
    first, *_ = re.split(r"^# %%$", code, maxsplit=1, flags=re.MULTILINE)
    assert len(ast.parse(first).body) <= 10
