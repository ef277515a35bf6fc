"""Embeddings of texts that a folder keeps between calls, a SQLite file for each model."""

import sqlite3
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..core.types import Record
from ..hashing import hash_bytes
from ..signature import IDLE
from .networks import Network

# A row in single precision, and words on what was not seen of its text.
_TABLE = "texts (text BLOB PRIMARY KEY, row BLOB, missed TEXT, partial TEXT)"


class KeptVectors:
    """Rows of texts by one model with its settings; several processes may share the file."""

    def __init__(self, folder: str | Path, model: Any) -> None:
        settings = {key: each for key, each in model.settings.items() if key not in IDLE}
        name = hash_bytes(repr((settings, weights_of(model))).encode()).hex()
        Path(folder).mkdir(parents=True, exist_ok=True)
        path = Path(folder) / f"{name}.sqlite"
        self.database = sqlite3.connect(path, timeout=60, check_same_thread=False)
        self.database.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE}")

    def read(self, texts: Sequence[str]) -> list[Any]:
        """Return the row of each text and what was not seen of it, or None."""
        ask = "SELECT row, missed, partial FROM texts WHERE text = ?"
        return [self.database.execute(ask, (key,)).fetchone() for key in map(_key, texts)]

    def add(self, texts: Sequence[str], X: Any, report: Record) -> None:
        """Keep the rows of texts, all of them or, after an error, none."""
        rows = []
        for i, text in enumerate(texts):
            row = X[i].astype("f4").tobytes()
            rows.append((_key(text), row, report["missed"].get(i), report["partial"].get(i)))
        with self.database:
            self.database.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?)", rows)


def weights_of(model: Any) -> str:
    """Return a digest of the weights of a model, so that a changed one has another file."""
    if not isinstance(model, Network):
        return str(model.settings["weights"])  # of a static model
    digest = blake2b(digest_size=8)
    for tensor in model.model.state_dict().values():
        digest.update(tensor.cpu().float().numpy().tobytes())
    return digest.hexdigest()


def _key(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
