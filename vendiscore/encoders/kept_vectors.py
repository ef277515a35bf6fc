"""Embeddings of texts that a folder keeps between calls, a SQLite file for each model."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..core.types import Record
from ..hashing import hash_bytes
from ..signature import IDLE, plain
from .networks import Network

_TABLE = "texts (key BLOB PRIMARY KEY, row BLOB, missed TEXT, partial TEXT)"
# A row in single precision, and what was not seen of its text, or None.
Kept = tuple[bytes, str | None, str | None]


class KeptVectors:
    """Rows of texts by one model with its settings; several processes may share the file."""

    def __init__(self, folder: str | Path, model: Any) -> None:
        settings: Record = {"weights": weights_of(model)}
        settings |= {key: each for key, each in model.settings.items() if key not in IDLE}
        name = hash_bytes(json.dumps(plain(settings), sort_keys=True).encode()).hex()
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.path = Path(folder) / f"{name}.sqlite"

    def read(self, texts: Sequence[str]) -> list[Kept | None]:
        """Return what is kept of each text, or None."""
        ask = "SELECT row, missed, partial FROM texts WHERE key = ?"
        with closing(self._open()) as database:
            return [database.execute(ask, (key,)).fetchone() for key in map(_key, texts)]

    def add(self, texts: Sequence[str], X: Iterable[Any], report: Record) -> None:
        """Keep the rows of texts, all of them or, after an error, none."""
        missed = report["missed"]
        partial = report["partial"]
        with closing(self._open()) as database, database:
            for i, (text, row) in enumerate(zip(texts, X, strict=True)):
                kept = (_key(text), row.astype("f4").tobytes(), missed.get(i), partial.get(i))
                database.execute("INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?)", kept)

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.path, timeout=60)
        database.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE}")
        return database


def weights_of(model: Any) -> str:
    """Return a digest of the weights of a model, so that a changed one has another file."""
    if not isinstance(model, Network):
        return str(model.settings["weights"])  # of a static model
    digest = blake2b(digest_size=8)
    for tensor in model.model.state_dict().values():
        digest.update(tensor.cpu().float().numpy().tobytes())
    return digest.hexdigest()


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
