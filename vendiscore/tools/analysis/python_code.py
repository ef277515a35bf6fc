"""Python code that reproduces a number."""

from __future__ import annotations

import math

import numpy as np

from ...support.signature import to_plain
from ...support.types import Options, Samples

# Samples and arguments of more characters than this are not written out.
_INLINE = 1_500


def reproduced(
    samples: Samples,
    references: Samples | None,
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
            passed = to_plain(value)  # another run would warn of it too
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
    text = _written(value)
    return None if text is None or len(text) > _INLINE else text


def _written(value: object) -> str | None:
    """Write a value; None for a set, whose order changes, and for what has no literal."""
    if type(value) is float and not math.isfinite(value):
        return "'inf'" if value == math.inf else None
    if value is None or type(value) in (bool, int, float, str):
        return repr(value)
    if not isinstance(value, (list, tuple, dict)) or len(value) > _INLINE:
        return None
    items = [_written(item) for item in (value.values() if isinstance(value, dict) else value)]
    if None in items:
        return None
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {x}' for key, x in zip(value, items, strict=True))}}}"
    inside = ", ".join(map(str, items))
    return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
