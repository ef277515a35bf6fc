"""The web app imports public names of `vendiscore.report`, not internal modules."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "vendiscore_page"


def iter_imports(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (module, name) for each import of a file, including imports in functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def test_page_imports_only_public_names_of_report():
    """Only public modules may be imported as modules."""
    pairs = {pair for path in PAGE.rglob("*.py") for pair in iter_imports(path)}
    package_imports = {pair for pair in pairs if pair[0].partition(".")[0] == "vendiscore"}
    modules = {
        f"{module}.{name}"
        for module, name in package_imports
        if not name or (PAGE.parent / module.replace(".", "/") / f"{name}.py").exists()
    }
    report = import_module("vendiscore.report")
    assert modules == {f"vendiscore.report.{name}" for name in ("thumbnails",)}
    assert {name for module, name in package_imports if module == "vendiscore.report"} <= {
        *report.__all__
    }


def test_report_module_loads_lazily():
    code = "import vendiscore.report, sys; print('vendiscore.analysis' in sys.modules)"
    command = [sys.executable, "-c", f"{code}; from vendiscore.report import *"]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "False\n"
    report = import_module("vendiscore.report")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = report.nothing
