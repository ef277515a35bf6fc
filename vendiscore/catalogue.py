"""The registered kernels, their options and the measures as tables for people.

python -m vendiscore.catalogue            # prints them
"""

from __future__ import annotations

from collections.abc import Iterable

from .measures.registry import list_measures
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


def options() -> str:
    """A table with one row for each kernel that has options besides `on_error`.

    >>> print(options())
    | kernel | options |
    |---|---|
    | `atom_pair` | `n_bits=2048`, `coefficient='tanimoto'` |
    ...
    """
    rows = []
    for kernel in list_kernels():
        own = [given for given in kernel.signature if not given.startswith("on_error=")]
        if own:
            rows.append((f"`{kernel.name}`", ", ".join(f"`{given}`" for given in own)))
    return "\n".join([_row(("kernel", "options")), "|---|---|", *map(_row, rows)])


def measures() -> str:
    """A table with one row for each measure.

    >>> print(measures())
    | measure | what it is | options | range | more diverse | weights | source |
    |---|---|---|---|---|---|---|
    ...
    """
    head = ("measure", "what it is", "options", "range", "more diverse", "weights", "source")
    rows = [
        (
            f"`{measure.name}`",
            measure.summary.rstrip("."),
            ", ".join(f"`{name}={default!r}`" for name, default in measure.options.items()),
            measure.range,
            measure.direction,
            "yes" if measure.weighted else "",
            measure.source,
        )
        for measure in list_measures()
    ]
    return "\n".join([_row(head), "|" + "---|" * len(head), *map(_row, rows)])


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


if __name__ == "__main__":
    print(markdown(), options(), measures(), sep="\n\n")
