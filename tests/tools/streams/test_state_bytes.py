"""A state as bytes: the same state elsewhere, and nothing but a state."""

import copy
import hashlib
import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vendiscore import State, compute

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 6))
FEW, MANY = State.empty(k="cosine").update(X[:2]), State.empty(k="cosine").update(X)
CASES = {
    "none": State.empty(k="pixels", size=8),
    "rows": FEW,
    "triangle": MANY,
    "weights": State.empty(score_X=True, normalize=True).update(X, p=np.arange(40)),
    "float32": State.empty(k="cosine").update(X.astype(np.float32)),
}


@pytest.mark.parametrize("case", CASES)
def test_bytes_hold_all_of_a_state(case):
    state = CASES[case]
    data = state.to_bytes()
    again = State.from_bytes(data)
    assert again.to_bytes() == data == State.from_bytes(bytearray(data)).to_bytes()
    assert (again.n, again.d, again.weight, again.settings) == (
        state.n,
        state.d,
        state.weight,
        state.settings,
    )
    if state.n:
        assert again.compute(details=True) == state.compute(details=True)
        more = X.astype(np.float32)
        assert again.update(more).compute() == copy.copy(state).update(more).compute()


def test_bytes_take_4_d_squared_and_a_short_head():
    state = State.empty(k="cosine").update(RNG.standard_normal((500, 384)))
    assert len(state.to_bytes()) < 4 * 384 * 385 + 300


def test_a_model_is_named_in_bytes_so_that_those_take_no_samples():
    def lengths(texts):
        return np.array([[len(text), 1.0] for text in texts])

    empty = State.empty(k="text_embeddings", model=lengths)
    here = State.empty(k="text_embeddings", model=lengths).update(["a", "bb"])
    there = State.from_bytes(here.to_bytes())
    with pytest.raises(ValueError, match=r"samples cannot be added; add them to a new State"):
        there.update(["ccc"])
    assert there.compute() == here.compute()
    here.update(["ccc"])
    for merged in (there + empty, empty + there):
        assert merged.update(["ccc"]).compute() == here.compute()


def test_a_kernel_that_is_not_known_here_is_merged_all_the_same(monkeypatch):
    data = MANY.to_bytes()
    monkeypatch.setattr("vendiscore.resolve.kernel.get_kernel", _unknown)
    state = State.from_bytes(data)
    assert (state + state).compute() == pytest.approx(MANY.compute())
    with pytest.raises(ValueError, match="do not contain its kernel"):
        state.update(X)


def test_options_that_are_not_known_here_are_kept_and_take_no_samples():
    state = State.from_bytes(forged(settings={"kernel": "pixels", "colour": 1}))
    assert state.compute() == MANY.compute()
    with pytest.raises(ValueError, match="do not contain its kernel"):
        state.update(X)
    with pytest.raises(ValueError, match="`colour` is 1 and 'nothing'"):
        state.merge(State.empty(k="pixels"))


def _unknown(name):
    raise ValueError(f"unknown kernel {name}")


@pytest.mark.parametrize("where", [0, 5, 12, 14, 20, 100, -300, -9, -8, -1])
def test_a_changed_byte_is_noticed(where):
    data = bytearray(MANY.to_bytes())
    data[where] ^= 1
    with pytest.raises(
        ValueError, match=r"`data` (must be|is|has) .*(pass the unchanged bytes|use the version)"
    ):
        State.from_bytes(data)


def test_bytes_that_are_cut_off_or_longer_are_refused():
    data = MANY.to_bytes()
    for length in [0, 1, 5, 11, 12, 15, 16, 17, 30, len(data) // 2, len(data) - 1]:
        with pytest.raises(
            ValueError, match=r"pass the unchanged bytes returned by State.to_bytes"
        ):
            State.from_bytes(data[:length])
    with pytest.raises(ValueError, match="is incomplete or was modified"):
        State.from_bytes(data + b"\0")


@pytest.mark.parametrize("junk", [b"", b"junk", b"\x80\x04K\x01.", bytes(200), b"vendi-state"])
def test_foreign_bytes_are_refused(junk):
    with pytest.raises(ValueError, match=r"pass the unchanged bytes returned by State.to_bytes"):
        State.from_bytes(junk)
    with pytest.raises(TypeError, match="`data` must be bytes, got str"):
        State.from_bytes("vendi-state")


def forged(numbers: bytes | None = None, version: int = 2, **changes) -> bytes:
    """Return bytes with a right checksum and a wrong head."""
    data = MANY.to_bytes()
    size = struct.unpack("<I", data[12:16])[0]
    head = json.loads(data[16 : 16 + size]) | changes
    head = {name: value for name, value in head.items() if value != "gone"}
    text = json.dumps(head).encode()
    numbers = data[16 + size : -8] if numbers is None else numbers
    body = b"vendi-state" + struct.pack("<BI", version, len(text)) + text + numbers
    return body + hashlib.blake2b(body, digest_size=8).digest()


@pytest.mark.parametrize(
    "data",
    [
        forged(d="gone"),
        forged(d=7),
        forged(rows=3),
        forged(numbers=b""),
        forged(numbers=bytes(167)),
    ],
)
def test_a_head_that_does_not_fit_is_refused(data):
    with pytest.raises(ValueError, match=r"`data` is not a valid state \(.*\); pass the"):
        State.from_bytes(data)


def test_sums_in_single_precision_of_earlier_versions_are_refused():
    with pytest.raises(ValueError, match=r"was written in single precision .* to a new State"):
        State.from_bytes(forged(settings={"kernel": "cosine", "precision": "single"}))


@pytest.mark.parametrize("version", [1, 3])
def test_another_format_names_itself(version):
    said = f"has format {version}, but this version of vendiscore reads only format 2"
    with pytest.raises(ValueError, match=said):
        State.from_bytes(forged(version=version))


def test_bytes_over_a_pipe_are_the_state_of_another_process():
    code = """
import sys
import numpy as np
from vendiscore import State
state = State.from_bytes(sys.stdin.buffer.read())
rows = np.random.default_rng(0).standard_normal((40, 6))[20:]
sys.stdout.buffer.write(state.update(rows).to_bytes())
"""
    half = State.empty(k="cosine").update(X[:20]).to_bytes()
    done = subprocess.run([sys.executable, "-c", code], input=half, capture_output=True, check=True)
    state = State.from_bytes(done.stdout)
    assert state.n == 40
    assert state.compute() == pytest.approx(compute(X, k="cosine"), rel=1e-12)


# Written by the release 0.3.0 (f1b48e37) and the last commit of 0.4.0 (5b799f98), from the rows
# `np.random.default_rng(3).standard_normal((9, 4))`, with the scores that those versions gave.
EARLIER_STATES = Path(__file__).parent / "states"
EARLIER_ROWS = np.random.default_rng(3).standard_normal((9, 4))
EARLIER_SCORES = {
    "rows": (2, 1.9760365211307118),
    "triangle": (9, 3.0330649325983106),
    "weights": (9, 3.0987735203489675),
    "model": (4, 1.1685972524694876),
}


def read_earlier(name: str, version: str) -> State:
    return State.from_bytes((EARLIER_STATES / f"{name}_{version}.bin").read_bytes())


@pytest.mark.parametrize("version", ["0_3", "0_4"])
@pytest.mark.parametrize("name", EARLIER_SCORES)
def test_states_of_earlier_versions_give_the_score_of_their_version(name, version):
    state = read_earlier(name, version)
    n, score = EARLIER_SCORES[name]
    assert (state.n, state.compute()) == (n, {"VS": pytest.approx(score, rel=1e-12)})


@pytest.mark.parametrize("version", ["0_3", "0_4"])
def test_states_of_earlier_versions_are_updated_and_merged(version):
    more = np.random.default_rng(4).standard_normal((5, 4))
    expected = compute(np.concatenate([EARLIER_ROWS, more]), k="cosine")
    state = read_earlier("triangle", version)
    other = State.empty(k="cosine").update(more)
    assert (state + other).compute() == pytest.approx(expected, rel=1e-12)
    assert state.update(more).compute() == pytest.approx(expected, rel=1e-12)
    weights = read_earlier("weights", version)
    assert weights.weight == pytest.approx(36.0)
    assert weights.compute() == pytest.approx(
        compute(EARLIER_ROWS, score_X=True, normalize=True, p=np.arange(9) / 36), rel=1e-12
    )


@pytest.mark.parametrize("version", ["0_3", "0_4"])
def test_an_empty_state_of_an_earlier_version_takes_samples(version):
    images = np.random.default_rng(5).integers(0, 255, (3, 8, 8), dtype=np.uint8)
    state = read_earlier("empty", version)
    assert state.n == 0
    expected = compute(images, k="pixels", size=8)
    assert state.update(images).compute() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("version", ["0_3", "0_4"])
def test_a_state_of_an_earlier_version_with_a_model_takes_no_samples(version):
    with pytest.raises(ValueError, match="samples cannot be added"):
        read_earlier("model", version).update(["a"])


def test_sums_in_single_precision_that_version_0_3_wrote_are_refused():
    with pytest.raises(ValueError, match=r"was written in single precision .* to a new State"):
        read_earlier("single", "0_3")
