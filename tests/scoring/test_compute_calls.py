"""The way of a warm call is short: calls, changes of module and modules in the package.

Counted by a profiler in a process of its own, where torch is not loaded; comprehensions and
generator expressions are left out.
"""

import importlib
import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import vendiscore
from vendiscore import (
    compare,
    compute,
    explain,
    growth,
    mag_area,
    report,
    score_K,
    score_X,
    sources,
)
from vendiscore.cli import main

PACKAGE = str(Path(vendiscore.__path__[0]))
TEXTS = [
    f"a {colour} cat, number {i}"
    for i in range(4)
    for colour in ["red", "blue", "green", "big", "old"]
]
LEFT_OUT = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")
# At most: calls, changes of module, modules.
BOUNDS = {
    "texts": (136, 86, 28),
    "command": (275, 154, 49),
    "command of wording and meaning": (535, 301, 57),
    "matrix": (27, 16, 8),
    "features": (30, 17, 8),
}
X = np.random.default_rng(0).normal(size=(30, 5))
ANSWERS = {
    name: [f"{text} {name * (i % 3)}" for i, text in enumerate(TEXTS[:10])] for name in "abcd"
}
# Calls of many scores, and how many of the package they may make.
MANY = {
    "growth": (lambda: growth(X, k="cosine"), 1200),
    "compare": (lambda: compare(TEXTS[:10], TEXTS[10:]), 813),
    "sources": (lambda: sources(ANSWERS), 640),
}
# Other ways, which read their samples once, too.
OTHERS = {
    "features": lambda: score_X(X),
    "cosine": lambda: compute(X, k="cosine"),
    "rbf": lambda: compute(X, k="rbf"),
    "rbf of lists": lambda: compute(X.tolist(), k="rbf"),
    "magnitude": lambda: compute(X, measures={"MagArea": {"t_cut": "t_conv"}}),
    "mag_area": lambda: mag_area(X),
    "explain": lambda: explain(TEXTS),
    "report": lambda: report(TEXTS),
}


def way(work):
    """Return the (module, function) of each call of the package, in order; of a second, warm
    call."""
    work(), work()
    seen = []

    def watch(frame, event, _):
        code = frame.f_code
        ours = event == "call" and code.co_filename.startswith(PACKAGE)
        if ours and code.co_name not in LEFT_OUT:
            seen.append((code.co_filename[len(PACKAGE) + 1 : -3], code.co_name))

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return seen


def matrix(n):
    X = np.random.default_rng(0).normal(size=(n, 5))
    X /= np.linalg.norm(X, axis=1)[:, None]
    return X @ X.T


def command(*options):
    """Return the way of the command that scores a file of the texts."""
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        file = Path(folder, "texts.txt")
        file.write_text("\n".join(TEXTS), encoding="utf-8")
        return way(lambda: main([str(file), *options]))


def counted():
    """Return the way of each call, and of the call of the metric that `evaluate` loads."""
    K = matrix(30)
    ways = {
        "texts": way(lambda: compute(TEXTS)),
        "command": command("-k", "ngram_overlap"),
        "command of wording and meaning": command(),
        "matrix": way(lambda: score_K(K)),
    }
    ways |= {name: way(work) for name, (work, _) in MANY.items()}
    if find_spec("evaluate") is None:
        return ways | {name: way(work) for name, work in OTHERS.items()}
    if find_spec("torch") is not None:
        importlib.import_module("torch")
        sys.modules["transformers"] = None  # most of the time that evaluate takes to import
    metric = vendiscore.load("vendiscore")
    ways |= {name: way(work) for name, work in OTHERS.items()}
    beside = {"beside": way(lambda: compute(TEXTS))}  # where torch is loaded, as evaluate does
    return {**ways, **beside, "metric": way(lambda: metric.compute(samples=TEXTS))}


@pytest.fixture(scope="module")
def ways():
    code = "import json, test_compute_calls as t; print(json.dumps(t.counted()))"
    folder = Path(__file__).parent
    one = os.environ | {"OMP_NUM_THREADS": "1"}  # calls in other threads are not counted
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        check=True,
        env=one,
    )
    return json.loads(found.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", MANY)
def test_sets_of_one_size_are_scored_together(ways, name):
    _, most = MANY[name]
    assert len(ways[name]) <= most, Counter(map(tuple, ways[name])).most_common(20)


@pytest.mark.parametrize("name", list(BOUNDS))
def test_a_warm_call_is_short(ways, name):
    modules = [module for module, _ in ways[name]]
    hops = sum(a != b for a, b in pairwise(modules))
    found = len(modules), hops, len(set(modules))
    assert all(a <= b for a, b in zip(found, BOUNDS[name], strict=True)), (
        found,
        Counter(modules).most_common(),
    )


def test_the_metric_of_evaluate_makes_few_calls_more(ways):
    pytest.importorskip("evaluate")
    assert len(ways["metric"]) <= len(ways["beside"]) + 10


def test_a_request_and_its_matrix_are_read_once(ways):
    calls = Counter(function for _, function in ways["texts"])
    assert calls["read_request"] == calls["as_samples"] == calls["decompose"] == 1


@pytest.mark.parametrize("name", [*BOUNDS, *OTHERS])
def test_samples_are_read_once_and_checked_once(ways, name):
    calls = Counter(function for _, function in ways[name])
    scores = max(1, calls["compute"] * (name in BOUNDS))  # the command may score by meaning, too
    assert calls["read_collection"] + calls["plain_rows"] == scores
    for check in ("_matrix", "check_finite", "check_options", "check_diagonal", "check_matrix"):
        assert calls[check] <= scores, check
