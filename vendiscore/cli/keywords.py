"""Read the values of options as keywords of the library: kernels, orders, measures."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from ..registry.kernel import get_kernel
from .exit_codes import UsageError

# What samples each kind of kernel wants of a file; of kinds of others nothing is known.
KINDS = {
    "text": "texts",
    "molecules": "molecules",
    "vectors": "vectors",
    "class probabilities": "vectors",
    "rows of bits": "vectors",
    "images": "images",
    "labels": "values",
    "sets of labels": "values",
}
_JSON = ("[", "{", '"')  # how a value of JSON begins that is no number
_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None, "null": None}
# Keywords that have options of their own here, or hold what a command line cannot.
_ELSEWHERE = {
    "samples": "FILE",
    "references": "--references",
    "k": "-k",
    "q": "-q",
    "measures": "-m",
    "groups": "--group-by",
    "details": "-f json",
    "on_error": "--on-error",
    "quality": "--quality",
}
_NONE_HERE = ("p", "tokenizer", "model", "transform")


def value(text: str) -> Any:
    """Read a value: a number, a word, numbers with commas, JSON, or the text itself."""
    if "," in text and text[0] not in _JSON:
        parts = [value(part) for part in text.split(",")]
        return parts if all(isinstance(part, (int, float)) for part in parts) else text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for read in (json.loads,) if text[:1] in _JSON else (int, float):
        with suppress(ValueError):
            return read(text)
    return text


def options(pairs: Iterable[str]) -> dict[str, Any]:
    """Read options written NAME=VALUE."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or not name:
            raise UsageError(f"-o takes OPTION=VALUE, got {pair!r}")
        if name in _ELSEWHERE:
            raise UsageError(f"-o {name}: that is what {_ELSEWHERE[name]} says; leave it out")
        if name in _NONE_HERE:
            raise UsageError(f"-o {name} holds Python objects; call vendiscore.compute from Python")
        found[name] = value(text)
    return found


def kernel(text: str) -> tuple[str, str, dict[str, Any]]:
    """Read KERNEL[:OPTION=VALUE…]: its name, its kind of samples (`KINDS`) and its options."""
    name, *parts = text.split(":")
    return name, KINDS.get(get_kernel(name).samples, ""), options(parts)


def orders(text: str) -> Any:
    """Read an order, or several with commas."""
    found = ["inf" if part.strip() == "inf" else value(part.strip()) for part in text.split(",")]
    return found if len(found) > 1 else found[0]


def measures(texts: Iterable[str]) -> list[str] | dict[str, dict[str, Any]]:
    """Read MEASURE[:OPTION=VALUE…], several with commas, or the name of a set of measures."""
    found: dict[str, dict[str, Any]] = {}
    for text in (part.strip() for each in texts for part in each.split(",")):
        name, *parts = text.split(":")
        found[name] = found.get(name, {}) | options(parts)
    return found if any(found.values()) else list(found)
