"""`evaluate.load` with a path: the metric uses the package next to the script, or raises."""

import shutil

import pytest
from clean_install import ROOT, PythonProcess, clone_repository, copy_package

import vendiscore

VERSION = vendiscore.__version__

# `run` prints the score of a script, or of a metric that a spawned process unpickles, or the error.
HELPERS = """
import pickle
from multiprocessing import get_context

import evaluate

def run(call, argument):
    try:
        print(call(argument))
    except ImportError as error:
        print(error)

def load(script):
    global metric
    metric = evaluate.load(script)
    return score(metric)

def score(metric):
    return metric.compute(samples=["a", "b"])["VS"]

def unpickle(metric):
    with get_context("spawn").Pool(1) as pool:
        # An error of this call reaches this process, one of a method would stop the worker.
        pool.apply(pickle.loads, (pickle.dumps(metric),))
        return pool.apply(metric.compute, kwds={"samples": ["a", "b"]})["VS"]

"""


def code_to_load(*scripts) -> str:
    """Return code that loads scripts one after another, and keeps the last metric."""
    return HELPERS + "".join(f"run(load, {str(script)!r})\n" for script in scripts)


ALL_FORMS = """
package = {clone!r}
by_path = evaluate.load(package + "/vendiscore.py")
by_folder = evaluate.load(package)
magnitude = evaluate.load(package + "/magnitude.py")
suite = evaluate.combine({{"a": by_path, "b": by_folder}}, force_prefix=True)
print(suite.compute(predictions=["a", "b"]))
print(evaluate.combine([package, package + "/magnitude.py"]).compute(predictions=["a", "b"], t=0))
print(magnitude.compute(samples=[[0.0]], t=1))
run(unpickle, by_path)
run(unpickle, by_folder)
import vendiscore
print(vendiscore.__path__[0])
"""


@pytest.mark.parametrize("is_installed", [False, True])
def test_metrics_load_from_other_folder_by_path_and_combine(tmp_path, is_installed):
    folder, working_folder = clone_repository(tmp_path / "vendiscore"), tmp_path / "other"
    working_folder.mkdir()
    site = [copy_package(tmp_path / "site")] if is_installed else []
    code = HELPERS + ALL_FORMS.format(clone=str(folder))
    assert PythonProcess(code, working_folder, *site).lines() == [
        "{'a_VS': 2.0, 'b_VS': 2.0}",
        "{'VS': 2.0, 'Magnitude': 1.0}",
        "{'Magnitude': 1.0}",
        "2.0",
        "2.0",
        str(folder / "vendiscore"),
    ]


def test_two_clones_with_shared_cache_use_their_own_packages(tmp_path):
    """Load by a relative and an absolute path, load the other clone, and unpickle."""
    a, b = clone_repository(tmp_path / "a", 1.25), clone_repository(tmp_path / "b", 1.5)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    steps = [("vendiscore.py", a), (a / "vendiscore.py", elsewhere), (b / "vendiscore.py", a)]
    cache = {"HF_HOME": str(tmp_path / "hf")}
    in_turn = [PythonProcess(code_to_load(script), cwd, **cache).lines() for script, cwd in steps]
    assert in_turn == [["1.25"], ["1.25"], ["1.5"]]

    # The record of the cache is now "vendiscore.py", which no process can follow.
    code = code_to_load(b / "vendiscore.py") + "run(unpickle, metric)"
    score, message = PythonProcess(code, elsewhere, **cache).lines()
    assert score == "1.5"
    assert f"requires the package vendiscore {VERSION}, which is neither where" in message
    assert message.endswith("run pip install -e . in a clone of that version")
    # From the folder of A, a spawned process imports the package of A.
    score, message = PythonProcess(code, a, **cache).lines()
    assert score == "1.5"
    assert f"requires vendiscore {VERSION} in {b}, but this process uses" in message
    assert f"vendiscore {VERSION} in {a}, whose code differs" in message

    # All in one process, which refuses the second package and keeps the first.
    code = code_to_load(*(script for script, _ in steps)) + "run(unpickle, metric)"
    first_score, second_score, message, unpickled = PythonProcess(
        code, a, HF_HOME=str(tmp_path / "new")
    ).lines()
    assert first_score == second_score == unpickled == "1.25"
    assert f"{b / 'vendiscore.py'} requires vendiscore {VERSION} in {b}, but this" in message
    assert f"process uses vendiscore {VERSION} in {a}, whose code differs" in message


@pytest.mark.long
def test_spawned_process_rejects_package_of_other_clone(tmp_path):
    """The cache has recorded the absolute path of the first clone, whose script is equal."""
    a, b = clone_repository(tmp_path / "a", 1.25), clone_repository(tmp_path / "b", 1.5)
    code = code_to_load(a / "vendiscore.py") + "run(unpickle, metric)"
    assert PythonProcess(code, tmp_path).lines() == ["1.25", "1.25"]
    code = code_to_load(b / "vendiscore.py") + "run(unpickle, metric)"
    score, message = PythonProcess(code, tmp_path).lines()
    assert score == "1.5"
    assert f"requires vendiscore {VERSION} in {b}, but this process uses" in message
    assert f"vendiscore {VERSION} in {a}, whose code differs" in message


@pytest.mark.long
def test_recorded_script_is_used_only_if_unchanged(tmp_path):
    folder = clone_repository(tmp_path / "clone")
    script, package = folder / "vendiscore.py", folder / "vendiscore"
    text = script.read_text(encoding="utf-8")
    code = code_to_load(script) + "open('metric.pickle', 'wb').write(pickle.dumps(metric))"
    assert PythonProcess(code, tmp_path).lines() == ["2.0"]
    code = f"{HELPERS}run(lambda file: score(pickle.load(file)), open('metric.pickle', 'rb'))"
    modules = tmp_path / "hf" / "modules"  # which `evaluate` puts on the path when it first loads
    assert PythonProcess(code, tmp_path, modules).lines() == ["2.0"]
    script.write_text(f"{text}# a line\n", encoding="utf-8")
    changed = PythonProcess(code, tmp_path, modules).lines()
    script.unlink()
    deleted = PythonProcess(code, tmp_path, modules).lines()
    script.write_text(text, encoding="utf-8")
    shutil.move(package, tmp_path / "moved")
    assert changed == deleted == PythonProcess(code, tmp_path, modules).lines()
    assert "which is neither where evaluate recorded an unchanged copy of it" in changed[0]
    assert changed[0].endswith("nor installed: run pip install -e . in a clone of that version")
    # The package need not be where it was, if an installed one has the version.
    site = copy_package(tmp_path / "site")
    assert PythonProcess(code, tmp_path, modules, site).lines() == ["2.0"]


def test_script_without_matching_package_raises_error(tmp_path):
    home = tmp_path / "home"
    folder, other_clone = (
        clone_repository(home / "vendiscore", 1.25),
        clone_repository(tmp_path / "other"),
    )
    for name in ("vendiscore.py", "vendiscore/__init__.py"):
        text = (other_clone / name).read_text(encoding="utf-8")
        (other_clone / name).write_text(text.replace(VERSION, "9.9.9"), encoding="utf-8")
    script_folder = tmp_path / "alone"
    script_folder.mkdir()
    for name in ("vendiscore.py", "library.py"):
        shutil.copy(ROOT / name, script_folder)
    # From this folder, Python takes the clone "vendiscore" for a package without code.
    code = code_to_load(
        script_folder / "vendiscore.py", "vendiscore", other_clone / "vendiscore.py"
    )
    missing, score, version_error = PythonProcess(code, home).lines()
    assert missing == (
        f"{script_folder / 'vendiscore.py'} requires the package vendiscore {VERSION}, which is "
        "neither next to it nor installed: run pip install -e . in a clone of that version"
    )
    assert score == "1.25"
    assert (
        f"{other_clone / 'vendiscore.py'} requires vendiscore 9.9.9 in {other_clone}, but this"
        in version_error
    )
    assert f"process uses vendiscore {VERSION} in {folder}, whose code differs" in version_error
    # From the folder of the script, its name stands for the script itself.
    (missing,) = PythonProcess(code_to_load("vendiscore.py"), script_folder).lines()
    assert "which is neither next to it nor installed" in missing
    site = copy_package(tmp_path / "site")
    assert PythonProcess(code_to_load("vendiscore.py"), script_folder, site).lines() == ["2.0"]
    (version_error,) = PythonProcess(
        code_to_load("vendiscore.py"), script_folder, other_clone
    ).lines()
    assert f"vendiscore.py requires vendiscore {VERSION}, but this process uses" in version_error
    assert f"vendiscore 9.9.9 in {other_clone}, whose code differs" in version_error
    assert "pip install vendiscore" not in missing + version_error


# The metric and the package share their classes, registries and errors.
SHARED = f"""
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


def test_metric_and_package_are_shared_in_any_import_order(tmp_path):
    site, script = copy_package(tmp_path / "site"), ROOT / "vendiscore.py"
    shared = ["caught", "1.0", "1.0", "1.0", "['vendiscore']"]
    _, *lines = PythonProcess(code_to_load(script) + SHARED, tmp_path, site).lines()
    assert lines == [*shared, str(ROOT / "vendiscore")]
    # An installed package that is in use stays, since it has the same code.
    code = f"import vendiscore.core\n{code_to_load(script)}{SHARED}"
    _, *lines = PythonProcess(code, tmp_path, site).lines()
    assert lines == [*shared, str(site / "vendiscore")]


def test_clone_with_different_kernel_file_is_rejected(tmp_path):
    a, b = clone_repository(tmp_path / "a"), clone_repository(tmp_path / "b")
    (a / "kernels" / "extra.py").write_text("# only here\n")
    code = code_to_load(a / "vendiscore.py", b / "vendiscore.py")
    assert PythonProcess(code, tmp_path).lines() == ["2.0", "2.0"]
    (b / "kernels" / "extra.py").write_text("# other code\n")
    score, message = PythonProcess(code, tmp_path).lines()
    assert score == "2.0"
    assert f"in {b}, but this process uses vendiscore {VERSION} in {a}" in message


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

SHARED_BY_THREADS = f"""
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


def test_concurrent_threads_share_package(tmp_path):
    # Both scripts are copied before threads load them: `evaluate` makes its folder of modules and
    # imports from it without a lock, so in an empty cache a thread may miss what another just made.
    assert PythonProcess(SHARED_BY_THREADS, tmp_path).lines() == ["[] 1 12"]
    assert not list(tmp_path.rglob("*.arrow"))
    assert PythonProcess(IN_THREADS, tmp_path).lines() == ["4 [] ['vendiscore'] 1 [True]"]
