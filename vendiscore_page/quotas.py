"""Limits of a visitor's input, for a Space that shares two cores and 16 GB among all visitors."""

from collections.abc import Callable
from typing import Any

from vendiscore.report import Limits
from vendiscore.report import RefusedError as RefusedError

from .parquet_footers import declared_values, largest_pages

MAX_SAMPLES = 1_000
MAX_SETS = 8
MAX_CHOSEN = 200  # samples to keep of a result: of 1,000 in about two seconds
MAX_TEXT = 20_000  # characters of one text
MAX_CHARACTERS = 500_000  # of all texts together
MAX_SMILES = 300  # characters of one SMILES
MAX_COLUMNS = 4_096
MAX_VECTORS = 20_000  # rows of a matrix
MAX_VALUES = 12_000_000  # rows × columns of a table
MAX_IMAGES = 200
MAX_PIXELS = 55_000_000  # of one image
MAX_DECODED = 256_000_000  # bytes that one image may take while it is decoded
MAX_ALL_PIXELS = 1_200_000_000  # of all images together
MAX_READ = 200_000  # rows of a table, of which a part is drawn
MAX_UPLOAD = 64_000_000  # bytes of one file
MAX_UPLOADS = 128_000_000  # bytes of all files uploaded in one go
MAX_ARRIVING = 500_000_000  # bytes of the uploads under way of all visitors
MAX_FILES = 500  # uploaded in one go
MAX_REQUEST = 25_000_000  # bytes of a call of the API, and of what is pasted
MAX_QUESTION = 1_000_000  # bytes of what the page asks about what it has sent
MAX_KEPT = 1_000_000_000  # bytes that are kept of all visitors, until they are forgotten
KEEP = 900  # seconds from the last use of what a visitor sent until it is forgotten
MAX_NAME = 200  # characters of the name of a file, a set or a report
MAX_UNPACKED = 192_000_000  # bytes of all entries of a zip, or of one array
MAX_ENTRIES = 20_000  # of a zip
MAX_LINES = 1_000_000  # of a table or a box, most of them blank
INPUT = Limits(
    *(MAX_READ, MAX_COLUMNS, MAX_VALUES, MAX_TEXT),
    unpacked=MAX_UNPACKED,
    declared=declared_values,
    largest_pages=largest_pages,
)

IN_WORDS = (
    f"This page scores up to {MAX_SAMPLES:,} samples ({MAX_IMAGES} images, {MAX_VECTORS:,} rows of "
    f"numbers), and a random part of a larger set. A file can have {MAX_UPLOAD // 10**6} MB, all "
    f"files together {MAX_UPLOADS // 10**6} MB; a text {MAX_TEXT:,} characters, all texts together "
    f"{MAX_CHARACTERS:,}; a SMILES {MAX_SMILES} characters; a matrix {MAX_COLUMNS:,} columns and "
    f"{MAX_VALUES:,} numbers; an image {MAX_PIXELS // 10**6} megapixels (WebP 15, HEIC, AVIF 25), "
    f"all images together "
    f"{MAX_ALL_PIXELS // 10**6:,}; a zip {MAX_ENTRIES:,} entries and {MAX_UNPACKED // 10**6} MB "
    f"unpacked. The page keeps your samples in memory only, for {KEEP // 60} minutes after their "
    f"last use."
)


def check_count(n: int, limit: int, what: str) -> None:
    if n <= 0:
        raise RefusedError(f"There are no {what} yet: paste or upload some, or pick an example.")
    if n > limit:
        raise RefusedError(
            f"More than {limit:,} {what}: this page takes up to {limit:,}. Send a random part of "
            f"them, or use the Python package, which has no such limit."
        )


def check_lines(count: int) -> None:
    """Refuse a text of too many lines, even blank ones, which would take long."""
    if count > MAX_LINES:
        raise RefusedError(f"{count:,} lines are too many: the limit is {MAX_LINES:,}.")


def check_sets(n: int) -> None:
    if not 2 <= n <= MAX_SETS:
        raise RefusedError(f"Two to {MAX_SETS} sets can be compared, got {n}.")


def check_texts(
    texts: list[Any],
    longest: int = MAX_TEXT,
    what: str = "text",
    place: Callable[[int], str] = "number {}".format,  # what messages call text i
) -> list[str]:
    check_count(len(texts), MAX_SAMPLES, f"{what}s")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            kind = type(text).__name__
            raise RefusedError(f"Every {what} must be a string, but {place(i)} is {kind}.")
        if len(text) > longest:
            raise RefusedError(
                f"The {what} {place(i)} has {len(text):,} characters; this page takes up to "
                f"{longest:,}. Shorten it or split it over several lines."
            )
    if (total := sum(map(len, texts))) > MAX_CHARACTERS:
        raise RefusedError(
            f"{total:,} characters are too many: this page takes up to {MAX_CHARACTERS:,} in all. "
            f"Send a random part of the {what}s."
        )
    return texts
