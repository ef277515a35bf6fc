"""Shares of n samples x and m references y that are among each other's nearest neighbours.

The ball B of a point reaches to (and has) the k-th nearest other of its own set, k = `neighbours`.
"""

from functools import partial

from ..support.arguments import check_int
from .measure import register_measure
from .neighbourhoods import SETS, BallCounts
from .sample_set import SampleSet

_KYNKAANNIEMI = "Kynkäänniemi et al., NeurIPS 2019, arXiv 1904.06991"
_NAEEM = "Naeem et al., ICML 2020, arXiv 2002.09797"
_register = partial(
    register_measure,
    needs="distances",
    readers={"neighbours": partial(check_int, "neighbours")},
    pooled=True,
)


@_register(
    "Precision",
    range="[0, 1]",
    source=f"{_KYNKAANNIEMI}; arXiv 2311.16054, C.2 (5)",
    aspect="fidelity",
)
def precision(subject: SampleSet, neighbours: int = 5) -> float:
    """The share of samples in the ball of some reference: |{x : x ∈ ⋃ B(y)}| / n.

    An outlier among the references has a large ball, in which any sample is precise.
    """
    return float((_count_balls(subject, "Precision", neighbours).n_reference_balls > 0).mean())


@_register("Recall", range="[0, 1]", source=f"{_KYNKAANNIEMI}; arXiv 2311.16054, C.2 (6)")
def recall(subject: SampleSet, neighbours: int = 5) -> float:
    """The share of references in the ball of some sample: |{y : y ∈ ⋃ B(x)}| / m.

    An outlier among the samples has a large ball, which recalls any reference.
    """
    return float(
        (_count_balls(subject, "Recall", neighbours, with_samples=True).n_sample_balls > 0).mean()
    )


@_register(
    "Density", range="[0, ∞)", source=f"{_NAEEM}; arXiv 2311.16054, C.2 (7)", aspect="fidelity"
)
def density(subject: SampleSet, neighbours: int = 5) -> float:
    """In how many balls of references samples are, of k: Σ_x |{y : x ∈ B(y)}| / (k n).

    About 1 for samples of the references' distribution; m/k at most (all samples in all balls).
    """
    return float(_count_balls(subject, "Density", neighbours).n_reference_balls.mean() / neighbours)


@_register("Coverage", range="[0, 1]", source=f"{_NAEEM}; arXiv 2311.16054, C.2 (8)")
def coverage(subject: SampleSet, neighbours: int = 5) -> float:
    """The share of references that have a sample in their ball: |{y : some x ∈ B(y)}| / m.

    About 1 − 2⁻ᵏ for as many samples of the references' distribution; more samples cover more.
    """
    return float((_count_balls(subject, "Coverage", neighbours).n_samples_in_ball > 0).mean())


def _count_balls(subject: SampleSet, name: str, k: int, with_samples: bool = False) -> BallCounts:
    """Return the balls of k neighbours; if `with_samples`, the balls of samples too."""
    neighbourhoods = subject.both.neighbourhoods
    sizes = dict(zip(SETS, neighbourhoods.sizes, strict=True))
    for what in SETS if with_samples else SETS[1:]:
        if sizes[what] <= k:
            raise ValueError(
                f"{name} needs more than {k} {what} for `neighbours={k}`, got {sizes[what]}; pass "
                f"fewer neighbours, or more {what}"
            )
    return neighbourhoods.count_balls(k)
