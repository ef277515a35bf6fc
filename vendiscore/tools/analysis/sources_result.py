"""Result of `sources`: the effective number of sources as text, tables and plots."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from operator import itemgetter

import numpy as np

from ...result import key_at
from ...support.arguments import check_choice, check_float, check_int
from ...support.signature import format_signature
from ...support.summary import (
    SummaryMixin,
    format_value,
    format_with_interval,
    make_frame,
    render_html_table,
    to_json_record,
)
from ...support.types import Axes, Frame, Options, Record
from .. import plots
from ..plots.axes import make_axes_if_none
from .layout import average_linkage_groups


@dataclass(frozen=True, repr=False)
class ScoreWithInterval(SummaryMixin):
    """An effective number with its interval.

    Attributes
    ----------
    value : float
        The effective number.
    se : float or None
        Standard error; None if unknown.
    low : float or None
        Lower end of the interval; None if unknown.
    high : float or None
        Upper end of the interval; None if unknown.

    See Also
    --------
    vendiscore.sources : Compare sources.

    Examples
    --------
    >>> print(ScoreWithInterval(1.9, 0.1, 1.7, 2.1))
    1.90 (1.70 to 2.10).
    """

    _repr_attributes = ("value", "se", "low", "high")

    value: float
    se: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def sentence(self) -> str:
        """The value with its interval, as a sentence."""
        return f"{self.words}."

    @property
    def words(self) -> str:
        """The value with its interval as text, without a full stop."""
        if self.se is None or self.low is None or self.high is None:
            return format_value(self.value)
        return format_with_interval(self.value, self.low, self.high, self.se)

    def keys(self, name: str) -> dict[str, float]:
        """Return the value, standard error and interval under the keys of a `compute` result.

        Parameters
        ----------
        name : str
            Name of the score, the beginning of each key.

        Returns
        -------
        dict of str to float
            The value under `name`, and its standard error and interval under `name` with "_se",
            "_low" and "_high"; unknown values are omitted.
        """
        values = {
            name: self.value,
            f"{name}_se": self.se,
            f"{name}_low": self.low,
            f"{name}_high": self.high,
        }
        return {key: value for key, value in values.items() if value is not None}


@dataclass(frozen=True, repr=False)
class SourceRow(SummaryMixin):
    """One source of a `Sources` result.

    Attributes
    ----------
    name : str
        Name of the source.
    n : int
        Number of answers of the source.
    adds : float
        Effective number of all sources minus that of the other sources. (In `explain`, `adds` is a
        difference of logarithms, for samples.)
    nearest : str
        The most similar other source.
    similarity : float
        Similarity to the nearest source.
    within : float or None
        Mean similarity of two answers of the source to one prompt; None if it has only one answer
        to every prompt.

    See Also
    --------
    vendiscore.sources : Compare sources.

    Examples
    --------
    >>> from vendiscore import sources
    >>> row = sources({"x": ["a b", "c"], "y": ["a b", "d"]}, ns=[1]).sources[0]
    >>> row.name, row.n, row.nearest, round(row.similarity, 6)
    ('x', 2, 'y', 0.5)
    """

    _repr_attributes = ("name", "n", "adds", "nearest", "similarity")

    name: str
    n: int
    adds: float
    nearest: str
    similarity: float
    within: float | None = None

    @property
    def sentence(self) -> str:
        """A sentence with the contribution of the source and its nearest source."""
        return (
            f"{self.name} adds {format_value(self.adds)}; nearest is {self.nearest}, with a "
            f"similarity of {format_value(self.similarity)}."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Sources(SummaryMixin):
    """Result of `sources`: the effective number of sources and their pairwise similarities.

    Attributes
    ----------
    sources : tuple of SourceRow
        One row per source, in the order passed.
    found : ScoreWithInterval
        The effective number of sources.
    corrected : ScoreWithInterval or None
        The effective number without differences between answers of one source, so that two sets of
        answers from one source count as one source. None unless every source has several answers to
        a prompt.
    q : float
        Order of the score.
    level : float or None
        Confidence level of the intervals.
    similarity : array of shape (n, n)
        Mean similarity of the answers of two sources to one prompt, with ones on the diagonal.
    prompts : tuple of labels
        The prompts; empty for sets without prompts.
    per_prompt : tuple of float
        Effective number of sources for each prompt; NaN if fewer than two answered.
    order : array of int of shape (n,)
        An order in which similar sources are adjacent.
    places : array of shape (n, 2)
        Coordinates of the sources on a map.
    settings : mapping
        The kernel and its options.
    notes : tuple of str
        Sentences for users about how the result was computed.
    dropped : mapping of int to str
        Answers dropped by ``on_error="skip"``: index among all answers, and the reason.

    See Also
    --------
    vendiscore.sources : Compare sources.

    Examples
    --------
    >>> from vendiscore import sources
    >>> result = sources({"x": ["a b", "c"], "y": ["a b", "c"], "z": ["e", "f"]}, ns=[1])
    >>> round(result.score, 3)  # x and y have the same answers
    1.89
    >>> result.groups(0.9)
    [['x', 'y'], ['z']]
    """

    _repr_attributes = ("names", "q", "score")

    sources: tuple[SourceRow, ...]
    found: ScoreWithInterval
    corrected: ScoreWithInterval | None
    q: float
    level: float | None
    similarity: np.ndarray
    prompts: tuple[object, ...]
    per_prompt: tuple[float, ...]
    order: np.ndarray
    places: np.ndarray
    settings: Options
    notes: tuple[str, ...]
    dropped: Mapping[int, str]

    @property
    def names(self) -> list[str]:
        """The names of the sources."""
        return [row.name for row in self.sources]

    @property
    def score(self) -> float:
        """The effective number of different sources."""
        return self.found.value

    @property
    def sentence(self) -> str:
        """A sentence with the effective number, its interval and settings."""
        terms = []
        if self.level is not None and self.found.se is not None:
            terms.append(f"{100 * self.level:g} % interval")
        count = sum(map(math.isfinite, self.per_prompt))
        if count:
            terms.append(f"{count:,} prompt{'s' * (count > 1)}")
        if "kernel" in self.settings:
            terms.append(f"kernel {self.settings['kernel']}")
        terms.append(f"q={self.q:g}")
        text = f"The effective number of sources is {self.found.words} of {len(self.sources):,}"
        if self.corrected is not None:
            text += f", or {self.corrected.words} without the differences within a source"
        return f"{text} ({', '.join(terms)})."

    def pairs(self, count: int = 10, *, farthest: bool = False) -> list[tuple[str, str, float]]:
        """Return the most similar or least similar pairs of sources.

        Parameters
        ----------
        count : int, default 10
            Maximum number of pairs.
        farthest : bool, default False
            Whether to return the least similar pairs.

        Returns
        -------
        list of tuple
            Names of both sources, and their similarity.
        """
        count = check_int("count", count, 1)
        combinations = itertools.combinations(enumerate(self.names), 2)
        pairs = [(a, b, float(self.similarity[i, j])) for (i, a), (j, b) in combinations]
        pairs.sort(key=itemgetter(2), reverse=not farthest)
        return pairs[:count]

    def groups(self, threshold: float) -> list[list[str]]:
        """Group similar sources by average linkage.

        Parameters
        ----------
        threshold : float
            Similarity at which the dendrogram is cut.

        Returns
        -------
        list of list of str
            Names of the sources in each group, the largest group first.
        """
        threshold = check_float("threshold", threshold, "a similarity, at most 1", lambda t: t <= 1)
        groups = average_linkage_groups(self.similarity, threshold)
        return [[self.sources[i].name for i in group] for group in groups]

    def to_frame(self, rows: str = "sources") -> Frame:
        """Return the rows of the result as a pandas DataFrame.

        Parameters
        ----------
        rows : {"sources", "prompts", "pairs"}, default "sources"
            What the rows are.

        Returns
        -------
        pandas DataFrame
            The rows.
        """
        check_choice("rows", rows, ("sources", "prompts", "pairs"))
        return make_frame(list(self.rows(rows)))

    def rows(self, of: str) -> Iterator[Record]:
        """Iterate over the rows of the result.

        Parameters
        ----------
        of : {"sources", "prompts", "pairs"}
            What the rows are. Prompts that fewer than two sources answered are omitted.

        Yields
        ------
        dict
            The values of a row.
        """
        if of == "sources":
            yield from (asdict(row) for row in self.sources)
        elif of == "prompts":
            for prompt, value in zip(self.prompts, self.per_prompt, strict=True):
                if math.isfinite(value):
                    yield {"prompt": prompt, key_at(self.q): value}
        else:
            count = math.comb(len(self.sources), 2)
            for a, b, value in self.pairs(count):
                yield {"a": a, "b": b, "similarity": value}

    def to_dict(self) -> Record:
        """Return the result as built-in types, for JSON, under "VS" or for q=2 "VS_q2".

        Returns
        -------
        dict
            Values of built-in types.
        """
        key = key_at(self.q)
        scores = self.found.keys(key)
        if self.corrected is not None:
            scores |= self.corrected.keys(f"{key}_corrected")
        record = {
            **scores,
            "q": self.q,
            "level": self.level,
            "notes": self.notes,
            "sources": list(self.rows("sources")),
            "prompts": list(self.rows("prompts")),
            "order": [self.sources[i].name for i in self.order],
            "similarity": self.similarity,
            "signature": self.signature,
        }
        return to_json_record(record)

    @property
    def signature(self) -> str:
        """All settings in one line, to quote with the result."""
        return format_signature(
            ["sources"], {**self.settings, "q": self.q, "sources": len(self.sources)}
        )

    def plot(self, ax: Axes | None = None, *, kind: str = "map") -> Axes:
        """Plot a map or a heat map of the sources.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        kind : {"map", "heat"}, default "map"
            A map, on which similar sources are close, or a heat map of similarities. A map omits
            names that would overlap, first those of sources with a small contribution.

        Returns
        -------
        matplotlib Axes
            The axes with the plot.
        """
        check_choice("kind", kind, ("map", "heat"))
        names = self.names
        inches_per_name = 0.07 if kind == "map" else 0.14
        side = max(5.0, inches_per_name * len(names))
        ax = make_axes_if_none(ax, figsize=(1.3 * side, side), layout="constrained")
        if kind == "map":
            adds = [row.adds for row in self.sources]
            return plots.source_map(self.places, names, adds, ax=ax)
        labels = [names[i] for i in self.order]
        return plots.heat_map(self.similarity, self.order, labels=labels, ax=ax)

    def _repr_html_(self) -> str:
        rows = list(self.rows("sources"))
        return render_html_table(
            {name: [row[name] for row in rows] for name in rows[0]}, self.sentence
        )


Score = ScoreWithInterval  # the name before version 0.5
