"""What measures look at: samples, and views of them, each found once, when first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays.distances import numpy_rows
from ..arrays.namespace import Array, as_kind_of, is_numpy, namespace, refuse_gradient
from ..arrays.pools import size
from ..arrays.weights import check_weights
from ..magnitude.distances import as_spaces
from ..magnitude.space import MetricSpace
from ..registry import Kernel
from ..resolve import resolve_sets
from ..resolve.how import How
from ..similarity.base import Similarity
from ..spectral.spectrum import PSD
from ..spectral.vendi import Spectral, vendi


class Subject:
    """A set of samples, how they are compared, and a second set where a measure has a use for it.

    Both sets are pooled, compared together, and taken apart again: they share a kernel and its
    fitted options.

    Parameters
    ----------
    samples : list, array, Similarity, MetricSpace, or what a mixture compares
    how : How
    references : the same, optional
    orders : sequence of float
        For measures that have an order q.
    p : array_like (n,), optional
        Weights of the samples, as they were given.
    psd : {"check", "clip"}
    """

    def __init__(
        self,
        samples: Any,
        how: How | None = None,
        *,
        references: Any = None,
        orders: Sequence[float] = (1.0,),
        p: Any = None,
        psd: PSD = "check",
    ) -> None:
        self.samples, self.how, self.references = samples, how or How(), references
        self.orders, self.given_weights, self.psd = list(orders), p, psd
        self.notes: list[str] = []  # what measures have to say of their numbers
        self._sets = [samples] if references is None else [samples, references]
        self.names = ["samples", "references"][: len(self._sets)]

    @cached_property
    def similarities(self) -> list[Similarity]:
        """That of the samples, and of the references if there are any."""
        if any(isinstance(samples, MetricSpace) for samples in self._sets):
            raise TypeError(
                "a MetricSpace has distances and no similarities: pass the samples themselves, or "
                "leave measures of similarities out of `measures`"
            )
        return resolve_sets(self._sets, self.how, self.names)

    @property
    def similarity(self) -> Similarity:
        """That of the samples, with unit diagonal."""
        return self.similarities[0]

    @cached_property
    def p(self) -> Array | None:
        """Weights (n,) that sum to 1, or None."""
        if self.given_weights is None:
            return None
        K = self.similarity
        return check_weights(self.given_weights, K.n, K.dropped, K.diagonal())

    @cached_property
    def spectral(self) -> Spectral:
        """Vendi Scores of all orders."""
        return vendi(self.similarity, self.orders, self.p, self.psd)

    @cached_property
    def spaces(self) -> list[MetricSpace]:
        """The samples, and the references, at their distances."""
        return as_spaces(self._sets, self.how, self.names, lambda: self.similarities)

    @property
    def space(self) -> MetricSpace:
        """The samples at the distances of a metric, or those of their kernel, √(2 − 2k)."""
        return self.spaces[0]

    @cached_property
    def ordinariness(self) -> tuple[Array, Array]:
        """p and K p: how similar a random sample is to each."""
        diagonal = self.similarity.diagonal()
        if self.p is None:
            p = namespace(diagonal).full_like(diagonal, 1 / self.similarity.n)
        else:
            p = as_kind_of(self.p, diagonal)
        if is_numpy(diagonal):
            return p, self.similarity.matmul(p)
        return p, self.similarity.dense() @ p

    @cached_property
    def features(self) -> Any:
        """The samples as rows of numbers (n, d), or the features of their kernel."""
        rows = self._rows_of_numbers()
        if rows is not None:
            refuse_gradient(rows, "GMStds")
            return rows if sp.issparse(rows) else numpy_rows(rows)
        if self.similarity.dim is not None:
            return self.similarity.features()
        raise TypeError(
            "GMStds needs samples that are vectors or a kernel that has features, got "
            f"{type(self.similarity).__name__}; leave it out of `measures`"
        )

    @property
    def n(self) -> int:
        """The number of samples, less those that were left out."""
        if "similarities" in self.__dict__:
            return self.similarity.n
        return self.space.n if "spaces" in self.__dict__ else size(self.samples)

    @property
    def roundoff(self) -> float:
        """The relative spacing of the numbers that the samples came in, where that is coarse."""
        return self.similarity.roundoff if "similarities" in self.__dict__ else 0.0

    @property
    def seen(self) -> list[MetricSpace]:
        """The spaces, where some measure has looked at them."""
        return self.spaces if "spaces" in self.__dict__ else []

    def _rows_of_numbers(self) -> Any:
        """The samples themselves where they are compared as vectors or numbers, else None."""
        k, samples = self.how.k, self.samples
        if isinstance(k, tuple) or self.how.given == "K" or isinstance(samples, Similarity):
            return None
        if isinstance(k, Kernel) and k.samples != "vectors":
            return None  # numbers may name classes, and arrays be images
        if self.how.says_similarity and self.similarity.dropped:
            return None
        first = samples[0] if isinstance(samples, list) else samples
        numbers = isinstance(first, (int, float, list, tuple, np.generic)) or hasattr(
            first, "dtype"
        )
        return samples if numbers else None
