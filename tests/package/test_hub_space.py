"""The repository is a working Hugging Face Space; the library does not import the web app."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from clean_install import PythonProcess
from fake_hub import FakeHub
from page_process import running_app

import vendiscore
from vendiscore_page.answers import offered_encoders

ROOT = Path(__file__).resolve().parents[2]


def read_requirements() -> set[str]:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def test_requirements_contain_all_dependencies():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    extra_dependencies = (extras[name] for name in ("molecules", "images", "plots", "app"))
    needed = {*project["dependencies"]}.union(*extra_dependencies)
    # The repository brings vendiscore, the platform the others.
    installed_elsewhere = ("vendiscore", "gradio", "starlette")
    needed = {line for line in needed if not line.startswith(installed_elsewhere)}
    assert needed <= read_requirements()
    # Users who load the metric from a Space have these packages.
    assert not {line for line in read_requirements() if line.startswith(("evaluate", "datasets"))}


def test_space_preloads_all_offered_encoders():
    yaml = pytest.importorskip("yaml")
    metadata = yaml.safe_load((ROOT / "README.md").read_text(encoding="utf-8").split("---")[1])
    preloaded = {line.split()[0] for line in metadata["preload_from_hub"]}
    allowed = [
        options for models in offered_encoders.ALLOWED.values() for options in models.values()
    ]
    assert preloaded == {options["model_path"] for options in allowed}


def test_requirements_do_not_depend_on_repository():
    for line in read_requirements():
        assert re.fullmatch(r"[a-z0-9-]+(\[[a-z,]+\])?[<>=.,\d]+", line), line
        assert not line.startswith("gradio"), line


def test_compute_loads_no_packages_of_web_app():
    code = (
        "import sys, vendiscore; vendiscore.compute(['a b', 'a c'])\n"
        "heavy = {'gradio', 'matplotlib', 'rdkit', 'PIL', 'torch', 'vendiscore_page'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_handlers_work_without_gradio():
    pytest.importorskip("matplotlib")
    code = (
        "import sys; sys.modules['gradio'] = None\n"
        "from vendiscore_page.answers import api\n"
        "print(api.vendi_score_texts(['a b', 'c d'], 'ngram_overlap')['VS'])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "2.0"


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a clone")
def test_documented_commands_upload_working_space(tmp_path):
    """Run the documented commands, except the login."""
    guide = (ROOT / "docs" / "tasks" / "page_api.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```text\n(git archive .*?)```", guide, re.DOTALL)
    lines = block.replace("OWNER", "someone").splitlines()
    assert len(lines) == 3
    commands = "\n".join(line for line in lines if not line.startswith("hf auth"))
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    files = {"vendiscore/old_module.py": b"of the previous version"}
    with FakeHub("someone/vendiscore", main=files) as hub:
        variables = {
            "HF_ENDPOINT": hub.url,
            "HF_HUB_OFFLINE": "0",
            "HF_TOKEN": "hf_nobody",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        subprocess.run(
            ["bash", "-c", f"set -e\n{commands}"], cwd=clone, env=os.environ | variables, check=True
        )
        assert "vendiscore/old_module.py" not in files
        code = """
        import evaluate
        print(evaluate.load("someone/vendiscore").compute(samples=["a b", "a c", "d"])["VS"])
        print(evaluate.load("someone/vendiscore").compute(samples=["a", "b"], k="word_overlap"))
        """
        loaded = PythonProcess(code, tmp_path, HF_ENDPOINT=hub.url).lines()
    (row,) = re.findall(r"^\| the metric \| (.*) \|$", guide, re.MULTILINE)
    needed = re.findall("`(.+?)`", row)
    only_needed = {name: data for name, data in files.items() if name.split("/")[0] in needed}
    with FakeHub("someone/vendiscore", main=only_needed) as hub:
        other_folder = tmp_path / "other"
        other_folder.mkdir()
        assert PythonProcess(code, other_folder, HF_ENDPOINT=hub.url).lines() == loaded
    assert loaded == [f"{vendiscore.score(['a b', 'a c', 'd'])}", "{'VS': 2.0}"]
    space = tmp_path / "space"
    for name, data in files.items():
        (space / name).parent.mkdir(parents=True, exist_ok=True)
        (space / name).write_bytes(data)
    shutil.rmtree(clone)
    with running_app(tmp_path, space=space):
        assert (space / "vendiscore_page").is_dir()
