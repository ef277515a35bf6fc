"""Similarities between sources over all answers, and without each unit: a prompt, a block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from ..core.namespace import row_blocks
from ..similarity.set_means import cosines, mean_similarities, without_own

Stack = tuple[np.ndarray, np.ndarray]


class Replicates(ABC):
    """Mean similarities of sources, with all units and with each left out."""

    units: int

    @abstractmethod
    def _whole(self, corrected: bool) -> Stack:
        """Return sums between sources and sums within them for each pair, (sources, sources)."""

    @abstractmethod
    def _without(self, units: slice, whole: Stack, corrected: bool) -> Stack:
        """Return these sums without each of some units, (units, sources, sources)."""

    def whole(self, corrected: bool = False) -> np.ndarray:
        """Return the similarity of sources; `corrected` for differences within a source."""
        return _checked(*self._whole(corrected))

    def without(self, corrected: bool = False) -> Iterator[np.ndarray]:
        """Yield stacks of the similarity of sources without each unit."""
        all_units, own = self._whole(corrected)
        for units in row_blocks(self.units, 8 * own.size, least=1):
            sums, rest = self._without(units, (all_units, own), corrected)
            lost = rest <= 0  # two sources that share this prompt only
            yield cosines(np.where(lost, all_units, sums), np.where(lost, own, rest))


class OfPrompts(Replicates):
    """Means over prompts, from `means` of each (prompts, n, n) and its `counts` of answers."""

    def __init__(self, means: np.ndarray, counts: np.ndarray) -> None:
        self.units = len(means)
        self.means = means
        self.has: np.ndarray = counts > 0
        own = means.diagonal(axis1=1, axis2=2)
        corrected = np.where(self.has, without_own(own, counts), 0.0)
        self.own: tuple[np.ndarray, np.ndarray] = own, corrected

    @property
    def shared(self) -> np.ndarray:
        """The number of prompts that both of two sources answered, (sources, sources)."""
        has = self.has.astype(float)
        return has.T @ has

    def _whole(self, corrected: bool) -> Stack:
        return self.means.sum(axis=0), self.own[corrected].T @ self.has

    def _without(self, units: slice, whole: Stack, corrected: bool) -> Stack:
        sums, own = whole
        part = self.own[corrected][units][:, :, None] * self.has[units][:, None, :]
        return sums - self.means[units], own - part


class OfBlocks(Replicates):
    """Means over whole sets, each of `counts` (sources, blocks) samples in random blocks."""

    def __init__(self, sums: np.ndarray, counts: np.ndarray) -> None:
        self.units = counts.shape[1]
        self.counts = counts
        self.sums: np.ndarray = sums.reshape(*counts.shape, *counts.shape)
        self.total: np.ndarray = self.sums.sum(axis=(1, 3))

    def _whole(self, corrected: bool) -> Stack:
        return self._stack(self.total, self.counts.sum(axis=1), corrected)

    def _without(self, units: slice, whole: Stack, corrected: bool) -> Stack:
        counts, found = self.counts.sum(axis=1), []
        for u in range(units.start, units.stop):
            across = self.sums[:, u].sum(axis=-1)
            rest = self.total - across - across.T + self.sums[:, u, :, u]
            found.append(self._stack(rest, counts - self.counts[:, u], corrected))
        sums, own = zip(*found, strict=True)
        return np.array(sums), np.array(own)

    def _stack(self, sums: np.ndarray, counts: np.ndarray, corrected: bool) -> Stack:
        means = mean_similarities(sums, counts)
        own = means.diagonal()
        own = without_own(own, counts) if corrected else own
        return means, np.tile(own[:, None], len(own))


def _checked(sums: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return cosines, NaN where the answers of a source share nothing to divide by."""
    return cosines(sums, np.where(own > 1e-12, own, np.nan))
