"""The registered kernels as a table for people: `python -m vendiscore.catalogue`."""

from __future__ import annotations

from collections.abc import Iterable

from .registry import list_kernels

_HEAD = ("kernel", "compares", "similarity", "extra", "PSD", "k(x, x) = 1", "source")


def markdown() -> str:
    """A Markdown table with one row for each registered kernel.

    >>> print(markdown())
    | kernel | compares | similarity | extra | PSD | k(x, x) = 1 | source |
    |---|---|---|---|---|---|---|
    ...
    """
    rows = [
        (
            f"`{kernel.name}`",
            kernel.samples,
            kernel.summary.rstrip("."),
            f"`{kernel.needs}`" if kernel.needs else "",
            "yes" if kernel.psd else "no",
            "yes" if kernel.unit_diagonal else "no",
            kernel.source,
        )
        for kernel in list_kernels()
    ]
    return "\n".join([_row(_HEAD), "|" + "---|" * len(_HEAD), *map(_row, rows)])


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


if __name__ == "__main__":
    print(markdown())
