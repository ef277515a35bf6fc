"""`vendiscore kernels` and `vendiscore measures`, and the tables of both in Markdown.

python -m vendiscore.cli.catalogue            # prints the tables of the README
"""

from __future__ import annotations

import inspect
from argparse import Namespace
from collections.abc import Iterable
from typing import get_args

from ..registry.kernel import get_kernel, list_kernels
from ..registry.measure import Aspect, get_measure, list_measures
from ..registry.presets import PRESETS
from . import output
from .kernel_options import usage


def run_kernels(args: Namespace) -> str:
    """Return a line for each kernel, or the documentation of one."""
    if args.name is not None:
        with usage():
            return f"{(get_kernel(args.name).__doc__ or '').strip()}\n"
    rows = [
        {"kernel": each.name, "compares": each.samples, "similarity": each.summary}
        for each in list_kernels()
    ]
    return output.table(rows, None)


def run_measures(args: Namespace) -> str:
    """Return a line for each measure, or the documentation of one, or of a set of them."""
    if args.name is None:
        columns = ("measure", "tells", "more of it", "what it is")
        known = ((each.name, each.aspect, each.direction, each.summary) for each in list_measures())
        listed = output.table([dict(zip(columns, row, strict=True)) for row in known], None)
        presets = ", ".join(f"-m {each}" for each in PRESETS)
        return f"{listed}\nSeveral at once: {presets} (`vendiscore measures text`).\n"
    if args.name in PRESETS:
        some = PRESETS[args.name]
        return f"-m {args.name} means {', '.join(some.measures)}. {some.what}. {some.source}.\n"
    with usage():
        found = get_measure(args.name)
    options = ", ".join(f"{option}={default!r}" for option, default in found.options.items())
    head = f"-m {found.name} is in {found.range}; {found.direction} means more {found.aspect}. "
    head += f"Options: {options or 'none'}. Source: {found.source}."
    return f"{head}\n\n{(inspect.getdoc(found.compute) or '').strip()}\n"


def markdown() -> str:
    """Return a table with one row for each registered kernel."""
    return _table(
        {
            "kernel": f"`{kernel.name}`",
            "compares": kernel.samples,
            "similarity": kernel.summary.rstrip("."),
            "extra": f"`{kernel.needs}`" if kernel.needs else "",
            "PSD": "yes" if kernel.psd else "no",
            "k(x, x) = 1": "yes" if kernel.unit_diagonal else "no",
            "source": kernel.source,
        }
        for kernel in list_kernels()
    )


def options() -> str:
    """Return a table with one row for each kernel that has options besides `on_error`."""
    rows = []
    for kernel in list_kernels():
        own = [f"`{each}`" for each in kernel.signature if not each.startswith("on_error=")]
        if own:
            rows.append({"kernel": f"`{kernel.name}`", "options": ", ".join(own)})
    return _table(rows)


def measures() -> str:
    """Return a table with one row for each measure."""
    return _table(
        {
            "measure": f"`{each.name}`",
            "what it is": each.summary.rstrip("."),
            "options": ", ".join(f"`{name}={value!r}`" for name, value in each.options.items()),
            "tells": each.aspect,
            "more of it": each.direction,
            "range": each.range,
            "weights": "yes" if each.weighted else "",
            "source": each.source,
        }
        for each in list_measures()
    )


def aspects() -> str:
    """Return a table of what measures tell, with their names."""
    rows = []
    for aspect in get_args(Aspect):
        own = [each for each in list_measures() if each.aspect == aspect]
        kinds = {
            "of one set": [each for each in own if not (each.references or each.groups)],
            "beside `references`": [each for each in own if each.references],
            "of groups": [each for each in own if each.groups],
        }
        names = {kind: ", ".join(f"`{each.name}`" for each in some) for kind, some in kinds.items()}
        rows.append({"tells": aspect, **names})
    return _table(rows)


def presets() -> str:
    """Return a table with one row for each name that means several measures."""
    return _table(
        {
            "`measures=`": f'`"{name}"`',
            "means": ", ".join(f"`{measure}`" for measure in each.measures),
            "what they say": each.what,
            "source": each.source,
        }
        for name, each in PRESETS.items()
    )


def _table(rows: Iterable[output.Row]) -> str:
    return output.markdown(list(rows), None).rstrip("\n")


if __name__ == "__main__":
    print(markdown(), options(), presets(), measures(), sep="\n\n")
