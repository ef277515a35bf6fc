"""Python that reads the samples of a visitor's file as the page has read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from vendiscore.report import ReadOptions

# Modules to import, and functions from them.
IMPORTS = "numpy as np, pathlib\nfrom vendiscore.report import ReadOptions, read_data"
_LONGEST = 1_000  # characters that tell which rows are read


def draw_indices(n: int, most: int, draw: int) -> list[int]:
    """Return at most `most` of 0, …, n − 1, in order: all, or a part that `draw` alone decides."""
    chosen: list[int] = np.sort(np.random.default_rng(draw).permutation(n)[:most]).tolist()
    return chosen


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
            f"{each.name}={value!r}"
            for each in fields(read_options)
            if each.name != "limits" and (value := getattr(read_options, each.name)) != each.default
        ]
        file = f"pathlib.Path({self.name!r}).read_bytes()"
        return f"read_data({self.name!r}, {file}, ReadOptions({', '.join(options)})){self.rows}"

    def values(self, data: str = "data") -> str:
        """Write the samples of what was read."""
        return f"[text.strip() for text in {data}.values]" if self.strings else f"{data}.values"

    def subset(self, kept: Sequence[int], n: int, draw: int) -> FileCode | None:
        """Return the code for some of n samples, in order; None where it would be long."""
        if len(kept) == n:
            return self
        rows = f"np.sort(np.random.default_rng({draw}).permutation({n})[:{len(kept)}])"
        if list(kept) != draw_indices(n, len(kept), draw):
            rows = f"np.delete(range({n}), {sorted({*range(n)} - {*kept})})"
        if len(rows) > _LONGEST:
            return None
        return replace(self, rows=f"{self.rows}.subset({rows})")
