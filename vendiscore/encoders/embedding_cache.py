"""Embeddings of texts that a folder keeps between calls, a SQLite file for each model."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from ..core.types import Options, Record
from ..hashing import hash_bytes
from ..signature import IDLE

# A row in single precision, and words on what was not seen of its text.
_TABLE = "texts (text BLOB PRIMARY KEY, row BLOB, missed TEXT, partial TEXT)"

Row: TypeAlias = tuple[bytes, str | None, str | None] | None


class EmbeddingCache:
    """Rows of texts by one model with its settings; several processes may share the file."""

    def __init__(self, folder: str | Path, settings: Options) -> None:
        counting = {key: value for key, value in settings.items() if key not in IDLE}
        name = hash_bytes(repr(counting).encode()).hex()
        Path(folder).mkdir(parents=True, exist_ok=True)
        path = Path(folder) / f"{name}.sqlite"
        self.database: sqlite3.Connection = sqlite3.connect(
            path, timeout=60, check_same_thread=False
        )
        self.database.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE}")

    def read(self, texts: Sequence[str]) -> list[Row]:
        """Return the row of each text and what was not seen of it, or None."""
        ask = "SELECT row, missed, partial FROM texts WHERE text = ?"
        return [self.database.execute(ask, (key,)).fetchone() for key in map(_key, texts)]

    def add(self, texts: Sequence[str], X: np.ndarray, report: Record) -> None:
        """Keep the rows of texts, all of them or, after an error, none."""
        rows = []
        for i, text in enumerate(texts):
            row = X[i].astype("f4").tobytes()
            rows.append((_key(text), row, report["missed"].get(i), report["partial"].get(i)))
        with self.database:
            self.database.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?)", rows)


def _key(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
