"""Checks of what `compute` is given, made before any work starts.

Each returns the checked value, ready to use, or raises an error that names the argument, what was
expected, what came (and where) and what to do about it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..arguments import flag, is_several, number, one_of
from ..encoders.batches import is_network
from ..hints import suggestion
from ..registry import Kernel, check_options, get_kernel, having, list_kernels
from .mixture import is_mixture, read_mixture

PSD_REMEDY = "which raises for negative eigenvalues or sets them to zero"
FLAGS = frozenset(("score_K", "score_X", "score_dual", "normalize", "details"))
TEXT_KERNEL = "ngram_overlap"  # the kernel of strings when none is named
SETTINGS = frozenset(
    ("k", "score_K", "score_X", "score_dual", "normalize", "q", "p", "psd", "measures", "details")
)
SAMPLES = frozenset(("samples", "predictions", "references", "data"))  # what the metric calls them


def check_arguments(arguments: Mapping[str, Any]) -> None:
    """Raise a TypeError or ValueError for keywords of `compute` that it would not accept.

    Looks at no samples, so that a typing mistake costs nothing, and not at `measures`, which stand
    on this module: `scoring.check_arguments` does both.
    """
    given = dict(arguments)
    settings = {name: given.pop(name) for name in SETTINGS if name in given}
    if "q" in settings:
        check_orders(settings["q"])
    one_of("psd", settings.get("psd", "check"), ("check", "clip"), PSD_REMEDY)
    for name in FLAGS & settings.keys():
        flag(name, settings[name])
    k = settings.get("k")
    ways = [name for name in ("score_K", "score_X", "score_dual") if settings.get(name)]
    if len(ways) + (k is not None) > 1:
        raise ValueError(f"pass one of {', '.join(['k', *ways])}: each says what the samples are")
    if isinstance(k, str):
        check_options(get_kernel(k), given, SETTINGS | SAMPLES)
    elif is_mixture(k):
        read_mixture(k, **given)
    elif k is not None and (is_network(k) or callable(getattr(k, "encode", None))):
        raise TypeError(
            f"`k` must be a kernel name or a function k(a, b), got a model, {type(k).__name__}; "
            f"pass it as model=… with k='text_embeddings' or 'image_embeddings'"
        )
    elif k is not None and not callable(k):
        remedy = f"pass k={k.name!r}" if isinstance(k, Kernel) else "use score_K=True for a matrix"
        raise TypeError(
            f"`k` must be a kernel name or a function k(a, b), got {type(k).__name__}; {remedy}"
        )
    elif k is None and not ways and given.keys() <= get_kernel(TEXT_KERNEL).options.keys():
        pass  # options of the kernel that is used when none is named
    elif given:
        raise TypeError(_misplaced(next(iter(given))))


def _misplaced(name: str) -> str:
    """Why a keyword is none of `compute` where no kernel is named."""
    options = {option for kernel in list_kernels() for option in kernel.options}
    if name not in options:
        look = (
            f"Keywords are {', '.join(sorted(SETTINGS))}, and options of the kernel: "
            f"help(vendiscore.get_kernel('rbf')) shows those of one."
        )
        hint = suggestion(name, options | SETTINGS | SAMPLES, mark="`", look=look)
        return f"unknown keyword `{name}`. {hint}"
    kernels = ", ".join(map(repr, having(name)))
    if name == "on_error":
        kernels = "every named kernel"
    return f"`{name}` is an option of {kernels}: pass the kernel's name as `k`"


def check_orders(q: Any) -> list[float]:
    """The orders as floats; an error names the first that is none."""
    orders = [_order(item) for item in (q if is_several(q) else [q])]
    if not orders:
        raise ValueError("`q` must be an order or several, got an empty list; pass q=1")
    return orders


def _order(q: Any) -> float:
    q = math.inf if isinstance(q, str) and q == "inf" else q
    remedy = "q=1 is the usual Vendi Score"
    return number("q", q, "a number in [0, inf] or 'inf'", lambda order: order >= 0, remedy)
