"""Python that gives a number again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

# What to import, and the download as an expression.
READ_DOWNLOAD = (
    "json, pathlib",
    'json.loads(pathlib.Path("vendiscore.json").read_text())',
)


def code(modules: str, samples: str, arguments: Mapping[str, Any], q: float) -> str:
    """Three lines of Python that give the same number; `samples` needs `modules`."""
    return f"{source(modules)}\nsamples = {samples}\nprint({call('samples', arguments, q)})"


def call(samples: str, arguments: Mapping[str, Any], q: float) -> str:
    """Python that scores samples: by this Space where it runs as one, else by the package."""
    options = keywords(arguments, q)
    if space := os.environ.get("SPACE_ID"):
        return f'evaluate.load("{space}").compute(samples={samples}, {options})'
    return f"vendiscore.compute({samples}, {options})"


def source(modules: str) -> str:
    """The import of what `call` needs, and of these modules."""
    caller = "evaluate" if os.environ.get("SPACE_ID") else "vendiscore"
    return f"import {caller}, {modules}" if modules else f"import {caller}"


def keywords(arguments: Mapping[str, Any], q: float) -> str:
    """Arguments of `compute` as one writes them."""
    given = {**arguments, "q": "inf" if q == float("inf") else int(q) if q == int(q) else q}
    return ", ".join(f"{name}={value!r}" for name, value in given.items())
