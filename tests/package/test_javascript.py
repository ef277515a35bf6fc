"""The checks of the page's JavaScript: `.ci/run` runs each, and none is turned off in a file."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tests" / "javascript"
STATIC = ROOT / "vendiscore_page" / "static"


def test_every_check_is_run():
    scripts = json.loads((TOOLS / "package.json").read_text(encoding="utf-8"))["scripts"]
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^ *npm run -s (\w+)$", run, re.MULTILINE)) == sorted(scripts)


def test_the_lock_file_names_no_host():
    """A mirror of the registry can then serve the packages, whose hashes are kept."""
    lock = json.loads((TOOLS / "package-lock.json").read_text(encoding="utf-8"))
    packages = [package for path, package in lock["packages"].items() if path]
    assert not [package for package in packages if "resolved" in package]
    assert all(package["integrity"] for package in packages)


@pytest.mark.parametrize("path", sorted(STATIC.rglob("*.js")), ids=lambda path: path.name)
def test_no_module_turns_a_check_off(path):
    assert not re.search(r"@ts-(nocheck|ignore|expect)|eslint-disable", path.read_text("utf-8"))
