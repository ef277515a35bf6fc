"""A load runs the code of the script that the caller named, in every order of events."""

import importlib.util
import json
import os
import shutil
from pathlib import Path

import pytest
from newcomer import ROOT, Python, clone, installed

import vendiscore

VERSION = vendiscore.__version__
# Loads scripts one after the other: the score of each, or why it is refused.
LOAD = """
import evaluate

def load(script):
    try:
        metric = evaluate.load(script)
    except ImportError as error:
        return print(error)
    print(metric.compute(samples=["a b", "b c"])["VS"])
    return metric

"""


def loads(*scripts: Path | str) -> str:
    return LOAD + "\n".join(f"metric = load({str(script)!r})" for script in scripts)


# The record is there, and a process that unpickles the metric follows it.
ELSEWHERE = """
from multiprocessing import get_context
with get_context("spawn").Pool(1) as pool:
    print(pool.apply(metric.compute, kwds={"samples": ["a"]})["VS"])
"""


def test_each_load_runs_the_code_it_was_given(tmp_path):
    """Clones of one version, relative then absolute, moved and deleted; one cache for all."""
    a, b = clone(tmp_path / "a", 1.25), clone(tmp_path / "b", 1.5)
    code = loads(a / "vendiscore.py", "a/vendiscore.py") + ELSEWHERE
    code += f"load({str(b / 'vendiscore.py')!r})"
    *scores, refused = Python(code, tmp_path).lines()
    assert scores == ["1.25"] * 3
    assert f"given {b / 'vendiscore.py'}, but this process already uses" in refused
    assert f"vendiscore {VERSION} of {a / 'vendiscore'}, whose code is not the same" in refused
    cache = {"HF_HOME": str(tmp_path / "hf")}
    assert Python(loads("./vendiscore.py"), b, **cache).lines() == ["1.5"]
    home = tmp_path / "home"
    home.mkdir()
    shutil.move(a, home / "vendiscore")
    a.mkdir()
    alone = a / "vendiscore.py"  # a script without its package: nobody asked for another's
    shutil.copy(b / "vendiscore.py", alone)
    shutil.copy(b / "library.py", a)
    for name in ("vendiscore.py", "vendiscore/__init__.py"):  # of another version
        text = (b / name).read_text(encoding="utf-8")
        (b / name).write_text(text.replace(VERSION, "9.9.9"), encoding="utf-8")
    # The folder "vendiscore" is one that Python takes for a package without code.
    code = loads(alone, "vendiscore", b / "vendiscore.py")
    code += "\nimport vendiscore\nprint(vendiscore.__path__[0])"
    missing, score, other, package = Python(code, home, **cache).lines()
    assert f"beside the script {alone} nor installed: run pip install -e . in a clone" in missing
    assert score == "1.25"
    assert package == str(home / "vendiscore" / "vendiscore")
    assert f"{b / 'vendiscore.py'} goes with vendiscore 9.9.9, but this process" in other
    assert f"uses vendiscore {VERSION} of {package}: load the script in a new process" in other


# The package is one: what one side raises, makes and registers, the other one knows.
ONE = f"""
import vendiscore, sys
try:
    metric.compute(samples=["a b", ""])
except vendiscore.SampleError:
    print("caught")
print(metric.compute(samples=vendiscore.as_similarity(["a b", "a b"], k="ngram_overlap"))["VS"])
vendiscore.register_kernel("all", samples="text", source="here")(
    lambda texts: vendiscore.FeatureSimilarity(__import__("numpy").ones((len(texts), 1)))
)
print(metric.compute(samples=["a", "b"], k="all")["VS"])
magnitude = evaluate.load({str(ROOT / "magnitude.py")!r})
print(round(magnitude.compute(samples=["a", "b"], k="all", t=1)["Magnitude"], 9))
print([name for name in sys.modules if name.startswith("vendiscore") and "." not in name])
print(vendiscore.__path__[0])
"""


def test_beside_an_installed_package_there_is_one_package_in_any_order(tmp_path):
    """A clone comes before an installed package, which comes before a record of another clone."""
    site, script = installed(tmp_path / "site"), ROOT / "vendiscore.py"
    alone = tmp_path / "alone"
    alone.mkdir()
    for name in ("vendiscore.py", "library.py"):
        shutil.copy(ROOT / name, alone)
    one = ["caught", "1.0", "1.0", "1.0", "['vendiscore']"]
    _, *found = Python(loads(script) + ONE, tmp_path, site).lines()
    assert found == [*one, str(ROOT / "vendiscore")]
    score, again, *found = Python(
        loads(alone / "vendiscore.py", script) + ONE, tmp_path, site
    ).lines()
    assert score == again  # the code is the same: nothing to say
    assert found == [*one, str(site / "vendiscore")]


@pytest.fixture
def library():
    """library.py as one copy of it."""
    spec = importlib.util.spec_from_file_location("copied_library", ROOT / "library.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copied(tmp_path):
    """A clone, and a copy of its script in the cache with the record that `evaluate` writes."""
    origin = clone(tmp_path / "clone") / "vendiscore.py"
    copy = tmp_path / "cache" / "vendiscore.py"
    copy.parent.mkdir()
    shutil.copy(origin, copy)
    copy.with_suffix(".json").write_text(json.dumps({"original file path": str(origin)}))
    return origin, copy


def test_a_record_is_followed_where_nobody_named_a_script(library, copied):
    """Nobody names a script when a metric is unpickled in a process that did not load it."""
    origin, copy = copied
    assert library._recorded(str(copy)) == origin
    assert library._given(str(copy)) is None
    assert library._given(str(origin)) == origin  # it is not a copy


@pytest.mark.parametrize("why", ["relative", "changed", "gone", "another's", "no package"])
def test_a_record_is_checked_and_an_error_names_it(library, copied, why, monkeypatch):
    origin, copy = copied
    record = copy.with_suffix(".json")
    if why == "relative":
        monkeypatch.chdir(origin.parent)
        record.write_text('{"original file path": "vendiscore.py"}')
    elif why == "changed":
        origin.write_text("# another script")
    elif why == "gone":
        origin.unlink()
    elif why == "another's":
        monkeypatch.setattr(os, "geteuid", lambda: origin.stat().st_uid + 1, raising=False)
    else:
        shutil.rmtree(origin.parent / "vendiscore")
    assert library._recorded(str(copy)) is None
    advice = library._advice(str(copy), "9.9")
    assert "needs the package vendiscore 9.9" in advice
    assert f"delete {record} if it is out of date" in advice


def test_a_damaged_record_is_none(library, copied):
    _, copy = copied
    for text in ("", "[]", "{", '{"original file path": null}', '{"original file path": 1}'):
        copy.with_suffix(".json").write_text(text)
        assert library._recorded(str(copy)) is None


IN_THREADS = f"""
import importlib, os, sys, threading, time
import evaluate

# Python forgets folders that are not there, such as python311.zip, without a lock.
sys.path[:] = filter(os.path.isdir, sys.path)
importlib.invalidate_caches()

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
bases = {{type(metric).__mro__[2] for metric in metrics}}
print(len(metrics), failed, packages, len(bases), seen)
"""

NEWCOMERS = f"""
import threading
import evaluate

T, X = ["a b", "b c", "c d", "a b"], [[0.0, 0.0], [0.0, 1.0], [3.0, 4.0]]
V, M = {str(ROOT / "vendiscore.py")!r}, {str(ROOT / "magnitude.py")!r}
values, failed = set(), []
shared = evaluate.load(V)

def work(i):
    try:
        for r in range(2):
            v, m = evaluate.load(V), evaluate.load(M)
            v.add_batch(predictions=T)
            m.add_batch(predictions=X, references=X[:2])
            shared.add_batch(predictions=[str((i, r))] * 2)
            area = shared_m.compute(samples=X, references=X[:2])["MagArea"]
            values.add((v.compute()["VS"], area))
            values.add((shared_v.compute(samples=T)["VS"], m.compute()["MagArea"]))
    except BaseException as error:
        failed.append(error)

shared_v, shared_m = evaluate.load(V), evaluate.load(M)
threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(failed, len(values), round(shared.compute(k="labels", q=0)["VS_q0"]))
"""


def test_threads_share_one_complete_package_and_its_metrics(tmp_path):
    # Both scripts are copied before threads load them: `evaluate` makes its folder of modules and
    # imports from it without a lock, so in an empty cache a thread may miss what another just made.
    assert Python(NEWCOMERS, tmp_path).lines() == ["[] 1 12"]
    assert not list(tmp_path.rglob("*.arrow"))
    # Without the lock, five in six fail.
    assert Python(IN_THREADS, tmp_path).lines() == ["4 [] ['vendiscore'] 1 [True]"]
