"""The repository is a working Hugging Face Space; the library does not import the web app."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from clean_install import PythonProcess
from fake_hub import FakeHub
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from page_process import running_app

import vendiscore
from vendiscore_page.answers import offered_encoders

ROOT = Path(__file__).resolve().parents[2]


def read_requirements() -> dict[str, SpecifierSet]:
    """Return the versions that the Space accepts, by package."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    requirements = [Requirement(line) for line in lines if line and not line.startswith(("#", "-"))]
    return {requirement.name: requirement.specifier for requirement in requirements}


def test_requirements_contain_all_dependencies():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = ("molecules", "images", "plots", "static", "arrow", "evaluate", "app")
    needed = {*project["dependencies"]}.union(*(extras[name] for name in names))
    accepted = read_requirements()
    for requirement in map(Requirement, needed):
        # The repository contains vendiscore, and gradio, which the platform adds, the others.
        if requirement.name in ("vendiscore", "starlette", "uvicorn", "python-multipart"):
            continue
        (lowest,) = (each for each in accepted[requirement.name] if each.operator in (">=", "=="))
        assert lowest.version in requirement.specifier, requirement.name


def test_requirements_accept_tested_versions_only():
    for name, specifier in read_requirements().items():
        operators = {each.operator for each in specifier}
        assert operators & {"==", "<", "<="}, f"{name} has no upper bound"
        try:
            installed = version(name)
        except PackageNotFoundError:
            continue
        if name not in ("torch", "torchvision"):
            assert installed in specifier, name


def test_space_installs_torch_for_cpus():
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert "\n--extra-index-url https://download.pytorch.org/whl/cpu\n" in text
    accepted = read_requirements()
    # With a range, pip would prefer a newer version for CUDA from the default index.
    assert all(str(accepted[name]).startswith("==") for name in ("torch", "torchvision"))


def test_space_preloads_all_offered_encoders():
    yaml = pytest.importorskip("yaml")
    metadata = yaml.safe_load((ROOT / "README.md").read_text(encoding="utf-8").split("---")[1])
    preloaded = {line.split()[0] for line in metadata["preload_from_hub"]}
    allowed = [
        options for models in offered_encoders.ALLOWED.values() for options in models.values()
    ]
    assert preloaded == {options["model_path"] for options in allowed}


def test_requirements_do_not_depend_on_repository():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    options = {line.split()[0] for line in lines if line.startswith("-")}
    assert options == {"--extra-index-url"}
    assert "gradio" not in read_requirements()


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


def run_documented_commands(name: str, clone: Path, hub: FakeHub) -> None:
    """Upload a Space by the commands of the guide, except the login, from a new clone."""
    guide = (ROOT / "docs" / "tasks" / "page_api.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```text\n(git archive .*?)```", guide, re.DOTALL)
    (block,) = (each for each in blocks if f"hf upload OWNER/{name} " in each)
    lines = block.replace("OWNER", "someone").splitlines()
    commands = "\n".join(line for line in lines if not line.startswith("hf auth"))
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    variables = {
        "HF_ENDPOINT": hub.url,
        "HF_HUB_OFFLINE": "0",
        "HF_TOKEN": "hf_nobody",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    subprocess.run(
        ["bash", "-c", f"set -e\n{commands}"], cwd=clone, env=os.environ | variables, check=True
    )


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a clone")
def test_documented_commands_upload_magnitude_space(tmp_path):
    files = {"README.md": b""}
    samples = [[0.0, 0.0], [0.0, 1.0], [3.0, 0.0]]
    with FakeHub("someone/magnitude", main=files) as hub:
        run_documented_commands("magnitude", tmp_path / "clone", hub)
        code = f"""
        import evaluate
        print(evaluate.load("someone/magnitude").compute(samples={samples})["MagArea"])
        """
        (area,) = PythonProcess(code, tmp_path, HF_ENDPOINT=hub.url).lines()
    assert b"sdk: static" in files["README.md"]
    expected = vendiscore.compute(samples, measures=["MagArea"])["MagArea"]
    assert float(area) == pytest.approx(expected, abs=1e-12)


@pytest.mark.long
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a clone")
def test_documented_commands_upload_working_space(tmp_path):
    guide = (ROOT / "docs" / "tasks" / "page_api.md").read_text(encoding="utf-8")
    clone = tmp_path / "clone"
    files = {"vendiscore/old_module.py": b"of the previous version"}
    with FakeHub("someone/vendiscore", main=files) as hub:
        run_documented_commands("vendiscore", clone, hub)
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
