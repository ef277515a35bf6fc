"""The Vendi Score as a measure, and its quality-weighted version."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..similarity.weights import PerSampleValues, check_per_sample
from ..support.arguments import check_no_gradient
from ..support.namespace import asarray_like
from ..support.types import Number
from .measure import register_measure
from .sample_set import SampleSet

if TYPE_CHECKING:
    from .stacked_groups import StackedGroups

_register = partial(register_measure, needs="scores", weighted=True, ordered=True, stacks=True)


@_register("VS", range="[1, n]", source="Friedman & Dieng, arXiv 2210.02410")
def vendi_score(sample_set: SampleSet | StackedGroups) -> list[Number]:
    """The Vendi Score, the effective number of different samples.

    It is the Hill number of order q, (Σ λ^q)^{1/(1−q)}, of the eigenvalues λ of the similarity
    matrix, which is scaled to trace 1; at order 1, the exponential of their entropy.
    """
    return sample_set.spectral.values


def check_values(
    values: object,
    name: str,
    caller: str,
    min_value: float = -np.inf,
    max_value: float = np.inf,
    hint: str = "",
) -> PerSampleValues | None:
    """Validate an option of a measure that consists of one number per sample, or is None.

    `name` is the option, and `caller` the measure. Values must be between `min_value` and
    `max_value`. `hint` is appended to error messages.
    """
    if values is None:
        return None
    check_no_gradient(caller, **{name: values})
    return check_per_sample(values, name, min_value=min_value, max_value=max_value, hint=hint)


def check_quality(quality: object, caller: str = "qVS") -> PerSampleValues | None:
    """Validate `quality`, one non-negative number per sample, or None."""
    hint = "; shift or rescale the values to [0, 1]"
    return check_values(quality, "quality", caller, min_value=0, hint=hint)


def take_values(sample_set: SampleSet | StackedGroups, values: PerSampleValues) -> np.ndarray:
    """Select the values of the retained samples of `sample_set` from the values of all samples.

    `values` contains one number for each sample passed by the caller, including dropped samples.
    The result has shape (n,) for a set of n retained samples, and (g, n) for g stacked groups.
    """
    parent = sample_set.parent
    return values.for_samples(parent.n_input, parent.groups)[sample_set.retained_indices]


def take_quality(
    sample_set: SampleSet | StackedGroups, quality: PerSampleValues | None, caller: str
) -> np.ndarray:
    """Select the quality of the retained samples of `sample_set`; raise a TypeError if it is None.

    `quality` contains one number for each sample passed by the caller, including dropped samples.
    `caller` is the measure that requires it. The result has shape (n,) for a set of n retained
    samples, and (g, n) for g stacked groups.
    """
    if quality is None:
        raise TypeError(
            f"{caller} requires `quality`, one number of at least 0 per sample, such as a reward; "
            f"pass `quality`, or remove {caller!r} from `measures`"
        )
    return take_values(sample_set, quality)


@_register(
    "qVS",
    range="[0, ∞)",
    source="Nguyen & Dieng, ICML 2024, arXiv 2405.02449",
    readers={"quality": check_quality},
)
def quality_weighted_vendi_score(
    sample_set: SampleSet | StackedGroups, quality: PerSampleValues | None = None
) -> list[Number]:
    """The quality-weighted Vendi Score (Σ p_i s_i) · VS, for non-negative `quality` s_i.

    VS is the Vendi Score, and p_i the weight of sample i, 1/n by default. `quality` is required:
    one number for each sample that was passed, including those that are dropped as unusable.
    """
    s = take_quality(sample_set, quality, "qVS")
    p = sample_set.p
    mean_quality = s.mean(-1) if p is None else (p * asarray_like(s, p)).sum(-1)
    return [mean_quality * score for score in sample_set.spectral.values]
