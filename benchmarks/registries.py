"""Tables of the registered kernels, measures and presets, in Markdown.

python benchmarks/registries.py            # prints them
"""

from __future__ import annotations

from collections.abc import Iterable

from vendiscore.measures.measure import list_measures
from vendiscore.resolve.kernel import list_kernels
from vendiscore.resolve.presets import PRESETS
from vendiscore.tools.cli import output


def tabulate_kernels() -> str:
    """Tabulate the registered kernels."""
    return _format_rows(
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


def tabulate_kernel_options() -> str:
    """Tabulate the options of kernels that have other options than `on_error`."""
    rows = []
    for kernel in list_kernels():
        options = [
            f"`{option}`" for option in kernel.signature if not option.startswith("on_error=")
        ]
        if options:
            rows.append({"kernel": f"`{kernel.name}`", "options": ", ".join(options)})
    return _format_rows(rows)


def tabulate_measures() -> str:
    """Tabulate the registered measures."""
    return _format_rows(
        {
            "measure": f"`{measure.name}`",
            "definition": measure.summary.rstrip("."),
            "options": ", ".join(f"`{name}={value!r}`" for name, value in measure.options.items()),
            "aspect": measure.aspect,
            "more of it": measure.direction,
            "range": measure.range,
            "weights": "yes" if measure.weighted else "",
            "source": measure.source,
        }
        for measure in list_measures()
    )


def tabulate_presets() -> str:
    """Tabulate the presets, which are names for several measures."""
    return _format_rows(
        {
            "`measures=`": f'`"{name}"`',
            "means": ", ".join(f"`{name_of_measure}`" for name_of_measure in preset.measures),
            "what they say": preset.question,
            "source": preset.source,
        }
        for name, preset in PRESETS.items()
    )


def _format_rows(rows: Iterable[output.Row]) -> str:
    return output.format_markdown(list(rows)).rstrip("\n")


if __name__ == "__main__":
    print(
        tabulate_kernels(),
        tabulate_kernel_options(),
        tabulate_presets(),
        tabulate_measures(),
        sep="\n\n",
    )
