"""Hostile inputs are read in little time and memory."""

import hostile_files
import pytest
from read_costs import measure_read_cost

pytest.importorskip("pyarrow")

MAX_SECONDS = 1.0
MAX_MEMORY = 300_000_000
WORDS = b"a b c"


TEXTS = {
    "80 kB of rules": ("", b"---\n" * 20_000),
    "rules of 300 lengths above lines": (
        "",
        b"".join(b"-" * (3 + i) + b"\n" for i in range(300)) + b"a b\n" * 20_000,
    ),
    "a file of rules": ("a.txt", b"***\n" * 20_000),
    "4,000 columns of one name": (
        "a.csv",
        b",".join([b"x"] * 4_000) + b"\n" + b"1," * 3_999 + b"1",
    ),
    "4,000 columns of one name, of texts": (
        "a.csv",
        b",".join([b"x"] * 4_000) + b"\n" + b",".join([WORDS] * 4_000),
    ),
    "4,000 columns without a name": (
        "a.csv",
        b"," * 3_999 + b"\n" + b",".join([WORDS] * 4_000),
    ),
    "4,000 numbered columns": (
        "a.csv",
        b",".join(b"answer_%d" % i for i in range(4_000)) + b"\n" + b",".join([WORDS] * 4_000),
    ),
    "a name of numbers that are taken": (
        "a.csv",
        b",".join([b"x (%d)" % i for i in range(2_000)] + [b"x"] * 2_000) + b"\n" + b"1," * 3_999,
    ),
    "SMILES of 60,000 rings": ("a.smi", b"C" + b"1" * 60_000),
    "36 MB of short lines": ("a.txt", b"a\n" * 18_000_000),
    "36 MB of short lines of an old Mac": ("a.txt", b"a\r" * 18_000_000),
    "36 MB of SMILES": ("a.smi", b"C\n" * 18_000_000),
    "36 MB of sequences": ("a.fasta", b"A\n" * 18_000_000),
    "36 MB of vectors": ("a.vec", b"a\n" * 18_000_000),
    "60 MB of short strings": ("a.json", b'["ab"' + b',"ab"' * 12_000_000 + b"]"),
}
FILES = {
    "a text of 200 MB": ("a.parquet", hostile_files.parquet_with_long_text),
    "20 million texts in a cell": (
        "a.parquet",
        lambda: hostile_files.parquet_with_long_list("x" * 100),
    ),
    "2 million texts in a cell": (
        "a.parquet",
        lambda: hostile_files.parquet_with_long_list("x", 1_900_000),
    ),
    "20 million numbers in a cell": ("a.parquet", hostile_files.parquet_with_nested_list),
    "50 million numbers in a row": (
        "a.parquet",
        lambda: hostile_files.parquet_with_long_list(1.0, 50_000_000),
    ),
    "a GB of bytes": ("a.parquet", hostile_files.parquet_with_long_bytes),
    "a page of 512 MB": ("a.parquet", hostile_files.parquet_with_large_page),
    "WebP of 49 megapixels": ("a.webp", lambda: hostile_files.encode_webp(7_000)),
    "WebP of 15 megapixels": ("a.webp", lambda: hostile_files.encode_webp(3_870)),
    "PNG of 16 bits": ("a.png", lambda: hostile_files.encode_image("PNG", 6_000, "I;16")),
    "PNG with alpha": ("a.png", lambda: hostile_files.encode_image("PNG", 7_000, "RGBA")),
    "progressive JPEG": (
        "a.jpg",
        lambda: hostile_files.encode_image("JPEG", 7_000, progressive=True, subsampling=0),
    ),
    "GIF": ("a.gif", lambda: hostile_files.encode_image("GIF", 7_000, "P")),
}


def check_cost(name, data):
    result = measure_read_cost(name, data)
    assert "Traceback" not in result.message
    assert result.seconds < MAX_SECONDS, result
    assert result.memory < MAX_MEMORY, result
    return result


@pytest.mark.parametrize("case", TEXTS)
def test_hostile_text_is_read_in_little_time_and_memory(case):
    name, data = TEXTS[case]
    result = check_cost(name, data)
    if "MB" in case:
        assert "too many" in result.message


@pytest.mark.parametrize("case", FILES)
def test_hostile_files_are_read_in_little_time_and_memory(case):
    name, data = FILES[case]
    check_cost(name, data())


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("a text of 200 MB", "a page of 200 MB unpacked, more than 32 MB"),
        ("20 million texts in a cell", "20,000,000 values in the column 'e' are too many"),
        ("2 million texts in a cell", "1,900,000 values in 1 rows of the column 'e'"),
        ("50 million numbers in a row", "More than 48,000,000 numbers"),
        ("a page of 512 MB", "a page of 512 MB unpacked, more than 128 MB"),
    ],
)
def test_error_contains_declared_size(case, message):
    from rejections import get_rejection_message, make_upload

    from vendiscore_page.inputs.uploads import read

    name, data = FILES[case]
    assert message in get_rejection_message(read, make_upload(name, data()))


def test_pixel_limit_depends_on_image_format():
    from vendiscore_page.inputs.uploads import UserInput, read

    result = read(
        UserInput(
            files=[
                ("a.webp", hostile_files.encode_webp(3_900)),
                ("b.webp", hostile_files.encode_webp(3_800)),
            ]
        )
    )
    assert list(result.problems) == [0]
    assert result.problems[0] == (
        "has 15.2 megapixels, more than the limit of 15.1 for WEBP images; make it smaller"
    )
