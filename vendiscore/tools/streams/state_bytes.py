"""A state as bytes, numbers little-endian, no code.

b"vendi-state", version (1 byte), length of head (4), JSON, float64 of the `Sum`, checksum (8)
"""

import json
import struct

import numpy as np

from ...support.hashing import hash_bytes
from ...support.types import Options, Record
from .state_sums import Sum, length

_MAGIC = b"vendi-state"
_VERSION = 2
_HEAD = struct.Struct("<BI")
_SUM = 8  # bytes of the checksum
_START = len(_MAGIC) + _HEAD.size
_REMEDY = "pass the bytes from State.to_bytes, whole and unchanged"


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
    if not data.startswith(_MAGIC) or len(data) < _START:
        raise ValueError(f"`data` must be the bytes of a state, got {data[:12]!r}…; {_REMEDY}")
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
    """Return what a state was written from, as its checksum shows that nobody changed it."""
    fields = json.loads(head)
    d = fields["d"]
    rows = fields["rows"]
    values = np.frombuffer(numbers, dtype="<f8").astype(float)
    if len(values) != (rows * d if rows else length(d)):
        raise ValueError(f"{len(values)} numbers for {d} features")
    return fields, Sum(d, values.reshape(rows, d) if rows else values) if d else None
