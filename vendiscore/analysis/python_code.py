"""Python code that reproduces a number."""

import math
from ast import literal_eval
from typing import Any

import numpy as np

from ..core.types import Options, Samples
from ..signature import plain

# Samples and arguments of more characters than this are not written out.
_INLINE = 1_500


def reproduced(
    samples: Samples,
    references: Samples,
    arguments: Options,
    what: str,
) -> str:
    """Write Python that reproduces the numbers of a report, with short arguments written out."""
    lines = ["import vendiscore", _assigned("samples", samples, what)]
    options = ["samples"]
    if references is not None:
        lines.append(_assigned("references", references, "references"))
        options.append("references=references")
    for name, value in arguments.items():
        text = _literal(value)
        if text is None:
            text = name
            passed = plain(value)  # another run would warn of it too
            if not isinstance(passed, str):
                passed = f"a {type(value).__name__}"
            lines.append(f"# `{name}` is what was passed: {' '.join(passed[:100].split())}")
        options.append(f"{name}={text}")
    lines.append(f"print(vendiscore.compute({', '.join(options)}))")
    return "\n".join(lines)


def _assigned(name: str, samples: Samples, what: str) -> str:
    """Write the line that gives samples their name, a comment if they are long."""
    text = _literal(samples)
    if text is None:
        return f"# `{name}` are the {what} of this report, in their order."
    return f"{name} = {text}"


def _literal(value: object) -> str | None:
    """Write a value as a Python literal; None if it is long or has no literal."""
    if isinstance(value, np.ndarray) and value.size <= _INLINE:
        value = value.tolist() if value.dtype in (np.float64, np.int64) else value
    if isinstance(value, (list, tuple, dict)) and len(value) > _INLINE:
        return None
    text = repr(_with_names(value))
    if len(text) > _INLINE:
        return None
    try:
        literal_eval(text)
    except (SyntaxError, ValueError):
        return None
    return text


def _with_names(value: Any) -> Any:
    """Replace ∞, which has no literal, by its name "inf"."""
    if isinstance(value, float) and value == math.inf:
        return "inf"
    if type(value) in (list, tuple):
        return type(value)(map(_with_names, value))
    return value
