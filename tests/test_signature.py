"""Different arguments read differently, and equal arguments read the same."""

import functools
import json
import math

import numpy as np
import pytest

from vendiscore import compute
from vendiscore.signature import digits, line, plain, plain_order

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
    "degree": [{"k": "polynomial", "degree": d} for d in (1, 2, np.int64(3), np.int8(4))],
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


def test_numbers_have_all_their_digits_and_orders_are_json():
    assert [digits(x) for x in (2.0, 1 + 1e-15, math.inf)] == ["2", "1.000000000000001", "inf"]
    assert [plain_order(q) for q in (2.0, math.inf)] == [2.0, "inf"]
    settings = {"k": "rbf", "sigma": 1.0, "column": "a b", "device": "cpu"}
    assert line(["VS"], settings).startswith("VS|k=rbf|sigma=1|column='a b'|vendiscore=")


@pytest.mark.parametrize("kind", UNLIKE)
def test_settings_that_can_change_the_number_change_the_signature(kind):
    found = [signature(**how) for how in UNLIKE[kind]]
    assert len(set(found)) == len(found)
    assert all("\n" not in one for one in found)


SCALE = np.array([1.0, 2.0])


def helper(a, b):
    return math.exp(-abs(a - b))


def by_helper(a, b):
    return helper(a, b)


def by_array(a, b):
    return max(math.exp(-scale * abs(a - b)) for scale in SCALE)


def test_what_a_function_finds_outside_of_itself_is_part_of_it(monkeypatch):
    numbers = [0.0, 1.0, 2.5]
    for k, name, other in (
        (by_helper, "helper", gaussian),
        (by_array, "SCALE", np.array([3.0, 2.0])),
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
        return asked(depth - 1) if depth else plain(shared)

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
    found = [signature(numbers, k=k) for k in functions]
    assert len(set(found)) == len(found)
    assert signature(numbers, k=times(1.0)) == found[0]
    tokenizers = [str.split, lambda text: text.split(), lambda text: list(text)]
    found = [signature(TEXTS, tokenizer=tokenizer, ns=1) for tokenizer in tokenizers]
    assert len(set(found)) == 3


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
        alone = compute(X, k="cosine", q=q)["VS"]
        assert scores[f"VS_q{digits(float(q))}"] == pytest.approx(alone, rel=1e-12)
    details = compute(X, k="cosine", q=orders, details=True)["details"]
    assert list(details["method"]) == [key.removeprefix("VS_q") for key in scores]


def test_text_with_marks_is_quoted_and_all_is_json():
    assert line(["VS"], {"column": "a b"}) != line(["VS"], {"column": "ab"})
    value = plain({"w": np.arange(100.0), "set": {2, 1}, "f": gaussian, "x": np.float32(0.5)})
    assert json.loads(json.dumps(value)) == value
    assert value["set"] == [1, 2]
    assert value["w"] != plain(np.arange(100.0) + (np.arange(100) == 50))
    json.dumps(compute(X, k=gaussian_of_rows, p=np.full(6, 1 / 6), details=True))


def gaussian_of_rows(a, b):
    return float(np.exp(-((a - b) ** 2).sum()))
