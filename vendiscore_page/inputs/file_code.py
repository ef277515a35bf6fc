"""Python that reads the samples of a visitor's file as the page has read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from vendiscore.report import ReadOptions

# Modules to import, and functions from them.
IMPORTS = "numpy as np, pathlib\nfrom vendiscore.report import ReadOptions, read_data"
_MAX_ROWS_LENGTH = 1_000  # characters that tell which rows are read


def draw_indices(n: int, max_n: int, draw: int) -> list[int]:
    """Return at most `max_n` of 0, …, n − 1, in order: all, or a part that `draw` alone decides."""
    indices: list[int] = np.sort(np.random.default_rng(draw).permutation(n)[:max_n]).tolist()
    return indices


@dataclass(frozen=True)
class FileCode:
    """The file, how the library's reader is to read it, and what of it is taken."""

    name: str
    read_options: ReadOptions
    strings: bool = True  # whether samples are texts, which the page strips
    groups: str = "data.groups"
    rows: str = ""  # calls of `subset`

    def read(self, prompts: str | None = None) -> str:
        """Write the call of the reader, with a column of prompts if it reads none otherwise."""
        read_options = replace(self.read_options, prompts=self.read_options.prompts or prompts)
        options = [
            f"{option.name}={value!r}"
            for option in fields(read_options)
            if option.name != "limits"
            and (value := getattr(read_options, option.name)) != option.default
        ]
        file = f"pathlib.Path({self.name!r}).read_bytes()"
        return f"read_data({self.name!r}, {file}, ReadOptions({', '.join(options)})){self.rows}"

    def values(self, data: str = "data") -> str:
        """Write the samples of what was read."""
        return f"[text.strip() for text in {data}.values]" if self.strings else f"{data}.values"

    def subset(self, indices: Sequence[int], n: int, draw: int) -> FileCode | None:
        """Return the code for some of n samples, in order; None where it would be long."""
        if len(indices) == n:
            return self
        rows = f"np.sort(np.random.default_rng({draw}).permutation({n})[:{len(indices)}])"
        if list(indices) != draw_indices(n, len(indices), draw):
            rows = f"np.delete(range({n}), {sorted({*range(n)} - {*indices})})"
        if len(rows) > _MAX_ROWS_LENGTH:
            return None
        return replace(self, rows=f"{self.rows}.subset({rows})")
