"""`evaluate.load("someone/vendiscore")` loads the package and the kernels of a Space."""

import re
import shutil

import evaluate
import pytest
from clean_install import ROOT, PythonProcess, copy_package
from fake_hub import FakeHub, read_checkout

import vendiscore
from vendiscore import score

TEXTS = ["Look, Jane.", "See Spot.", "See Spot run."]
VS = score(TEXTS, "ngram_overlap")


def add_kernel(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of a Space with the kernel file that its README shows."""
    readme = files["kernels/README.md"].decode()
    lines = re.search(r"```python\n(.*?)\n\n```", readme, re.DOTALL)[1].splitlines()
    return {**files, "kernels/extra.py": "\n".join(line[4:] for line in lines).encode()}


LOAD = f"""
import warnings
import evaluate
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    metric = evaluate.load("someone/vendiscore", q=1)
score = metric.compute(samples={TEXTS!r}, details=True)
said = [str(w.message) for w in caught if "vendiscore" in str(w.message)]
print(score["VS"], score["details"]["versions"]["vendiscore"], said)
"""
EXTRA = """
print(metric.compute(samples=["cat", "dog", "mouse"], k="same_length", tolerance=2))
"""
LOAD_OR_ERROR = """
import evaluate
try:
    evaluate.load("someone/vendiscore")
except ImportError as error:
    print(error)
"""
EXPECTED = [f"{VS} {vendiscore.__version__} []", "{'VS': 1.0}"]


def test_evaluate_loads_metric_and_user_kernels_from_space_online_and_offline(tmp_path):
    with FakeHub("someone/vendiscore", main=add_kernel(read_checkout(ROOT))) as hub:
        address = {"HF_ENDPOINT": hub.url}
        assert PythonProcess(LOAD + EXTRA, tmp_path, **address).lines() == EXPECTED
        requests = [request for request in hub.requests if request.endswith("compute.py")]
        assert requests
        assert PythonProcess(LOAD, tmp_path, **address).lines() == EXPECTED[:1]
        requests_after_second_load = [
            request for request in hub.requests if request.endswith("compute.py")
        ]
        assert requests_after_second_load == requests  # the second load comes from the cache
    # The server is stopped.
    without_server = PythonProcess(LOAD + EXTRA, tmp_path, **address)
    offline = PythonProcess(LOAD + EXTRA, tmp_path, **address, HF_HUB_OFFLINE="1")
    assert without_server.lines() == EXPECTED
    assert offline.lines() == EXPECTED
    shutil.rmtree(tmp_path / "hf" / "hub")
    site = copy_package(tmp_path / "site")
    (line,) = PythonProcess(LOAD, tmp_path, site, **address, HF_HUB_OFFLINE="1").lines()
    assert line.startswith(f"{VS} ")
    assert "download the Space someone/vendiscore; the installed package vendiscore is" in line
    (line,) = PythonProcess(LOAD_OR_ERROR, tmp_path, **address, HF_HUB_OFFLINE="1").lines()
    assert "which is neither next to it nor installed: run pip install -e . in a clone" in line


SCORE_OF_REVISIONS = """
import pickle, sys
from multiprocessing import get_context

import evaluate

for revision in sys.argv[1:]:
    try:
        metric = evaluate.load("someone/vendiscore", revision=revision or None)
        print(sys.modules["vendiscore"].MARK)
    except ImportError as error:
        print(error)
with get_context("spawn").Pool(1) as pool:
    try:
        pool.apply(pickle.loads, (pickle.dumps(metric),))
        print(pool.apply(eval, ("__import__('vendiscore').MARK",)))
    except ImportError as error:
        print(error)
"""


@pytest.mark.long
def test_revision_uses_its_package_offline_and_unpickled(tmp_path):
    """The scripts are equal, so `evaluate` keeps one copy, recorded for the first revision."""
    main = read_checkout(ROOT)
    init = main["vendiscore/__init__.py"]
    evaluate_tag = f"v{evaluate.SCRIPTS_VERSION}"  # `evaluate` prefers this tag to main
    revisions = {
        name: {**main, "vendiscore/__init__.py": init + f"\nMARK = {name!r}\n".encode()}
        for name in ("main", "v9", "v1.2.3")
    }

    def load(*requested: str, path: tuple = (), **env: str) -> list[str]:
        code = f"import sys; sys.argv[1:] = {requested!r}\n{SCORE_OF_REVISIONS}"
        return PythonProcess(code, tmp_path, *path, **env).lines()

    with FakeHub("someone/vendiscore", **revisions) as hub:
        address = {"HF_ENDPOINT": hub.url}
        assert load("v9", **address) == ["v9", "v9"]
        assert load("1.2.3", **address)[0] == "v1.2.3"
        # The spawned process follows the record, so it gets v9 and refuses it.
        main_score, message = load("", **address)
        assert main_score == "main"
        assert "vendiscore.py requires vendiscore" in message
        assert "whose code differs" in message
        # An installed package of the same version is not the requested one.
        assert load("v9", path=(copy_package(tmp_path / "site"),), **address) == ["v9", "v9"]
        loaded, message, unpickled = load("v9", "", **address)
        assert loaded == unpickled == "v9"
        assert "someone/vendiscore requires vendiscore" in message
        assert "whose code differs" in message
    for env in (address, {**address, "HF_HUB_OFFLINE": "1"}):  # no answer
        assert load("v9", **env) == ["v9", "v9"]
        assert load("", **env)[0] == "main"
    shutil.rmtree(tmp_path / "hf")
    revisions[evaluate_tag] = {**main, "vendiscore/__init__.py": init + b"\nMARK = 'own'\n"}
    with FakeHub("someone/vendiscore", **revisions) as hub:
        assert load("", HF_ENDPOINT=hub.url) == ["own", "own"]


def test_unused_installed_package_of_other_version_is_ignored(tmp_path):
    other_package = tmp_path / "elsewhere" / "vendiscore"
    other_package.mkdir(parents=True)
    (other_package / "__init__.py").write_text('__version__ = "0.0.1"\n')
    print_version = "\nimport vendiscore\nprint(vendiscore.__version__)"
    with FakeHub("someone/vendiscore", main=add_kernel(read_checkout(ROOT))) as hub:
        result = PythonProcess(
            LOAD + EXTRA + print_version, tmp_path, other_package.parent, HF_ENDPOINT=hub.url
        ).lines()
    assert result == [*EXPECTED, vendiscore.__version__]


def test_wheel_ignores_third_party_package_named_kernels(tmp_path):
    """The folder `kernels` of a clone does not hide it, although the clone comes first."""
    site = copy_package(tmp_path / "site")
    (site / "kernels").mkdir()
    (site / "kernels" / "__init__.py").write_text("import no_such_package")
    (site / "kernels" / "layers.py").write_text("import no_such_package")
    code = """
    import importlib.util, vendiscore
    names = [kernel.name for kernel in vendiscore.list_kernels()]
    print("word_overlap" in names, "ngram_overlap" in names)
    print(importlib.util.find_spec("kernels").origin)
    """
    wheel, with_clone = (
        PythonProcess(code, tmp_path, site),
        PythonProcess(code, tmp_path, ROOT, site),
    )
    assert wheel.lines() == ["False True", str(site / "kernels" / "__init__.py")]
    assert with_clone.lines() == ["True True", str(site / "kernels" / "__init__.py")]


KERNEL_FILES = {
    "broken.py": "import no_such_package",
    "half.py": "def half(:",
    "quits.py": "import sys; sys.exit(3)",
    "text.py": "",
    "clash.py": """
from vendiscore import register_kernel

@register_kernel("mine", samples="text", source="")
def mine(texts):
    '''Mine.'''

@register_kernel("cosine", samples="text", source="")
def cosine(texts):
    '''Mine too.'''
""",
}


def test_failing_kernel_file_warns_and_other_files_load(tmp_path):
    folder = copy_package(tmp_path)
    shutil.copy(ROOT / "vendiscore.py", folder)
    shutil.copytree(ROOT / "kernels", folder / "kernels")
    for name, text in KERNEL_FILES.items():
        (folder / "kernels" / name).write_text(text)
    code = """
    import warnings, vendiscore
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        print(vendiscore.compute(["a", "a"], k="word_overlap"))
        vendiscore.list_kernels()
    for warning in caught:
        print(warning.filename, warning.message)
    for name in ("mine", "broken"):
        try:
            vendiscore.compute(["a", "a"], k=name)
        except ValueError as error:
            print(str(error).replace(chr(10), ' '))
    """
    value, *warnings, unknown_kernel_error, broken_kernel_error = PythonProcess(
        code, tmp_path
    ).lines()
    assert value == "{'VS': 1.0}"
    reasons = {
        "broken.py": "ModuleNotFoundError: No module named 'no_such_package'; correct or remove",
        "clash.py": "'cosine' is already registered by vendiscore.kernels.vectors.cosine in "
        f"{folder / 'vendiscore' / 'kernels' / 'vectors.py'}; choose another name for the kernel "
        f"in {folder / 'kernels' / 'clash.py'}; correct or remove",
        "half.py": "SyntaxError: invalid syntax (half.py, line 1)",
        "quits.py": "SystemExit: 3; correct or remove this file",
        "text.py": "text.py must not have the name of the built-in file "
        f"{folder / 'vendiscore' / 'kernels' / 'text.py'}; rename it",
    }
    for line, (name, reason) in zip(warnings, reasons.items(), strict=True):
        assert f"<string> cannot import the kernels of {folder / 'kernels' / name}" in line
        assert reason in line
        assert reason in broken_kernel_error
    # No kernel of a failing file is registered.
    assert "unknown kernel `k='mine'`" in unknown_kernel_error
