"""The result of `explain`: a table with one row per sample."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...measures.sample_set import SampleSet, SampleSubset
from ...result import key_at
from ...scoring.reference_scale import render_html_strip
from ...scoring.typical import compare_with_typical, empty_reference_scale
from ...spectral.leave_one_out import (
    MAX_SAMPLE_WEIGHT,
    compute_coverage,
    compute_residual_fractions,
    compute_surprise,
    log_score_drops,
)
from ...spectral.spectrum import Spectrum
from ...spectral.vendi_scores import compute_vendi_scores
from ...support.arguments import check_int
from ...support.namespace import to_float, to_host
from ...support.summary import SummaryMixin, make_frame, render_html_table, to_json_record, truncate
from ...support.types import Axes, Frame, Record
from ..plots.set_structure import contributions
from .duplicates import Duplicates
from .near_pairs import Neighbours, Pair
from .spectral_modes import Mode, list_modes, strongest_modes

VALUE_COLUMNS = ("surprise", "adds", "unexplained")
SAMPLE_COLUMNS = (*VALUE_COLUMNS, "mode", "nearest", "nearest_similarity", "redundant_of")
MIN_LOSS = 1e-12  # smaller changes of log VS may be rounding errors
# Number of rows with the largest and of rows with the smallest contributions in the table of a
# notebook, and maximum number of characters of a text.
ROWS_PER_END = 5
MAX_TEXT_LENGTH = 60
BOUNDARY_PAIRS = 3  # shown on each side of the threshold


class PromptValues(NamedTuple):
    """The samples of each prompt as a set, their surprisals, and the score of each prompt.

    `surprise`, shape (n,), is the surprisal of each sample within its prompt, and `scores` has one
    entry per prompt. Both are None for large sets, for which they are computed when needed.
    """

    sets: Sequence[SampleSubset]
    surprise: np.ndarray | None = None
    scores: np.ndarray | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(SummaryMixin):
    """Result of `explain`: the contribution of each sample, and groups of near-duplicates.

    The attributes `surprise`, `adds`, `unexplained`, `mode`, `nearest`, `nearest_similarity` and
    `redundant_of` are arrays of shape (n,) in the order of the samples. Samples are identified by
    their indices.

    Attributes
    ----------
    q : float
        Order of the score.
    places : array of int of shape (n,)
        Index of each sample in the list that was passed.

    See Also
    --------
    vendiscore.explain : Explain a score.

    Examples
    --------
    >>> from vendiscore import explain
    >>> result = explain(["a b", "a b", "c d"], ns=[1])
    >>> result.groups, result.kept
    ([(0, [1])], array([0, 2]))
    """

    _repr_attributes = ("n", "q", "score", "threshold")

    q: float
    places: np.ndarray
    neighbours: Neighbours
    duplicates: Duplicates
    _sample_set: SampleSet
    _input_samples: object
    _scores_without_duplicates: dict[float, float] = field(
        default_factory=dict
    )  # without duplicates, by threshold
    _within_prompts: PromptValues | None = None  # if each prompt is explained separately

    def __copy__(self) -> Explanation:
        new = object.__new__(type(self))  # pickling would remove samples
        vars(new).update(vars(self))
        return new

    def __getstate__(self) -> Record:
        """Return the attributes for pickle, with None for input samples that are not texts."""
        samples = self._input_samples
        if isinstance(samples, list):
            samples = [text if isinstance(text, str) else None for text in samples]
        else:
            samples = None
        return {**vars(self), "_input_samples": samples, "_reference_scale": self._reference_scale}

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.places)

    @property
    def _prompt_sets(self) -> Sequence[SampleSubset]:
        """The samples of each prompt; empty if all samples are explained as one set."""
        return () if self._within_prompts is None else self._within_prompts.sets

    @property
    def _spectrum(self) -> Spectrum:
        """The spectrum of all samples, computed at first use."""
        with np.errstate(all="ignore"):  # as `compute` does: numbers are checked
            return self._sample_set.eigen

    @property
    def score(self) -> float:
        """VS_q of all samples, in [1, n]; with prompts, the mean over prompts."""
        if self._within_prompts is not None:
            scores = self._within_prompts.scores
            if scores is None:
                eigen = [subset.eigen for subset in self._prompt_sets]
                scores = np.array([spectrum.effective_number(self.q) for spectrum in eigen])
            return float(np.mean(scores))
        return to_float(self._spectrum.effective_number(self.q))

    @cached_property
    def surprise(self) -> np.ndarray:
        """Surprisal of each sample x, at least 0; at order 1, −xᵀ log(A) x with A = Σ p x xᵀ.

        At order 1, its weighted mean is log VS.
        """
        if self._within_prompts is not None and self._within_prompts.surprise is not None:
            return self._within_prompts.surprise
        return self._compute_per_sample(lambda part: compute_surprise(part.eigen, self.q))

    @cached_property
    def adds(self) -> np.ndarray:
        """Leave-one-out contribution of each sample: log VS minus log VS without the sample.

        Negative for samples that repeat others. The web app and reports show the proportion by
        which VS drops, 1 - exp(-adds).
        """
        return self._compute_per_sample(self._compute_contributions)

    def _compute_contributions(self, sample_set: SampleSet) -> np.ndarray:
        """Return the decreases of log VS; all are 0 if one sample has almost all of the weight."""
        if sample_set.n == 1 or (
            sample_set.p is not None and to_host(sample_set.p).max() > MAX_SAMPLE_WEIGHT
        ):
            return np.zeros(sample_set.n)
        return np.asarray(log_score_drops(sample_set.eigen, self.q))

    @cached_property
    def unexplained(self) -> np.ndarray:
        """Residual fraction of each sample, which other samples do not explain: 1/(K⁻¹)_ii.

        Computed as 1/((K + r I)⁻¹)_ii − r with r = 1e-9, because K may be singular.
        """
        return self._compute_per_sample(lambda part: compute_residual_fractions(part.eigen))

    @np.errstate(all="ignore")  # as `compute` does: numbers are checked
    def _compute_per_sample(self, compute_values: Callable[[SampleSet], np.ndarray]) -> np.ndarray:
        """Return one value per sample, shape (n,), computed from all samples or within prompts.

        `compute_values` maps a set of m samples to an array of shape (m,).
        """
        if not self._prompt_sets:
            return compute_values(self._sample_set)
        values = np.empty(self.n)
        for subset in self._prompt_sets:
            values[subset.rows] = compute_values(subset)
        return values

    @property
    def mode(self) -> np.ndarray:
        """Number of the mode along which each sample has the largest component; see `modes`."""
        return self._compute_per_sample(lambda part: strongest_modes(part.eigen)[0]).astype(int)

    @property
    def nearest(self) -> np.ndarray:
        """Index of the most similar other sample, for each sample."""
        return self.places[self.neighbours.nearest]

    @property
    def nearest_similarity(self) -> np.ndarray:
        """Similarity of each sample to its most similar other sample."""
        return self.neighbours.similarity

    @property
    def redundant_of(self) -> np.ndarray:
        """Index of the retained sample that each sample repeats; −1 for retained samples."""
        representatives = self.duplicates.representatives
        return np.where(representatives < 0, -1, self.places[representatives])

    @property
    def threshold(self) -> float:
        """Minimum similarity of near-duplicates."""
        return self.duplicates.threshold

    @cached_property
    def repeats(self) -> dict[float, int | None]:
        """Number of near-duplicates at thresholds 0.8, 0.9, 0.95 and 0.99; None below `floor`."""
        return self.duplicates.count_repeats()

    @property
    def floor(self) -> float:
        """The lowest threshold that `rethreshold` accepts."""
        return self.duplicates.floor

    @property
    def kept(self) -> np.ndarray:
        """The indices of the samples that remain if near-duplicates are removed."""
        return self.places[self.duplicates.retained]

    @property
    def groups(self) -> list[tuple[int, list[int]]]:
        """The groups of near-duplicates, the largest first.

        A group is a tuple of the index of the sample to keep and the indices of the others.
        """
        return [
            (int(self.places[representative]), self.places[duplicates].tolist())
            for representative, duplicates in self.duplicates.groups()
        ]

    @property
    def score_without_duplicates(self) -> float:
        """VS_q of the samples in `kept`, with their weights divided by the sum of weights."""
        retained = self.duplicates.retained
        if len(retained) == self.n:
            return self.score
        if self.threshold not in self._scores_without_duplicates:
            scores = []
            for rows in [sample_set.rows for sample_set in self._prompt_sets] or [retained]:
                sample_set = take_sample_set(self._sample_set, np.intersect1d(rows, retained))
                arguments = sample_set.similarity, [self.q], sample_set.p, sample_set.psd
                # in double precision, like `score`, with which it is compared
                vendi_scores = compute_vendi_scores(*arguments, allow_single=False)
                scores.append(to_float(vendi_scores.values[0]))
            self._scores_without_duplicates[self.threshold] = float(np.mean(scores))
        return self._scores_without_duplicates[self.threshold]

    def boundary(self, count: int = BOUNDARY_PAIRS) -> tuple[list[Pair], list[Pair]]:
        """Return the pairs whose similarity is closest to the threshold on either side.

        Parameters
        ----------
        count : int, default 3
            Maximum number of pairs on each side.

        Returns
        -------
        tuple of list of Pair
            Pairs at or above the threshold, and pairs below it.
        """
        return self.duplicates.boundary(check_int("count", count), self.places)

    def rethreshold(self, threshold: float) -> Explanation:
        """Return a copy with another threshold, without comparing samples again.

        Parameters
        ----------
        threshold : float
            The new threshold, between `floor` and 1.

        Returns
        -------
        Explanation
            The copy.

        Raises
        ------
        ValueError
            If the threshold is outside this range.
        """
        changed = copy(self)  # with the values that were already computed
        object.__setattr__(changed, "duplicates", self.duplicates.rethreshold(threshold))
        return changed

    @property
    def coverage(self) -> float:
        """Estimated proportion of the population that the samples cover (Good–Turing).

        It is 1 minus the mean of `unexplained`.
        """
        share = compute_coverage(self.unexplained, self._sample_set.p)
        return min(max(float(share), 0.0), 1.0)

    def modes(self, count: int | None = None) -> list[Mode]:
        """Return the largest modes; with prompts, the modes of each prompt.

        Parameters
        ----------
        count : int, optional
            Maximum number of modes; by default the score, rounded up.

        Returns
        -------
        list of Mode
            The modes, in descending order of eigenvalues.
        """
        n_modes = int(np.ceil(self.score)) if count is None else check_int("count", count)
        modes = []
        sets = [(subset.eigen, subset.retained_indices) for subset in self._prompt_sets]
        for spectrum, indices in sets or [(self._spectrum, self.places)]:
            modes += list_modes(spectrum, *strongest_modes(spectrum), n_modes, indices)
        return modes

    def to_dict(self) -> Record:
        """Return all columns and values as built-in types, for JSON; missing values are None.

        Returns
        -------
        dict
            Values of built-in types.
        """
        above, below = self.boundary()
        key = key_at(self.q)
        return to_json_record(
            {
                "n": self.n,
                "q": self.q,
                key: self.score,
                "coverage": self.coverage,
                "threshold": self.threshold,
                "repeats": {f"{level:g}": count for level, count in self.repeats.items()},
                f"{key}_without_duplicates": self.score_without_duplicates,
                "groups": [
                    {"keep": representative, "near_duplicates": duplicates}
                    for representative, duplicates in self.groups
                ],
                "boundary": {
                    "above": [pair._asdict() for pair in above],
                    "below": [pair._asdict() for pair in below],
                },
                "modes": [
                    {"share": mode.share, "members": len(mode.members), "exemplars": mode.exemplars}
                    for mode in self.modes()
                ],
                "samples": self._columns,
            }
        )

    def to_frame(self) -> Frame:
        """Return one row per sample as a pandas DataFrame, indexed by `place`, the sample index.

        Returns
        -------
        pandas DataFrame
            The rows.
        """
        return make_frame(self._columns).set_index("place")

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the contributions in descending order, with near-duplicates marked.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        matplotlib Axes
            The axes with the plot.
        """
        return contributions(self.adds, self.redundant_of >= 0, ax=ax)

    @property
    def _columns(self) -> dict[str, np.ndarray]:
        return {"place": self.places} | {name: getattr(self, name) for name in SAMPLE_COLUMNS}

    @property
    def criterion(self) -> str:
        """The threshold, and the numbers of near-duplicates at other thresholds, as text."""
        counts = self.counts and f"; {self.counts}"
        return f"similarity {self.threshold:g} or more{counts}"

    @property
    def counts(self) -> str:
        """The numbers of near-duplicates at other thresholds, such as "3 at 0.9"."""
        available = [(level, count) for level, count in self.repeats.items() if count is not None]
        return ", ".join(f"{count:,} at {level:g}" for level, count in available)

    @property
    def copies(self) -> str:
        """A sentence with the number of near-duplicates, and the score without them."""
        removed = self.n - len(self.kept)
        if not removed:
            other_thresholds = self.counts and f" ({self.counts})"
            return f"No two are as similar as {self.threshold:g}{other_thresholds}."
        return (
            f"{_format_count(removed, 'repeats another', 'repeat others')} ({self.criterion}); "
            f"without, the score is {self.score_without_duplicates:.4g}."
        )

    @property
    def edge(self) -> str:
        """A sentence with the pairs closest to the threshold; "" if no pairs were stored."""
        sides = []
        for side, pairs in zip(("above", "below"), self.boundary(), strict=True):
            listed = [f"{i} and {j} ({similarity:.3g})" for i, j, similarity in pairs]
            if listed:
                sides.append(f"{', '.join(listed)} {side}")
        if not sides:
            return ""
        return f"Samples next to the threshold: {'; '.join(sides)}."

    @property
    def sentence(self) -> str:
        """The effective number of samples and the near-duplicates, in a few sentences."""
        n_lowering = int(np.sum(self.adds < -MIN_LOSS))
        comparison = self._reference_scale["typical"]
        prompt_note = ""
        if self._prompt_sets:
            prompt_note = f" within a prompt, in the mean over {len(self._prompt_sets)}"
        return (
            f"The effective number of samples is {self.score:.4g} of {self.n:,}{prompt_note} "
            f"(q={self.q:g}). {self.copies} "
            f"{_format_count(n_lowering, 'lowers', 'lower')} the score."
            f"{comparison and ' '}{comparison}"
        )

    @property
    def strip(self) -> str:
        """Two lines of text that show the score next to reference scores; "" without references."""
        return str(self._reference_scale["strip"])

    @cached_property
    def _reference_scale(self) -> Record:
        """Comparison with typical scores, as entries of `details`; empty with prompts."""
        if self._prompt_sets:
            return empty_reference_scale()
        return compare_with_typical(
            self._sample_set, self.n, self.q, self.score, self._input_samples
        )

    @property
    def _text(self) -> str:
        return " ".join(filter(None, [self.sentence, self.edge]))

    def __str__(self) -> str:
        return "\n".join(filter(None, [self._text, self.strip]))

    def _repr_html_(self) -> str:
        order = np.argsort(-self.adds, kind="stable")
        shown_positions = [*order[:ROWS_PER_END], *order[ROWS_PER_END:][-ROWS_PER_END:]]
        columns: Record = {name: column[shown_positions] for name, column in self._columns.items()}
        caption = "samples, by decreasing contribution"
        if self.n > len(shown_positions):
            caption = "samples with the largest and smallest contributions"
        samples = self._input_samples
        columns["sample"] = [""] * len(shown_positions)
        for i, index in enumerate(self.places[shown_positions]):
            text = samples[index] if isinstance(samples, list) else None
            if isinstance(text, str):
                columns["sample"][i] = truncate(text, MAX_TEXT_LENGTH)
        table = render_html_table(columns, caption)
        return f"<p>{html.escape(self._text)}</p>{render_html_strip(self._reference_scale)}{table}"


def take_sample_set(sample_set: SampleSet, rows: np.ndarray) -> SampleSet:
    """Return a set of only the samples at these rows, with weights that sum to 1."""
    p = None
    if sample_set.p is not None:
        p = to_host(sample_set.p)[rows]
        p = p / p.sum()
    return SampleSet(sample_set.similarity.take(rows), weights=p, psd=sample_set.psd)


def _format_count(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"
