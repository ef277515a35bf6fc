"""`vendiscore table`: a publication table of sets × kernels, with letters of significance."""

import math
import textwrap
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from string import ascii_letters

from ...support.optional import require
from ...support.types import Record
from ..analysis.comparison import Comparison
from . import output
from .command_compare import compare_files, format_comparison_signature
from .exit_codes import UsageError

# Size of a panel of the picture in inches, width of its label in characters, and resolution.
_PANEL_WIDTH = 6.4
_PANEL_HEIGHT = 1.8
_ROW_HEIGHT = 0.4
_LABEL_WIDTH = 60
_DPI = 200
_LETTER_NOTE = (
    "for two sets without a common letter, the data show which is more diverse (permutation test "
    "with Holm's correction, and interval of the difference)"
)


def run_table(args: Namespace) -> str:
    if args.plot:
        _check_plot(args.plot)
    comparisons: dict[str, Comparison] = {}
    rows: dict[str, Record] = {}
    for kernel in args.kernel or [None]:
        args.kernel = kernel
        comparison = compare_files(args)
        kernel = str(kernel or comparison.settings["kernel"])
        comparisons[kernel] = comparison
        letters = assign_letters(comparison)
        for row in comparison.sets:
            cell = f"{row.matched:.2f}"
            if not math.isnan(row.matched_low):  # a mean over two prompts has no interval
                cell += f" [{row.matched_low:.2f}, {row.matched_high:.2f}]"
            cells = rows.setdefault(row.name, {"set": row.name, "n": row.n})
            cells[kernel] = f"{cell} {letters[row.name]}"
        args.notes.add_note(
            f"effective number of different samples {comparison.size_description} [interval]; "
            f"{_LETTER_NOTE}",
            kernel,
        )
    if args.plot:
        _plot(args.plot, comparisons)
    signatures = [format_comparison_signature(args, each) for each in comparisons.values()]
    table = output.FORMATS[args.format](list(rows.values()), [*comparisons])
    return output.append_signatures(args, [table], *signatures)


def _check_plot(path: str) -> None:
    """Raise if the picture cannot be written, before anything is computed."""
    figures = require("matplotlib.figure", "plots", "--plot")
    supported = figures.Figure().canvas.get_supported_filetypes()
    if Path(path).suffix.lower().lstrip(".") not in supported:
        raise UsageError(
            f"--plot must be a file name with the ending .png, .pdf or .svg, got {path!r}"
        )
    if not Path(path).absolute().parent.is_dir():
        raise UsageError(f"--plot {path} is in a folder that does not exist; create the folder")


def _plot(path: str, comparisons: Mapping[str, Comparison]) -> None:
    """Write a picture with one panel per kernel."""
    figures = require("matplotlib.figure", "plots", "--plot")
    count = max(len(comparison.sets) for comparison in comparisons.values())
    size = (_PANEL_WIDTH * len(comparisons), _PANEL_HEIGHT + _ROW_HEIGHT * count)
    figure = figures.Figure(size, layout="constrained")
    axes = figure.subplots(1, len(comparisons), squeeze=False)[0]
    for ax, (kernel, comparison) in zip(axes, comparisons.items(), strict=True):
        comparison.plot(ax).set_title(kernel)
        ax.set_xlabel(textwrap.fill(ax.get_xlabel(), _LABEL_WIDTH))
    figure.savefig(path, dpi=_DPI, bbox_inches="tight")


def assign_letters(comparison: Comparison) -> dict[str, str]:
    """Return letters by set; sets without a common letter differ significantly (Piepho 2004)."""
    names = [row.name for row in sorted(comparison.sets, key=lambda row: -row.matched)]
    groups = {frozenset(names)}
    for pair in comparison.pairs:
        if comparison.states_direction(pair.a, pair.b):
            split = {group - {name} for group in groups for name in (pair.a, pair.b)}
            groups = {group for group in split if not any(group < other for other in split)}
    ordered = sorted(groups, key=lambda group: sorted(map(names.index, group)))
    return {
        name: "".join(ascii_letters[i] for i, group in enumerate(ordered) if name in group)
        for name in names
    }
