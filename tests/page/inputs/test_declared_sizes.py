"""Declared sizes of files are read from headers, not from the number of bytes."""

import io
import tracemalloc

import hostile_files
import numpy as np
import pytest
import user_files as files
from hostile_files import encode_grey_png
from user_files import encode_zip

pytest.importorskip("PIL.Image")
pytest.importorskip("pyarrow")

from vendiscore_page.inputs.declared_sizes import Size, read_declared_size
from vendiscore_page.inputs.submission import UserInput
from vendiscore_page.inputs.uploads import read


def compute_size(*contents: tuple[str, bytes], text: str = "") -> Size:
    return read_declared_size(UserInput(files=contents, text=text))


def encode_zeros(n: int) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=np.zeros(n))
    return buffer.getvalue()


def test_image_size_is_read_from_headers():
    one = hostile_files.encode_webp(3_800)
    assert compute_size(("a.webp", one)) == (len(one), 0, 14_440_000)
    assert (
        compute_size(("a.png", encode_grey_png(30, 20)), ("b.png", encode_grey_png(10, 10))).pixels
        == 700
    )
    packed = encode_zip({f"{i}.webp": one for i in range(24)})
    assert len(packed) < 10_000
    assert compute_size(("a.zip", packed)) == (24 * len(one), 0, 24 * 14_440_000)


def test_rejected_images_have_no_declared_pixels():
    assert (
        compute_size(("a.png", encode_grey_png(9_001, 7_000))).pixels == 0
    )  # the image itself is rejected
    assert compute_size(("a.webp", hostile_files.encode_webp(7_000))).pixels == 0
    assert compute_size(("a.png", b"hello"), ("b.png", encode_grey_png(10, 10)[:-30])).pixels == 100


def test_size_of_zips_and_arrays_is_unpacked_size():
    assert compute_size(("a.zip", encode_zip({"a.txt": b"a" * 10**7}))).bytes == 10**7
    assert compute_size(("a.npz", encode_zeros(1_000_000))).bytes > 8_000_000
    assert compute_size(text="abc") == (3, 0, 0)


@pytest.mark.parametrize("wrap", [lambda data: data, lambda data: encode_zip({"a.parquet": data})])
def test_size_of_parquet_counts_values(wrap):
    data = files.encode_parquet(e=[[0.0] * 1_000] * 2_000)
    assert len(data) < 20_000
    assert compute_size(("a.parquet", wrap(data))).cells == 2_000_000


def test_damaged_files_have_no_declared_cells():
    for data in (b"PK\x03\x04 and no more", b"PAR1 and no more", b""):
        assert compute_size(("a", data), ("b.txt", b"hello")).cells == 0


def test_reading_long_repeated_text_uses_little_memory():
    import pyarrow as pa

    repeated_text = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(1_000, np.int32)), pa.array(["a b c " * 500_000])
    )
    data = files.encode_parquet(answer=repeated_text)
    assert len(data) < 10_000_000
    tracemalloc.start()
    try:
        read(UserInput(files=[("a.parquet", data)]))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000_000
