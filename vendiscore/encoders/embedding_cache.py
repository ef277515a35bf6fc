"""A cache of embeddings on disk, with one SQLite file per model."""

import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ..support.errors import warn
from ..support.hashing import hash_bytes
from ..support.signature import IRRELEVANT_SETTINGS
from ..support.types import Options, Record

# `row` is an embedding in single precision; `missed` says why the model cannot represent the text,
# `partial` why it represents only a part of it. A further column is the checksum of these columns,
# which files of versions before 0.5 lack.
_TABLE_SCHEMA = "texts (text BLOB PRIMARY KEY, row BLOB, missed TEXT, partial TEXT)"

# The columns `row`, `missed` and `partial`, or None if the text is not cached.
CachedRow: TypeAlias = tuple[bytes, str | None, str | None] | None


class EmbeddingCache:
    """A file in `folder` with the embeddings of texts by one model with fixed settings.

    `settings` identify the model and determine the file name. Several processes may use the file.
    """

    def __init__(self, folder: str | Path, settings: Options) -> None:
        relevant = {key: value for key, value in settings.items() if key not in IRRELEVANT_SETTINGS}
        name = hash_bytes(repr(relevant).encode()).hex()
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.path: Path = Path(folder) / f"{name}.sqlite"
        with self._raise_as_os_error():
            # Waits up to 60 s for other processes; threads may share the connection.
            self.database: sqlite3.Connection = sqlite3.connect(
                self.path, timeout=60, check_same_thread=False
            )
            # Python 3.13 warns about connections that are not closed.
            weakref.finalize(self, self.database.close)
            # Text that is not valid UTF-8 is corrupt, which the checksum reveals.
            self.database.text_factory = lambda data: data.decode("utf-8", "replace")
            self.database.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE_SCHEMA}")
            self._add_checksums()

    def _add_checksums(self) -> None:
        """Add a column of checksums to a file written by a version before 0.5.

        All embeddings of a model have the same length. If the length of an embedding differs from
        the most frequent one, it is corrupt. It gets no checksum, so it is not used.
        """
        column_query = "SELECT 1 FROM pragma_table_info('texts') WHERE name = 'checksum'"
        if self.database.execute(column_query).fetchone():
            return
        with self.database:
            # The lock prevents other processes from adding the column at the same time.
            self.database.execute("BEGIN IMMEDIATE")
            if self.database.execute(column_query).fetchone():
                return
            self.database.execute("ALTER TABLE texts ADD COLUMN checksum BLOB")
            # The most frequent length of an embedding in bytes (GROUP BY 1 means by length).
            length_query = "SELECT length(row) FROM texts GROUP BY 1 ORDER BY count(*) DESC LIMIT 1"
            rows = self.database.execute(
                "SELECT rowid, text, row, missed, partial FROM texts "
                f"WHERE length(row) = ({length_query})"
            )
            # In batches, so that the embeddings of a large file need not fit in memory.
            while batch := rows.fetchmany(1000):
                self.database.executemany(
                    "UPDATE texts SET checksum = ? WHERE rowid = ?",
                    [(_compute_checksum(*entry), rowid) for rowid, *entry in batch],
                )

    def read(self, texts: Sequence[str]) -> list[CachedRow]:
        """Return the cached embedding of each text, or None if it is not cached.

        An embedding is a tuple of the bytes of its float32 values, and of the reasons why the model
        cannot represent the text, or represents only a part of it (None if it represents all of
        it). For entries that do not match their checksum, None is returned, and a warning reports
        their number.
        """
        query = "SELECT row, missed, partial, checksum FROM texts WHERE text = ?"
        rows: list[CachedRow] = []
        n_damaged = 0
        with self._raise_as_os_error():
            for key in map(_encode_key, texts):
                entry = self.database.execute(query, (key,)).fetchone()
                # The last column is the checksum of the text and the other columns.
                is_intact = entry is not None and _compute_checksum(key, *entry[:3]) == entry[3]
                rows.append(entry[:3] if is_intact else None)
                n_damaged += entry is not None and not is_intact
        if n_damaged:
            warn(
                f"{n_damaged:,} of {len(texts):,} embeddings in the cache {self.path} are damaged "
                "(their checksums are wrong) and are recomputed. If this warning recurs, delete "
                "the file and check the disk"
            )
        return rows

    def add(self, texts: Sequence[str], X: np.ndarray, report: Record) -> None:
        """Store the embeddings X (n, d) of n texts, all or none of them if an error occurs.

        `report["missed"]` and `report["partial"]` are dicts from the index of a text to the reason
        why the model cannot represent it, or represents only a part of it.
        """
        rows = []
        for i, text in enumerate(texts):
            row = X[i].astype("f4").tobytes()
            entry = (_encode_key(text), row, report["missed"].get(i), report["partial"].get(i))
            rows.append((*entry, _compute_checksum(*entry)))
        insert = (
            "INSERT OR REPLACE INTO texts (text, row, missed, partial, checksum) "
            "VALUES (?, ?, ?, ?, ?)"
        )
        with self._raise_as_os_error(), self.database:
            self.database.executemany(insert, rows)

    @contextmanager
    def _raise_as_os_error(self) -> Iterator[None]:
        """Turn SQLite errors into an OSError that names the file and a solution."""
        # OperationalError: the file cannot be accessed. Its base class DatabaseError: it is not a
        # valid database.
        try:
            yield
        except sqlite3.OperationalError as error:
            raise OSError(
                f"the cache of embeddings {self.path} cannot be used ({error}); check that its "
                f"folder is writable and that no other process locks it, or pass another `cache`"
            ) from error
        except sqlite3.DatabaseError as error:
            raise OSError(
                f"the cache of embeddings {self.path} is damaged ({error}); delete the file; the "
                f"embeddings are then recomputed"
            ) from error


def _encode_key(text: str) -> bytes:
    # A str may contain single surrogates, which UTF-8 cannot represent otherwise.
    return text.encode("utf-8", "surrogatepass")


def _compute_checksum(text: object, row: object, missed: object, partial: object) -> bytes:
    """Return an eight-byte checksum of a text, its embedding `row`, and problems of the text.

    `missed` is the reason why the model cannot represent the text, and `partial` the reason why it
    represents only a part of it; None if there is no such problem.
    """
    entry = repr((text, row, missed, partial))
    return hash_bytes(entry.encode("utf-8", "surrogatepass"))
