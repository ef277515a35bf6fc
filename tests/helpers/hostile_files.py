"""Files for attacks on a public server: small files that are large or broken when opened."""

import io
import struct
import zlib

import numpy as np


def npy_header(text: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    header = text.encode() + b" " * (117 - len(text)) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header + data


def encode_grey_png(width: int, height: int, colour: int = 200) -> bytes:
    """Return a grey PNG of any size, without holding its pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    packer = zlib.compressobj()
    rows = b"".join(packer.compress(b"\0" + bytes([colour]) * width) for _ in range(height))
    body = rows + packer.flush()

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    parts = chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def npy_with_objects() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    return buffer.getvalue()


def truncated_jpeg() -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)
    Image.fromarray(noise).save(buffer, "JPEG")
    return buffer.getvalue()[: len(buffer.getvalue()) // 2]


def npy_claiming_forty_gigabytes() -> bytes:
    """Return a .npy of 192 bytes whose header promises 1,000 × 5,000,000 doubles."""
    claim = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000, 5000000), }"
    return npy_header(claim, b"\0" * 64)


def encode_webp(side: int) -> bytes:
    """Return a square WebP of one colour, of about forty bytes at any size."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (side, side), (10, 200, 30)).save(buffer, "WEBP", lossless=True, method=0)
    return buffer.getvalue()


def encode_parquet(table, **options) -> bytes:
    """Return a pyarrow table as a strongly compressed parquet file."""
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(table, buffer, **{"compression": "brotli", **options})
    return buffer.getvalue()


def parquet_with_long_text() -> bytes:
    """Return a parquet file of some 600 bytes with one text of 200 MB."""
    import pyarrow as pa

    return encode_parquet(pa.table({"text": ["x" * 200_000_000]}), use_dictionary=False)


def parquet_with_long_list(element: object, count: int = 20_000_000) -> bytes:
    """Return a parquet file of some 900 bytes with one list of many equal elements."""
    import pyarrow as pa

    values = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(count, np.int32)), pa.array([element])
    )
    return encode_parquet(
        pa.table({"e": pa.ListArray.from_arrays([0, count], values.dictionary_decode())})
    )


def parquet_with_nested_list(count: int = 20_000_000) -> bytes:
    """Return a parquet file of some 700 bytes with a list of one list of many zeros."""
    import pyarrow as pa

    inner = pa.ListArray.from_arrays([0, count], pa.array(np.zeros(count, np.int64)))
    return encode_parquet(pa.table({"e": pa.ListArray.from_arrays([0, 1], inner)}))


def parquet_with_long_bytes() -> bytes:
    """Return a parquet file of some 400 bytes with a thousand cells of a million bytes each."""
    import pyarrow as pa

    cells = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(1_000, np.int32)), pa.array([b"x" * 1_000_000])
    )
    return encode_parquet(pa.table({"e": cells.dictionary_decode()}))


def parquet_with_large_page() -> bytes:
    """Return a parquet file of some kB with a page of 512 MB of numbers."""
    import pyarrow as pa

    table = pa.table({"x": np.zeros(64_000_000)})
    size = {"data_page_size": 2 * 10**9, "write_batch_size": 64_000_000}
    size["max_rows_per_page"] = 64_000_000
    return encode_parquet(table, use_dictionary=False, row_group_size=64_000_000, **size)


def encode_image(form: str, side: int, mode: str = "RGB", **options: object) -> bytes:
    """Return a square image of one colour in any format of Pillow."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.new(mode, (side, side)).save(buffer, form, **options)
    return buffer.getvalue()
