"""Results and the grammar of their keys, `NAME[_q2][_t0.5][_se|_low|_high]`.

Every key of a value is made here. A measure that has an order names it in its keys, except where a
call passed order 1 by itself: `q=1` gives "VS", `q=2` gives "VS_q2", and `q=[1, 2]` gives "VS_q1"
and "VS_q2".
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from .support.arguments import DEFAULT_ORDER, check_order
from .support.errors import short_repr
from .support.namespace import to_float
from .support.signature import format_number, to_plain
from .support.summary import make_frame, to_json_record
from .support.types import Frame, Record

# What the keys of a standard error and an interval end in, and of BetweenVS for shuffled labels.
ERROR_SUFFIXES = ("_se", "_low", "_high")
NULL_SUFFIXES = ("_null", "_excess", "_p")


def order_suffixes(orders: Iterable[float], *, several: bool) -> list[str]:
    """Return what orders add to the name of a measure, "" for order 1 unless it is one of several.

    `several` says whether the caller passed a sequence, which may hold one order.
    """
    orders = list(orders)
    if not several and orders == [DEFAULT_ORDER]:
        return [""]
    return [f"_q{format_number(q + 0.0)}" for q in orders]  # 0.0 is added for the sign of −0.0


def scale_suffix(t: float) -> str:
    """Return what one of several scales adds to the name of a measure, such as "_t0.5"."""
    return f"_t{format_number(t)}"


def key_at(q: float | str, name: str = "VS") -> str:
    """Return the key of a measure in the result of a call with a single order.

    Parameters
    ----------
    q : float or "inf"
        The order, 0 <= q <= infinity.
    name : str, default "VS"
        Name of a measure that has an order.

    Returns
    -------
    str
        The name at order 1, otherwise the name with the order.

    Raises
    ------
    TypeError, ValueError
        If the order is invalid.

    See Also
    --------
    vendiscore.compute : Compute measures.

    Examples
    --------
    >>> key_at(1), key_at(2), key_at("inf", "LC")
    ('VS', 'VS_q2', 'LC_qinf')
    """
    (suffix,) = order_suffixes([check_order(q)], several=False)
    return name + suffix


class Result(dict[str, Any]):
    """Values by their keys; a missing key raises a KeyError that lists the keys.

    Examples
    --------
    >>> Result({"VS_q2": 1.5})["VS"]
    Traceback (most recent call last):
    KeyError: "no 'VS' for q=2; the keys are 'VS_q2'"
    """

    def __missing__(self, key: object) -> NoReturn:
        known = ", ".join(map(repr, self))
        why = _describe_missing_key(key, list(self)) if isinstance(key, str) else ""
        raise KeyError(f"no {short_repr(key)}{why}; the keys are {known}")

    def copy(self) -> "Result":
        """Return a shallow copy."""
        return Result(self)

    def to_dict(self) -> Record:
        """Return a dict of plain values for JSON; None for NaN, "inf" for infinity."""
        return to_json_record(to_plain(self))

    def to_frame(self) -> Frame:
        """Return a pandas DataFrame with one row of the numbers, without details."""
        numbers = {key: to_plain(value) for key, value in self.items() if key != "details"}
        return make_frame([numbers])


def number_rows(
    numbers: Mapping[str, Any], endings: Iterable[str] = ERROR_SUFFIXES
) -> list[Record]:
    """Return one row per number of a result, with its standard error and interval.

    Parameters
    ----------
    numbers : mapping, such as a Result
    endings : iterable of str, endings of keys that have no row of their own

    Returns
    -------
    list of dict
        "key" and "value" as in `numbers`, and "se", "low" and "high" as floats; None for a missing
        one, and for NaN, which an interval of two groups is.

    Examples
    --------
    >>> number_rows({"VS": 1.5, "VS_se": 0.1, "IntDiv": 0.5})[1]
    {'key': 'IntDiv', 'value': 0.5, 'se': None, 'low': None, 'high': None}
    """
    hidden = {"details", *(f"{key}{ending}" for key in numbers for ending in endings)}

    def error(key: str) -> float | None:
        value = to_float(numbers.get(key, math.nan))
        return None if math.isnan(value) else value

    return [
        {"key": key, "value": value, **{end[1:]: error(f"{key}{end}") for end in ERROR_SUFFIXES}}
        for key, value in numbers.items()
        if key not in hidden
    ]


def _describe_missing_key(key: str, keys: list[str]) -> str:
    """Explain a key that differs from others by its order alone; "" for any other key."""
    orders = []
    for other in keys:
        order = re.search(r"_q(\d[^_]*|inf)(?=_|$)", other)
        if order and other[: order.start()] + other[order.end() :] == key:
            orders.append(order[1])
    if len(orders) == 1:
        return f" for q={orders[0]}"
    if orders:
        return f" for q=[{', '.join(orders)}]"
    if re.sub(r"_q1(?=_|$)", "", key, count=1) in keys:
        return ": a single order 1 is not part of the key"
    return ""
