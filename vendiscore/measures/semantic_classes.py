"""Measures of equivalence classes: number of classes, utility and semantic entropy."""

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
        hint="similarities above it are the same",
    )
}


def first_class_members(blocks: Iterable[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Return the index of the first member of the class of each sample, shape (..., n).

    `blocks` yields consecutive boolean rows (..., b, n): whether samples are equivalent to each
    other sample.
    """
    codes = np.full(shape, -1)
    i = 0
    for block in blocks:
        for row in np.moveaxis(block, -2, 0):
            founds = codes[..., i] < 0
            if founds.any():
                row[..., i] = True
                codes[row & (codes < 0) & founds[..., None]] = i
            i += 1
    return codes


def class_codes(sample_set: SampleSet | StackedGroups, same_above: float) -> np.ndarray:
    """Return the index of the first member of the class of each sample, shape (..., n)."""
    if isinstance(sample_set, StackedGroups):
        same = to_host(sample_set.K) > same_above
        return first_class_members([same], same.shape[:-1])
    rows = (to_host(block) > same_above for _, block in sample_set.similarity.blocks())
    return first_class_members(rows, (sample_set.n,))


@_register(
    "DistinctK",
    range="[1, n]",
    source="NoveltyBench: Zhang et al., arXiv 2504.05228, §3",
    readers=_READERS,
    weighted=True,
)
def distinct_classes(sample_set: SampleSet | StackedGroups, same_above: float = 0.5) -> Number:
    """The number of classes of equivalent samples: VS at q = 0 under k="equivalence".

    A sample joins the first class whose first member has a similarity above `same_above`, so the
    measure works with any kernel. Classes without weight in `p` are not counted.
    """
    codes = class_codes(sample_set, same_above)
    counted = codes >= 0
    if sample_set.p is not None:
        counted = to_host(sample_set.p) > 0
    *groups, _ = np.nonzero(counted)
    has = np.zeros(codes.shape, bool)
    has[*groups, codes[counted]] = True
    number = has.sum(-1).astype(float)
    return (
        asarray_like(number, sample_set.K)
        if isinstance(sample_set, StackedGroups)
        else float(number)
    )


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

    s is `quality` and r is `patience`. Models a reader who takes the answers in their order, i = 0,
    1, …, and continues to the next with probability `patience`. An answer equivalent to an earlier
    one adds nothing. `quality` is required: one non-negative number per sample. The result has the
    same unit and is at most the maximum quality. Classes are those of DistinctK.
    """
    own = take_quality(sample_set, quality, "UtilityK")
    weights = patience ** np.arange(sample_set.n)
    new = class_codes(sample_set, same_above) == np.arange(sample_set.n)
    return (own * new) @ weights / weights.sum()


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
    """The entropy −Σ m log m of class masses m, in nats: log VS under k="equivalence".

    The mass of a class is its proportion of the samples, or its weight in `p`. With `logprobs`, one
    log-probability per sample, it is the sum of exp(`logprobs`), normalized within each set; the
    samples must then be distinct. Without `logprobs`, repeated samples count repeatedly. At most
    log n. Classes are those of DistinctK.
    """
    codes = class_codes(sample_set, same_above)
    p = np.full(codes.shape, 1 / sample_set.n) if sample_set.p is None else sample_set.p
    if isinstance(sample_set, StackedGroups):
        sample_set.unusual |= logprobs is not None  # each group must have distinct texts
    elif logprobs is not None:
        if sample_set.p is not None:
            raise ValueError("`p` and `logprobs` both say how probable samples are; pass one")
        texts = [x for x in sample_set.samples if isinstance(x, str)]
        if len({*texts}) < len(texts):
            raise ValueError(
                "`logprobs` are of sequences, each of which counts once, but some samples are the "
                "same: pass each distinct one once, or leave `logprobs` out, so that counts tell "
                "how probable it is"
            )
        own = take_values(sample_set, logprobs)
        p = np.exp(own - own.max())
        p /= p.sum()
    number = hill_number(_class_masses(codes, p), 1.0)
    return namespace(number).log(number) if is_torch(number) else np.log(number)


def _class_masses(codes: np.ndarray, p: Array) -> Array:
    """Return the mass of each class at the index of its first member, shape (…, n)."""
    n = codes.shape[-1]
    if is_torch(p):
        places = namespace(p).asarray(codes, device=p.device)
        return p.new_zeros(p.shape).scatter_add(-1, places, p)
    starts = np.arange(0, codes.size, n).reshape(*codes.shape[:-1], 1)
    places = (starts + codes).ravel()
    return np.bincount(places, p.ravel(), codes.size).reshape(codes.shape)
