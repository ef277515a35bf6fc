"""One argument, read from any kind of scalar as a plain int, float, word or flag, or refused."""

import math
import operator
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import SupportsFloat, SupportsIndex, TypeGuard, TypeVar

import numpy as np

from .errors import quoted

DEFAULT_ORDER = 1  # the exponential of the Shannon entropy
DEFAULT_THRESHOLD = 0.95  # similarity of near-duplicates, whatever the kernel

Word = TypeVar("Word", bound=str | None)
_PLAIN = {str, bytes, int, float, bool, type(None)}  # kinds of samples that hold no tensor


def integer(
    name: str, value: object, least: int = 1, most: float = math.inf, remedy: str = ""
) -> int:
    """Read an int from `least` to `most` from anything that is one (NumPy's, a tensor of one)."""
    if type(value) is int and least <= value <= most:
        return value
    bounds = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
    said = f"`{name}` must be an integer {bounds}, got {quoted(value)}{remedy and f'; {remedy}'}"
    number = None
    if isinstance(value, SupportsIndex) and not _is_truth(value):
        with suppress(TypeError):  # as of an array of several
            number = operator.index(value)
    if number is None:
        raise TypeError(said)
    if not least <= number <= most:
        raise ValueError(said)
    return number


def number(
    name: str,
    value: object,
    expected: str,
    allowed: Callable[[float], bool] = np.isfinite,
    remedy: str = "",
) -> float:
    """Read a float, not of text, a truth value or complex, for which `allowed` holds."""
    kind = str(getattr(value, "dtype", ""))
    wrong: type[Exception] = TypeError
    single = getattr(value, "ndim", 0) == 0 and "complex" not in kind and not _is_truth(value)
    if single and isinstance(value, SupportsFloat):
        refuse_gradient(f"`{name}`", **{name: value})
        try:
            read = float(value)
            if allowed(read):
                return read
            wrong = ValueError
        except OverflowError:
            wrong = ValueError
        except (TypeError, ValueError):
            pass
    raise wrong(f"`{name}` must be {expected}, got {quoted(value)}{remedy and f'; {remedy}'}")


def read_order(
    q: object, name: str = "q", *, zero: bool = True, most: float = math.inf, remedy: str = ""
) -> float:
    """Read an order in [0, most], "inf" as ∞; order 0 is refused unless `zero`."""
    if (type(q) is int or isinstance(q, float)) and 0 < q <= min(most, 1e6):
        return float(q)  # as nearly always
    expected = "a number in [0, inf] or 'inf'"
    usual = "q=1 is the usual Vendi Score"
    if not zero:
        expected = "an order above 0"
        usual = "q=0 counts dimensions: take a small order such as 0.1, or q=1"
    if most < math.inf:
        expected += f" and at most {most:g}"
    read = math.inf if isinstance(q, str) and q == "inf" else q

    def allowed(q: float) -> bool:
        return 0 <= q <= most and (zero or q > 0)

    return number(name, read, expected, allowed, remedy or usual)


def one_of(name: str, value: object, known: Iterable[Word], remedy: str = "") -> Word:
    """Read one of the words `known`; None may be among them."""
    words = tuple(known)
    for word in words:
        if value is word or (isinstance(value, str) and value == word):
            return word
    *most, last = map(repr, words)
    names = f"{', '.join(most)} or {last}" if most else last
    raise ValueError(f"`{name}` must be {names}, got {quoted(value)}{remedy and f'; {remedy}'}")


def flag(name: str, value: object) -> bool:
    """Read True or False; "false", "no" and 0 are refused."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"`{name}` must be True or False, got {quoted(value)}")
    return bool(value)


def has_gradient(x: object) -> bool:
    """Return whether `x` is, or has, a tensor that requires a gradient."""
    if "torch" not in sys.modules:
        return False
    if hasattr(x, "requires_grad"):
        return bool(x.requires_grad)
    if isinstance(x, Mapping):
        return any(map(has_gradient, x.values()))
    if isinstance(x, (list, tuple)):
        return not _PLAIN.issuperset(map(type, x)) and any(map(has_gradient, x))
    return hasattr(x, "matmul") and hasattr(x, "diagonal") and has_gradient(x.diagonal())


def refuse_gradient(who: str, /, **given: object) -> None:
    """Raise a TypeError if one of the arguments `given` has a gradient, which `who` would lose."""
    for name, value in given.items():
        if has_gradient(value):
            raise TypeError(f"{who} cannot be differentiated; pass {name}.detach()")


def is_several(value: object) -> TypeGuard[Iterable[object]]:
    """Return whether a value is a collection, not a word, a number or an array of no dimension."""
    single = isinstance(value, (str, bytes)) or getattr(value, "ndim", 1) == 0
    return isinstance(value, Iterable) and not single


def _is_truth(value: object) -> bool:
    return isinstance(value, bool) or str(getattr(value, "dtype", "")).endswith("bool")
