"""A table of vectors, texts and prompts that query engines read in parts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

N_COLUMNS, GROUP_SIZE = 6, 8
_WORDS = ["cat", "dog", "sun", "moon", "tree", "sea"]
# Parts of a table can have different types and orders of columns.
_SCHEMAS = [
    {"x": pa.list_(pa.float64()), "text": pa.large_string(), "prompt": pa.string()},
    {"prompt": pa.dictionary(pa.int32(), pa.string()), "x": pa.large_list(pa.float64())},
    {"text": pa.string(), "prompt": pa.large_string(), "x": pa.list_(pa.float64(), N_COLUMNS)},
]


class EngineTable(NamedTuple):
    """The columns of a table, in memory and as Arrow data."""

    vectors: np.ndarray
    texts: list[str]
    prompts: list[str]
    table: pa.Table


def build_engine_table(n: int) -> EngineTable:
    """Return a table of `n` rows, in groups of eight answers to a prompt."""
    X = np.random.default_rng(0).standard_normal((n, N_COLUMNS))
    texts = [f"{_WORDS[i % 5]} {_WORDS[i * i % 6]} {i % 7}" for i in range(n)]
    prompts = [f"{i // GROUP_SIZE:04d}" for i in range(n)]
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), N_COLUMNS)
    columns = {"x": vectors, "text": texts, "prompt": prompts, "row": np.arange(n)}
    return EngineTable(X, texts, prompts, pa.table(columns))


def split_table(table: pa.Table, ends: Sequence[int], mixed: bool = False) -> list[pa.Table]:
    """Split a table at `ends`; with `mixed`, parts have different types and orders of columns."""
    parts = [table[a:b] for a, b in itertools.pairwise(ends)]
    if not mixed:
        return parts
    mixed_parts = []
    for part, schema in zip(parts, itertools.cycle(_SCHEMAS), strict=False):
        types = {"text": pa.string(), **schema}
        columns = {name: part[name].cast(column_type) for name, column_type in types.items()}
        mixed_parts.append(pa.table(columns))
    return mixed_parts
