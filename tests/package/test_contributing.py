"""The recipes of CONTRIBUTING.md work as written, in a copy of the repository.

A step of a recipe is a block of code after one of these sentences:

- Create `PATH`:
- In `PATH`, above (or below) the line `LINE`, add:
- Run:
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^( *)```\w+\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
CREATE = re.compile(r"Create `([^`]+)`:$")
INSERT = re.compile(r"In `([^`]+)`, (above|below) the line `([^`]+)`, add:$")
RUN = re.compile(r"Run:$")
# For each recipe: a part of the names of its tests, and the minimum number of these tests.
ADDED = {
    "A kernel": ("[length_ratio]", 15),
    "A measure": ("[NearestSim]", 6),
    "A file format": ("[dialogue.srt]", 5),
    "An evaluation harness": ("test_integrations_sklearn.py", 1),
}


class Step(NamedTuple):
    """One step: `action` is "create", "above", "below" or "run"."""

    action: str
    path: str
    line: str
    block: str


def parse_recipe(title: str) -> list[Step]:
    """Return the steps of a section; raise if the sentence before a block is unknown."""
    section = re.search(rf"^### {re.escape(title)}\n(.*?)^##", GUIDE, re.MULTILINE | re.DOTALL)
    assert section, f"CONTRIBUTING.md has no section {title!r}"
    steps, end = [], 0
    for match in BLOCK.finditer(section[1]):
        sentence = " ".join(section[1][end : match.start()].split())
        block, end = textwrap.dedent(match[2].removesuffix("\n")), match.end()
        if result := INSERT.search(sentence):
            path, action, line = result.groups()
            block = textwrap.indent(block, " " * count_indent(match[2], len(match[1])))
            steps.append(Step(action, path, line, block))
        elif result := CREATE.search(sentence):
            steps.append(Step("create", result[1], "", block))
        else:
            assert RUN.search(sentence), f"unknown instruction before a block: …{sentence[-80:]}"
            steps.append(Step("run", "", "", block))
    return steps


def count_indent(block: str, fence: int) -> int:
    """Return by how many spaces the lines of a block are indented more than its fence."""
    return min(len(line) - len(line.lstrip()) for line in block.splitlines() if line) - fence


def apply_step(step: Step, folder: Path) -> None:
    """Create a file, or add lines above or below the only line that is the named one."""
    path = folder / step.path
    if step.action == "create":
        assert not path.exists()
        path.write_text(step.block + "\n", encoding="utf-8")
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    indices = [i for i, line in enumerate(lines) if line.strip() == step.line]
    assert len(indices) == 1, f"{step.path} has the line {step.line!r} {len(indices)} times"
    index = indices[0] + (step.action == "below")
    lines[index:index] = step.block.splitlines()
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def call(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment in a copy of the repository, whose packages it imports."""
    program, *arguments = command
    assert program.startswith(".venv/bin/")
    name = program.removeprefix(".venv/bin/")
    program = sys.executable if name == "python" else str(Path(sys.executable).with_name(name))
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")},
        "PYTHONPATH": str(folder),
        "PYTEST_ADDOPTS": "-v -p no:cacheprovider",
    }
    return subprocess.run(
        [program, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the tracked files, without a history."""
    if not (ROOT / ".git").exists():
        pytest.skip("needs a clone")
    process = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for name in filter(None, process.stdout.split("\0")):
        target = tmp_path / "clone" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():  # not one that is deleted, but not committed
            shutil.copy2(ROOT / name, target)
    return tmp_path / "clone"


@pytest.mark.parametrize("title", ADDED)
def test_recipe_works_as_written(title: str, clone: Path) -> None:
    name, min_passed = ADDED[title]
    steps = parse_recipe(title)
    changes = [step for step in steps if step.action != "run"]
    commands = [line for step in steps if step.action == "run" for line in step.block.splitlines()]
    assert commands
    for step in changes:
        apply_step(step, clone)
    passed = []
    for command in commands:
        process = call(shlex.split(command), clone)
        assert process.returncode == 0, (
            f"{command}\n{process.stdout[-3000:]}\n{process.stderr[-3000:]}"
        )
        passed += re.findall(r"^(\S+::.*\S) PASSED", process.stdout, re.MULTILINE)
    assert len([test for test in passed if name in test]) >= min_passed, passed
    python = [step.path for step in changes if step.path.endswith(".py")]
    for check in (
        [".venv/bin/ruff", "check", *python],
        [".venv/bin/ruff", "format", "--check", *python],
        [".venv/bin/python", "-m", "pytest", "tests/package/test_module_names.py"],
    ):
        process = call(check, clone)
        assert process.returncode == 0, process.stdout


@pytest.mark.long
@pytest.mark.parametrize("title", ["A kernel", "A measure"])
def test_contract_rejects_wrong_values(title: str, clone: Path) -> None:
    """A recipe's command fails if its kernel or measure returns twice the value."""
    for step in parse_recipe(title):
        if step.action == "run":
            lines = step.block.splitlines()
            command = shlex.split(next(line for line in lines if "_contract.py" in line))
        else:
            apply_step(step, clone)
        if step.action == "create" and not step.path.startswith("tests/"):
            path = clone / step.path
            text, n = re.subn(r"(np\.exp|float)\(", r"2 * \1(", path.read_text(encoding="utf-8"))
            assert n == 1
            path.write_text(text, encoding="utf-8")
    process = call(command, clone)
    assert process.returncode == 1, process.stdout[-2000:]
    assert f"{ADDED[title][0]} FAILED" in process.stdout
