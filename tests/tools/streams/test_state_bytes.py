"""States are written to bytes and restored; other bytes are rejected."""

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
ROW_STATE = State.empty(k="cosine").update(X[:2])
TRIANGLE_STATE = State.empty(k="cosine").update(X)
CASES = {
    "none": State.empty(k="pixels", size=8),
    "rows": ROW_STATE,
    "triangle": TRIANGLE_STATE,
    "weights": State.empty(score_X=True, normalize=True).update(X, p=np.arange(40)),
    "float32": State.empty(k="cosine").update(X.astype(np.float32)),
}


@pytest.mark.parametrize("case", CASES)
def test_bytes_round_trip(case):
    state = CASES[case]
    data = state.to_bytes()
    restored = State.from_bytes(data)
    assert restored.to_bytes() == data == State.from_bytes(bytearray(data)).to_bytes()
    assert (restored.n, restored.d, restored.weight, restored.settings) == (
        state.n,
        state.d,
        state.weight,
        state.settings,
    )
    if state.n:
        assert restored.compute(details=True) == state.compute(details=True)
        new_rows = X.astype(np.float32)
        assert restored.update(new_rows).compute() == copy.copy(state).update(new_rows).compute()


def test_bytes_use_4_d_squared_and_a_short_header():
    state = State.empty(k="cosine").update(RNG.standard_normal((500, 384)))
    assert len(state.to_bytes()) < 4 * 384 * 385 + 300


def test_restored_state_with_a_function_model_rejects_samples():
    def lengths(texts):
        return np.array([[len(text), 1.0] for text in texts])

    empty = State.empty(k="text_embeddings", model=lengths)
    original = State.empty(k="text_embeddings", model=lengths).update(["a", "bb"])
    restored = State.from_bytes(original.to_bytes())
    with pytest.raises(ValueError, match=r"samples cannot be added; add them to a new State"):
        restored.update(["ccc"])
    assert restored.compute() == original.compute()
    original.update(["ccc"])
    for merged in (restored + empty, empty + restored):
        assert merged.update(["ccc"]).compute() == original.compute()


def test_restored_state_with_unknown_kernel_merges_but_rejects_samples(monkeypatch):
    data = TRIANGLE_STATE.to_bytes()
    monkeypatch.setattr("vendiscore.resolve.kernel.get_kernel", raise_unknown_kernel)
    state = State.from_bytes(data)
    assert (state + state).compute() == pytest.approx(TRIANGLE_STATE.compute())
    with pytest.raises(ValueError, match="do not contain its kernel"):
        state.update(X)


def test_restored_state_with_unknown_options_rejects_samples():
    state = State.from_bytes(forge_bytes(settings={"kernel": "pixels", "colour": 1}))
    assert state.compute() == TRIANGLE_STATE.compute()
    with pytest.raises(ValueError, match="do not contain its kernel"):
        state.update(X)
    with pytest.raises(ValueError, match="`colour` is 1 and 'nothing'"):
        state.merge(State.empty(k="pixels"))


def raise_unknown_kernel(name):
    raise ValueError(f"unknown kernel {name}")


@pytest.mark.parametrize("position", [0, 5, 12, 14, 20, 100, -300, -9, -8, -1])
def test_modified_byte_raises(position):
    data = bytearray(TRIANGLE_STATE.to_bytes())
    data[position] ^= 1
    with pytest.raises(
        ValueError, match=r"`data` (must be|is|has) .*(pass the unchanged bytes|use the version)"
    ):
        State.from_bytes(data)


def test_truncated_or_extended_bytes_raise():
    data = TRIANGLE_STATE.to_bytes()
    for length in [0, 1, 5, 11, 12, 15, 16, 17, 30, len(data) // 2, len(data) - 1]:
        with pytest.raises(
            ValueError, match=r"pass the unchanged bytes returned by State.to_bytes"
        ):
            State.from_bytes(data[:length])
    with pytest.raises(ValueError, match="is incomplete or was modified"):
        State.from_bytes(data + b"\0")


@pytest.mark.parametrize("data", [b"", b"junk", b"\x80\x04K\x01.", bytes(200), b"vendi-state"])
def test_foreign_bytes_raise(data):
    with pytest.raises(ValueError, match=r"pass the unchanged bytes returned by State.to_bytes"):
        State.from_bytes(data)
    with pytest.raises(TypeError, match="`data` must be bytes, got str"):
        State.from_bytes("vendi-state")


def forge_bytes(payload: bytes | None = None, version: int = 2, **changes) -> bytes:
    """Return bytes with a valid checksum and a modified header."""
    data = TRIANGLE_STATE.to_bytes()
    header_size = struct.unpack("<I", data[12:16])[0]
    header = json.loads(data[16 : 16 + header_size]) | changes
    header = {name: value for name, value in header.items() if value != "gone"}
    text = json.dumps(header).encode()
    payload = data[16 + header_size : -8] if payload is None else payload
    body = b"vendi-state" + struct.pack("<BI", version, len(text)) + text + payload
    return body + hashlib.blake2b(body, digest_size=8).digest()


@pytest.mark.parametrize(
    "data",
    [
        forge_bytes(d="gone"),
        forge_bytes(d=7),
        forge_bytes(rows=3),
        forge_bytes(payload=b""),
        forge_bytes(payload=bytes(167)),
    ],
)
def test_inconsistent_header_raises(data):
    with pytest.raises(ValueError, match=r"`data` is not a valid state \(.*\); pass the"):
        State.from_bytes(data)


def test_single_precision_state_of_earlier_versions_raises():
    with pytest.raises(ValueError, match=r"was written in single precision .* to a new State"):
        State.from_bytes(forge_bytes(settings={"kernel": "cosine", "precision": "single"}))


@pytest.mark.parametrize("version", [1, 3])
def test_unknown_format_version_raises(version):
    message = f"has format {version}, but this version of vendiscore reads only format 2"
    with pytest.raises(ValueError, match=message):
        State.from_bytes(forge_bytes(version=version))


def test_bytes_can_be_updated_in_another_process():
    code = """
import sys
import numpy as np
from vendiscore import State
state = State.from_bytes(sys.stdin.buffer.read())
rows = np.random.default_rng(0).standard_normal((40, 6))[20:]
sys.stdout.buffer.write(state.update(rows).to_bytes())
"""
    half = State.empty(k="cosine").update(X[:20]).to_bytes()
    process = subprocess.run(
        [sys.executable, "-c", code], input=half, capture_output=True, check=True
    )
    state = State.from_bytes(process.stdout)
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


def read_earlier_state(name: str, version: str) -> State:
    return State.from_bytes((EARLIER_STATES / f"{name}_{version}.bin").read_bytes())


@pytest.mark.parametrize("version", ["0_3", "0_4"])
@pytest.mark.parametrize("name", EARLIER_SCORES)
def test_states_of_earlier_versions_give_the_score_of_their_version(name, version):
    state = read_earlier_state(name, version)
    n, score = EARLIER_SCORES[name]
    assert (state.n, state.compute()) == (n, {"VS": pytest.approx(score, rel=1e-12)})


@pytest.mark.parametrize("version", ["0_3", "0_4"])
def test_states_of_earlier_versions_can_be_updated_and_merged(version):
    new_rows = np.random.default_rng(4).standard_normal((5, 4))
    expected = compute(np.concatenate([EARLIER_ROWS, new_rows]), k="cosine")
    state = read_earlier_state("triangle", version)
    new_state = State.empty(k="cosine").update(new_rows)
    assert (state + new_state).compute() == pytest.approx(expected, rel=1e-12)
    assert state.update(new_rows).compute() == pytest.approx(expected, rel=1e-12)
    weighted = read_earlier_state("weights", version)
    assert weighted.weight == pytest.approx(36.0)
    assert weighted.compute() == pytest.approx(
        compute(EARLIER_ROWS, score_X=True, normalize=True, p=np.arange(9) / 36), rel=1e-12
    )


@pytest.mark.parametrize("version", ["0_3", "0_4"])
def test_empty_state_of_earlier_versions_accepts_samples(version):
    images = np.random.default_rng(5).integers(0, 255, (3, 8, 8), dtype=np.uint8)
    state = read_earlier_state("empty", version)
    assert state.n == 0
    expected = compute(images, k="pixels", size=8)
    assert state.update(images).compute() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("version", ["0_3", "0_4"])
def test_state_of_earlier_versions_with_a_model_rejects_samples(version):
    with pytest.raises(ValueError, match="samples cannot be added"):
        read_earlier_state("model", version).update(["a"])


def test_single_precision_state_of_version_0_3_raises():
    with pytest.raises(ValueError, match=r"was written in single precision .* to a new State"):
        read_earlier_state("single", "0_3")
