"""Measures of classes of equivalent samples: number of classes, utility and semantic entropy.

Two samples are equivalent if their similarity exceeds the threshold `same_above`.
"""

from collections.abc import Iterable
from functools import partial

import numpy as np

from ..core.hill import hill_number
from ..similarity.weights import PerSampleValues
from ..support.arguments import check_float
from ..support.namespace import Array, asarray_like, is_torch, namespace, to_host
from ..support.types import Number
from .measure import register_measure
from .sample_set import SampleSet
from .stacked_groups import StackedGroups
from .vendi_family import check_quality, check_values, take_quality, take_values

_register = partial(register_measure, needs="similarity", stacks=True)
_READERS = {
    "same_above": partial(
        check_float,
        "same_above",
        expected="a number from −1 to below 1",
        is_allowed=lambda x: -1 <= x < 1,
        hint="samples whose similarity exceeds this threshold count as equivalent",
    )
}


def assign_classes(blocks: Iterable[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Assign n samples to classes; return the index of the first member of each sample's class.

    A sample joins the first class whose first member it is equivalent to. If there is no such
    class, it starts a new class.

    Parameters
    ----------
    blocks : iterable of ndarray (..., b, n)
        Consecutive blocks of b rows of a boolean matrix (n, n), whose entry (i, j) is True if
        samples i and j are equivalent. Leading axes are independent sets of n samples. Blocks are
        modified.
    shape : tuple of int
        Shape (..., n) of the result.
    """
    codes = np.full(shape, -1)
    # Row i contains which samples are equivalent to sample i, shape (…, n).
    rows = (row for block in blocks for row in np.moveaxis(block, -2, 0))
    for i, row in enumerate(rows):
        starts_class = codes[..., i] < 0
        if starts_class.any():
            row[..., i] = True  # a sample is equivalent to itself, even if its similarity is NaN
            codes[row & (codes < 0) & starts_class[..., None]] = i
    return codes


def compute_class_codes(sample_set: SampleSet | StackedGroups, same_above: float) -> np.ndarray:
    """Return the index of the first member of each sample's class, shape (n,) or (g, n).

    Samples are equivalent if their similarity exceeds `same_above`. A sample joins the first class
    whose first member it is equivalent to. The shape is (n,) for a set of n samples, and (g, n) for
    g stacked groups of n samples.
    """
    if isinstance(sample_set, StackedGroups):
        is_equivalent = to_host(sample_set.K) > same_above
        return assign_classes([is_equivalent], is_equivalent.shape[:-1])
    blocks = (to_host(block) > same_above for _, block in sample_set.similarity.blocks())
    return assign_classes(blocks, (sample_set.n,))


@_register(
    "DistinctK",
    range="[1, n]",
    source="NoveltyBench: Zhang et al., arXiv 2504.05228, §3",
    readers=_READERS,
    weighted=True,
)
def distinct_classes(sample_set: SampleSet | StackedGroups, same_above: float = 0.5) -> Number:
    """The number of classes of equivalent samples; VS at q = 0 under k="equivalence".

    Samples are processed in their order. A sample joins the first class with a first member to
    which its similarity exceeds `same_above`; if there is none, it starts a new class. The measure
    therefore supports any kernel. Under kernels other than "equivalence" and "labels", it counts
    classes of similar samples, which need not be equivalent. Classes whose samples all have weight
    0 in `p` are not counted.
    """
    codes = compute_class_codes(sample_set, same_above)
    is_counted = np.ones(codes.shape, bool)
    if sample_set.p is not None:
        is_counted = to_host(sample_set.p) > 0
    # Mark the first member of each class. Stacked groups have a leading group axis.
    *group_index, _ = np.nonzero(is_counted)
    is_first_member = np.zeros(codes.shape, bool)
    is_first_member[*group_index, codes[is_counted]] = True
    n_classes = is_first_member.sum(-1).astype(float)
    if isinstance(sample_set, StackedGroups):
        return asarray_like(n_classes, sample_set.K)
    return float(n_classes)


@_register(
    "UtilityK",
    range="[0, ∞)",
    source="NoveltyBench: Zhang et al., arXiv 2504.05228, §3; patience: Moffat & Zobel, TOIS 2008",
    readers={
        **_READERS,
        "quality": partial(check_quality, caller="UtilityK"),
        "patience": partial(
            check_float,
            "patience",
            expected="a number from 0 to 1",
            is_allowed=lambda x: 0 <= x <= 1,
            hint="0.8 is usual",
        ),
    },
)
def utility(
    sample_set: SampleSet | StackedGroups,
    quality: PerSampleValues | None = None,
    patience: float = 0.8,
    same_above: float = 0.5,
) -> Number:
    """The discounted mean quality of new answers: Σ r^i s_i [sample i starts a new class] / Σ r^i.

    s_i is the `quality` of sample i, r is `patience`, and the bracket is 1 if its content is true,
    otherwise 0. The sum models a reader who reads the answers in their order, i = 0, 1, …, and
    continues to the next answer with probability `patience`. An answer that is equivalent to an
    earlier one adds nothing. `quality` is required: one non-negative number per sample. The value
    is at most the maximum quality. Classes are those of DistinctK: a sample starts a new class
    unless its similarity to the first member of an earlier class exceeds `same_above`.
    """
    sample_quality = take_quality(sample_set, quality, "UtilityK")
    indices = np.arange(sample_set.n)
    weights = patience**indices
    # The code of a sample is the index of the first member of its class.
    starts_class = compute_class_codes(sample_set, same_above) == indices
    return (sample_quality * starts_class) @ weights / weights.sum()


@_register(
    "SemanticEntropy",
    range="[0, ∞)",
    source="Kuhn et al., ICLR 2023, arXiv 2302.09664; Farquhar et al., Nature 2024",
    readers={
        **_READERS,
        "logprobs": partial(
            check_values,
            name="logprobs",
            caller="SemanticEntropy",
            max_value=0,
            hint="; pass the logarithms of probabilities",
        ),
    },
    weighted=True,
)
def semantic_entropy(
    sample_set: SampleSet | StackedGroups,
    logprobs: PerSampleValues | None = None,
    same_above: float = 0.5,
) -> Number:
    """The entropy −Σ m log m of the masses m of classes, in nats.

    The mass of a class is the proportion of samples in it, or the sum of their weights `p` if the
    samples are weighted. With `logprobs`, one log-probability per sample, the mass of a class is
    the sum of exp(`logprobs`) over its samples, divided by the sum over all samples of the set. All
    samples must then be distinct. Without `logprobs`, identical samples count separately. The value
    is at most log n for n samples. Classes are those of DistinctK: a sample starts a new class
    unless its similarity to the first member of an earlier class exceeds `same_above`. With
    `k="equivalence"`, unless it is graded, and without `logprobs`, the value is log VS.
    """
    codes = compute_class_codes(sample_set, same_above)
    p = np.full(codes.shape, 1 / sample_set.n) if sample_set.p is None else sample_set.p
    if isinstance(sample_set, StackedGroups):
        # Groups that are marked in `unusual` are computed again, each as a single set. With
        # `logprobs`, these are all groups; the branch below then uses the log-probabilities.
        sample_set.unusual |= logprobs is not None
    elif logprobs is not None:
        if sample_set.p is not None:
            raise ValueError("`p` and `logprobs` are mutually exclusive; pass only one of them")
        texts = [x for x in sample_set.samples if isinstance(x, str)]
        if len({*texts}) < len(texts):
            raise ValueError(
                "`logprobs` requires distinct samples, but some samples are identical; remove "
                "repeated samples, or omit `logprobs` to weight samples by their frequency"
            )
        sample_logprobs = take_values(sample_set, logprobs)
        p = np.exp(sample_logprobs - sample_logprobs.max())  # the maximum prevents underflow of all
        p /= p.sum()
    n_effective = hill_number(_compute_class_masses(codes, p), 1.0)  # exp of the entropy
    return namespace(n_effective).log(n_effective) if is_torch(n_effective) else np.log(n_effective)


def _compute_class_masses(codes: np.ndarray, p: Array) -> Array:
    """Sum the weights p of the samples of each class.

    `codes` contains for each sample the index of the first member of its class, shape (n,), or
    (g, n) for g groups of n samples; p has the same shape. The result also has this shape: the sum
    of a class is stored at the index of its first member, and other entries are 0.
    """
    n = codes.shape[-1]
    if is_torch(p):
        indices = namespace(p).asarray(codes, device=p.device)
        return p.new_zeros(p.shape).scatter_add(-1, indices, p)
    # Indices into the flattened result, in which each group takes n entries.
    group_starts = np.arange(0, codes.size, n).reshape(*codes.shape[:-1], 1)
    indices = (group_starts + codes).ravel()
    return np.bincount(indices, p.ravel(), codes.size).reshape(codes.shape)
