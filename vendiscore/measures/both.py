"""Samples and references as one set: what is between them, for measures that compare the two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays.namespace import Array, as_kind_of, to_host
from ..arrays.pools import size
from ..arrays.weights import check_weights
from ..distances.all_pairs import numpy_rows
from ..magnitude.space import MetricSpace
from ..magnitude.spaces_of_samples import as_spaces, of_rows, stacked
from ..registry.kernel import Kernel
from ..resolve.kernel_request import How
from ..resolve.sets import apart, kept_starts, resolve_pool
from ..signature import digest, plain
from ..similarity.base import Similarity
from ..spectral.spectrum import PSD, Spectrum
from ..spectral.vendi import spectrum_of
from . import neighbourhoods
from .neighbourhoods import Neighbourhoods


class Both:
    """Two sets, pooled before they are compared: each view is found once, when first asked for."""

    def __init__(
        self,
        sets: Sequence[Any],
        how: How,
        names: Sequence[str],
        psd: PSD = "check",
        whole: Both | None = None,
        rows: Callable[[], np.ndarray] | None = None,
    ) -> None:
        """Pool two sets; those of a part are rows of the whole, and all references."""
        self._sets, self._how, self._names, self._psd = sets, how, names, psd
        self._whole, self._chosen = whole, rows

    @property
    def of_rows(self) -> bool:
        """Whether distances are between rows of numbers, and not those of the kernel."""
        return of_rows(self._sets, self._how)

    @cached_property
    def _resolved(self) -> tuple[Similarity, np.ndarray]:
        self._check_no_spaces()
        return resolve_pool(self._sets, self._how, self._names)

    def _check_no_spaces(self) -> None:
        if any(isinstance(samples, MetricSpace) for samples in self._sets):
            raise TypeError(_ALONE.format("a MetricSpace"))

    @cached_property
    def _pool(self) -> tuple[Similarity, int]:
        if self._whole is not None and self._chosen is not None:
            (n, m), rows = self._whole.sizes, self._chosen()
            chosen = np.concatenate([rows, np.arange(n, n + m)])
            return self._whole.similarity.take(chosen), len(rows)
        similarity, starts = self._resolved
        return similarity, int(kept_starts(similarity, starts)[1])

    @property
    def compared(self) -> bool:
        """Whether somebody has looked at their similarities."""
        return "_pool" in self.__dict__

    @property
    def similarity(self) -> Similarity:
        """That of the samples and, after them, the references, with unit diagonal."""
        return self._pool[0]

    @property
    def sizes(self) -> tuple[int, int]:
        """How many samples and how many references there are, less those that were left out."""
        similarity, n = self._pool
        return n, similarity.n - n

    @cached_property
    def apart(self) -> list[Similarity]:
        """That of the samples, and that of the references."""
        return apart(*self._resolved)

    @cached_property
    def weights(self) -> Array | None:
        """Weights of all, by which each set has one half."""
        return half_each(self.similarity, self.sizes)

    @cached_property
    def means(self) -> Array:
        """Mean similarities (2, 2) within and between the sets, self-pairs included."""
        (n, m), K = self.sizes, self.similarity
        halves = np.zeros((n + m, 2))
        halves[:n, 0], halves[n:, 1] = 1 / n, 1 / m
        V = as_kind_of(halves, K.diagonal())
        return V.T @ K.matmul(V)

    @cached_property
    def eigen(self) -> Spectrum:
        """The spectrum of the mixture (ρ_X + ρ_Y)/2 of both sets, with its eigenvectors."""
        return spectrum_of(self.similarity, self.weights, self._psd, vectors=True)

    @cached_property
    def spectrum(self) -> Spectrum:
        """The same, of which the eigenvectors may be missing."""
        if "eigen" in self.__dict__:
            return self.eigen
        return spectrum_of(self.similarity, self.weights, self._psd)

    @cached_property
    def of_references(self) -> Spectrum:
        """The spectrum of the references alone."""
        if self._whole is not None:
            return self._whole.of_references
        n, m = self.sizes
        return spectrum_of(self.similarity.take(np.arange(n, n + m)), psd=self._psd)

    @cached_property
    def space(self) -> MetricSpace:
        """Both sets at the distances of a metric, or those of their kernel; n² memory."""
        self._check_no_spaces()
        if self._how.metric == "precomputed":
            raise TypeError(_ALONE.format("a matrix of distances"))
        own: Any = self.rows if self.of_rows else self.similarity
        return as_spaces([own], self._how, ["samples"])[0]

    @property
    def settings(self) -> dict[str, Any]:
        """The distances between both sets, to be reported: as a MetricSpace has them."""
        if self.of_rows:
            metric = self._how.metric or "euclidean"
            return {"metric": plain(metric) if callable(metric) else metric} | dict(
                self._how.metric_options
            )
        name = "1−k" if self._how.metric == "1-k" else "√(2−2k)"
        return {"metric": name, **self.similarity.settings}

    @cached_property
    def neighbourhoods(self) -> Neighbourhoods:
        """Nearest neighbours and balls, at the same distances, of which no matrix is made."""
        alone = next((each for each in self._sets if isinstance(each, MetricSpace)), None)
        if alone is not None or self._how.metric == "precomputed":
            raise TypeError(_ALONE.format("a MetricSpace" if alone else "a matrix of distances"))
        if "space" in self.__dict__ or (self.of_rows and callable(self._how.metric)):
            n = size(self._sets[0]) if self.of_rows else self.sizes[0]
            return neighbourhoods.of_space(self.space, n)
        whole = None if self._whole is None else self._whole.neighbourhoods
        if not self.of_rows:
            return neighbourhoods.of_kernel(self.similarity, self.sizes[0], self._how, whole)
        return neighbourhoods.of_rows(self._rows, self._how, whole)

    @property
    def digest(self) -> str:
        """What tells these references from others, beside the samples."""
        if self.of_rows:
            return digest(self.rows[-size(self._sets[1]) :])
        p: Any = self.weights
        return digest(self.similarity.matmul(p)[self.sizes[0] :])

    @cached_property
    def _rows(self) -> list[np.ndarray]:
        """Each set as rows of numbers, where distances are between such."""
        sets = zip(self._sets, self._names, strict=True)
        return [numpy_rows(each, name) for each, name in sets]

    @cached_property
    def rows(self) -> np.ndarray:
        """Both sets as rows of numbers (n + m, d), where distances are between such."""
        return stacked(self._rows, self._names)

    @cached_property
    def features(self) -> list[Any] | None:
        """Each set as rows of numbers, or of features before these are brought to unit length.

        In double precision, dense or CSR; None for kernels that have no features.
        """
        rows = [rows_of_numbers(samples, self._how) for samples in self._sets]
        given = not any(each is None for each in rows)
        if given and not (self._how.skip and self.similarity.dropped):
            pairs = zip(rows, self._names, strict=True)
            found = [each if sp.issparse(each) else numpy_rows(each, name) for each, name in pairs]
            stacked([np.empty((0, each.shape[1])) for each in found], self._names)  # as wide
            return [each.astype(np.float64, copy=False) for each in found]
        K, n = self.similarity, self.sizes[0]
        if K.dim is None:
            return None
        inner = getattr(K, "distinct", K)
        F = inner.bare().features()
        F = F if sp.issparse(F) else to_host(F)
        F = F if inner is K else F[K.inverse]  # type: ignore[attr-defined]
        return [F[:n], F[n:]]


def half_each(similarity: Similarity, sizes: tuple[int, int]) -> Array | None:
    """Return weights by which each of two sets has one half."""
    halves = np.repeat(np.array([0.5, 0.5]) / sizes, sizes)
    return check_weights(halves, len(halves), like=similarity.diagonal())


def rows_of_numbers(samples: Any, how: How) -> Any:
    """Return the samples themselves where they are compared as vectors or numbers, else None."""
    k = how.k
    if isinstance(k, tuple) or how.given == "K" or isinstance(samples, Similarity):
        return None
    if isinstance(k, Kernel) and k.samples != "vectors":
        return None  # numbers may name classes, and arrays be images
    first = samples[0] if isinstance(samples, list) else samples
    numbers = isinstance(first, (int, float, list, tuple, np.generic)) or hasattr(first, "dtype")
    return samples if numbers else None


_ALONE = (
    "{} knows nothing of the samples of another set: pass the samples themselves, and how they "
    "are compared, or leave measures between two sets out of `measures`"
)
