"""Documented import paths can be imported, and are known to type checkers."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vendiscore
from vendiscore import plots

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted((ROOT / "docs" / "reference").glob("*.md")), ROOT / "docs" / "stability.md"]
PACKAGE = ROOT / "vendiscore"
DIRECTIVE = re.compile(r"^\.\. auto(\w+):: (vendiscore[\w.]*)$", re.MULTILINE)


def find_documented_paths() -> tuple[set[str], set[tuple[str, str]]]:
    """Return the documented modules, and the documented names of modules as (module, name)."""
    modules = {"vendiscore"}
    for file in PACKAGE.rglob("*.py"):
        if file.read_text(encoding="utf-8").startswith('"""The documented import path of '):
            path = file.relative_to(ROOT).with_suffix("")
            modules.add(".".join(path.parts).removesuffix(".__init__"))
    names = {("vendiscore", name) for name in vendiscore.__all__}
    names |= {("vendiscore.plots", name) for name in plots.__all__}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for kind, path in DIRECTIVE.findall(text):
            if kind == "module":
                modules.add(path)
            else:
                module, _, name = path.rpartition(".")
                names.add((module, name))
    return modules | {module for module, _ in names}, names


MODULES, NAMES = find_documented_paths()
# Imports one path after another and prints the errors, except packages that are not installed.
CHECK = """
import importlib, json, sys
modules, names = json.load(sys.stdin)
errors, missing = [], []
for line in [f"import {m}" for m in modules] + [f"from {m} import {n}" for m, n in names]:
    try:
        exec(line, {})
    except ImportError as error:
        package = getattr(error, "package", None)
        if package is None:
            errors.append(f"{line}: {error!r}")
        else:
            missing.append(package)
    except Exception as error:
        errors.append(f"{line}: {error!r}")
import vendiscore
if not callable(vendiscore.report):
    errors.append("vendiscore.report is no function")
print(json.dumps([errors, sorted(set(missing))]))
"""


def test_documented_paths_are_found():
    assert len(MODULES) > 20
    assert len(NAMES) > 100
    assert ("vendiscore.analysis.comparison", "Comparison") in NAMES
    assert "vendiscore.report.thumbnails" in MODULES


@pytest.mark.parametrize(
    "reverse",
    [
        pytest.param(False, id="in order"),
        pytest.param(True, id="in reverse order", marks=pytest.mark.long),
    ],
)
def test_documented_paths_can_be_imported_in_fresh_process(reverse):
    paths = [sorted(MODULES, reverse=reverse), sorted(NAMES, reverse=reverse)]
    run = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:vendiscore", "-c", CHECK],
        input=json.dumps(paths),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    errors, missing = json.loads(run.stdout)
    assert errors == []
    # Only integrations need packages that may not be installed.
    optional = {"torch", "torchmetrics", "transformers", "lm_eval", "inspect_ai", "matplotlib"}
    assert set(missing) <= optional | {"trl"}


def test_type_checkers_find_every_documented_path(tmp_path):
    pyright = shutil.which("pyright", path=f"{Path(sys.executable).parent}") or shutil.which(
        "pyright"
    )
    if pyright is None:
        pytest.skip("pyright is not installed: pip install 'pyright[nodejs]'")
    lines = [f"import {module}" for module in sorted(MODULES)]
    for i, (module, name) in enumerate(sorted(NAMES)):
        lines += [f"from {module} import {name} as name_{i}", f"reveal_type(name_{i})"]
    (tmp_path / "imports.py").write_text("\n".join(lines), encoding="utf-8")
    settings = {
        "include": ["imports.py"],
        "extraPaths": [str(ROOT)],
        "typeCheckingMode": "basic",
        "reportMissingModuleSource": False,
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    run = subprocess.run(
        [pyright, "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    messages = json.loads(run.stdout)["generalDiagnostics"]
    errors = [diagnostic["message"] for diagnostic in messages if diagnostic["severity"] == "error"]
    assert errors == []
    # A module with `__getattr__` would give a type to names that it does not have.
    revealed = [
        diagnostic["message"] for diagnostic in messages if diagnostic["severity"] == "information"
    ]
    assert len(revealed) == len(NAMES)
    untyped = ('is "Unknown"', 'is "object"', 'is "Any"')
    assert [message for message in revealed if message.endswith(untyped)] == []
