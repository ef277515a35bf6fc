"""`evaluate.load("someone/vendiscore")`: without the package, or beside another version of it."""

import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hub import Hub, checkout

import vendiscore
from vendiscore import score

ROOT = Path(__file__).resolve().parents[1]
SITE = Path(importlib.util.find_spec("evaluate").origin).parents[1]
TEXTS = ["Look, Jane.", "See Spot.", "See Spot run."]
VS = score(TEXTS, "ngram_overlap")

if (SITE / "vendiscore").exists():
    pytest.skip(
        "needs an environment where the package is not installed, or editable",
        allow_module_level=True,
    )


def run(code: str, folder: Path, path: tuple[Path, ...] = (), **env: str) -> str:
    """What Python prints that sees the dependencies but no installed `vendiscore` (-S: no .pth)."""
    result = subprocess.run(
        [sys.executable, "-S", "-c", textwrap.dedent(code)],
        cwd=folder,
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("HF_")},
            "PYTHONPATH": os.pathsep.join(map(str, (*path, SITE))),
            "HF_HOME": str(folder / "hf"),
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            **env,
        },
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


LOAD = f"""
import warnings
import evaluate
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    metric = evaluate.load("someone/vendiscore", q=1)
score = metric.compute(samples={TEXTS!r}, details=True)
noticed = [str(w.message) for w in caught if "is installed but" in str(w.message)]
print(score["VS"], score["details"]["versions"]["vendiscore"], noticed)
"""


def test_loads_from_the_hub_without_the_package_and_then_offline(tmp_path):
    with Hub("someone/vendiscore", checkout(ROOT)) as hub:
        first = run(LOAD, tmp_path, HF_ENDPOINT=hub.url)
        assert first == f"{VS} {vendiscore.__version__} []"
        assert any("/vendiscore/spectral.py" in request for request in hub.requests)
        asked = len([r for r in hub.requests if r.startswith("GET") and r.endswith("spectral.py")])
        run(LOAD, tmp_path, HF_ENDPOINT=hub.url)
        again = [r for r in hub.requests if r.startswith("GET") and r.endswith("spectral.py")]
        assert len(again) == asked  # the second load comes from the cache
    gone = run(LOAD, tmp_path, HF_ENDPOINT=hub.url)  # nobody answers any more
    assert gone == first
    assert run(LOAD, tmp_path, HF_ENDPOINT=hub.url, HF_HUB_OFFLINE="1") == first


def test_a_revision_gets_the_package_of_that_revision(tmp_path):
    files = checkout(ROOT)
    spectral = files["vendiscore/spectral.py"]
    files["vendiscore/spectral.py"] = spectral + b"\nMARK = 'of this revision'\n"
    code = """
    import sys
    import evaluate
    evaluate.load("someone/vendiscore", revision="v9")
    print(sys.modules["vendiscore.spectral"].MARK)
    """
    with Hub("someone/vendiscore", files, revision="v9") as hub:
        assert run(code, tmp_path, HF_ENDPOINT=hub.url) == "of this revision"


@pytest.fixture
def other_version(tmp_path):
    package = tmp_path / "elsewhere" / "vendiscore"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "0.0.1"\nold = True\n')
    return package.parent


def test_another_version_is_noticed_and_not_mixed_in(tmp_path, other_version):
    with Hub("someone/vendiscore", checkout(ROOT)) as hub:
        out = run(LOAD, tmp_path, (other_version,), HF_ENDPOINT=hub.url)
    assert out.startswith(f"{VS} {vendiscore.__version__} ")
    assert "vendiscore 0.0.1 is installed but the metric script goes with" in out


def test_another_version_that_is_in_use_stays_what_it_is(tmp_path, other_version):
    code = f"""
    import vendiscore
    import evaluate
    metric = evaluate.load({str(ROOT / "vendiscore.py")!r})
    import vendiscore as again
    print(metric.compute(samples={TEXTS!r})["VS"], again.old, again.__version__)
    """
    assert run(code, tmp_path, (other_version,)) == f"{VS} True 0.0.1"


def test_by_path_the_package_beside_the_script_is_used_and_can_be_imported(tmp_path):
    code = f"""
    import evaluate
    metric = evaluate.load({str(ROOT / "vendiscore.py")!r})
    import vendiscore
    print(metric.compute(samples={TEXTS!r})["VS"], vendiscore.__file__)
    """
    assert run(code, tmp_path) == f"{VS} {ROOT / 'vendiscore' / '__init__.py'}"


def test_without_any_package_the_error_says_what_to_type(tmp_path):
    for name in ("vendiscore.py", "library.py"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    code = """
    import evaluate
    try:
        evaluate.load("./vendiscore.py")
    except ImportError as error:
        print(error)
    """
    out = run(code, tmp_path)
    assert f"pip install 'vendiscore=={vendiscore.__version__}'" in out
    assert "neither beside the script nor installed" in out


IN_THREADS = f"""
import sys, threading, time
import evaluate

metrics, failed, seen = [], [], []
start = threading.Barrier(5)

def load(script):
    start.wait()
    try:
        metrics.append(evaluate.load(script))
    except BaseException as error:
        failed.append(error)

def look():
    start.wait()
    while True:
        try:
            import vendiscore
            seen.append(hasattr(vendiscore, "spectrum"))  # the last name of the package
            return
        except ModuleNotFoundError:
            time.sleep(0)

scripts = [{str(ROOT / "vendiscore.py")!r}, {str(ROOT / "magnitude.py")!r}] * 2
threads = [threading.Thread(target=load, args=(script,)) for script in scripts]
threads.append(threading.Thread(target=look))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
packages = [name for name in sys.modules if name.startswith("vendiscore") and "." not in name]
bases = {{type(metric).__mro__[1] for metric in metrics}}
print(len(metrics), failed, packages, len(bases), seen)
"""


# Both scripts copied before the threads start: `evaluate` makes its folder of modules and imports
# from it without a lock, so in an empty cache a thread may not see what another has just made.
COPIED = f"""
import evaluate
for script in ({str(ROOT / "vendiscore.py")!r}, {str(ROOT / "magnitude.py")!r}):
    evaluate.load(script)
"""


def test_scripts_loaded_in_threads_find_one_package_and_a_complete_one(tmp_path):
    run(COPIED, tmp_path)
    for _ in range(4):  # without the lock, five in six fail
        assert run(IN_THREADS, tmp_path) == "4 [] ['vendiscore'] 1 [True]"


NEWCOMER = f"""
import threading
import evaluate

T, X = ["a b", "b c", "c d", "a b"], [[0.0, 0.0], [0.0, 1.0], [3.0, 4.0]]
V, M = {str(ROOT / "vendiscore.py")!r}, {str(ROOT / "magnitude.py")!r}
values, failed = set(), []
shared = evaluate.load(V)

def work(i):
    try:
        for r in range(8):
            v, m = evaluate.load(V), evaluate.load(M)
            v.add_batch(predictions=T)
            m.add_batch(predictions=X, references=X[:2])
            shared.add_batch(predictions=[str((i, r))] * 2)
            values.add((v.compute()["VS"], shared_m.compute(samples=X)["MagArea"]))
            values.add((shared_v.compute(samples=T)["VS"], m.compute()["MagArea"]))
    except BaseException as error:
        failed.append(error)

shared_v, shared_m = evaluate.load(V), evaluate.load(M)
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(failed, len(values), round(shared.compute(k="labels", q=0)["VS"]))
"""


def test_both_entries_serve_many_threads(tmp_path):
    assert run(NEWCOMER, tmp_path) == "[] 1 64"
    assert not list(tmp_path.rglob("*.arrow"))
