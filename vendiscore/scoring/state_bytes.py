"""A state as bytes, numbers little-endian, no code.

b"vendi-state", version (1 byte), length of head (4), JSON, float64 of the `Sum`, checksum (8)
"""

import json
import math
import struct

import numpy as np

from ..core.types import Options, Record
from ..hashing import hash_bytes
from .state_sums import Sum, length, stays_rows

_MAGIC = b"vendi-state"
_VERSION = 2
_HEAD = struct.Struct("<BI")
_SUM = 8  # bytes of the checksum
_START = len(_MAGIC) + _HEAD.size
_REMEDY = "pass the bytes from State.to_bytes, whole and unchanged"
# The fields of the head, by their types.
_TYPES = {
    "settings": dict,
    "found": dict,
    "whole": bool,
    "uneven": bool,
    "n": int,
    "dropped": int,
    "d": int,
    "rows": int,
    "weight": float,
    "notes": list,
}


def write_record(fields: Options, total: Sum | None) -> bytes:
    """Return the bytes of the fields of a state, and of its sum."""
    d = 0
    rows = 0
    numbers = b""
    if total is not None:
        d = total.d
        rows = len(total.numbers) if total.is_rows else 0
        numbers = total.numbers.astype("<f8").tobytes()
    # In the order of the settings, which reports keep.
    head = json.dumps({**fields, "d": d, "rows": rows}, separators=(",", ":")).encode()
    body = _MAGIC + _HEAD.pack(_VERSION, len(head)) + head + numbers
    return body + hash_bytes(body)


def read_record(data: bytes) -> tuple[Record, Sum | None]:
    """Read the fields and the sum that `write_record` was passed."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"`data` must be bytes, got {type(data).__name__}; {_REMEDY}")
    data = bytes(data)
    if not data.startswith(_MAGIC):
        raise ValueError(f"`data` must be the bytes of a state, got {data[:12]!r}…; {_REMEDY}")
    if len(data) < _START:
        raise ValueError(f"`data` is cut off after {len(data)} bytes; {_REMEDY}")
    version, size = _HEAD.unpack(data[len(_MAGIC) : _START])
    if version != _VERSION:
        raise ValueError(
            f"`data` is a state of format {version}, but this version reads format {_VERSION}; "
            "read it with the version of vendiscore that wrote it"
        )
    body = data[:-_SUM]
    checksum = data[-_SUM:]
    if hash_bytes(body) != checksum:
        raise ValueError(f"`data` is cut off or was changed: its checksum differs; {_REMEDY}")
    try:
        return _record(body[_START : _START + size], body[_START + size :])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"`data` is not a usable state ({error}); {_REMEDY}") from error


def _record(head: bytes, numbers: bytes) -> tuple[Record, Sum | None]:
    fields = json.loads(head)
    wrong = [name for name, kind in _TYPES.items() if type(fields[name]) is not kind]
    n = fields["n"]
    weight = fields["weight"]
    d = fields["d"]
    rows = fields["rows"]
    if wrong or min(n, d, rows, fields["dropped"]) < 0 or "kernel" not in fields["settings"]:
        raise ValueError(f"wrong {', '.join(wrong) or 'numbers'} in its head")
    expected = 8 * (rows * d if rows else length(d))
    too_many_rows = rows and not stays_rows(rows, d)
    if len(numbers) != expected or (n == 0) != (d == 0) or too_many_rows:
        raise ValueError(f"{len(numbers)} bytes of numbers for {n} samples of {d} features")
    values = np.frombuffer(numbers, dtype="<f8").astype(float)
    if not (math.isfinite(weight) and weight >= 0 and np.isfinite(values).all()):
        raise ValueError("numbers that are not finite or below 0")
    return fields, Sum(d, values.reshape(rows, d) if rows else values) if d else None
