"""Tables of the registered kernels, measures and presets, in Markdown.

python benchmarks/registries.py            # prints them
"""

from __future__ import annotations

from collections.abc import Iterable

from vendiscore.measures.measure import list_measures
from vendiscore.resolve.kernel import list_kernels
from vendiscore.resolve.presets import PRESETS
from vendiscore.tools.cli import output


def markdown() -> str:
    """Return a table with one row for each registered kernel."""
    return _table(
        {
            "kernel": f"`{kernel.name}`",
            "compares": kernel.samples,
            "similarity": kernel.summary.rstrip("."),
            "extra": f"`{kernel.needs}`" if kernel.needs else "",
            "PSD": "yes" if kernel.psd else "no",
            "source": kernel.source,
        }
        for kernel in list_kernels()
    )


def options() -> str:
    """Return a table with a row for each kernel that has other options than `on_error`."""
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
            "definition": each.summary.rstrip("."),
            "options": ", ".join(f"`{name}={value!r}`" for name, value in each.options.items()),
            "aspect": each.aspect,
            "more of it": each.direction,
            "range": each.range,
            "weights": "yes" if each.weighted else "",
            "source": each.source,
        }
        for each in list_measures()
    )


def presets() -> str:
    """Return a table with one row for each name that means several measures."""
    return _table(
        {
            "`measures=`": f'`"{name}"`',
            "means": ", ".join(f"`{measure}`" for measure in each.measures),
            "what they say": each.question,
            "source": each.source,
        }
        for name, each in PRESETS.items()
    )


def _table(rows: Iterable[output.Row]) -> str:
    return output.format_markdown(list(rows)).rstrip("\n")


if __name__ == "__main__":
    print(markdown(), options(), presets(), measures(), sep="\n\n")
