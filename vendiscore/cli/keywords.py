"""Read the values of options as keywords of the library: kernels, orders, measures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
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
    """Read a value: a number, a word, several with commas, JSON, or the text itself.

    >>> value("0.5"), value("1,2"), value("true"), value("clip")
    (0.5, [1, 2], True, 'clip')
    """
    if text[:1] in ("[", "{", '"'):
        try:
            return json.loads(text)
        except ValueError:
            return text
    if "," in text and all(isinstance(value(part), (int, float)) for part in text.split(",")):
        return [value(part) for part in text.split(",")]
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def options(pairs: Iterable[str]) -> dict[str, Any]:
    """Read options written NAME=VALUE.

    >>> options(["ns=1,2", "analyzer=char"])
    {'ns': [1, 2], 'analyzer': 'char'}
    """
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
    """Read KERNEL[:OPTION=VALUE…]: its name, its kind of samples (`KINDS`) and its options.

    >>> kernel("ngram_overlap:ns=1,2")
    ('ngram_overlap', 'texts', {'ns': [1, 2]})
    """
    name, *parts = text.split(":")
    return name, KINDS.get(get_kernel(name).samples, ""), options(parts)


def orders(text: str) -> Any:
    """Read an order, or several with commas.

    >>> orders("1"), orders("0,1,inf")
    (1, [0, 1, 'inf'])
    """
    found = ["inf" if part.strip() == "inf" else value(part.strip()) for part in text.split(",")]
    return found if len(found) > 1 else found[0]


def measures(texts: Iterable[str]) -> str | list[str] | Mapping[str, Mapping[str, Any]]:
    """Read MEASURE[:OPTION=VALUE…], several with commas, or the name of a set of measures.

    >>> measures(["VS,IntDiv"]), measures(["VS,MagArea:n_scales=20"])
    (['VS', 'IntDiv'], {'VS': {}, 'MagArea': {'n_scales': 20}})
    """
    found: dict[str, dict[str, Any]] = {}
    for text in (part.strip() for each in texts for part in each.split(",")):
        name, *parts = text.split(":")
        found[name] = found.get(name, {}) | options(parts)
    if any(found.values()):
        return found
    return list(found) if len(found) > 1 else next(iter(found), "")
