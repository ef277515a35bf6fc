"""The result of `select`: the selected samples, their scores and an upper bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...spectral.spectrum import Spectrum
from ...support.errors import NotPSDError
from ...support.summary import (
    SummaryMixin,
    make_frame,
    render_html_table,
    to_json_record,
    truncate_line,
)
from ...support.types import Axes, DType, Frame, Record
from ..plots.curves import selection as plot_selection
from .candidates import Candidates
from .constraints import Constraints
from .prefixes import prefix_scores
from .upper_bound import compute_upper_bound
from .vendi_objective import QualityTradeoff


@dataclass(frozen=True, eq=False, repr=False)
class Selection(SummaryMixin):
    """Result of `select`: selected samples, ordered by their gain.

    It is a sequence of the indices of the selected samples: use ``list(selection)``,
    ``selection[0]`` or, for an array of samples, ``X[selection]``. Scores, gains and the bound are
    computed on first use.

    Attributes
    ----------
    places : array of int of shape (size,)
        Indices of the selected samples. For every m, the first m are a selection of m samples.
    objective : str
        Quantity that was maximized.
    q : float
        Order of `scores` and `bound`.
    swapped : int
        Number of samples that were swapped after the greedy selection.
    interrupted : bool
        Whether Ctrl-C ended the search.

    See Also
    --------
    vendiscore.select : Select samples.

    Examples
    --------
    >>> from vendiscore import select
    >>> texts = ["one cat", "one cat", "some dogs"]
    >>> result = select(texts, 2)
    >>> [texts[i] for i in result]
    ['one cat', 'some dogs']
    >>> len(result), round(result.certified, 6)
    (2, 1.0)
    """

    places: np.ndarray
    objective: str
    q: float
    swapped: int
    interrupted: bool
    _spectrum: Spectrum
    _quality_tradeoff: QualityTradeoff | None
    _candidates: Candidates
    _constraints: Constraints
    _positions: np.ndarray
    _cached_bounds: list[float] = field(default_factory=list)  # empty until `bound` is used

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[int]:
        return iter(self.places.tolist())

    def __getitem__(self, item: Any) -> Any:
        """Return one index as an int, or the indices of a slice or list as an array."""
        indices = self.places[item]
        return indices if isinstance(indices, np.ndarray) else int(indices)

    def __array__(self, dtype: DType | None = None, copy: bool | None = None) -> np.ndarray:
        """Return the indices as an array; ``X[selection]`` then selects rows of an array X."""
        return np.array(self.places, dtype, copy=copy)

    @cached_property
    def scores(self) -> np.ndarray:
        """VS_q of the first sample, the first two and so on, shape (size,).

        The computation takes about 2 s for 1,000 samples.
        """
        scores = prefix_scores(self._candidates.similarities_among(self._positions), self.q)
        scores[-1] = self._score
        return scores

    @cached_property
    def _score(self) -> float:
        return float(self._spectrum.effective_number(self.q))

    @cached_property
    def gains(self) -> np.ndarray:
        """The increase of the objective when a sample is added to those before it, shape (size,).

        The objective "vendi" is log VS_q, which decreases if a duplicate is added; with `quality`
        or `relevance`, it is combined with the log of the mean quality. The objective "represent"
        is the mean similarity of all samples to the nearest selected one.
        """
        if self.objective == "represent":
            nearest_similarities = np.full(self._candidates.n, -1.0)
            means = [0.0]
            for position in self._positions:
                row = self._candidates.row(position)
                np.maximum(nearest_similarities, row, out=nearest_similarities)
                means.append(float(nearest_similarities.mean()))
            return np.diff(means)
        values = np.log(self.scores)
        if self._quality_tradeoff is not None:
            sums = np.cumsum(self._quality_tradeoff.quality)
            mean_quality = sums / np.arange(1, len(self) + 1)
            values = np.asarray(self._quality_tradeoff.combined(values, mean_quality))
        with np.errstate(invalid="ignore"):
            return np.diff(values, prepend=0.0)

    @property
    def bound(self) -> float:
        """A proved upper bound on VS_q of all selections of this size that meet the constraints.

        It ignores quality. It can take longer than the selection, with a progress bar: at most 20
        steps of O(N d² + d³), for N samples with d features or up to 512 landmark samples. A
        NotPSDError is raised if similarities have negative eigenvalues, also with ``psd="clip"``,
        which affects only the scores.
        """
        if not self._cached_bounds:
            bound = compute_upper_bound(
                self._candidates, self._positions, self._constraints, self.q
            )
            # Rounding can make the bound slightly smaller than the score.
            self._cached_bounds.append(max(bound, self._score))
        return self._cached_bounds[0]

    @property
    def certified(self) -> float:
        """The ratio ``scores[-1] / bound``, in (0, 1]; 1 means that no selection scores more."""
        return self._score / self.bound

    def to_dict(self) -> Record:
        """Return the result as built-in types, for JSON.

        Returns
        -------
        dict
            Values of built-in types; `bound` is None if eigenvalues are negative.
        """
        bound = self._bound_or_none()
        return to_json_record(
            {
                "places": self.places,
                "objective": self.objective,
                "q": self.q,
                "scores": self.scores,
                "gains": self.gains,
                "swapped": self.swapped,
                "interrupted": self.interrupted,
                "bound": bound,
                "certified": None if bound is None else self.certified,
            }
        )

    def to_frame(self) -> Frame:
        """Return one row per selected sample as a pandas DataFrame.

        Returns
        -------
        pandas DataFrame
            Index, score and gain of each sample.
        """
        return make_frame({"index": self.places, "score": self.scores, "gain": self.gains})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the scores of the prefixes and the upper bound.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        matplotlib Axes
            The axes with the plot.
        """
        return plot_selection(self.scores, self._bound_or_none(), ax=ax)

    def _bound_or_none(self) -> float | None:
        try:
            return self.bound
        except NotPSDError:
            return None

    def __repr__(self) -> str:
        brief = self.sentence.rstrip(".")
        return truncate_line(f"Selection({brief}, places={self.places.tolist()!r})")

    def _repr_html_(self) -> str:
        first = range(min(10, len(self)))
        rows = np.unique([*first, len(self) - 1])
        columns = {
            "": rows + 1,
            "index": self.places[rows],
            "score so far": self.scores[rows],
            "gain": self.gains[rows],
        }
        return render_html_table(columns, self.sentence)

    @property
    def sentence(self) -> str:
        """The number of selected samples, their score, and its ratio to the bound if known."""
        guarantee = ""
        if self._cached_bounds:  # computing the bound can take long
            guarantee = f", at least {self.certified:.1%} of the maximum"
        return (
            f"{len(self)} of {self._candidates.n} samples (objective={self.objective!r}): "
            f"VS (q={self.q:g}) = {self._score:.4g}{guarantee}."
        )
