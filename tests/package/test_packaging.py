"""The installed package: its dependencies, the wheel and the sdist, and `vendiscore.load`."""

import ast
import email
import importlib.metadata
import os
import re
import subprocess
import sys
import tarfile
import textwrap
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import clean_install
import evaluate
import pytest

import vendiscore
from vendiscore import MissingPackageError, score
from vendiscore.integrations.huggingface import METRICS, Magnitude, VendiScore
from vendiscore.support import optional

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGES = ("vendiscore", "vendiscore_page")
TEXTS = ["Look, Jane.", "See Spot.", "See Spot run."]
VS = score(TEXTS, "ngram_overlap")


def run_python(code: str, folder: Path, *path: Path) -> str:
    """Return the output of Python in `folder`, with `path` and the base packages only."""
    run = subprocess.run(
        [sys.executable, "-S", "-c", textwrap.dedent(code)],
        cwd=folder,
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join(map(str, (*path, clean_install.link_base_packages()))),
            "HF_HOME": str(folder / "hf"),
            "HF_HUB_OFFLINE": "1",
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def package_names(lines: Iterable[str]) -> set[str]:
    return {re.split(r"[\[<>=~!]", line)[0] for line in lines}


def iter_extra(name: str) -> Iterator[str]:
    """Yield the requirements of an extra, including those of other extras it contains."""
    for line in PROJECT["optional-dependencies"][name]:
        if match := re.fullmatch(r"vendiscore\[(.+)\]", line):
            for extra in match[1].split(","):
                yield from iter_extra(extra)
        else:
            yield line


BASE = package_names(PROJECT["dependencies"])
EXTRAS = {name: package_names(iter_extra(name)) for name in PROJECT["optional-dependencies"]}


def iter_imports(path: Path) -> Iterator[tuple[str, str | None]]:
    """Yield the other packages that a file imports; with the extra, for those that a call needs.

    The extra is "" if the file does not specify it.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        extra = None if node in tree.body else ""
        names = []
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom(level=0):
                names = [node.module]
            case ast.Call(func=ast.Name("require"), args=[ast.Constant(str(name)), extra_node, *_]):
                names, extra = (
                    [name],
                    extra_node.value if isinstance(extra_node, ast.Constant) else "",
                )
        for name in {name.partition(".")[0] for name in names}:
            if name not in {*sys.stdlib_module_names, *PACKAGES}:
                yield optional._PYPI_NAMES.get(name, name).replace("_", "-"), extra


def test_imported_packages_are_declared():
    result = set()
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    for path in [*files, ROOT / "library.py"]:
        page = EXTRAS["app"] if "vendiscore_page" in path.parts else set()
        page |= EXTRAS["evaluate"] if path.name == "library.py" else set()
        page |= EXTRAS["gradio"] if path.name == "gradio_routes.py" else set()
        for name, extra in iter_imports(path):
            result.add(name)
            if extra is None:
                assert name in BASE | page, f"{path}: {name}"
            elif extra:
                assert name in BASE | EXTRAS[extra], f"{path}: {name} in the extra {extra}"
            else:
                assert name in BASE | set.union(*EXTRAS.values()), f"{path}: {name}"
    assert result >= BASE  # no declared package is unused


def list_names(page: str, header: str) -> list[str]:
    """Return the names in backticks in the first column of the table with this header."""
    text = (ROOT / page).read_text(encoding="utf-8")
    table = text.partition(f"{header}\n")[2].partition("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines()[1:]]
    return [name for cell in cells for name in re.findall("`(.+?)`", cell)]


def test_documents_list_every_extra():
    names = list_names("README.md", "| extra | adds |")
    old_names = list_names("docs/stability.md", "| old name | use instead |")
    assert sorted(names + old_names) == sorted(EXTRAS)


# The packages of the extras of version 0.4 whose names are deprecated.
OLD_EXTRAS = {
    "arrow": {"pyarrow"},
    "compat": {"nltk", "scikit-learn"},
    "torch": {"torch"},
    "torchmetrics": {"torch", "torchmetrics"},
    "trl": {"torch", "transformers", "trl"},
}


@pytest.mark.parametrize("name", OLD_EXTRAS)
def test_old_extras_install_the_same_packages(name):
    assert EXTRAS[name] == OLD_EXTRAS[name]


def test_all_contains_every_extra_except_harnesses_and_tools():
    others = {"inspect", "lm-eval", "docs", "tests", "dev", "compat"}
    assert EXTRAS["all"] == set().union(*(EXTRAS[name] for name in EXTRAS if name not in others))


def test_base_packages_equal_declared_dependencies():
    assert {name.replace("_", "-") for name in optional.BASE_PACKAGES} == BASE


@pytest.mark.parametrize("module", ["array_api_compat", "threadpoolctl", "numpy"])
def test_import_error_lists_all_missing_packages(tmp_path, module):
    code = f"""
    import sys
    sys.modules |= dict.fromkeys(["scipy", "tqdm", "psutil", {module!r}])  # cannot be imported
    try:
        import vendiscore
    except ModuleNotFoundError as error:
        print(error)
    """
    names = " ".join(sorted(["scipy", "tqdm", "psutil", module]))
    expected = f"vendiscore requires packages that are not installed; run `pip install {names}`"
    assert run_python(code, tmp_path, ROOT) == expected


@pytest.mark.parametrize(
    ("module", "extra", "command"),
    [
        ("rdkit.Chem", "molecules", "pip install rdkit"),
        ("PIL.Image", "images", "pip install pillow"),
        ("torch", "text", "pip install torch transformers"),
        ("torch", "images", "pip install torch torchvision transformers"),
        ("transformers", "text", "pip install transformers"),
        ("evaluate", "evaluate", "pip install evaluate"),
    ],
)
def test_missing_package_error_lists_all_required_packages(monkeypatch, module, extra, command):
    for name in (module.partition(".")[0], "transformers", "torchvision", "matplotlib", "rdkit"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(optional, "find_spec", lambda name: "PIL" if name == "PIL" else None)
    with pytest.raises(MissingPackageError, match=f"which is not installed: {command}$") as caught:
        optional.require(module, extra, "this test")
    assert caught.value.name == module.partition(".")[0]


def test_scores_work_and_load_raises_without_evaluate(tmp_path):
    """No package of the extra can be imported, as in an environment with the base only."""
    code = f"""
    import sys
    sys.modules |= dict.fromkeys(["evaluate", "datasets", "huggingface_hub", "pyarrow", "pandas"])
    from vendiscore import State, compute, load
    from vendiscore.support import optional
    optional.find_spec = lambda name: None
    print(compute({TEXTS!r})["VS"], State.empty(k="cosine").update([[1.0, 2.0]]).n)
    for work in (lambda: load("vendiscore"), lambda: load("magnitude")):
        try:
            work()
        except ImportError as error:
            print(type(error).__name__, error.extra, error)
    """
    score, *errors = run_python(code, tmp_path, ROOT).splitlines()
    assert score == f"{VS} 1"
    message = (
        "a metric of evaluate needs the package 'evaluate', which is not installed: pip install"
    )
    assert errors == [f"MissingPackageError evaluate {message} evaluate"] * 2


def test_versions_contain_evaluate_only_if_installed(monkeypatch):
    assert list(optional.versions()) == ["numpy", "scipy", "evaluate", "vendiscore"]

    def absent(name: str) -> str:
        if name == "evaluate":
            raise PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(importlib.metadata, "version", absent)
    assert list(optional.versions()) == ["numpy", "scipy", "vendiscore"]


def test_load_matches_evaluate_load():
    for name, metric_class in (("vendiscore", VendiScore), ("magnitude", Magnitude)):
        metric = vendiscore.load(name)
        assert type(metric) is metric_class
        for script in (ROOT / f"{name}.py", ROOT / "vendiscore" / "scripts" / f"{name}.py"):
            loaded = evaluate.load(str(script))
            assert isinstance(loaded, metric_class)
            assert (loaded.name, loaded.info.description) == (metric.name, metric.info.description)
        assert metric.inputs_description in metric.compute.__doc__
    assert vendiscore.load("vendiscore", "text", ns=[1], q=2).compute(samples=TEXTS) == {
        "VS_q2": score(TEXTS, "ngram_overlap", ns=[1], q=2)
    }
    with pytest.raises(TypeError, match="`epsilon`"):
        vendiscore.load("vendiscore", epsilon=0.1)
    with pytest.raises(ValueError, match="must be 'vendiscore' or 'magnitude', got 'vendi'"):
        vendiscore.load("vendi")


# A program that installs packages, and the name of this project as a package of an index.
INSTALL_BY_NAME = re.compile(
    r"\b(?:(?:pip|pipx|uv|conda|mamba|poetry|pdm|easy_install)3?\b[^\n`|;&#]*?"
    r"\b(?:install|add|run|inject)|uvx)\b[^\n`|;&#]*?[ '\"]vendiscore(?=[\s'\"`\[=<>~!.,;]|$)"
)
ADVICE = [
    "pip install vendiscore",
    "python -m pip install -q 'vendiscore[text]'",
    "pip install numpy vendiscore==0.4",
    "run `uv add vendiscore`",
    "uvx vendiscore a.txt",
    "conda install -c conda-forge vendiscore",
]
NO_ADVICE = [
    'pip install -e ".[text]" in a clone of vendiscore',
    "pip install -e . scikit-learn     # in a clone of vendiscore",
    "git clone URL vendiscore && cd vendiscore && pip install -e .",
    "python -m pip uninstall -y vendiscore",
    "pip install numpy` for vendiscore",
]


def gives_advice(line: str) -> bool:
    return bool(INSTALL_BY_NAME.search(line)) and "clone of vendiscore" not in line


@pytest.mark.parametrize("line", ADVICE)
def test_advice_to_install_by_name_is_recognized(line):
    assert gives_advice(line)


@pytest.mark.parametrize("line", NO_ADVICE)
def test_other_commands_are_no_advice_to_install_by_name(line):
    assert not gives_advice(line)


def test_no_file_advises_to_install_a_package_of_the_index_by_name():
    """The name on PyPI does not belong to this project, so another package could be installed."""
    command = ["git", "grep", "-I", "-n", "-i", "vendiscore", "--", ".", ":!tests"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if process.returncode:
        pytest.skip("not a clone")
    lines = process.stdout.splitlines()
    assert len(lines) > 1000
    assert [line for line in lines if gives_advice(line.split(":", 2)[2])] == []


def test_metrics_state_homepage_and_license_of_project():
    for name in METRICS:
        metric = vendiscore.load(name)
        assert metric.license == metric.info.license == PROJECT["license"]
        assert metric.homepage == metric.info.homepage == PROJECT["urls"].get("Homepage", "")
        assert metric.citation.startswith("@")


def test_load_is_thread_safe(monkeypatch):
    monkeypatch.setattr("socket.socket.connect", None)  # no network access
    with ThreadPoolExecutor(8) as pool:
        metrics = list(pool.map(vendiscore.load, ["vendiscore", "magnitude"] * 8))
    assert {type(metric) for metric in metrics} == set(METRICS.values())
    assert len({id(metric) for metric in metrics}) == 16


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, Path]:
    """The wheel and the sdist."""
    pytest.importorskip("hatchling")
    pytest.importorskip("hatch_fancy_pypi_readme")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


IN_AN_EMPTY_FOLDER = f"""
import pathlib, sys
import vendiscore
assert not {{"evaluate", "datasets"}} & set(sys.modules)
metric, magnitude = vendiscore.load("vendiscore"), vendiscore.load("magnitude")
print(metric.compute(samples={TEXTS!r})["VS"], magnitude.compute(samples=[[0.0], [1.0]], t=1))
import evaluate
scripts = pathlib.Path(vendiscore.__file__).parent / "scripts"
loaded = [evaluate.load(str(scripts / name)) for name in ("vendiscore.py", "magnitude.py")]
print(list(map(type, loaded)) == [type(metric), type(magnitude)])
print([name for name in sys.modules if name.startswith("vendiscore") and "." not in name])
"""


def test_wheel_works_in_empty_folder(built, tmp_path):
    wheel = zipfile.ZipFile(built[0])
    wheel.extractall(tmp_path / "site")
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*"))
    package = {path for path in paths if path.is_file() and path.suffix != ".pyc"}
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == {path.relative_to(ROOT).as_posix() for path in package}
    empty = tmp_path / "empty"
    empty.mkdir()
    out = run_python(IN_AN_EMPTY_FOLDER, empty, tmp_path / "site").splitlines()
    assert out == [f"{VS} {{'Magnitude': 1.4621171572600098}}", "True", "['vendiscore']"]


@pytest.fixture(scope="module")
def editable(tmp_path_factory) -> Path:
    """The site folder of an editable install of the repository."""
    builders = pytest.importorskip("hatchling.builders.wheel")
    pytest.importorskip("hatch_fancy_pypi_readme")
    folder = tmp_path_factory.mktemp("editable")
    builder = builders.WheelBuilder(str(ROOT))
    (wheel,) = builder.build(directory=str(folder), versions=["editable"])
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def test_editable_install_is_imported_from_any_folder(editable, tmp_path):
    """One folder is the parent of the clone, and the clone is named like the package."""
    (tmp_path / "vendiscore").symlink_to(ROOT, target_is_directory=True)
    (tmp_path / "empty").mkdir()
    code = f"""
    import pathlib, runpy, site, sys
    site.addsitedir({str(editable)!r})
    from vendiscore import compute
    from vendiscore.integrations import lm_eval
    import vendiscore, vendiscore_page
    names = {{name.partition(".")[0] for name in sys.modules if "vendiscore" in name}}
    folders = [*vendiscore.__path__, *vendiscore_page.__path__]
    print(pathlib.Path(vendiscore.__file__).resolve(), *folders, sorted(names))
    sys.argv = ["vendiscore", "--version"]
    runpy.run_module("vendiscore", run_name="__main__")
    """
    package = ROOT / "vendiscore"
    for folder in (tmp_path, tmp_path / "empty", ROOT):
        path, output = run_python(code, folder).split(maxsplit=1)
        assert Path(path) == package / "__init__.py"
        paths = f"{package} {ROOT / 'vendiscore_page'} ['vendiscore', 'vendiscore_page']"
        assert output == f"{paths}\nvendiscore {vendiscore.__version__}"


def test_editable_install_exposes_only_packages(editable, tmp_path):
    code = f"""
    import site
    from importlib.util import find_spec
    site.addsitedir({str(editable)!r})
    names = ["app", "conftest", "library", "magnitude", "kernels", "tests", "benchmarks", "docs"]
    print([spec for spec in map(find_spec, names) if spec and {str(ROOT)!r} in str(spec)])
    """
    assert run_python(code, tmp_path) == "[]"


def test_sdist_contains_every_tracked_file(built):
    process = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if process.returncode:
        pytest.skip("not a clone")
    with tarfile.open(built[1]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert names >= {name for name in process.stdout.splitlines() if (ROOT / name).exists()}


def test_wheel_metadata_contains_readme_with_absolute_links(built):
    wheel = zipfile.ZipFile(built[0])
    name = next(name for name in wheel.namelist() if name.endswith("/METADATA"))
    metadata = email.message_from_bytes(wheel.read(name))
    text = metadata.get_payload(decode=True).decode()
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert text.startswith("# vendiscore\n")
    assert "sdk_version" not in text
    assert all(link.startswith(("https://", "#")) for link in re.findall(r"\]\(([^)]*)\)", text))
    assert metadata.get_all("Project-URL")
