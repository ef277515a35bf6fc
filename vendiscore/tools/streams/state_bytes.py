"""Serialization of a `State` as bytes, which contain no code.

The bytes are b"vendi-state", the version (1 byte), the length of the JSON document (4 bytes), the
JSON document, the numbers of the `SecondMoment` as float64, and a checksum (8 bytes). Numbers are
little-endian.
"""

import json
import struct

import numpy as np

from ...support.hashing import hash_bytes
from ...support.types import Options, Record
from .second_moment import SecondMoment, triangle_length

_MAGIC = b"vendi-state"
_VERSION = 2
_HEADER = struct.Struct("<BI")
_CHECKSUM_BYTES = 8
_HEADER_END = len(_MAGIC) + _HEADER.size  # position of the JSON document
_HINT = "pass the unchanged bytes returned by State.to_bytes"


def write_record(fields: Options, second_moment: SecondMoment | None) -> bytes:
    """Serialize the fields and the second moment of a `State`."""
    d = 0
    rows = 0
    values = b""
    if second_moment is not None:
        d = second_moment.d
        rows = len(second_moment.values) if second_moment.is_rows else 0
        values = second_moment.values.astype("<f8").tobytes()
    # The JSON document keeps the order of the settings, because reports show them in this order.
    document = json.dumps({**fields, "d": d, "rows": rows}, separators=(",", ":")).encode()
    body = _MAGIC + _HEADER.pack(_VERSION, len(document)) + document + values
    return body + hash_bytes(body)


def read_record(data: bytes) -> tuple[Record, SecondMoment | None]:
    """Deserialize the fields and second moment of a `State` from the bytes of `write_record`."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"`data` must be bytes, got {type(data).__name__}; {_HINT}")
    data = bytes(data)
    if not data.startswith(_MAGIC) or len(data) < _HEADER_END:
        raise ValueError(f"`data` must be the bytes of a state, got {data[:12]!r}…; {_HINT}")
    version, size = _HEADER.unpack(data[len(_MAGIC) : _HEADER_END])
    if version != _VERSION:
        raise ValueError(
            f"`data` has format {version}, but this version of vendiscore reads only format "
            f"{_VERSION}; use the version of vendiscore that wrote it"
        )
    body = data[:-_CHECKSUM_BYTES]
    checksum = data[-_CHECKSUM_BYTES:]
    if hash_bytes(body) != checksum:
        raise ValueError(f"`data` is incomplete or was modified (its checksum differs); {_HINT}")
    try:
        return _parse_record(body[_HEADER_END : _HEADER_END + size], body[_HEADER_END + size :])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"`data` is not a valid state ({error}); {_HINT}") from error


def _parse_record(document: bytes, value_bytes: bytes) -> tuple[Record, SecondMoment | None]:
    """Parse the JSON document and the bytes of the second moment; the checksum is correct."""
    fields = json.loads(document)
    d = fields["d"]
    rows = fields["rows"]
    values = np.frombuffer(value_bytes, dtype="<f8").astype(float)
    if len(values) != (rows * d if rows else triangle_length(d)):
        raise ValueError(f"{len(values)} numbers for {d} features")
    return fields, SecondMoment(d, values.reshape(rows, d) if rows else values) if d else None
