"""What is asked of a comparison, read and checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..arguments import DEFAULT_ORDER, integer, is_several, number, one_of
from ..scoring.request import check_orders
from ..spectral.spectrum import PSD, check_psd
from .permutation import needed

Match = Literal["size", "coverage"]
MIN_SAMPLES = 4  # below, an error is no more than a guess
_USUAL = "999 is usual; a p as small as 1 − level needs 1/(1 − level) − 1"


@dataclass(frozen=True)
class Plan:
    """What is asked of a comparison; arguments of `compare` of these names."""

    q: Any = DEFAULT_ORDER
    level: float = 0.95
    permutations: int = 999
    match: Match = "size"
    size: int | None = None
    orders: Sequence[float] = ()
    psd: PSD = "check"
    seed: int = 0

    def checked(self) -> Plan:
        """Return the same with plain values; an error for what cannot be asked."""
        (q,) = check_orders([self.q])
        size = self.size
        if size is not None:
            size = integer("size", size, MIN_SAMPLES, remedy="leave it out for the smallest set's")
            if self.match == "coverage":
                raise ValueError("`size` is for match='size': leave it out to match coverage")
        if not is_several(self.orders):
            raise TypeError(f"`orders` must be a list of orders, got {self.orders!r:.60}; pass [1]")
        orders = tuple(self.orders)
        level = number(
            "level", self.level, "a number between 0 and 1", lambda x: 0 < x < 1, "0.95 is usual"
        )
        return Plan(
            q,
            level,
            integer("permutations", self.permutations, max(19, needed(level)), remedy=_USUAL),
            one_of("match", self.match, ("size", "coverage")),
            size,
            tuple(check_orders(orders, "orders")) if orders else (),
            check_psd(self.psd),
            integer("seed", self.seed, 0),
        )
