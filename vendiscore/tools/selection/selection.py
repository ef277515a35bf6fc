"""The result of a selection: the chosen samples, and how good the choice is."""

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
from ..plots.curves import selection as draw
from .candidates import Candidates
from .certificate import bound
from .constraints import Constraints
from .objectives import Merit
from .prefixes import prefix_scores


@dataclass(frozen=True, eq=False, repr=False)
class Selection(SummaryMixin):
    """Result of `select`: selected samples, ordered by their gain.

    It is a sequence of the indices of the selected samples: use ``list(selection)``,
    ``selection[0]`` or, for an array of samples, ``X[selection]``. Other values are computed at
    first use.

    Attributes
    ----------
    places : array of int of shape (size,)
        Indices of the selected samples. The first m are a selection of m, for every m.
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
    _merit: Merit | None
    _candidates: Candidates
    _constraints: Constraints
    _rows: np.ndarray
    _bounds: list[float] = field(default_factory=list)  # one, once it was asked for

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[int]:
        return iter(self.places.tolist())

    def __getitem__(self, item: Any) -> Any:
        """Return one index, an int, or the indices of a slice or of several, an array."""
        some = self.places[item]
        return some if isinstance(some, np.ndarray) else int(some)

    def __array__(self, dtype: DType | None = None, copy: bool | None = None) -> np.ndarray:
        """Return the indices, so that ``X[selection]`` are the chosen rows of an array."""
        return np.array(self.places, dtype, copy=copy)

    @cached_property
    def scores(self) -> np.ndarray:
        """VS_q of the first sample, the first two and so on, (size,); of 1,000 in about 2 s."""
        scores = prefix_scores(self._candidates.among(self._rows), self.q)
        scores[-1] = self._score
        return scores

    @cached_property
    def _score(self) -> float:
        return float(self._spectrum.effective_number(self.q))

    @cached_property
    def gains(self) -> np.ndarray:
        """The gain in the objective from each sample when it joined those before it, (size,).

        "vendi": in log VS_q, which a copy lowers, with `quality` plus the log of its mean;
        "represent": in mean similarity.
        """
        if self.objective == "represent":
            nearest = np.full(self._candidates.n, -1.0)
            means = [0.0]
            for v in self._rows:
                row = self._candidates.row(v)
                np.maximum(nearest, row, out=nearest)
                means.append(float(nearest.mean()))
            return np.diff(means)
        logs = np.log(self.scores)
        if self._merit is not None:
            sums = np.cumsum(self._merit.quality)
            mean = sums / np.arange(1, len(self) + 1)
            logs = np.asarray(self._merit.joined(logs, mean))
        with np.errstate(invalid="ignore"):
            return np.diff(logs, prepend=0.0)

    @property
    def bound(self) -> float:
        """A proved upper bound on VS_q of every selection of this size that meets the constraints.

        It can cost more than the selection did, under a bar: at most 20 steps of O(N d² + d³) for d
        features, or up to 512 landmarks. Quality has no part in it. NotPSDError: eigenvalues are
        negative (even with psd="clip", which takes them off the scores only).
        """
        if not self._bounds:
            proved = bound(self._candidates, self._rows, self._constraints, self.q)
            self._bounds.append(max(proved, self._score))  # but for rounding
        return self._bounds[0]

    @property
    def certified(self) -> float:
        """`scores[-1] / bound`, in (0, 1]: 1 says that none of this size scores more."""
        return self._score / self.bound

    def to_dict(self) -> Record:
        """Return the result as built-in types, for JSON.

        Returns
        -------
        dict
            Values of built-in types; `bound` is None if eigenvalues are negative.
        """
        known = self._bound_if_any()
        return to_json_record(
            {
                "places": self.places,
                "objective": self.objective,
                "q": self.q,
                "scores": self.scores,
                "gains": self.gains,
                "swapped": self.swapped,
                "interrupted": self.interrupted,
                "bound": known,
                "certified": None if known is None else self.certified,
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
        return draw(self.scores, self._bound_if_any(), ax=ax)

    def _bound_if_any(self) -> float | None:
        try:
            return self.bound
        except NotPSDError:
            return None

    def __repr__(self) -> str:
        brief = self.sentence.rstrip(".")
        return truncate_line(f"Selection({brief}, places={self.places.tolist()!r})")

    def _repr_html_(self) -> str:
        first = range(min(10, len(self)))
        few = np.unique([*first, len(self) - 1])
        columns = {
            "": few + 1,
            "place": self.places[few],
            "score so far": self.scores[few],
            "gain": self.gains[few],
        }
        return render_html_table(columns, self.sentence)

    @property
    def sentence(self) -> str:
        """The number of samples chosen, their score, and its share of the bound if it is known."""
        best = ""
        if self._bounds:  # not looked for only to be shown
            best = f", at least {self.certified:.1%} of what is possible"
        return (
            f"{len(self)} of {self._candidates.n} samples by {self.objective!r}, "
            f"VS (q={self.q:g}) = {self._score:.4g}{best}."
        )
