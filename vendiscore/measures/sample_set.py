"""A set of samples with weights: the spectrum, and how similar a random sample is to each."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np

from ..core.namespace import Array, as_kind_of
from ..core.shares import PSD
from ..similarity.base import Similarity
from ..spectral.spectrum import Spectrum
from ..spectral.vendi_scores import spectrum_of


class SampleSet:
    """A set of samples with weights: views of it, each found when it is first asked for."""

    psd: PSD

    @property
    @abstractmethod
    def similarity(self) -> Similarity:
        """The similarity of the samples, with unit diagonal."""

    @property
    @abstractmethod
    def p(self) -> Array | None:
        """Weights (n,) that sum to 1, or None."""

    @cached_property
    def eigen(self) -> Spectrum:
        """The spectrum with its eigenvectors, which tell what each sample adds."""
        return spectrum_of(self.similarity, self.p, self.psd, vectors=True)

    @cached_property
    def ordinariness(self) -> tuple[Array, Array]:
        """p and K p: how similar a random sample is to each."""
        K = self.similarity
        p = np.full(K.n, 1 / K.n) if self.p is None else self.p
        p = as_kind_of(p, K.diagonal())
        return p, K.matmul(p)
