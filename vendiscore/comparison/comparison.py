"""The result of a comparison: scores of sets, their differences, and sentences about them."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from .. import plots
from ..arguments import DEFAULT_ORDER, integer, is_several, number, one_of
from ..optional import require
from ..scoring.request import check_orders
from ..signature import plain_order
from ..spectral.spectrum import PSD, check_psd
from ..summary import Summary, html_table, measured, with_error
from ..uncertainty.subsampling import MIN_SAMPLES
from .permutation import needed

Verdict = Literal["more diverse", "less diverse", "no difference larger than chance"]
MORE: Verdict = "more diverse"
LESS: Verdict = "less diverse"
SAME: Verdict = "no difference larger than chance"
Match = Literal["size", "coverage"]
_USUAL = "999 is usual; a p as small as 1 − level needs 1/(1 − level) − 1"
_ROUNDED = 1 + 1e-9  # p-values that differ by less are equal


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


@dataclass(frozen=True, repr=False)
class SetRow(Summary):
    """One set of a comparison.

    Attributes
    ----------
    name, n : str, int, its name and number of samples
    score, se, low, high : float
        VS_q of all n samples, its standard error and its interval; with groups, their mean.
    size, coverage : int, float or None
        How many samples it is drawn down to (of all groups), and coverage where that is matched.
    matched, matched_se, matched_low, matched_high : float
        The score of so many samples: the geometric mean over draws, or the mean over groups.

    Examples
    --------
    >>> from vendiscore import compare
    >>> row = compare(["a", "b"] * 4, ["a", "b"] * 8, k="labels", permutations=19).sets[1]
    >>> row.name, row.n, row.size, round(row.score, 6)
    ('B', 16, 8, 2.0)
    """

    _brief = ("name", "n", "score", "se", "size", "matched", "matched_se")

    name: str
    n: int
    score: float
    se: float
    low: float
    high: float
    size: int
    coverage: float | None
    matched: float
    matched_se: float
    matched_low: float
    matched_high: float

    @property
    def sentence(self) -> str:
        """Its scores with their standard errors, in a sentence."""
        return (
            f"{self.name}: {with_error(self.score, self.se)} effectively different of {self.n:,}, "
            f"{with_error(self.matched, self.matched_se)} of {self.size:,}."
        )


@dataclass(frozen=True, repr=False)
class PairRow(Summary):
    """Two sets, a and b, of a comparison.

    Attributes
    ----------
    a, b, difference, low, high : str, float
        Their names; the matched score of a minus that of b, with its interval.
    p, p_adjusted, p_floor : float
        How often chance differs as much, where both are of one source; for all pairs (Holm); and
        the smallest that this can be: number of pairs/(permutations allowed + 1).
    permutations, level : int, float
        How many exchanges it took; the level of the interval, 1 − (1 − level)/m for m pairs, or
        that of a later step of Holm.

    Examples
    --------
    >>> from vendiscore import compare
    >>> row = compare(["a", "b"] * 4, ["a", "b"] * 4, k="labels", permutations=19).pairs[0]
    >>> row.a, row.b, row.difference, row.p
    ('A', 'B', 0.0, 1.0)
    """

    _brief = ("a", "b", "difference", "low", "high", "p_adjusted")

    a: str
    b: str
    difference: float
    low: float
    high: float
    p: float
    p_adjusted: float
    permutations: int
    level: float = 0.95
    p_floor: float = 0.0

    @property
    def sentence(self) -> str:
        """The difference with its interval and p, in a sentence."""
        ends = (self.difference, self.low, self.high)
        value, low, high = (measured(x, (self.high - self.low) / 4) for x in ends)
        p = chance(self.p_adjusted, self.p_floor)
        return (
            f"{self.a} − {self.b}: {value} ({100 * self.level:.3g} % interval {low} to {high}, "
            f"p {'' if p[0] == '≤' else '= '}{p})."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Summary):
    """Sets of samples, compared at a size or coverage that all have.

    Attributes
    ----------
    sets, pairs : tuple of SetRow, one for each set; tuple of PairRow, one for each two sets
    q, level : float
        The order of all scores; the level of the intervals of sets, and of all verdicts together.
    match, groups : {"size", "coverage"}, int
        What is matched; in how many groups samples were paired, 0 for none.
    settings : mapping
        The kernel and its options, with what was fitted to all sets together.
    orders, profiles : tuple of float, tuple of array (3, len(orders))
        VS_q of each set as drawn down, for every q of `orders`, and both ends of its interval.

    Examples
    --------
    >>> from vendiscore import compare
    >>> found = compare(["a", "b"] * 4, ["a", "b"] * 4, k="labels", permutations=19)
    >>> found.verdict("A", "B")
    'no difference larger than chance'
    >>> found.to_frame()[["a", "b", "difference"]].values.tolist()
    [['A', 'B', 0.0]]
    """

    _brief = ("names", "q", "match", "level")

    sets: tuple[SetRow, ...]
    pairs: tuple[PairRow, ...]
    q: float
    level: float
    match: str
    groups: int = 0
    settings: Any = field(default_factory=dict, repr=False)
    orders: tuple[float, ...] = field(default=(), repr=False)
    profiles: tuple[np.ndarray, ...] = field(default=(), repr=False)

    @property
    def names(self) -> list[str]:
        """The names of the sets."""
        return [row.name for row in self.sets]

    def verdict(self, a: str, b: str) -> Verdict:
        """Return whether set a is more diverse than b, less or neither (ValueError: no set)."""
        for row in self.pairs:
            if {row.a, row.b} == {a, b} and a != b:
                if row.p_adjusted > 1 - self.level + 1e-12 or row.difference == 0:
                    return SAME
                return MORE if (row.difference > 0) == (row.a == a) else LESS
        raise ValueError(
            f"`a` and `b` must be two of the sets {', '.join(map(repr, self.names))}, got {a!r} "
            f"and {b!r}"
        )

    @property
    def at(self) -> str:
        """At what the sets are compared, in words."""
        if self.groups:
            return f"in a group, over {self.groups} groups"
        if self.match == "size":
            return f"at {self.sets[0].size} samples each"
        return f"at a coverage of {100 * float(self.sets[0].coverage or 0):.0f} %"

    @property
    def verdicts(self) -> list[str]:
        """A sentence for each pair."""
        return [self._told(row) for row in self.pairs]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for each pair that differs, or in one that none does."""
        apart = [row for row in self.pairs if self.verdict(row.a, row.b) != SAME]
        rest = [row for row in self.pairs if row not in apart]
        if not apart and len(rest) > 1:
            least = min(row.p_adjusted for row in self.pairs)
            names = f"{', '.join(self.names[:-1])} and {self.names[-1]}"
            return f"No difference larger than chance between {names} {self.at} (p ≥ {least:.2g})."
        told = [self._told(row) for row in (*apart, *(rest if len(rest) == 1 else ()))]
        if len(rest) > 1:
            told.append(f"The other {len(rest)} pairs do not differ by more than chance.")
        reason = self._remedy(max(self.pairs, key=lambda row: row.permutations))
        first, found, others = " ".join(told).partition(reason)  # why p is no smaller, once
        return first + found + others.replace(reason, "")

    def to_frame(self, what: Literal["pairs", "sets"] = "pairs") -> Any:
        """Return a pandas DataFrame with a row for each pair, or, with "sets", for each set."""
        frame = require("pandas", "dev", "a frame").DataFrame
        rows: Sequence[PairRow | SetRow] = self.pairs if what == "pairs" else self.sets
        return frame([asdict(row) for row in rows])

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, for JSON; order ∞ is "inf"."""
        return {
            "q": plain_order(self.q),
            "level": self.level,
            "match": self.match,
            "groups": self.groups,
            "sets": [asdict(row) for row in self.sets],
            "pairs": [asdict(row) for row in self.pairs],
            "orders": [plain_order(order) for order in self.orders],
            "profiles": [profile.tolist() for profile in self.profiles],
            "settings": dict(self.settings),
            "sentence": self.sentence,
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw matched scores with their intervals, on `ax` or new Axes, and return these."""
        rows = self.sets
        return plots.intervals(
            self.names,
            [row.matched for row in rows],
            [row.matched_low for row in rows],
            [row.matched_high for row in rows],
            label=f"effectively different, {self.at}",
            ax=ax,
        )

    def _repr_html_(self) -> str:
        tables = [
            {name: [getattr(row, name) for row in rows] for name in vars(rows[0])}
            for rows in (self.sets, self.pairs)
        ]
        return f"<p>{html.escape(self.sentence)}</p>" + "".join(map(html_table, tables))

    def _told(self, row: PairRow) -> str:
        a, b, low, high = row.a, row.b, row.low, row.high
        if self.verdict(a, b) == SAME:
            told = f"No difference larger than chance between {a} and {b}: {row.difference:+.2f}"
        else:
            if row.difference < 0:
                a, b, low, high = b, a, -high, -low
            told = f"{a} is more diverse than {b}: {abs(row.difference):.2f} more"
        # 0.0 is added for the sign of −0.0.
        low, high = round(low, 2) + 0.0, round(high, 2) + 0.0
        least = row.p_adjusted <= row.p_floor * _ROUNDED
        return (
            f"{told} effectively different samples {self.at} ({percent(row.level)} % interval "
            f"{low:.2f} to {high:.2f}, p {'' if least else '= '}"
            f"{chance(row.p_adjusted, row.p_floor)}{self._remedy(row) * least})."
        )

    def _remedy(self, row: PairRow) -> str:
        several = f" for {len(self.pairs)} pairs" if len(self.pairs) > 1 else ""
        return f", the smallest that {row.permutations:,} permutations can give{several}"


def chance(p: float, floor: float) -> str:
    """Return a p-value in two digits, as a bound where permutations cannot give a smaller one."""
    return f"{'≤ ' * (p <= floor * _ROUNDED)}{p:.2g}"


def percent(level: float) -> str:
    """Return a level in percent, with two digits of what is left of 100."""
    places = 1 - math.floor(math.log10(100 * (1 - level)))
    return f"{round(100 * level, max(0, places)):.10g}"
