"""Shares of n samples x and m references y that are among each other's nearest neighbours.

The ball B of a point reaches to (and has) the k-th nearest other of its own set, k = `neighbours`.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import partial

import numpy as np

from ..arguments import integer
from ..registry.measure import Reader, register_measure
from .neighbourhoods import SETS, Balls
from .subject import Subject

_KYNKAANNIEMI = "Kynkäänniemi et al., NeurIPS 2019, arXiv 1904.06991"
_NAEEM = "Naeem et al., ICML 2020, arXiv 2002.09797"
_SALVY = "Salvy, Talbot & Thirion, ICLR 2026, arXiv 2507.01761"
_READERS: dict[str, Reader] = {"neighbours": partial(integer, "neighbours")}
_register = partial(
    register_measure, needs="distances", direction="higher", readers=_READERS, pooled=True
)
# Expectations and shares that are equal differ by rounding.
ROUNDING = 1e-9


@_register(
    "Precision",
    range="[0, 1]",
    source=f"{_KYNKAANNIEMI}; arXiv 2311.16054, C.2 (5)",
    aspect="fidelity",
)
def precision(subject: Subject, neighbours: int = 5) -> float:
    """The share of samples in the ball of some reference: |{x : x ∈ ⋃ B(y)}| / n.

    An outlier among the references has a large ball, in which any sample is precise.
    """
    return float((_balls(subject, "Precision", neighbours).around > 0).mean())


@_register("Recall", range="[0, 1]", source=f"{_KYNKAANNIEMI}; arXiv 2311.16054, C.2 (6)")
def recall(subject: Subject, neighbours: int = 5) -> float:
    """The share of references in the ball of some sample: |{y : y ∈ ⋃ B(x)}| / m.

    An outlier among the samples has a large ball, which recalls any reference.
    """
    return float((_balls(subject, "Recall", neighbours, own=True).recalled > 0).mean())


@_register(
    "Density", range="[0, ∞)", source=f"{_NAEEM}; arXiv 2311.16054, C.2 (7)", aspect="fidelity"
)
def density(subject: Subject, neighbours: int = 5) -> float:
    """In how many balls of references samples are, of k: Σ_x |{y : x ∈ B(y)}| / (k n).

    About 1 for samples of the references' distribution; m/k at most (all samples in all balls).
    """
    return float(_balls(subject, "Density", neighbours).around.mean() / neighbours)


@_register("Coverage", range="[0, 1]", source=f"{_NAEEM}; arXiv 2311.16054, C.2 (8)")
def coverage(subject: Subject, neighbours: int = 5) -> float:
    """The share of references that have a sample in their ball: |{y : some x ∈ B(y)}| / m.

    About 1 − 2⁻ᵏ for as many samples of the references' distribution; more samples cover more.
    """
    return float((_balls(subject, "Coverage", neighbours).met > 0).mean())


@_register("ClippedDensity", range="[0, 1]", source=_SALVY, aspect="fidelity")
def clipped_density(subject: Subject, neighbours: int = 5) -> float:
    """The share of samples that are as good as references: density that outliers do not raise.

    The mean over samples of min(1, |{y : x ∈ B*(y)}| / k), divided by the same mean of other
    references, 1 at most, for balls B* whose radii are at most the median of all.
    """
    balls = _balls(subject, "ClippedDensity", neighbours)
    own = _clipped_mean(subject.both.neighbourhoods.own(neighbours), neighbours)
    return min(1.0, _clipped_mean(balls.around_clipped, neighbours) / own)


@_register("ClippedCoverage", range="[0, 1]", source=_SALVY)
def clipped_coverage(subject: Subject, neighbours: int = 5) -> float:
    """The share of good samples that would cover references as well as these samples do.

    The least s/n with f(s) ≥ c = the mean over y of min(1, |{x : x ∈ B(y)}| / k), with the beta
    function β and f(s) = Σ_j min(1, j/k) C(s, j) β(k + j, m − k + s − j) / β(k, m − k), what s good
    samples are expected to reach; 1 where n do not. (The authors' code divides s by n + 1.)
    """
    balls = _balls(subject, "ClippedCoverage", neighbours)
    n, m = subject.both.neighbourhoods.sizes
    reached = _clipped_mean(balls.met, neighbours) * (1 - ROUNDING)
    least = bisect_left(range(n + 1), reached, key=lambda s: expected_cover(s, m, neighbours))
    return min(least, n) / n


def expected_cover(s: int, m: int, k: int) -> float:
    """Return the expected mean of min(1, j/k), j of s good samples in a ball (beta-binomial)."""
    i = np.arange(k)
    none = np.prod((m - k + i) / (m - k + s + i))
    ratios = (s - i) * (k + i) / ((i + 1) * np.maximum(m - k + s - i - 1, 1))
    chances = none * np.cumprod(np.append(1.0, ratios[:-1]))  # of j = 0, …, k − 1
    return float(1 - ((k - i) @ chances) / k)


def _clipped_mean(counts: np.ndarray, k: int) -> float:
    return float(np.minimum(counts / k, 1.0).mean())


def _balls(subject: Subject, name: str, k: int, own: bool = False) -> Balls:
    """Return the balls of k neighbours; with `own`, the balls of samples too."""
    both = subject.both
    sizes = both.neighbourhoods.sizes
    for size, what in list(zip(sizes, SETS, strict=True))[0 if own else 1 :]:
        if size <= k:
            raise ValueError(
                f"{name} needs more than {k} {what} for `neighbours={k}`, got {size}; pass fewer "
                f"neighbours, or more {what}"
            )
    return both.neighbourhoods.balls(k)
