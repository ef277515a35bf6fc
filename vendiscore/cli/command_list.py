"""`vendiscore kernels` and `vendiscore measures`: what there is, a line each, or all of one."""

from __future__ import annotations

import inspect

from ..registry.kernel import get_kernel, list_kernels
from ..registry.measure import get_measure, list_measures
from ..registry.presets import PRESETS
from . import output
from .kernel_options import usage

_PRESETS = f"""
Several at once: {", ".join(f"-m {each}" for each in PRESETS)} (`vendiscore measures text`).
"""


def run(command: str, name: str | None) -> str:
    """What is printed."""
    if name is not None:
        with usage():
            return _kernel(name) if command == "kernels" else _measure(name)
    if command == "kernels":
        rows = [
            {"kernel": each.name, "compares": each.samples, "similarity": each.summary}
            for each in list_kernels()
        ]
    else:
        rows = [
            {
                "measure": each.name,
                "tells": each.aspect,
                "more of it": each.direction,
                "what it is": each.summary,
            }
            for each in list_measures()
        ]
    return output.table(rows, None) + (_PRESETS if command == "measures" else "")


def _kernel(name: str) -> str:
    return f"{(get_kernel(name).__doc__ or '').strip()}\n"


def _measure(name: str) -> str:
    if name in PRESETS:
        several = PRESETS[name]
        return f"-m {name} means {', '.join(several.measures)}. {several.what}. {several.source}.\n"
    found = get_measure(name)
    options = ", ".join(f"{option}={default!r}" for option, default in found.options.items())
    head = f"-m {found.name} is in {found.range}; {found.direction} means more {found.aspect}. "
    head += f"Options: {options or 'none'}. Source: {found.source}."
    return f"{head}\n\n{(inspect.getdoc(found.compute) or '').strip()}\n"
