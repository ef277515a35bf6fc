"""The results of `phrases`: what repeated phrases cost, in one set or in two sets."""

from __future__ import annotations

import html
import math
from dataclasses import asdict, dataclass, fields

from ...result import key_at
from ...support.summary import (
    SummaryMixin,
    format_value,
    make_frame,
    render_html_table,
    to_json_record,
    truncate,
)
from ...support.types import Axes, Frame, Record
from ..plots.phrase_bars import phrases as plot_phrases

__all__ = ["PhraseComparison", "PhraseCosts", "PhraseDifference", "PhraseRow"]

_MAX_PHRASE_CHARACTERS = 60


@dataclass(frozen=True, repr=False)
class PhraseRow(SummaryMixin):
    """A phrase and what it costs.

    Attributes
    ----------
    phrase : str
        The phrase as it is written in the first text that contains it.
    n_texts : int
        Number of texts that contain it.
    cost : float
        Gain in VS_q if each of these texts had words of its own instead; NaN if not computed.
    share : float
        The cost divided by the cost of all similarities, n - VS_q for equal weights.
    cost_q2 : float
        The same gain in VS_2.
    overlaps : tuple of str
        Phrases that share words with this one and are counted first: the cost of this phrase is the
        gain after they have been rewritten.

    See Also
    --------
    PhraseCosts : The result with these rows.

    Examples
    --------
    >>> row = PhraseRow("of course", n_texts=5, cost=2.5, share=0.25, cost_q2=3.0)
    >>> row.overlaps
    ()
    """

    _repr_attributes = ("phrase", "n_texts", "cost")

    phrase: str
    n_texts: int
    cost: float
    share: float
    cost_q2: float
    overlaps: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The phrase and its cost, in a sentence."""
        cost, order = (self.cost_q2, " at order 2") if math.isnan(self.cost) else (self.cost, "")
        return (
            f'"{truncate(self.phrase, _MAX_PHRASE_CHARACTERS)}" occurs in {self.n_texts:,} texts '
            f"and costs {format_value(cost)} effective texts{order}."
        )


@dataclass(frozen=True, repr=False)
class PhraseDifference(SummaryMixin):
    """A phrase and what it costs in two sets of the same size.

    Attributes
    ----------
    phrase : str
        The phrase as it is written in the first text that contains it.
    n_texts_a, n_texts_b : int
        Numbers of texts that contain it.
    cost_a, cost_b : float
        Gain in VS_q of each set if these texts had words of their own instead.
    difference : float
        `cost_a` minus `cost_b`.
    p : float
        p-value, adjusted for the number of phrases.
    overlaps : tuple of str
        Phrases that share words with this one and are counted first.

    See Also
    --------
    PhraseComparison : The result with these rows.

    Examples
    --------
    >>> row = PhraseDifference("of course", 5, 1, cost_a=2.5, cost_b=0.5, difference=2.0, p=0.01)
    >>> row.n_texts_a, row.n_texts_b
    (5, 1)
    """

    _repr_attributes = ("phrase", "n_texts_a", "n_texts_b", "difference", "p")

    phrase: str
    n_texts_a: int
    n_texts_b: int
    cost_a: float
    cost_b: float
    difference: float
    p: float
    overlaps: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The phrase and the difference of its costs, in a sentence."""
        return (
            f'"{truncate(self.phrase, _MAX_PHRASE_CHARACTERS)}" occurs in {self.n_texts_a:,} texts '
            f"of A and {self.n_texts_b:,} of B, and costs A {format_value(self.cost_a)} and B "
            f"{format_value(self.cost_b)} effective texts (p = {self.p:.3g})."
        )


@dataclass(frozen=True, eq=False, repr=False)
class PhraseCosts(SummaryMixin):
    """Result of `phrases` for one set: repeated phrases by cost.

    Attributes
    ----------
    rows : list of PhraseRow
        The phrases, in descending order of cost.
    n : int
        Number of texts.
    q : float
        Order of the score.
    score : float
        VS_q of the texts; with groups or prompts, the mean over them. NaN if not computed.
    max_score : float
        VS_q if no two texts had a word in common; n for equal weights.
    score_q2 : float
        VS_2 of the texts.
    min_texts : int
        Minimum number of texts that contain a phrase.
    n_groups : int
        Number of groups or prompts, 1 without these.
    notes : list of str
        Restrictions of the result, as sentences.
    settings : dict
        The kernel and its options.

    See Also
    --------
    vendiscore.phrases : Compute the costs.

    Examples
    --------
    >>> from vendiscore import phrases
    >>> result = phrases(["Sure, I can help: yes", "Sure, I can help: no", "maybe", "later"])
    >>> result.rows[0].phrase
    'Sure, I can help:'
    """

    _repr_attributes = ("n", "q", "score", "rows")

    rows: list[PhraseRow]
    n: int
    q: float
    score: float
    max_score: float
    score_q2: float
    min_texts: int
    n_groups: int
    notes: list[str]
    settings: Record

    @property
    def sentence(self) -> str:
        """The result in a few sentences."""
        sentences = []
        if not self.rows:
            sentences.append(
                f"No phrase that occurs in at least {self.min_texts} of {self.n:,} texts lowers "
                f"the score."
            )
        else:
            row = self.rows[0]
            q, score, cost = self.q, self.score, row.cost
            if math.isnan(cost):
                q, score, cost = 2.0, self.score_q2, row.cost_q2
            mean = f" in the mean over {self.n_groups} groups" if self.n_groups > 1 else ""
            sentences.append(
                f'"{truncate(row.phrase, _MAX_PHRASE_CHARACTERS)}" occurs in {row.n_texts:,} of '
                f"{self.n:,} texts and costs {format_value(cost)} effective texts{mean}: if each "
                f"of these texts had words of its own instead, the score would be "
                f"{format_value(score + cost)} instead of {format_value(score)} (q={q:g})."
            )
        return " ".join([*sentences, *self.notes])

    def to_frame(self) -> Frame:
        """Return one row per phrase as a pandas DataFrame.

        Returns
        -------
        pandas DataFrame
            Columns `phrase`, `n_texts`, `cost`, `share`, `cost_q2` and `overlaps`.
        """
        return make_frame([asdict(row) for row in self.rows] or _empty_columns(PhraseRow))

    def to_dict(self) -> Record:
        """Return the result as built-in types, for JSON.

        Returns
        -------
        dict
            The score under its usual key, such as "VS", and the phrases as a list of dicts.
        """
        return to_json_record(
            {
                "n": self.n,
                "q": self.q,
                key_at(self.q): self.score,
                "max_score": self.max_score,
                "score_q2": self.score_q2,
                "min_texts": self.min_texts,
                "n_groups": self.n_groups,
                "notes": self.notes,
                "settings": self.settings,
                "phrases": [asdict(row) for row in self.rows],
            }
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the costs as horizontal bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        matplotlib Axes
            The axes with the plot.
        """
        costs = [row.cost_q2 if math.isnan(row.cost) else row.cost for row in self.rows]
        return plot_phrases([row.phrase for row in self.rows], costs, ax=ax)

    def _repr_html_(self) -> str:
        return _render_html(self.sentence, self.rows, PhraseRow)


@dataclass(frozen=True, eq=False, repr=False)
class PhraseComparison(SummaryMixin):
    """Result of `phrases` for two sets: phrases that cost set A more than set B.

    Attributes
    ----------
    rows : list of PhraseDifference
        The phrases, in ascending order of their p-values.
    size : int
        Number of texts of each set that are compared.
    q : float
        Order of the score.
    score_a, score_b : float
        VS_q of both sets; with groups or prompts, the means over them.
    permutations : int
        Number of random permutations of the set labels.
    n_tested : int
        Number of phrases that were tested.
    min_texts : int
        Minimum number of texts of both sets that contain a phrase.
    n_groups : int
        Number of groups or prompts, 1 without these.
    notes : list of str
        Restrictions of the result, as sentences.
    settings : dict
        The kernel and its options.

    See Also
    --------
    vendiscore.phrases : Compute the costs.

    Examples
    --------
    >>> from vendiscore import phrases
    >>> a = [f"Sure, I can help with x{i}" for i in range(8)]
    >>> result = phrases(a, [f"Use y{i}" for i in range(8)], permutations=99)
    >>> result.rows[0].phrase
    'Sure, I can help with'
    """

    _repr_attributes = ("size", "q", "score_a", "score_b", "rows")

    rows: list[PhraseDifference]
    size: int
    q: float
    score_a: float
    score_b: float
    permutations: int
    n_tested: int
    min_texts: int
    n_groups: int
    notes: list[str]
    settings: Record

    @property
    def sentence(self) -> str:
        """The result in a few sentences."""
        if not self.rows:
            return " ".join(
                [
                    f"No phrase that occurs in at least {self.min_texts} texts lowers the score of "
                    f"the two sets.",
                    *self.notes,
                ]
            )
        row = self.rows[0]
        significant = [row for row in self.rows if row.p <= 0.05]
        phrase = f'"{truncate(row.phrase, _MAX_PHRASE_CHARACTERS)}"'
        costs = (
            f"{format_value(row.cost_a)} effective texts and set B {format_value(row.cost_b)} "
            f"(p = {row.p:.3g}, adjusted for {self.n_tested} phrases)"
        )
        if significant:
            plural = "phrase costs" if len(significant) == 1 else "phrases cost"
            first = f"{len(significant)} {plural} set A more than set B: {phrase} costs set A"
        else:
            first = f"No phrase costs set A significantly more than set B. {phrase} costs set A"
        return " ".join([f"{first} {costs}.", *self.notes])

    def to_frame(self) -> Frame:
        """Return one row per phrase as a pandas DataFrame.

        Returns
        -------
        pandas DataFrame
            Columns `phrase`, `n_texts_a`, `n_texts_b`, `cost_a`, `cost_b`, `difference`, `p` and
            `overlaps`.
        """
        return make_frame([asdict(row) for row in self.rows] or _empty_columns(PhraseDifference))

    def to_dict(self) -> Record:
        """Return the result as built-in types, for JSON.

        Returns
        -------
        dict
            All attributes, with the phrases as a list of dicts.
        """
        record = {name: value for name, value in vars(self).items() if name != "rows"}
        return to_json_record({**record, "phrases": [asdict(row) for row in self.rows]})

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the costs of both sets as horizontal bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        matplotlib Axes
            The axes with the plot.
        """
        costs = {"A": [row.cost_a for row in self.rows], "B": [row.cost_b for row in self.rows]}
        return plot_phrases([row.phrase for row in self.rows], costs, ax=ax)

    def _repr_html_(self) -> str:
        return _render_html(self.sentence, self.rows, PhraseDifference)


def _column_names(row_type: type[PhraseRow] | type[PhraseDifference]) -> list[str]:
    return [field.name for field in fields(row_type)]


def _empty_columns(row_type: type[PhraseRow] | type[PhraseDifference]) -> Record:
    return {name: [] for name in _column_names(row_type)}


def _render_html(
    sentence: str,
    rows: list[PhraseRow] | list[PhraseDifference],
    row_type: type[PhraseRow] | type[PhraseDifference],
) -> str:
    """Render a sentence and a table of phrases as HTML; phrases are shortened."""
    columns: Record = {
        name: [getattr(row, name) for row in rows]
        for name in _column_names(row_type)
        if name != "overlaps"
    }
    columns["phrase"] = [truncate(phrase, _MAX_PHRASE_CHARACTERS) for phrase in columns["phrase"]]
    return f"<p>{html.escape(sentence)}</p>{render_html_table(columns)}"
