"""Serialization of a `State` as bytes, which contain no code.

The bytes are b"vendi-state", the version (1 byte), the length of the JSON document (4 bytes), the
JSON document, the numbers of the `Sum` as float64, and a checksum (8 bytes). Numbers are
little-endian.
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
_SUM = 8  # length of the checksum in bytes
_START = len(_MAGIC) + _HEAD.size  # position of the JSON document
_REMEDY = "pass the unchanged bytes returned by State.to_bytes"


def write_record(fields: Options, total: Sum | None) -> bytes:
    """Serialize the fields of a state and its sum."""
    d = 0
    rows = 0
    numbers = b""
    if total is not None:
        d = total.d
        rows = len(total.numbers) if total.is_rows else 0
        numbers = total.numbers.astype("<f8").tobytes()
    # The JSON document keeps the order of the settings, because reports show them in this order.
    head = json.dumps({**fields, "d": d, "rows": rows}, separators=(",", ":")).encode()
    body = _MAGIC + _HEAD.pack(_VERSION, len(head)) + head + numbers
    return body + hash_bytes(body)


def read_record(data: bytes) -> tuple[Record, Sum | None]:
    """Deserialize the fields of a state and its sum from the result of `write_record`."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"`data` must be bytes, got {type(data).__name__}; {_REMEDY}")
    data = bytes(data)
    if not data.startswith(_MAGIC) or len(data) < _START:
        raise ValueError(f"`data` must be the bytes of a state, got {data[:12]!r}…; {_REMEDY}")
    version, size = _HEAD.unpack(data[len(_MAGIC) : _START])
    if version != _VERSION:
        raise ValueError(
            f"`data` has format {version}, but this version of vendiscore reads only format "
            f"{_VERSION}; use the version of vendiscore that wrote it"
        )
    body = data[:-_SUM]
    checksum = data[-_SUM:]
    if hash_bytes(body) != checksum:
        raise ValueError(f"`data` is incomplete or was modified (its checksum differs); {_REMEDY}")
    try:
        return _record(body[_START : _START + size], body[_START + size :])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"`data` is not a valid state ({error}); {_REMEDY}") from error


def _record(head: bytes, numbers: bytes) -> tuple[Record, Sum | None]:
    """Parse the JSON document and the numbers of a state whose checksum is correct."""
    fields = json.loads(head)
    d = fields["d"]
    rows = fields["rows"]
    values = np.frombuffer(numbers, dtype="<f8").astype(float)
    if len(values) != (rows * d if rows else length(d)):
        raise ValueError(f"{len(values)} numbers for {d} features")
    return fields, Sum(d, values.reshape(rows, d) if rows else values) if d else None
