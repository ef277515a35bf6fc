"""`vendiscore table`: a publication table of sets × kernels, with letters of significance."""

import math
from argparse import Namespace
from string import ascii_letters

from ...support.optional import require
from ...support.types import Record
from ..analysis.comparison import Comparison
from . import output
from .command_compare import compare_files, format_comparison_signature
from .exit_codes import print_message

_LETTER_NOTE = (
    "of sets without a common letter, the data show which is more diverse (p by permutations and "
    "Holm, and the interval of the difference)"
)


def run_table(args: Namespace) -> str:
    compared: dict[str, Comparison] = {}
    rows: dict[str, Record] = {}
    for kernel in args.kernel or [None]:
        args.kernel = kernel
        found = compare_files(args)
        kernel = str(kernel or found.settings["kernel"])
        compared[kernel] = found
        marks = assign_letters(found)
        for row in found.sets:
            interval = f"{row.matched:.2f}"
            if not math.isnan(row.matched_low):  # a mean over two prompts has no interval
                interval += f" [{row.matched_low:.2f}, {row.matched_high:.2f}]"
            cells = rows.setdefault(row.name, {"set": row.name, "n": row.n})
            cells[kernel] = f"{interval} {marks[row.name]}"
        if not args.quiet:
            print_message(
                f"{kernel}: effectively different samples {found.at} [interval]; {_LETTER_NOTE}"
            )
    if args.plot:
        figures = require("matplotlib.figure", "plots", "a picture")
        size = (4 * len(compared), 1.5 + 0.3 * len(rows))
        figure = figures.Figure(size, layout="constrained")
        axes = figure.subplots(1, len(compared), squeeze=False)[0]
        for ax, (kernel, found) in zip(axes, compared.items(), strict=True):
            found.plot(ax).set_title(kernel)
        figure.savefig(args.plot)
    signatures = [format_comparison_signature(args, found) for found in compared.values()]
    return output.append_signatures(
        args, [output.FORMATS[args.format](list(rows.values()))], *signatures
    )


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
