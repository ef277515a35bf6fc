"""The repository has all that a Space needs, and the library stays light without it."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from vendiscore_page.answers import offered_encoders

ROOT = Path(__file__).resolve().parents[2]


def requirements() -> set[str]:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def test_a_space_installs_all_that_the_package_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    own = (extras[name] for name in ("molecules", "images", "plots", "app"))
    needed = {*project["dependencies"]}.union(*own)
    brought = ("vendiscore", "gradio", "starlette")  # by the repository, and by the platform
    needed = {line for line in needed if not line.startswith(brought)}
    assert needed <= requirements()
    # Who loads the metric from a Space runs it at home.
    assert not {line for line in requirements() if line.startswith(("evaluate", "datasets"))}


def test_a_space_has_the_encoders_at_hand_before_it_starts():
    yaml = pytest.importorskip("yaml")
    head = yaml.safe_load((ROOT / "README.md").read_text(encoding="utf-8").split("---")[1])
    preloaded = {line.split()[0] for line in head["preload_from_hub"]}
    allowed = [options for kind in offered_encoders.ALLOWED.values() for options in kind.values()]
    assert preloaded == {options["model_path"] for options in allowed}


def test_requirements_can_be_installed_before_the_repository_is_there():
    for line in requirements():
        assert re.fullmatch(r"[a-z0-9-]+(\[[a-z,]+\])?[<>=.,\d]+", line), line
        assert not line.startswith("gradio"), line


def test_importing_the_package_brings_in_nothing_of_the_page():
    code = (
        "import sys, vendiscore; vendiscore.compute(['a b', 'a c'])\n"
        "heavy = {'gradio', 'matplotlib', 'rdkit', 'PIL', 'torch', 'vendiscore_page'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_handlers_need_no_gradio():
    pytest.importorskip("matplotlib")
    code = (
        "import sys; sys.modules['gradio'] = None\n"
        "from vendiscore_page.answers import api\n"
        "print(api.vendi_score_texts(['a b', 'c d'], 'ngram_overlap')['VS'])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "2.0"
