"""The result of a comparison: scores of sets, their differences, and sentences about them."""

from __future__ import annotations

import html
import math
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

from ...support.arguments import check_choice
from ...support.signature import to_plain
from ...support.summary import (
    SummaryMixin,
    format_value,
    format_with_error,
    make_frame,
    render_html_table,
    to_json_record,
)
from ...support.types import Axes, Frame, Options, Record
from .. import plots
from .compare_options import Effects
from .detectable import scale_detectable
from .equal_quality import QualityParts as QualityParts  # documented with the other rows
from .pair_inference import ratio_level

MORE_DIVERSE = "more diverse"
LESS_DIVERSE = "less diverse"
NO_DIFFERENCE = "no difference shown"
DIRECTION_UNKNOWN = "different, direction not shown"
_OPPOSITE = {MORE_DIVERSE: LESS_DIVERSE, LESS_DIVERSE: MORE_DIVERSE}
_P_TOLERANCE = 1 + 1e-9  # p-values that differ by less are equal
_GROUPS_FACTOR = 2  # sentences also report the detectable difference of 2 times as many groups
# With fewer groups, `detectable_difference` is mostly too small (benchmarks/detectable.py).
_FEW_GROUPS = 8


@dataclass(frozen=True, repr=False)
class SetRow(SummaryMixin):
    """One set of a comparison.

    Attributes
    ----------
    name : str
        Name of the set.
    n : int
        Number of samples.
    score : float
        VS_q of all n samples; with groups the mean over groups.
    se : float
        Standard error of `score`.
    low : float
        Lower end of the interval of `score`.
    high : float
        Upper end of the interval of `score`.
    size : int
        Common sample size, summed over groups.
    matched : float
        Score of `size` samples: the geometric mean over random subsets, or the mean over groups.
    matched_se : float
        Standard error of `matched`.
    matched_low : float
        Lower end of the interval of `matched`.
    matched_high : float
        Upper end of the interval of `matched`.
    n_per_group : float or None
        With groups, the mean of n over groups, which is the maximum of `score`.
    size_per_group : float or None
        With groups, the mean of the common size over groups, which is the maximum of `matched`.

    See Also
    --------
    vendiscore.compare : Compare sets.

    Examples
    --------
    >>> from vendiscore import compare
    >>> row = compare(["a", "b"] * 4, ["a", "b"] * 8, k="labels", permutations=19).sets[1]
    >>> row.name, row.n, row.size, round(row.score, 6)
    ('B', 16, 8, 2.0)
    """

    _repr_attributes = ("name", "n", "n_per_group", "score", "se", "size", "matched", "matched_se")

    name: str
    n: int
    score: float
    se: float
    low: float
    high: float
    size: int
    matched: float
    matched_se: float
    matched_low: float
    matched_high: float
    n_per_group: float | None = None
    size_per_group: float | None = None

    @property
    def sentence(self) -> str:
        """The scores of the set with their standard errors, in a sentence."""
        n = f"{self.n:,}"
        size = f"{self.size:,}"
        if self.n_per_group is not None and self.size_per_group is not None:
            n = f"{self.n_per_group:.3g} in a group ({n} samples)"
            size = f"{self.size_per_group:.3g} in a group"
        return (
            f"{self.name}: effective number {format_with_error(self.score, self.se)} of {n}, "
            f"{format_with_error(self.matched, self.matched_se)} of {size}."
        )


@dataclass(frozen=True, repr=False)
class PairRow(SummaryMixin):
    """Two sets, a and b, of a comparison.

    Attributes
    ----------
    a : str
        Name of the first set.
    b : str
        Name of the second set.
    difference : float
        Score of a minus score of b, at the common sample size.
    low : float
        Lower end of the interval of the difference.
    high : float
        Upper end of the interval of the difference.
    p : float
        Probability of a difference at least as large between sets from one population.
    p_adjusted : float
        p adjusted for the number of pairs (Holm).
    permutations : int
        Number of permutations; 0 if p comes from Student's t (3 to 5 groups).
    level : float
        Level of the interval: 1 - (1 - L) / m for m pairs of sets, where L is the argument `level`
        of `compare`.
    p_floor : float
        Smallest possible adjusted p: number of pairs / (permutations allowed + 1).
    ratio_low : float
        Lower end of the interval of the ratio a / b at level 1 - 2 (1 - level) / m. The sets are
        equivalent within a margin d if this interval is within 1 / (1 + d) and 1 + d.
    ratio_high : float
        Upper end of the interval of the ratio.
    detectable_difference : float
        Difference whose direction is detected in about 80 % of cases, with the same number of
        samples or groups. It may be larger than the largest possible score; NaN if unknown. With
        fewer than 8 groups it is usually too small: for answers to prompts, directions were
        detected in 51 to 74 % of cases (benchmarks/detectable.py, results in
        benchmarks/results/detectable.json).

    See Also
    --------
    vendiscore.compare : Compare sets.

    Examples
    --------
    >>> from vendiscore import compare
    >>> row = compare(["a", "b"] * 4, ["a", "b"] * 4, k="labels", permutations=19).pairs[0]
    >>> row.a, row.b, row.difference, row.p
    ('A', 'B', 0.0, 1.0)
    """

    _repr_attributes = ("a", "b", "difference", "low", "high", "p_adjusted")

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
    ratio_low: float = 0.0
    ratio_high: float = math.inf
    detectable_difference: float = math.nan

    @property
    def excludes_zero(self) -> bool:
        """True if the interval of the difference excludes 0."""
        return self.low > 0 or self.high < 0

    @property
    def sentence(self) -> str:
        """The difference with its interval and p, in a sentence."""
        p = format_p_value(self)
        if not math.isfinite(self.high - self.low):
            return f"{self.a} − {self.b}: {format_value(self.difference)} (no interval, {p})."
        error = (self.high - self.low) / 4
        value = format_value(self.difference, error)
        low = format_value(self.low, error)
        high = format_value(self.high, error)
        return (
            f"{self.a} − {self.b}: {value} ({100 * self.level:.3g} % interval {low} to {high}, "
            f"{p})."
        )


@dataclass(frozen=True, repr=False)
class GroupPairRow(SummaryMixin):
    """Two sets, a and b, of a comparison in one group of samples, such as a prompt.

    The intervals are not adjusted for the number of groups. They are NaN for fewer than four
    samples, and at order 0.

    Attributes
    ----------
    group : hashable
        Label of the group.
    a : str
        Name of the first set.
    b : str
        Name of the second set.
    size : int
        Number of samples of both sets that are compared: the size of the smallest set in the group.
    score_a : float
        VS_q of `size` samples of set a in this group.
    low_a : float
        Lower end of the interval of `score_a`, at the level of the comparison.
    high_a : float
        Upper end of the interval of `score_a`.
    score_b : float
        VS_q of `size` samples of set b in this group.
    low_b : float
        Lower end of the interval of `score_b`, at the level of the comparison.
    high_b : float
        Upper end of the interval of `score_b`.
    difference : float
        `score_a` minus `score_b`.
    low : float
        Lower end of the interval of the difference.
    high : float
        Upper end of the interval of the difference.
    level : float
        Level of the interval of the difference: 1 - (1 - L) / m for m pairs of sets, where L is the
        argument `level` of `compare`.

    See Also
    --------
    vendiscore.compare : Compare sets.

    Examples
    --------
    >>> from vendiscore import compare
    >>> groups = [[0] * 4 + [1] * 4 + [2] * 4] * 2
    >>> result = compare(list("aabbababaaab"), list("abcdabccabca"), groups=groups, k="labels")
    >>> row = result.pairs_by_group[0]
    >>> row.group, row.size, round(row.score_a, 6), round(row.difference, 6)
    (0, 4, 2.0, -2.0)
    """

    _repr_attributes = ("group", "a", "b", "difference", "low", "high")

    group: Hashable
    a: str
    b: str
    size: int
    score_a: float
    low_a: float
    high_a: float
    score_b: float
    low_b: float
    high_b: float
    difference: float
    low: float
    high: float
    level: float = 0.95

    @property
    def sentence(self) -> str:
        """The difference in this group with its interval, in a sentence."""
        error = (self.high - self.low) / 4
        interval = "no interval"
        if math.isfinite(error):
            low = format_value(self.low, error)
            high = format_value(self.high, error)
            interval = f"{100 * self.level:.3g} % interval {low} to {high}"
        difference = format_value(self.difference, error)
        return (
            f"{self.group}: {self.a} − {self.b}: {difference} at {self.size} samples each "
            f"({interval})."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(SummaryMixin):
    """Result of `compare`: sets of samples, compared at a common sample size.

    Attributes
    ----------
    sets : tuple of SetRow
        One row per set.
    pairs : tuple of PairRow
        One row per pair of sets.
    q : float
        Order of all scores.
    level : float
        Confidence level of the intervals of sets and of all verdicts together.
    groups : int
        Number of groups of samples; 0 without groups.
    settings : mapping
        The kernel and its options, including those fitted to all sets together.
    within : float or None
        Margin of the equivalence test, if it was requested.
    effects : {"random", "fixed"}
        Whether p-values generalize to other groups or apply to these groups only.
    allow_repeats : bool or None
        Whether intervals allow for samples that recur. None with groups and at order 0, where
        intervals do not depend on it.
    pairs_by_group : tuple of GroupPairRow
        One row per pair of sets and group; empty without groups.
    pooled_groups : int or None
        Number of groups from which the intervals in `pairs_by_group` estimate how often samples
        repeat; 0 if each interval uses its own group; None without groups.
    quality_parts : tuple of QualityParts
        With `correct`, one row per pair: the parts of the difference that are due to correct
        answers and to failures.
    missing_cells : int
        Number of combinations of a set and a group with fewer than two samples. If there are any,
        scores and differences are adjusted by an additive model.

    See Also
    --------
    vendiscore.compare : Compare sets.

    Examples
    --------
    >>> from vendiscore import compare
    >>> result = compare(["a", "b"] * 4, ["a", "b"] * 4, k="labels", permutations=19)
    >>> result.verdict("A", "B")
    'no difference shown'
    >>> result.to_frame()[["a", "b", "difference"]].values.tolist()
    [['A', 'B', 0.0]]
    """

    _repr_attributes = ("names", "q", "level")

    sets: tuple[SetRow, ...]
    pairs: tuple[PairRow, ...]
    q: float
    level: float
    groups: int = 0
    settings: Options = field(default_factory=dict)
    within: float | None = None
    effects: Effects = "random"
    allow_repeats: bool | None = None
    pairs_by_group: tuple[GroupPairRow, ...] = ()
    pooled_groups: int | None = None
    quality_parts: tuple[QualityParts, ...] = ()
    missing_cells: int = 0

    @property
    def names(self) -> list[str]:
        """The names of the sets."""
        return [row.name for row in self.sets]

    def verdict(self, a: str, b: str) -> str:
        """Return the verdict on the diversity of one set relative to another.

        It is one of five:

        - "the same within 5 %", for the margin `within`: the interval of the ratio is within it;
        - "more diverse" or "less diverse": the adjusted p is at most 1 - level, and the interval of
          the difference, at the level adjusted for all pairs, excludes 0;
        - "different, direction not shown": p is as small, but the interval contains 0. The sets do
          not come from one population, but the data do not show which one is more diverse;
        - "no difference shown": p is larger. The interval shows how large a difference may be.

        Parameters
        ----------
        a : str
            Name of the first set.
        b : str
            Name of the second set.

        Returns
        -------
        str
            The verdict on a relative to b.

        Raises
        ------
        ValueError
            If there are no such sets.
        """
        for row in self.pairs:
            if (row.a, row.b) == (a, b):
                return self._verdict(row)
            if (row.b, row.a) == (a, b):
                verdict = self._verdict(row)
                return _OPPOSITE.get(verdict, verdict)
        raise ValueError(
            f"`a` and `b` must be two of the sets {', '.join(map(repr, self.names))}, got {a!r} "
            f"and {b!r}"
        )

    def states_direction(self, a: str, b: str) -> bool:
        """Return whether the verdict is "more diverse" or "less diverse".

        Parameters
        ----------
        a : str
            Name of the first set.
        b : str
            Name of the second set.

        Returns
        -------
        bool
            Whether the verdict states a direction.
        """
        return self.verdict(a, b) in _OPPOSITE

    def _verdict(self, row: PairRow) -> str:
        """Return the verdict on a pair of sets, such as "more diverse"."""
        # Two one-sided tests show that two sets are equivalent (Schuirmann 1987).
        margin = 0.0 if self.within is None else 1 + self.within
        if row.ratio_high <= margin and row.ratio_low * margin >= 1:
            return self._equivalence
        if row.p_adjusted > 1 - self.level + 1e-12 or row.difference == 0:
            return NO_DIFFERENCE
        # A small p shows that the populations differ, the interval whether their scores do.
        if not row.excludes_zero:
            return DIRECTION_UNKNOWN
        return MORE_DIVERSE if row.low > 0 else LESS_DIVERSE

    @property
    def size_description(self) -> str:
        """The common sample size as text, such as "at 20 samples each"."""
        if self.groups:
            if self.effects == "fixed":
                return f"in a group, over these {self.groups} groups"
            return f"in a group, over {self.groups} groups and others like them"
        return f"at {self.sets[0].size} samples each"

    @property
    def at(self) -> str:
        """An alias of `size_description`."""
        return self.size_description

    @property
    def verdicts(self) -> list[str]:
        """One sentence per pair of sets."""
        return [self._describe_pair(row) for row in self.pairs]

    @property
    def sentence(self) -> str:
        """A sentence for each pair that differs, or one sentence if none differs.

        With `correct`, the sentences of `quality_parts` follow.
        """
        sentences = [self._pair_sentence, *(row.sentence for row in self.quality_parts)]
        if self.missing_cells:
            n_cells = len(self.sets) * self.groups
            sentences.insert(
                1,
                f"Adjusted for {self.missing_cells} missing of {n_cells} scores of sets in groups.",
            )
        return " ".join(sentences)

    @property
    def _pair_sentence(self) -> str:
        """A sentence for each pair with a verdict, and one for all pairs without a difference.

        The hint about the smallest possible p-value is kept only at its first occurrence.
        """
        undecided_rows = [row for row in self.pairs if self._verdict(row) == NO_DIFFERENCE]
        decided_rows = [row for row in self.pairs if self._verdict(row) != NO_DIFFERENCE]
        if not decided_rows and len(undecided_rows) > 1:
            p = min(row.p_adjusted for row in self.pairs)
            names = f"{', '.join(self.names[:-1])} and {self.names[-1]}"
            sentence = (
                f"{NO_DIFFERENCE.capitalize()} between {names} {self.size_description} "
                f"(p ≥ {p:.2g})."
            )
            return sentence + self._describe_detectable(undecided_rows)
        if len(undecided_rows) == 1:
            sentences = [self._describe_pair(row) for row in self.pairs]
        else:
            sentences = [self._describe_pair(row) for row in decided_rows]
        if len(undecided_rows) > 1:
            rest_sentence = f"The other {len(undecided_rows)} pairs show no difference."
            sentences.append(rest_sentence + self._describe_detectable(undecided_rows))
        hint = self._p_value_hint(max(self.pairs, key=lambda row: row.permutations))
        text_before_hint, first_hint, text_after_hint = " ".join(sentences).partition(hint)
        return text_before_hint + first_hint + text_after_hint.replace(hint, "")

    def to_frame(self, what: Literal["pairs", "sets", "groups", "quality"] = "pairs") -> Frame:
        """Return the rows of the result as a pandas DataFrame.

        Parameters
        ----------
        what : {"pairs", "sets", "groups", "quality"}, default "pairs"
            One row per pair, per set, per pair and group, or per pair of `quality_parts`.

        Returns
        -------
        pandas DataFrame
            The rows.
        """
        if check_choice("what", what, ("pairs", "sets", "groups", "quality")) == "pairs":
            return make_frame(self._pair_records())
        if what == "groups" and not self.pairs_by_group:
            raise ValueError(
                'to_frame("groups") needs sets that are compared within groups or prompts: pass '
                "`groups` or `prompts` to compare"
            )
        if what == "quality" and not self.quality_parts:
            raise ValueError(
                'to_frame("quality") needs to know which samples are correct: pass `correct` to '
                "compare"
            )
        tables: Record = {"sets": self.sets, "groups": self.pairs_by_group}
        rows = tables.get(what, self.quality_parts)
        return make_frame([asdict(row) for row in rows])

    def to_dict(self) -> Record:
        """Return the result as built-in types, for JSON; order infinity becomes "inf".

        Returns
        -------
        dict
            The values. Items of "pairs" include the verdict on a relative to b. If there are only
            two sets, this verdict is also the value of "verdict", otherwise None.
        """
        record = {
            "q": self.q,
            "level": self.level,
            "groups": self.groups,
            "within": self.within,
            "effects": self.effects,
            "allow_repeats": self.allow_repeats,
            "verdict": self._verdict(self.pairs[0]) if len(self.pairs) == 1 else None,
            "sets": [asdict(row) for row in self.sets],
            "pairs": self._pair_records(),
            "pairs_by_group": [asdict(row) for row in self.pairs_by_group],
            "pooled_groups": self.pooled_groups,
            "missing_cells": self.missing_cells,
            "quality_parts": [asdict(row) for row in self.quality_parts],
            "settings": to_plain(self.settings),
            "sentence": self.sentence,
        }
        return to_json_record(record)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the scores at the common sample size, with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        matplotlib Axes
            The axes with the plot.
        """
        rows = self.sets
        return plots.intervals(
            self.names,
            [row.matched for row in rows],
            [row.matched_low for row in rows],
            [row.matched_high for row in rows],
            label=f"effective number, {self.size_description}",
            ax=ax,
        )

    def _repr_html_(self) -> str:
        parts = [f"<p>{html.escape(self.sentence)}</p>"]
        tables = [[asdict(row) for row in self.sets], self._pair_records()]
        if self.quality_parts:
            tables.append([asdict(row) for row in self.quality_parts])
        for rows in tables:
            columns = {name: [row[name] for row in rows] for name in rows[0]}
            parts.append(render_html_table(columns))
        return "".join(parts)

    def _pair_records(self) -> list[Record]:
        return [asdict(row) | {"verdict": self._verdict(row)} for row in self.pairs]

    def _describe_pair(self, row: PairRow) -> str:
        """Return the sentence of a pair: its verdict, difference, interval and p-value."""
        verdict = self._verdict(row)
        p = format_p_value(row)
        if row.p_adjusted <= row.p_floor * _P_TOLERANCE or self._is_out_of_reach(row):
            p += self._p_value_hint(row)
        interval = self._describe_interval(row, verdict)
        details = f"{interval}, {p}"
        if verdict == NO_DIFFERENCE:
            start = f"{NO_DIFFERENCE.capitalize()} between {row.a} and {row.b}"
            if row.excludes_zero:
                details += ", the interval alone does not show one"
        elif verdict == DIRECTION_UNKNOWN:
            start = (
                f"{row.a} and {row.b} differ ({p}), but the data do not show which is more diverse"
            )
            details = interval
        elif verdict == self._equivalence:
            start = f"{row.a} and {row.b} are {verdict}"
        else:
            start = f"{row.a} is {verdict} than {row.b}"
        difference = f"{row.difference:+.2f} effective samples {self.size_description}"
        sentence = f"{start}: {difference} ({details})."
        return sentence + self._describe_detectable([row]) if verdict == NO_DIFFERENCE else sentence

    def _describe_detectable(self, rows: Sequence[PairRow]) -> str:
        """Return the difference that is detected in 80 % of cases, and how to detect smaller ones.

        The result is text for users that begins with a space, or "" if the difference is unknown.
        """
        rows = [row for row in rows if not math.isnan(row.detectable_difference)]
        if not rows:
            return ""
        row = max(rows, key=lambda row: row.detectable_difference)
        difference = row.detectable_difference
        larger_score = max(
            set_row.matched for set_row in self.sets if set_row.name in (row.a, row.b)
        )
        size = self.sets[0].size_per_group or self.sets[0].size
        is_possible = difference <= size - 1  # scores are between 1 and `size`
        start = "No possible difference would be detected in 80 % of cases"
        if is_possible:
            percent = f"{100 * difference / larger_score:.0f} % of the larger score"
            cases = "at most 80 %" if 0 < self.groups < _FEW_GROUPS else "80 %"
            detected = f"a difference of about {difference:.2g} ({percent})"
            start = f"This design detects {detected} in {cases} of cases"
        effect = "detect smaller ones" if is_possible else "can show one"
        hint = f"larger sets, or sets compared by prompt or group, {effect}"
        if self.groups:
            more_groups = _GROUPS_FACTOR * self.groups
            flips_signs = self.effects == "random"
            scaled = scale_detectable(difference, self.groups, more_groups, row.level, flips_signs)
            percent = f"{100 * scaled / larger_score:.0f} %"
            hint = f"{more_groups} groups would detect about {scaled:.2g} ({percent})"
            if scaled > size - 1:
                hint = "many more groups would detect one"
        return f" {start}; {hint}."

    def _describe_interval(self, row: PairRow, verdict: str) -> str:
        """Format the interval of the difference; for equivalent sets, also that of the ratio."""
        # 0.0 is added for the sign of −0.0.
        low = round(row.low, 4) + 0.0
        high = round(row.high, 4) + 0.0
        interval = f"{format_percent(row.level)} % interval {low:.2f} to {high:.2f}"
        if math.isnan(low) or math.isnan(high):
            interval = "no interval"
        if verdict == self._equivalence:
            percent = format_percent(ratio_level(self.level, len(self.pairs)))
            ends = f"{row.ratio_low:.3f} to {row.ratio_high:.3f}"
            interval = f"{percent} % interval of their ratio {ends}, {interval}"
        return interval

    @property
    def _equivalence(self) -> str:
        """The verdict on equivalent sets; "" if no margin was passed."""
        return "" if self.within is None else f"the same within {100 * self.within:g} %"

    def _is_out_of_reach(self, row: PairRow) -> bool:
        """Return whether even the smallest possible p-value exceeds 1 − level."""
        return row.p_floor > 1 - self.level + 1e-12

    def _p_value_hint(self, row: PairRow) -> str:
        """Explain in a clause why the p-value cannot be smaller."""
        if self._is_out_of_reach(row):
            return f"; {self.groups} groups do not show how much others vary"
        pair_count = f" for {len(self.pairs)} pairs" if len(self.pairs) > 1 else ""
        return f", the smallest that {row.permutations:,} permutations can give{pair_count}"


def format_bounded_p(p: float, floor: float) -> str:
    """Format a p-value with two digits, and with "≤" if permutations cannot give a smaller one.

    `floor` is the smallest p-value that the permutations can give.
    """
    return f"{'≤ ' * (p <= floor * _P_TOLERANCE and p < 1)}{p:.2g}"


def format_p_value(row: PairRow) -> str:
    """Return the adjusted p-value of a pair for a sentence: "p = 0.58" or "p ≤ 0.01"."""
    p = format_bounded_p(row.p_adjusted, row.p_floor)
    return f"p {p}" if p[0] == "≤" else f"p = {p}"


def format_percent(level: float) -> str:
    """Format a level in percent, so that its distance to 100 has two significant digits."""
    decimals = 1 - math.floor(math.log10(100 * (1 - level)))
    return f"{round(100 * level, max(0, decimals)):.10g}"
