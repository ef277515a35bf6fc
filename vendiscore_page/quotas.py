"""Limits of user input, for a Space with two cores and 16 GB that all users share."""

from collections.abc import Callable
from typing import Any, NamedTuple

from vendiscore.report import Limits
from vendiscore.report import RefusedError as RefusedError

from .parquet_footers import declared_values, largest_pages

MAX_SAMPLES = 1_000
MAX_SETS = 8
MAX_SELECTED = 200  # samples that a user can select; takes about two seconds for 1,000 samples
MAX_TEXT = 20_000  # characters of one text
MAX_CHARACTERS = 500_000  # of all texts together
MAX_SMILES = 300  # characters of one SMILES
MAX_COLUMNS = 4_096
MAX_VECTORS = 20_000  # rows of a matrix
MAX_VALUES = 12_000_000  # rows × columns of a table
MAX_IMAGES = 200
MAX_PIXELS = 55_000_000  # of one image
MAX_DECODED = 256_000_000  # bytes of one image while it is decoded
MAX_ALL_PIXELS = 1_200_000_000  # of all images together
MAX_READ_ROWS = 200_000  # rows of a table from which a random subset is drawn
MAX_UPLOAD = 64_000_000  # bytes of one file
MAX_UPLOADS = 128_000_000  # bytes of all files of one upload
# Bytes of all concurrent uploads and calls of the API, which are in memory until they are answered.
MAX_CONCURRENT_UPLOADS = 500_000_000
# A request that sends less than this in this time, or does not end in time, is refused: it would
# take a share of the memory from others. A slow connection of 0.1 Mbit/s sends 300 kB in 24 s.
SLOW_BYTES, SLOW_SECONDS = 300_000, 30
MAX_BODY_SECONDS = 600
MAX_FILES = 500  # files of one upload
MAX_REQUEST = 25_000_000  # bytes of an API call or of pasted text
# Parsing JSON stops the whole server: about 0.3 seconds for so many values, or for so many lists.
# A request has at most as many numbers of six characters. Closing brackets in texts also count.
MAX_JSON_VALUES = 4_000_000
MAX_JSON_LISTS = 200_000
# Groups of conversations need about six levels; functions that copy values fail beyond about 300.
MAX_JSON_DEPTH = 50
MAX_DIGITS = (
    400  # of an integer in JSON, as the time grows with their square; a float has up to 309
)
MAX_ARGUMENTS = 100_000  # characters of the arguments of `compute`
MAX_SECONDS = 20  # estimated time of one call of `compute`
MAX_PAGE_REQUEST = 1_000_000  # bytes of other requests of the page
MAX_STORED = 1_000_000_000  # bytes of stored samples and results of all users
STORE_SECONDS = 900  # seconds after the last use until stored data are deleted
MAX_NAME = 200  # characters of a file name, set name or report title
MAX_UNPACKED = 192_000_000  # bytes of all entries of a zip, or of one array
MAX_ENTRIES = 20_000  # entries of a zip
MAX_LINES = 1_000_000  # lines of a table or of pasted text, including blank lines
INPUT = Limits(
    *(MAX_READ_ROWS, MAX_COLUMNS, MAX_VALUES, MAX_TEXT),
    unpacked=MAX_UNPACKED,
    declared=declared_values,
    largest_pages=largest_pages,
)


class JobLimits(NamedTuple):
    """Limits of one job: processor time in seconds, and bytes of memory beyond an idle process."""

    seconds: float
    memory: int = 2_000_000_000

    def describe_excess(self, processor_time: float, elapsed_time: float, memory: int) -> str:
        """Return a message if a job exceeds a limit, and otherwise an empty string."""
        if memory > self.memory:
            limit = f"{self.memory / 1e6:,.0f} MB of memory"
        elif processor_time > self.seconds or elapsed_time > _MAX_ELAPSED * self.seconds:
            limit = f"{self.seconds:g} seconds of computing time"
        else:
            return ""
        return (
            f"This takes more than {limit}, the limit of this page. Send fewer or shorter samples, "
            f"or use the Python package, which does not have this limit."
        )


_MAX_ELAPSED = 4  # elapsed time of a job, in multiples of its limit of processor time
# By lane, see `serving/lanes.py`.
JOB_LIMITS = {"short": JobLimits(20), "middle": JobLimits(60), "long": JobLimits(300)}
# Pasted text, and samples of a score, that the server processes itself instead of a worker.
TINY_SAMPLES = 100
TINY_CHARACTERS = 10_000
TINY_VALUES = 10_000

LIMITS_SENTENCE = (
    f"This page scores up to {MAX_SAMPLES:,} samples ({MAX_IMAGES} images, {MAX_VECTORS:,} rows of "
    f"numbers), and a random subset of a larger set. A file can have {MAX_UPLOAD // 10**6} MB, all "
    f"files together {MAX_UPLOADS // 10**6} MB; a text {MAX_TEXT:,} characters, all texts together "
    f"{MAX_CHARACTERS:,}; a SMILES {MAX_SMILES} characters; a matrix {MAX_COLUMNS:,} columns and "
    f"{MAX_VALUES:,} numbers; an image {MAX_PIXELS // 10**6} megapixels (WebP 15, HEIC, AVIF 25), "
    f"all images together "
    f"{MAX_ALL_PIXELS // 10**6:,}; a zip {MAX_ENTRIES:,} entries and {MAX_UNPACKED // 10**6} MB "
    f"unpacked. The page keeps your samples in memory only, for {STORE_SECONDS // 60} minutes "
    f"after their last use."
)


def check_count(n: int, limit: int, items: str) -> None:
    """Raise RefusedError unless 1 ≤ n ≤ limit; `items` is the plural of what is counted."""
    if n <= 0:
        raise RefusedError(f"There are no {items} yet; paste or upload some, or choose an example.")
    if n > limit:
        raise RefusedError(
            f"More than {limit:,} {items}: this page accepts up to {limit:,}. Send a random "
            f"subset, or use the Python package, which does not have this limit."
        )


def check_lines(count: int) -> None:
    """Raise RefusedError for too many lines, including blank lines, which would take long."""
    if count > MAX_LINES:
        raise RefusedError(f"{count:,} lines are too many: the limit is {MAX_LINES:,}.")


def check_sets(n: int) -> None:
    """Raise RefusedError unless the number of sets can be compared."""
    if not 2 <= n <= MAX_SETS:
        raise RefusedError(f"Two to {MAX_SETS} sets can be compared, got {n}.")


def check_texts(
    texts: list[Any],
    max_length: int = MAX_TEXT,
    item_name: str = "text",
    format_position: Callable[[int], str] = "number {}".format,  # describes text i in messages
) -> list[str]:
    """Return the texts; raise RefusedError for other values, long texts or too many of them."""
    check_count(len(texts), MAX_SAMPLES, f"{item_name}s")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            type_name = type(text).__name__
            raise RefusedError(
                f"Every {item_name} must be a string, but {format_position(i)} is {type_name}."
            )
        if len(text) > max_length:
            raise RefusedError(
                f"The {item_name} {format_position(i)} has {len(text):,} characters; this page "
                f"accepts up to {max_length:,}. Shorten it or split it into several {item_name}s."
            )
    if (total := sum(map(len, texts))) > MAX_CHARACTERS:
        raise RefusedError(
            f"{total:,} characters are too many: this page accepts up to {MAX_CHARACTERS:,} in "
            f"all. Send a random subset of the {item_name}s."
        )
    return texts
