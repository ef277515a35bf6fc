"""Python code that recomputes the values of a report."""

from __future__ import annotations

import math

import numpy as np

from ...support.signature import to_plain
from ...support.types import Options, Samples

# Maximum number of characters of samples and arguments that are written as literals.
_MAX_LITERAL_LENGTH = 1_500


def format_call(
    samples: Samples,
    references: Samples | None,
    arguments: Options,
    sample_noun: str,
) -> str:
    """Format Python code that recomputes the values of a report.

    Short samples and arguments are written as literals, others are described in comments.
    `sample_noun` describes the samples, for example "20 texts".
    """
    lines = ["import vendiscore", _format_assignment("samples", samples, sample_noun)]
    options = ["samples"]
    if references is not None:
        lines.append(_format_assignment("references", references, "references"))
        options.append("references=references")
    for name, value in arguments.items():
        text = _format_literal(value)
        if text is None:
            text = name
            description = to_plain(value)  # a string for objects that have a name or a description
            if not isinstance(description, str):
                description = f"a {type(value).__name__}"
            lines.append(f"# `{name}` is what was passed: {' '.join(description[:100].split())}")
        options.append(f"{name}={text}")
    lines.append(f"print(vendiscore.compute({', '.join(options)}))")
    return "\n".join(lines)


def _format_assignment(name: str, samples: Samples, sample_noun: str) -> str:
    """Format the assignment of samples to a variable, or a comment if they are too long."""
    text = _format_literal(samples)
    if text is None:
        return f"# `{name}` are the {sample_noun} of this report, in their order."
    return f"{name} = {text}"


def _format_literal(value: object) -> str | None:
    """Format a value as a Python literal; None if it is too long or cannot be a literal."""
    if isinstance(value, np.ndarray) and value.size <= _MAX_LITERAL_LENGTH:
        value = value.tolist() if value.dtype in (np.float64, np.int64) else value
    text = _format_value(value)
    return None if text is None or len(text) > _MAX_LITERAL_LENGTH else text


def _format_value(value: object) -> str | None:
    """Format a value as a Python literal of any length; None if it cannot be a literal.

    Sets are not supported, because their order differs between runs.
    """
    if type(value) is float and not math.isfinite(value):
        return "'inf'" if value == math.inf else None
    if value is None or type(value) in (bool, int, float, str):
        return repr(value)
    if not isinstance(value, (list, tuple, dict)) or len(value) > _MAX_LITERAL_LENGTH:
        return None
    items = [_format_value(item) for item in (value.values() if isinstance(value, dict) else value)]
    if None in items:
        return None
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {x}' for key, x in zip(value, items, strict=True))}}}"
    joined = ", ".join(map(str, items))
    return f"[{joined}]" if isinstance(value, list) else f"({joined}{',' * (len(value) == 1)})"
