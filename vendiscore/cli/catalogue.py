"""The registered kernels, their options and the measures as tables for people.

python -m vendiscore.cli.catalogue            # prints them
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

from ..registry.kernel import list_kernels
from ..registry.measure import Aspect, list_measures
from ..registry.presets import PRESETS

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
    return _table(_HEAD, rows)


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
    return _table(("kernel", "options"), rows)


def measures() -> str:
    """A table with one row for each measure.

    >>> print(measures())
    | measure | what it is | options | tells | more of it | range | weights | source |
    |---|---|---|---|---|---|---|---|
    ...
    """
    head = ("measure", "what it is", "options", "tells", "more of it", "range", "weights", "source")
    rows = [
        (
            f"`{measure.name}`",
            measure.summary.rstrip("."),
            ", ".join(f"`{name}={default!r}`" for name, default in measure.options.items()),
            measure.aspect,
            measure.direction,
            measure.range,
            "yes" if measure.weighted else "",
            measure.source,
        )
        for measure in list_measures()
    ]
    return _table(head, rows)


def aspects() -> str:
    """A table of what measures tell, with their names.

    >>> print(aspects())
    | tells | of one set | beside `references` | of groups |
    |---|---|---|---|
    | diversity | ...
    """
    rows = []
    for aspect in get_args(Aspect):
        own = [measure for measure in list_measures() if measure.aspect == aspect]
        one = [each for each in own if not (each.references or each.groups)]
        two = [each for each in own if each.references]
        kinds = (one, two, [each for each in own if each.groups])
        rows.append((aspect, *(", ".join(f"`{each.name}`" for each in kind) for kind in kinds)))
    return _table(("tells", "of one set", "beside `references`", "of groups"), rows)


def presets() -> str:
    """A table with one row for each name that means several measures.

    >>> print(presets())
    | `measures=` | means | what they say | source |
    |---|---|---|---|
    | `"text"` | ...
    """
    rows = [
        (f'`"{each.name}"`', ", ".join(f"`{m}`" for m in each.measures), each.what, each.source)
        for each in PRESETS.values()
    ]
    return _table(("`measures=`", "means", "what they say", "source"), rows)


def _table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    return "\n".join([_row(head), "|" + "---|" * len(head), *map(_row, rows)])


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


if __name__ == "__main__":
    print(markdown(), options(), presets(), measures(), sep="\n\n")
