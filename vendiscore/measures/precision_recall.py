"""Precision, recall, density and coverage of n samples x with respect to m references y.

The ball B(x) of a sample x contains all points that are at most as far from x as the k-th nearest
other sample, where k is the option `neighbours`. The ball B(y) of a reference y is defined in the
same way by the k-th nearest other reference.
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
def precision(sample_set: SampleSet, neighbours: int = 5) -> float:
    """The proportion of samples within the k-nearest-neighbour ball of any reference.

    The formula is |{x : x ∈ ⋃ B(y)}| / n for n samples x and references y. The ball B(y) contains
    all points that are at most as far from y as the k-th nearest other reference, where k is
    `neighbours`. An outlier among the references has a large ball, and all samples inside this ball
    count as precise.
    """
    counts = _count_balls(sample_set, "Precision", neighbours)
    return float((counts.n_reference_balls > 0).mean())


@_register("Recall", range="[0, 1]", source=f"{_KYNKAANNIEMI}; arXiv 2311.16054, C.2 (6)")
def recall(sample_set: SampleSet, neighbours: int = 5) -> float:
    """The proportion of references within the k-nearest-neighbour ball of any sample.

    The formula is |{y : y ∈ ⋃ B(x)}| / m for samples x and m references y. The ball B(x) contains
    all points that are at most as far from x as the k-th nearest other sample, where k is
    `neighbours`. An outlier among the samples has a large ball, and all references inside this ball
    count as recalled.
    """
    counts = _count_balls(sample_set, "Recall", neighbours, needs_sample_balls=True)
    return float((counts.n_sample_balls > 0).mean())


@_register(
    "Density", range="[0, ∞)", source=f"{_NAEEM}; arXiv 2311.16054, C.2 (7)", aspect="fidelity"
)
def density(sample_set: SampleSet, neighbours: int = 5) -> float:
    """The mean number of k-nearest-neighbour balls of references around a sample, divided by k.

    The formula is Σ_x |{y : x ∈ B(y)}| / (k n) for n samples x and m references y. The ball B(y)
    contains all points that are at most as far from y as the k-th nearest other reference, where k
    is `neighbours`. The value is about 1 if samples and references have the same distribution, and
    at most m/k (if all balls contain all samples).
    """
    counts = _count_balls(sample_set, "Density", neighbours)
    return float(counts.n_reference_balls.mean() / neighbours)


@_register("Coverage", range="[0, 1]", source=f"{_NAEEM}; arXiv 2311.16054, C.2 (8)")
def coverage(sample_set: SampleSet, neighbours: int = 5) -> float:
    """The proportion of references whose k-nearest-neighbour ball contains any sample.

    The formula is |{y : some x ∈ B(y)}| / m for n samples x and m references y. The ball B(y)
    contains all points that are at most as far from y as the k-th nearest other reference, where k
    is `neighbours`. The value is about 1 − 2⁻ᵏ for n = m samples from the distribution of the
    references, and grows with n.
    """
    counts = _count_balls(sample_set, "Coverage", neighbours)
    return float((counts.n_samples_in_ball > 0).mean())


def _count_balls(
    sample_set: SampleSet, measure_name: str, k: int, needs_sample_balls: bool = False
) -> BallCounts:
    """Count samples in k-nearest-neighbour balls around references, and conversely.

    A point has a k-th nearest other point only in a set of more than k points. A ValueError is
    raised unless there are more than k references and, with `needs_sample_balls`, more than k
    samples. `measure_name` is used in its message.
    """
    neighbourhoods = sample_set.both.neighbourhoods
    sizes = dict(zip(SETS, neighbourhoods.sizes, strict=True))
    for set_name in SETS if needs_sample_balls else SETS[1:]:
        if sizes[set_name] <= k:
            raise ValueError(
                f"{measure_name} with `neighbours={k}` requires more than {k} {set_name}, got "
                f"{sizes[set_name]}; pass a smaller `neighbours`, or more {set_name}"
            )
    return neighbourhoods.count_balls(k)
