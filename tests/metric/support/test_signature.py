"""Different arguments read differently, and equal arguments read the same."""

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


def signature(samples=X, **how):
    return compute(samples, details=True, **how)["details"]["signature"]


def times(factor):
    return lambda a, b: math.exp(-factor * abs(a - b))


def gaussian(a, b, width=1.0):
    return math.exp(-width * (a - b) ** 2)


UNLIKE = {
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


def test_numbers_have_all_their_digits():
    assert [format_number(x) for x in (2.0, 1 + 1e-15, math.inf)] == [
        "2",
        "1.000000000000001",
        "inf",
    ]
    settings = {"k": "rbf", "sigma": 1.0, "column": "a b", "device": "cpu"}
    assert format_signature(["VS"], settings).startswith(
        "VS|k=rbf|sigma=1|column='a b'|vendiscore="
    )


@pytest.mark.parametrize("kind", UNLIKE)
def test_settings_that_can_change_the_number_change_the_signature(kind):
    result = [signature(**how) for how in UNLIKE[kind]]
    assert len(set(result)) == len(result)
    assert all("\n" not in one for one in result)


SCALE = np.array([1.0, 2.0])


def helper(a, b):
    return math.exp(-abs(a - b))


def by_helper(a, b):
    return helper(a, b)


def by_array(a, b):
    return max(math.exp(-scale * abs(a - b)) for scale in SCALE)


def by_pattern(a, b):
    return 1.0 if WORD.findall(str(a)) == WORD.findall(str(b)) else 0.5


def test_what_a_function_finds_outside_of_itself_is_part_of_it(monkeypatch):
    numbers = [0.0, 1.0, 2.5]
    for k, name, other in (
        (by_helper, "helper", gaussian),
        (by_array, "SCALE", np.array([3.0, 2.0])),
        (by_pattern, "WORD", re.compile("a")),
    ):
        before = signature(numbers, k=k)
        assert signature(numbers, k=k) == before
        monkeypatch.setitem(globals(), name, other)
        assert signature(numbers, k=k) != before

    def narrow(a, b, *, width=1.0):
        return gaussian(a, b, width)

    before = signature(numbers, k=narrow)
    narrow.__kwdefaults__["width"] = 2.0
    assert signature(numbers, k=narrow) != before


def test_a_function_that_calls_itself_has_one_signature_wherever_it_is_asked_for():
    def shared(a, b):
        return 1.0 if a == b else 0.5 * shared(a[1:], b[1:]) if a and b else 0.5

    def asked(depth):
        return asked(depth - 1) if depth else to_plain(shared)

    assert len({asked(depth) for depth in range(9)}) == 1
    assert "@" in asked(0)


def test_functions_of_one_name_are_told_apart():
    numbers = [0.0, 1.0, 2.5]
    functions = [
        times(1.0),
        times(2.0),
        lambda a, b: math.exp(-abs(a - b)),
        lambda a, b: math.exp(-2 * abs(a - b)),
        gaussian,
        functools.partial(gaussian, width=2.0),
        functools.partial(gaussian, width=3.0),
    ]
    result = [signature(numbers, k=k) for k in functions]
    assert len(set(result)) == len(result)
    assert signature(numbers, k=times(1.0)) == result[0]
    tokenizers = [
        str.split,
        lambda text: text.split(),
        lambda text: list(text),
    ]
    result = [signature(TEXTS, tokenizer=tokenizer, ns=1) for tokenizer in tokenizers]
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


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_a_digest_is_the_same_on_every_python(kind):
    function, expected = FUNCTIONS[kind]
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


def test_another_python_has_the_same_signatures(tmp_path):
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
    mine = f"python3.{sys.version_info.minor}"
    folders = [*glob(str(Path.home() / ".pyenv/versions/*/bin")), *os.get_exec_path()]
    others = [p for folder in folders for p in glob(f"{folder}/python3.1[1-9]") if mine not in p]
    base = f"import {', '.join(BASE_PACKAGES)}"
    others = [python for python in others if run(python, base).returncode == 0]
    if not others:
        pytest.skip("no other Python here has the packages of the base")
    assert [signatures(python) for python in others] == [expected] * len(others)


def test_functions_of_python_itself_are_known_by_name():
    assert [to_plain(f) for f in (str.split, math.exp, textwrap.dedent)] == [
        "str.split",
        "math.exp",
        "textwrap.dedent",
    ]


def enclosing(lock):
    def k(a, b):
        return 1.0 if a == b or lock else 0.5

    return k


UNKNOWN = {
    "without a file": eval("lambda a, b: 1.0 if a == b else 0.5"),
    "in one line": [lambda a, b: float(a == b), lambda a, b: 1.0][0],
    "encloses an object": enclosing(Lock()),
    "keeps an object": Scorer(Lock()),
    "part of it": functools.partial(eval("lambda a, b, c: float(a == b)"), c=1),
    "compiled": np.dot,
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_a_function_whose_source_is_unknown_has_its_name_only(kind):
    assert re.fullmatch(r"[\w.<>]+ source=unknown", to_plain(UNKNOWN[kind]))


def test_a_note_says_that_a_source_is_unknown():
    def notes(k):
        details = compute([0.0, 1.0], k=k, details=True)["details"]
        return "source=unknown" in details["signature"], "is unknown" in "".join(details["notes"])

    assert notes(UNKNOWN["without a file"]) == (True, True)
    assert notes(gaussian) == (False, False)


def test_lines_around_a_function_do_not_change_its_digest(tmp_path):
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
    "equal",
    [
        [{"k": "rbf", "sigma": s} for s in (2, 2.0, np.float16(2), np.int8(2))],
        [{"k": "cosine", "q": q} for q in ([1, 2], (1.0, 2), np.array([1, 2]), iter([1, 2]))],
        [{"k": "cosine", "p": p} for p in ([1 / 6] * 6, np.full(6, 1 / 6))],
    ],
)
def test_equal_settings_read_the_same(equal):
    assert len({signature(**how) for how in equal}) == 1


def test_precision_of_the_samples_is_part_of_it():
    assert signature(X, k="cosine") != signature(X.astype(np.float32), k="cosine")


def test_every_order_has_a_key_of_its_own():
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
        alone = compute(X, k="cosine", q=q)[key_at(q)]
        assert scores[f"VS_q{format_number(float(q))}"] == pytest.approx(alone, rel=1e-12)
    details = compute(X, k="cosine", q=orders, details=True)["details"]
    assert list(details["method"]) == [key.removeprefix("VS_q") for key in scores]


def test_text_with_marks_is_quoted_and_all_is_json():
    assert format_signature(["VS"], {"column": "a b"}) != format_signature(["VS"], {"column": "ab"})
    value = to_plain({"w": np.arange(100.0), "set": {2, 1}, "f": gaussian, "x": np.float32(0.5)})
    assert json.loads(json.dumps(value)) == value
    assert value["set"] == [1, 2]
    assert value["w"] != to_plain(np.arange(100.0) + (np.arange(100) == 50))
    json.dumps(compute(X, k=gaussian_of_rows, p=np.full(6, 1 / 6), details=True))


def gaussian_of_rows(a, b):
    return float(np.exp(-((a - b) ** 2).sum()))
