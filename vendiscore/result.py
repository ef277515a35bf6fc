"""Results, and the format of their keys: `NAME[_q2][_t0.5][_se|_low|_high]`.

Keys of measures with an order contain the order, except for a single order 1: `q=1` gives the key
"VS", `q=2` gives "VS_q2", and `q=[1, 2]` gives "VS_q1" and "VS_q2".
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from .support.arguments import DEFAULT_ORDER, check_order
from .support.call_hints import AttributeHintMixin
from .support.errors import short_repr
from .support.namespace import to_float
from .support.signature import format_number, to_plain
from .support.summary import make_frame, to_json_record
from .support.types import Frame, Record

# Suffixes of the keys of a standard error and an interval.
ERROR_SUFFIXES = ("_se", "_low", "_high")
# Suffixes of the keys that compare BetweenVS with permuted group labels.
NULL_SUFFIXES = ("_null", "_excess", "_p")


def order_suffixes(orders: Iterable[float], *, several: bool) -> list[str]:
    """Return the suffix that each order adds to keys of a result, such as "_q2".

    The suffix is "" for the order 1, unless `several` is True. `several` states that the orders
    were passed as a sequence, which may have length 1.
    """
    orders = list(orders)
    if not several and orders == [DEFAULT_ORDER]:
        return [""]
    return [f"_q{format_number(q + 0.0)}" for q in orders]  # + 0.0 turns −0.0 into 0.0


def scale_suffix(t: float) -> str:
    """Return the suffix that a scale t of distances adds to keys of a result, such as "_t0.5".

    It is added only if there are several scales.
    """
    return f"_t{format_number(t)}"


def key_at(q: float | str, name: str = "VS") -> str:
    """Return the key of a measure in a result with a single order.

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


class Result(AttributeHintMixin, dict[str, Any]):
    """Dict of values by key; a missing key raises a KeyError that lists the available keys.

    Examples
    --------
    >>> Result({"VS_q2": 1.5})["VS"]
    Traceback (most recent call last):
    KeyError: "no key 'VS' for q=2; available keys: 'VS_q2'"
    """

    def __missing__(self, key: object) -> NoReturn:
        available = ", ".join(map(repr, self))
        reason = _describe_missing_key(key, list(self)) if isinstance(key, str) else ""
        raise KeyError(f"no key {short_repr(key)}{reason}; available keys: {available}")

    def copy(self) -> "Result":
        """Return a shallow copy."""
        return Result(self)

    def to_dict(self) -> Record:
        """Return a dict of built-in types for JSON, with None for NaN and "inf" for infinity."""
        return to_json_record(to_plain(self))

    def to_frame(self) -> Frame:
        """Return a pandas DataFrame with one row: the numbers by key, without "details"."""
        values = {key: to_plain(value) for key, value in self.items() if key != "details"}
        return make_frame([values])


def build_value_rows(
    numbers: Mapping[str, Any], endings: Iterable[str] = ERROR_SUFFIXES
) -> list[Record]:
    """Return one row per value of a result, with its standard error and interval.

    Parameters
    ----------
    numbers : mapping
        Values by key, such as a Result.
    endings : iterable of str
        Suffixes of keys that get no row, because their value is part of the row of another key.

    Returns
    -------
    list of dict
        "key" and "value" as in `numbers`, and "se", "low" and "high" as floats, or None if the
        number is missing or NaN, as in the interval of a mean over two groups.

    Examples
    --------
    >>> build_value_rows({"VS": 1.5, "VS_se": 0.1, "IntDiv": 0.5})[1]
    {'key': 'IntDiv', 'value': 0.5, 'se': None, 'low': None, 'high': None}
    """
    keys_without_row = {"details", *(f"{key}{ending}" for key in numbers for ending in endings)}

    def get_number(key: str) -> float | None:
        value = to_float(numbers.get(key, math.nan))
        return None if math.isnan(value) else value

    return [
        {
            "key": key,
            "value": value,
            # "se", "low" and "high"
            **{suffix[1:]: get_number(f"{key}{suffix}") for suffix in ERROR_SUFFIXES},
        }
        for key, value in numbers.items()
        if key not in keys_without_row
    ]


def _describe_missing_key(key: str, keys: list[str]) -> str:
    """Describe why `key` is missing in a result with the keys `keys`, as a part of a message.

    The result is "" unless one of the keys differs from `key` only in the order.
    """
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
        return ", because a single order q=1 is not part of the key"
    return ""
