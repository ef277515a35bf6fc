"""`vendiscore kernels` and `vendiscore measures`: list all, or describe one."""

import inspect
from argparse import Namespace

from ...measures.measure import get_measure, list_measures
from ...resolve.kernel import NAMED_MODELS, describe_kernel, list_kernels
from ...resolve.presets import PRESETS
from . import output
from .command_options import as_usage_error


def run_kernels(args: Namespace) -> str:
    """Return a table of all kernels and named models, or the description of the one in `args`."""
    if args.name is not None:
        with as_usage_error():
            return f"{describe_kernel(args.name)}\n"
    kernels = [(entry.name, entry.samples, entry.summary) for entry in list_kernels()]
    for name, model in NAMED_MODELS.items():
        kernels.append((name, "text", f"The cosine of the embeddings of two texts by {model}."))
    columns = ("kernel", "compares", "similarity")
    return output.format_text_table(
        [dict(zip(columns, kernel, strict=True)) for kernel in sorted(kernels)]
    )


def run_measures(args: Namespace) -> str:
    """Return a table of all measures and presets, or the description of the one in `args`."""
    if args.name is None:
        rows = [
            {
                "measure": entry.name,
                "aspect": entry.aspect,
                "more if": entry.direction,
                "description": entry.summary,
            }
            for entry in list_measures()
        ]
        table = output.format_text_table(rows)
        presets = ", ".join(f"-m {name}" for name in PRESETS)
        return f"{table}\nPresets of several measures: {presets} (`vendiscore measures text`).\n"
    if args.name in PRESETS:
        preset = PRESETS[args.name]
        names = ", ".join(preset.measures)
        return f"-m {args.name} computes {names}. {preset.question}. {preset.source}.\n"
    with as_usage_error():
        measure = get_measure(args.name)
    options = ", ".join(f"{option}={default!r}" for option, default in measure.options.items())
    description = f"-m {measure.name}: values in {measure.range}. "
    description += f"{measure.direction.capitalize()} values mean more {measure.aspect}. "
    description += f"Options: {options or 'none'}. Source: {measure.source}."
    return f"{description}\n\n{(inspect.getdoc(measure.compute) or '').strip()}\n"
