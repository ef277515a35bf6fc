"""Signatures differ for different arguments and are the same for equal arguments."""

import functools
import json
import math
import os
import re
import subprocess
import sys
import textwrap
from glob import glob
from pathlib import Path
from threading import Lock

import numpy as np
import pytest

from vendiscore import compute
from vendiscore.result import key_at
from vendiscore.support.optional import BASE_PACKAGES
from vendiscore.support.signature import format_number, format_signature, to_plain

ROOT = Path(__file__).resolve().parents[3]
X = np.random.default_rng(0).standard_normal((6, 2))
TEXTS = ["a b c", "a b d", "e f g"]


def compute_signature(samples=X, **options):
    return compute(samples, details=True, **options)["details"]["signature"]


def times(factor):
    return lambda a, b: math.exp(-factor * abs(a - b))


def gaussian(a, b, width=1.0):
    return math.exp(-width * (a - b) ** 2)


DIFFERENT_SETTINGS = {
    "sigma": [{"k": "rbf", "sigma": s} for s in (1, 1 + 1e-9, np.float32(0.1), 0.1, None)],
    "orders": [{"k": "cosine", "q": q} for q in (1, 1 + 1e-12, 2, [1, 2], "inf")],
    "weights": [
        {"k": "cosine", "p": p} for p in (None, [0.5, 0.1, 0.1, 0.1, 0.1, 0.1], [1 / 6] * 6)
    ]
    + [{"k": "cosine", "p": np.r_[0.5 + 1e-9, 0.1 - 1e-9, np.full(4, 0.1)]}],
    "psd": [{"k": "cosine", "psd": psd} for psd in ("check", "clip")],
    "normalize": [{"k": "linear", "normalize": True}, {"k": "cosine"}],
    "measures": [{"k": "rbf", "measures": m} for m in ("VS", ["VS", "LC"], "LC")],
    "mixtures": [{"k": {"rbf": 0.5 + e, "cosine": 0.5 - e}} for e in (0, 1e-9, 0.1)],
}


def test_format_number_keeps_all_digits():
    assert [format_number(x) for x in (2.0, 1 + 1e-15, math.inf)] == [
        "2",
        "1.000000000000001",
        "inf",
    ]
    settings = {"k": "rbf", "sigma": 1.0, "column": "a b", "device": "cpu"}
    assert format_signature(["VS"], settings).startswith(
        "VS|k=rbf|sigma=1|column='a b'|vendiscore="
    )


@pytest.mark.parametrize("setting", DIFFERENT_SETTINGS)
def test_different_settings_have_different_signatures(setting):
    result = [compute_signature(**options) for options in DIFFERENT_SETTINGS[setting]]
    assert len(set(result)) == len(result)
    assert all("\n" not in text for text in result)


SCALE = np.array([1.0, 2.0])


def helper(a, b):
    return math.exp(-abs(a - b))


def by_helper(a, b):
    return helper(a, b)


def by_array(a, b):
    return max(math.exp(-scale * abs(a - b)) for scale in SCALE)


def by_pattern(a, b):
    return 1.0 if WORD.findall(str(a)) == WORD.findall(str(b)) else 0.5


def test_signature_includes_globals_and_defaults_of_a_function(monkeypatch):
    samples = [0.0, 1.0, 2.5]
    for k, name, replacement in (
        (by_helper, "helper", gaussian),
        (by_array, "SCALE", np.array([3.0, 2.0])),
        (by_pattern, "WORD", re.compile("a")),
    ):
        original = compute_signature(samples, k=k)
        assert compute_signature(samples, k=k) == original
        monkeypatch.setitem(globals(), name, replacement)
        assert compute_signature(samples, k=k) != original

    def narrow(a, b, *, width=1.0):
        return gaussian(a, b, width)

    original = compute_signature(samples, k=narrow)
    narrow.__kwdefaults__["width"] = 2.0
    assert compute_signature(samples, k=narrow) != original


def test_recursive_function_has_one_signature_at_any_stack_depth():
    def shared(a, b):
        return 1.0 if a == b else 0.5 * shared(a[1:], b[1:]) if a and b else 0.5

    def signature_at_depth(depth):
        return signature_at_depth(depth - 1) if depth else to_plain(shared)

    assert len({signature_at_depth(depth) for depth in range(9)}) == 1
    assert "@" in signature_at_depth(0)


def test_functions_with_equal_names_have_different_signatures():
    samples = [0.0, 1.0, 2.5]
    functions = [
        times(1.0),
        times(2.0),
        lambda a, b: math.exp(-abs(a - b)),
        lambda a, b: math.exp(-2 * abs(a - b)),
        gaussian,
        functools.partial(gaussian, width=2.0),
        functools.partial(gaussian, width=3.0),
    ]
    result = [compute_signature(samples, k=k) for k in functions]
    assert len(set(result)) == len(result)
    assert compute_signature(samples, k=times(1.0)) == result[0]
    tokenizers = [
        str.split,
        lambda text: text.split(),
        lambda text: list(text),
    ]
    result = [compute_signature(TEXTS, tokenizer=tokenizer, ns=1) for tokenizer in tokenizers]
    assert len(set(result)) == 3


def words(text, most=3):
    """Split a text."""
    # É
    return [word for word in WORD.findall(text) if len(word) > SHORT][:most]


class Scorer:
    unlike = 0.5

    def __init__(self, width):
        self.width = width

    def __call__(self, a, b):
        return gaussian(a, b, self.width)


SHORT = 2
WORD = re.compile(r"\w+")
FUNCTIONS = {
    "function": (words, "05bec3b5"),
    "helper": (by_helper, "c1eff6b0"),
    "closure": (times(2.0), "4dfe8d03"),
    "partial": (functools.partial(gaussian, width=2.0), "849dcb03"),
    "object": (Scorer(2.0), "367c0372"),
    "method": (Scorer(2.0).__call__, "55d89010"),
    "lambda": (
        lambda text: [
            word.lower()  # as names are
            for word in text.split()
        ],
        "d60a11d0",
    ),
    "method of a pattern": (WORD.findall, "fd2ba427"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_digest_is_the_same_for_all_python_versions(name):
    function, expected = FUNCTIONS[name]
    assert to_plain(function).rpartition("@")[2] == expected


SCRIPT = """
import sys
sys.path[:0] = sys.argv[1:]
import functions
from vendiscore import compute
for k in functions.FUNCTIONS:
    print(compute([1.0, 2.0, 4.0], k=k, details=True)["details"]["signature"])
"""
MODULE = """
FACTOR = 0.5
def k(a, b):
    return 1.0 if a == b else FACTOR
def times(factor):
    return lambda a, b: 1.0 if a == b else factor * sum(x for x in [FACTOR])
FUNCTIONS = k, times(1.0), times(0.9)
"""


def test_signatures_are_equal_in_other_installed_pythons(tmp_path):
    def run(python, code, *arguments):
        command = [python, "-c", code, *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def signatures(python):
        result = run(python, SCRIPT, str(ROOT), str(tmp_path))
        assert result.returncode == 0, result.stderr
        return [line.partition("|vendiscore=")[0] for line in result.stdout.splitlines()]

    (tmp_path / "functions.py").write_text(MODULE)
    expected = signatures(sys.executable)
    assert len({*expected}) == 3
    current_python = f"python3.{sys.version_info.minor}"
    folders = [*glob(str(Path.home() / ".pyenv/versions/*/bin")), *os.get_exec_path()]
    other_pythons = [
        p for folder in folders for p in glob(f"{folder}/python3.1[1-9]") if current_python not in p
    ]
    base = f"import {', '.join(BASE_PACKAGES)}"
    other_pythons = [python for python in other_pythons if run(python, base).returncode == 0]
    if not other_pythons:
        pytest.skip("no other Python here has the packages of the base")
    assert [signatures(python) for python in other_pythons] == [expected] * len(other_pythons)


def test_standard_library_functions_are_identified_by_name():
    assert [to_plain(f) for f in (str.split, math.exp, textwrap.dedent)] == [
        "str.split",
        "math.exp",
        "textwrap.dedent",
    ]


def enclosing(lock):
    def k(a, b):
        return 1.0 if a == b or lock else 0.5

    return k


UNKNOWN_SOURCES = {
    "without a file": eval("lambda a, b: 1.0 if a == b else 0.5"),
    "in one line": [lambda a, b: float(a == b), lambda a, b: 1.0][0],
    "encloses an object": enclosing(Lock()),
    "keeps an object": Scorer(Lock()),
    "partial": functools.partial(eval("lambda a, b, c: float(a == b)"), c=1),
    "compiled": np.dot,
}


@pytest.mark.parametrize("name", UNKNOWN_SOURCES)
def test_function_with_unknown_source_is_identified_by_name(name):
    assert re.fullmatch(r"[\w.<>]+ source=unknown", to_plain(UNKNOWN_SOURCES[name]))


def test_note_mentions_unknown_source():
    def notes(k):
        details = compute([0.0, 1.0], k=k, details=True)["details"]
        return "source=unknown" in details["signature"], "is unknown" in "".join(details["notes"])

    assert notes(UNKNOWN_SOURCES["without a file"]) == (True, True)
    assert notes(gaussian) == (False, False)


def test_digest_ignores_lines_around_a_function(tmp_path):
    result = set()
    for i, (before, after) in enumerate([("", ""), ("# a line\n\n", "x = 1\n"), ("if 1:\n ", "")]):
        file = tmp_path / f"module{i}.py"
        file.write_text(f"{before}k = lambda a, b: 1.0 if a == b else 0.5\n{after}")
        module = {"__name__": "module"}
        exec(compile(file.read_text(), str(file), "exec"), module)
        result.add(to_plain(module["k"]))
    assert len(result) == 1
    assert "@" in result.pop()


@pytest.mark.parametrize(
    "equivalent",
    [
        [{"k": "rbf", "sigma": s} for s in (2, 2.0, np.float16(2), np.int8(2))],
        [{"k": "cosine", "q": q} for q in ([1, 2], (1.0, 2), np.array([1, 2]), iter([1, 2]))],
        [{"k": "cosine", "p": p} for p in ([1 / 6] * 6, np.full(6, 1 / 6))],
    ],
)
def test_equal_settings_have_equal_signatures(equivalent):
    assert len({compute_signature(**options) for options in equivalent}) == 1


def test_signature_includes_the_precision_of_samples():
    assert compute_signature(X, k="cosine") != compute_signature(X.astype(np.float32), k="cosine")


def test_orders_have_distinct_keys():
    orders = [1, 1.0000001, 1 - 1e-12, 2, 2.0, "inf", 0.1, 1e-7]
    scores = compute(X, k="cosine", q=orders)
    assert list(scores) == [
        *(
            "VS_q1",
            "VS_q1.0000001",
            "VS_q0.999999999999",
            "VS_q2",
            "VS_qinf",
            "VS_q0.1",
            "VS_q1e-07",
        )
    ]
    for q in orders:
        score = compute(X, k="cosine", q=q)[key_at(q)]
        assert scores[f"VS_q{format_number(float(q))}"] == pytest.approx(score, rel=1e-12)
    details = compute(X, k="cosine", q=orders, details=True)["details"]
    assert list(details["method"]) == [key.removeprefix("VS_q") for key in scores]


def test_signature_quotes_text_and_to_plain_is_json_serializable():
    assert format_signature(["VS"], {"column": "a b"}) != format_signature(["VS"], {"column": "ab"})
    value = to_plain({"w": np.arange(100.0), "set": {2, 1}, "f": gaussian, "x": np.float32(0.5)})
    assert json.loads(json.dumps(value)) == value
    assert value["set"] == [1, 2]
    assert value["w"] != to_plain(np.arange(100.0) + (np.arange(100) == 50))
    json.dumps(compute(X, k=gaussian_of_rows, p=np.full(6, 1 / 6), details=True))


def gaussian_of_rows(a, b):
    return float(np.exp(-((a - b) ** 2).sum()))
