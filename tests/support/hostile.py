"""Files that a page open to the world will be sent: small to send, large or broken to open."""

import io
import struct
import zipfile
import zlib

import numpy as np


def npy_header(text: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    head = text.encode() + b" " * (117 - len(text)) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(head)) + head + data


def png(width: int, height: int, colour: int = 200) -> bytes:
    """Return a grey PNG of any size, without holding its pixels."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    packer = zlib.compressobj()
    rows = b"".join(packer.compress(b"\0" + bytes([colour]) * width) for _ in range(height))
    body = rows + packer.flush()

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    parts = chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def object_array() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    return buffer.getvalue()


def archive(entries: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return buffer.getvalue()


def half_a_jpeg() -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)
    Image.fromarray(noise).save(buffer, "JPEG")
    return buffer.getvalue()[: len(buffer.getvalue()) // 2]


def forty_gigabytes() -> bytes:
    """Return a .npy of 192 bytes whose header promises 1,000 × 5,000,000 doubles."""
    claim = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000, 5000000), }"
    return npy_header(claim, b"\0" * 64)


def webp(side: int) -> bytes:
    """Return a square WebP of one colour, whose bytes are some forty at any size."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (side, side), (10, 200, 30)).save(buffer, "WEBP", lossless=True, method=0)
    return buffer.getvalue()
