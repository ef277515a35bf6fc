"""Some samples of a Subject as a set of their own, such as one group of them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..arrays.inputs import choose
from ..arrays.namespace import Array
from ..magnitude.space import MetricSpace
from ..magnitude.spaces_of_samples import as_spaces, of_rows
from ..resolve.sets import is_whole, part_of
from ..similarity.base import Similarity
from .both import Both
from .subject import Subject


class Part(Subject):
    """Some samples of a Subject, as a set of their own: pooled and compared first, then taken."""

    def __init__(self, whole: Subject, places: np.ndarray, name: str = "this part") -> None:
        self._whole, self._places, self.name = whole, places, name
        self.how, self.references, self.groups = whole.how, whole.references, None
        self.orders, self.psd, self.names = whole.orders, whole.psd, whole.names
        self.notes = []

    @property
    def whole(self) -> Subject:
        return self._whole

    @property
    def places(self) -> np.ndarray:
        return self._places

    @cached_property
    def samples(self) -> Any:
        """The samples themselves, where they have parts."""
        if is_whole(self.whole.samples, self.how):
            return self.similarity
        return choose(self.whole.samples, self.places)

    @property
    def came(self) -> int:
        return len(self.places)

    def forget(self) -> None:
        """Drop what takes memory, but for eigenvalues; it is found again if it is asked for."""
        for heavy in (
            "samples",
            "similarities",
            "spaces",
            "features",
            "eigen",
            "ordinariness",
            "both",
        ):
            self.__dict__.pop(heavy, None)

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows of its samples in the similarity of the whole."""
        rows = self.whole.row_of[self.places]
        rows = rows[rows >= 0]
        if not len(rows):
            raise ValueError(
                f"{self.name} has no sample that can be used, and so no score; leave it out"
            )
        return rows

    @property
    def rows_came(self) -> np.ndarray:
        return self.whole.rows_came[self.places]

    @cached_property
    def both(self) -> Both:
        """Its samples and all references."""
        whole = self.whole

        def pool() -> tuple[Similarity, int]:
            n, m = whole.both.sizes
            chosen = np.concatenate([self.rows, np.arange(n, n + m)])
            return whole.both.similarity.take(chosen), len(self.rows)

        sets = [self.samples, self.references]
        return Both(sets, whole.how_of_parts, self.names, self.psd, pool, whole.both)

    @cached_property
    def similarities(self) -> list[Similarity]:
        """That of its samples, and of all references."""
        pool, *others = self.whole.similarities
        return [part_of(pool, self.rows), *others]

    @cached_property
    def p(self) -> Array | None:
        """The weights of its samples among each other."""
        if self.whole.p is None:
            return None
        weights = self.whole.p[self.rows]
        total = weights.sum()
        if not total > 0:
            raise ValueError(
                f"`p` gives no weight to {self.name}, which so has no score of its own; leave its "
                f"samples out"
            )
        return weights / total

    @cached_property
    def spaces(self) -> list[MetricSpace]:
        """Its samples, and all references, at their distances."""
        whole, how = self.whole, self.whole.how_of_parts
        own: Any = self.samples
        if how.metric == "precomputed":
            own = whole.distances[np.ix_(self.places, self.places)]
        elif not of_rows(whole._sets, how):
            own = self.similarity
        return [*as_spaces([own], how, ["samples"]), *whole.reference_spaces]
