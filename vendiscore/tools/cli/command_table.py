"""`vendiscore table`: a table for publications, with a row per set and a column per kernel.

Letters mark the sets in a column that do not differ significantly.
"""

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
    """Return a table of scores with one row per set and one column per kernel.

    With --plot, also write a picture of the scores to a file.
    """
    if args.plot:
        _check_plot_path(args.plot)
    comparisons: dict[str, Comparison] = {}
    rows: dict[str, Record] = {}
    for kernel in args.kernel or [None]:
        args.kernel = kernel  # `compare_files` expects one kernel, as `vendiscore compare` has
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
        _write_picture(args.plot, comparisons)
    signatures = [
        format_comparison_signature(args, comparison) for comparison in comparisons.values()
    ]
    table = output.FORMATS[args.format](list(rows.values()), [*comparisons])
    return output.append_signatures(args, [table], *signatures)


def _check_plot_path(path: str) -> None:
    """Raise an error if a picture cannot be written to the file `path`.

    It is called before scores are computed, which can take long.
    """
    figures = require("matplotlib.figure", "plots", "--plot")
    supported = figures.Figure().canvas.get_supported_filetypes()
    if Path(path).suffix.lower().lstrip(".") not in supported:
        raise UsageError(
            f"--plot must be a file name with the ending .png, .pdf or .svg, got {path!r}"
        )
    if not Path(path).absolute().parent.is_dir():
        raise UsageError(f"--plot {path} is in a folder that does not exist; create the folder")


def _write_picture(path: str, comparisons: Mapping[str, Comparison]) -> None:
    """Write a picture with one panel per kernel; `comparisons` are keyed by kernel."""
    figures = require("matplotlib.figure", "plots", "--plot")
    n_sets = max(len(comparison.sets) for comparison in comparisons.values())
    figure_size = (_PANEL_WIDTH * len(comparisons), _PANEL_HEIGHT + _ROW_HEIGHT * n_sets)
    figure = figures.Figure(figure_size, layout="constrained")
    # The panels are in one row.
    axes = figure.subplots(1, len(comparisons), squeeze=False)[0]
    for ax, (kernel, comparison) in zip(axes, comparisons.items(), strict=True):
        comparison.plot(ax).set_title(kernel)
        ax.set_xlabel(textwrap.fill(ax.get_xlabel(), _LABEL_WIDTH))
    figure.savefig(path, dpi=_DPI, bbox_inches="tight")


def assign_letters(comparison: Comparison) -> dict[str, str]:
    """Return the letters of each set; sets without a common letter differ significantly.

    Each letter marks a group of sets without significant differences between them. A set has one or
    more letters. The group of the letter a contains the set with the highest score. Groups are
    found by the insert-and-absorb algorithm (Piepho 2004).
    """
    names = [row.name for row in sorted(comparison.sets, key=lambda row: -row.matched)]
    groups = {frozenset(names)}
    for pair in comparison.pairs:
        if comparison.states_direction(pair.a, pair.b):
            # Splits each group with both sets into one without a and one without b, and drops
            # groups that are contained in others.
            split = {group - {name} for group in groups for name in (pair.a, pair.b)}
            groups = {group for group in split if not any(group < other for other in split)}
    ordered = sorted(groups, key=lambda group: sorted(map(names.index, group)))
    return {
        name: "".join(ascii_letters[i] for i, group in enumerate(ordered) if name in group)
        for name in names
    }
