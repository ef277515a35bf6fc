"""Validation of scalar arguments: integers, floats, orders, choices and flags."""

import math
import operator
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import SupportsFloat, SupportsIndex, TypeGuard, TypeVar

import numpy as np

from .errors import short_repr

DEFAULT_ORDER = 1  # the exponential of the Shannon entropy
DEFAULT_THRESHOLD = 0.95  # minimum similarity of near-duplicates, for every kernel

Choice = TypeVar("Choice", bound=str | None)
# Types of samples that cannot contain a tensor.
_TENSOR_FREE_TYPES = {str, bytes, int, float, bool, type(None)}


def check_int(
    name: str, value: object, min_value: int = 1, max_value: float = math.inf, hint: str = ""
) -> int:
    """Return `value` as an int; raise if it is not an integer in [min_value, max_value].

    NumPy integers and tensors with a single integer are accepted, but not booleans. `hint` is
    appended to the message.
    """
    # Return usual values quickly, before the message is built.
    if type(value) is int and min_value <= value <= max_value:
        return value
    bounds = (
        f"of at least {min_value}" if max_value == math.inf else f"from {min_value} to {max_value}"
    )
    message = f"`{name}` must be an integer {bounds}, got {short_repr(value)}{hint and f'; {hint}'}"
    # Integers of other types, such as those of NumPy, have a method `__index__` (SupportsIndex).
    number = None
    if isinstance(value, SupportsIndex) and not _is_boolean(value):
        with suppress(TypeError):  # an array with several entries
            number = operator.index(value)
    if number is None:
        raise TypeError(message)
    if not min_value <= number <= max_value:
        raise ValueError(message)
    return number


def check_float(
    name: str,
    value: object,
    expected: str,
    is_allowed: Callable[[float], bool] = np.isfinite,
    hint: str = "",
) -> float:
    """Return `value` as a float; raise if it is not a real number or not `is_allowed(value)`.

    Strings, booleans, complex numbers and arrays of one or more dimensions are not accepted.
    `expected` describes the allowed values, and `hint` is appended to the message.
    """
    dtype = str(getattr(value, "dtype", ""))
    error: type[Exception] = TypeError
    is_scalar = getattr(value, "ndim", 0) == 0 and "complex" not in dtype and not _is_boolean(value)
    if is_scalar and isinstance(value, SupportsFloat):
        check_no_gradient(f"`{name}`", **{name: value})
        try:
            number = float(value)
            if is_allowed(number):
                return number
            error = ValueError
        except OverflowError:  # an integer that is too large for a float
            error = ValueError
        except (TypeError, ValueError):  # not a number, so it is a TypeError
            pass
    raise error(f"`{name}` must be {expected}, got {short_repr(value)}{hint and f'; {hint}'}")


def check_order(
    q: object,
    name: str = "q",
    *,
    allow_zero: bool = True,
    max_value: float = math.inf,
    hint: str = "",
) -> float:
    """Return the order q, in [0, max_value], as a float; raise if it is invalid.

    The string "inf" means ∞. Order 0 is valid only if `allow_zero`. The message contains `name`,
    the argument with the order, and ends with `hint`.
    """
    # Return usual values quickly. The bound excludes integers that are too large for a float.
    if (type(q) is int or isinstance(q, float)) and 0 < q <= min(max_value, 1e6):
        return float(q)
    expected = "a number in [0, inf] or 'inf'"
    default_hint = "the default is q=1"
    if not allow_zero:
        expected = "an order above 0"
        default_hint = "use a small order such as 0.1, or q=1"
    if max_value < math.inf:
        expected += f" and at most {max_value:g}"
    order = math.inf if isinstance(q, str) and q == "inf" else q

    def is_allowed(q: float) -> bool:
        return 0 <= q <= max_value and (allow_zero or q > 0)

    return check_float(name, order, expected, is_allowed, hint or default_hint)


def check_choice(name: str, value: object, choices: Iterable[Choice], hint: str = "") -> Choice:
    """Return `value` if it is one of `choices`, which may include None; raise otherwise."""
    options = tuple(choices)
    for option in options:
        if value is option or (isinstance(value, str) and value == option):
            return option
    *others, last = map(repr, options)
    expected = f"{', '.join(others)} or {last}" if others else last
    raise ValueError(f"`{name}` must be {expected}, got {short_repr(value)}{hint and f'; {hint}'}")


def check_bool(name: str, value: object) -> bool:
    """Return `value` as a bool; raise if it is not True or False. Numbers are not accepted."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"`{name}` must be True or False, got {short_repr(value)}")
    return bool(value)


def has_gradient(x: object) -> bool:
    """Return whether `x` is or contains a tensor that requires a gradient.

    `x` can be a list or dict, at any depth, or a Similarity.
    """
    if "torch" not in sys.modules:  # then there are no tensors
        return False
    if hasattr(x, "requires_grad"):
        return bool(x.requires_grad)
    if isinstance(x, Mapping):
        return any(map(has_gradient, x.values()))
    if isinstance(x, (list, tuple)):
        return not _TENSOR_FREE_TYPES.issuperset(map(type, x)) and any(map(has_gradient, x))
    # an object with these methods is a Similarity
    return hasattr(x, "matmul") and hasattr(x, "diagonal") and has_gradient(x.diagonal())


def check_no_gradient(caller: str, /, **arguments: object) -> None:
    """Raise a TypeError if one of `arguments`, values by argument name, requires a gradient.

    `caller` is the function or argument that does not support gradients, for the message.
    """
    for name, value in arguments.items():
        if has_gradient(value):
            raise TypeError(f"{caller} cannot be differentiated; pass {name}.detach()")


def is_collection(value: object) -> TypeGuard[Iterable[object]]:
    """Return whether a value is iterable, and neither a string nor a 0-d array."""
    is_scalar = isinstance(value, (str, bytes)) or getattr(value, "ndim", 1) == 0
    return isinstance(value, Iterable) and not is_scalar


def _is_boolean(value: object) -> bool:
    return isinstance(value, bool) or str(getattr(value, "dtype", "")).endswith("bool")
