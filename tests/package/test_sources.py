"""Every source file is linted, formatted, type-checked and doctested; none is a link."""

import ast
import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DROPPED = sorted((ROOT / "kernels").glob("*.py"))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def output(*command: str, folder: Path = ROOT) -> str:
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    """The mode and the path of each file that git knows."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    return output("git", "ls-files", "--stage").splitlines()


@pytest.fixture(scope="module")
def sources(tracked) -> list[str]:
    return [path for line in tracked if (path := line.partition("\t")[2]).endswith(".py")]


def test_no_file_is_a_link(tracked):
    assert [line for line in tracked if line.startswith("120000")] == []


def test_ruff_checks_and_formats_every_source_file(sources):
    pytest.importorskip("ruff")
    ruff = (sys.executable, "-m", "ruff")
    # Files that the configuration excludes are left out, though they are named.
    seen = output(*ruff, "check", "--force-exclude", "--show-files", *sources).splitlines()
    assert {str(Path(path).relative_to(ROOT)) for path in seen} == set(sources)
    formatted = output(*ruff, "format", "--check", "--force-exclude", *sources)
    assert formatted.split()[0] == str(len(sources))


def test_mypy_checks_the_package_and_all_kernels(sources, monkeypatch):
    main = pytest.importorskip("mypy.main")
    monkeypatch.chdir(ROOT)
    checked, _ = main.process_options([])
    folders = ("vendiscore/", "vendiscore_page/", "kernels/")
    expected = {path for path in sources if path.startswith(folders)}
    assert {source.path for source in checked} >= expected


# pytest with a plugin that tells which Python files it would read, and reads none.
COLLECTED = """
import pytest

class Tell:
    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path):
        found = yield
        if any(type(collector).__name__ == "DoctestModule" for collector in found):
            print("doctest:", file_path)
        return [] if file_path.suffix == ".py" else found

pytest.main(["--collect-only", "-sqq", "--noconftest", "-p", "no:cacheprovider"], plugins=[Tell()])
"""


def documented(path: str) -> bool:
    """Return whether a docstring in the file has an example."""
    nodes = ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    return any(">>> " in (ast.get_docstring(n) or "") for n in nodes if isinstance(n, kinds))


def test_every_example_in_a_docstring_is_run(sources):
    told = output(sys.executable, "-c", COLLECTED).splitlines()
    run = {Path(line.removeprefix("doctest: ")) for line in told if line.startswith("doctest: ")}
    assert [p for p in sources if documented(p) and ROOT / p not in {*run, *DROPPED}] == []


@pytest.mark.parametrize("path", DROPPED, ids=lambda path: path.stem)
def test_examples_of_dropped_kernels_run(path):
    module = importlib.import_module(f"vendiscore.kernels.{path.stem}")
    assert Path(module.__file__) == path
    assert doctest.testmod(module, optionflags=FLAGS).failed == 0


PAGES = [ROOT / "kernels" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if ">>> " in page.read_text(encoding="utf-8")]


@pytest.mark.usefixtures("own_registry")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page):
    assert doctest.testfile(str(page), False, optionflags=FLAGS).failed == 0
