"""Validate arguments with one number per sample, such as weights, and normalize weights."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from numbers import Number

import numpy as np

from ..core.checks import check_sample_values
from ..support.arguments import is_collection
from ..support.errors import SampleError, short_repr
from ..support.namespace import Array, is_torch, namespace, to_float, to_host
from ..support.types import SampleContainer, Weights
from .concatenation import num_samples
from .sample_arrays import as_samples, check_same_grouping, flatten_nested, machine_epsilon

# Maximum deviation of the sum of weights from 1 due to rounding in single precision.
WEIGHT_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class PerSampleValues:
    """One number for each sample, as validated from an argument of a public function.

    Attributes
    ----------
    name : str
        The argument, such as "p", to mention in messages.
    values : array (n,)
        The numbers in float64, in the order of the samples.
    sizes : list of int, optional
        The group sizes if the numbers were passed as a list of lists, one for each group.
    """

    name: str
    values: Array
    sizes: list[int] | None = None

    def for_samples(self, n: int, groups: object = None, *other_sizes: int) -> Array:
        """Return the values; raise a ValueError unless their number is n or in `other_sizes`.

        n is the number of samples. If the values were passed as a list of lists, their group sizes
        must also equal those of `groups`, the groups of the samples.
        """
        if self.sizes is not None:
            check_same_grouping(self.name, self.sizes, groups)
        if num_samples(self.values) not in (n, *other_sizes):
            raise ValueError(
                f"`{self.name}` must have one number for each of {n} samples, got "
                f"{num_samples(self.values)}; pass them in the order of the samples"
            )
        return self.values


def check_per_sample(
    values: object,
    name: str,
    *,
    min_value: float = -np.inf,
    max_value: float = np.inf,
    hint: str = "",
    weights: bool = False,
) -> PerSampleValues:
    """Validate an argument with one number for each sample: a list, an array or a list of groups.

    `name` is the argument in messages. Values are converted to float64, and must be finite and in
    [min_value, max_value]; `hint` is appended to messages about values outside this range. With
    `weights`, tensors keep their gradient and booleans are not accepted.
    """
    # Convert to a flat list or array.
    flat_values: SampleContainer | None = None
    sizes = None
    if is_collection(values) and not isinstance(values, Mapping):
        flat_values = as_samples(values, name, empty=True)
    is_nested = getattr(flat_values, "ndim", 1) == 2
    if isinstance(flat_values, list) and flat_values:
        is_nested = all(map(is_collection, flat_values))
    if is_nested:
        flat_values, sizes = flatten_nested(flat_values, name)
        if set(sizes) == {1}:  # a column of shape (n, 1)
            sizes = None
    if isinstance(flat_values, list):
        flat_values = _to_array(flat_values, name, weights)

    # Check the type and the values.
    dtype = str(getattr(flat_values, "dtype", ""))
    is_real = "float" in dtype or "int" in dtype
    if "bool" in dtype and not weights:
        is_real = True
    if flat_values is None or not is_real or flat_values.ndim != 1:
        raise TypeError(f"`{name}` must be numbers, one for each sample, got {short_repr(values)}")
    if not weights:
        flat_values = to_host(flat_values)
    xp = namespace(flat_values)
    array = xp.astype(flat_values, xp.float64)
    is_valid = xp.isfinite(array) & (array >= min_value) & (array <= max_value)
    bounds = ""
    if min_value > -np.inf:
        bounds = f" and at least {min_value:g}"
    if max_value < np.inf:
        bounds += f" and at most {max_value:g}"
    check_sample_values(array, is_valid, f"of `{name}` must be finite{bounds}, got {{:.6g}}{hint}")
    return PerSampleValues(name, array, sizes)


def _to_array(values: list[object], name: str, weights: bool) -> Array:
    """Convert a list of real numbers to an array, or weights to a tensor if some are tensors.

    `weights` is True if the numbers are weights, for which booleans are not accepted. Raises a
    SampleError for values that are not real numbers. `name` is the argument that the error
    mentions.
    """
    reals = np.zeros(len(values))
    problems = {}
    for i, x in enumerate(values):
        try:
            reals[i] = _to_real(x, weights)
        except (TypeError, ValueError, OverflowError):
            problems[i] = (
                f"of `{name}` must be a number, got {short_repr(x)}; correct it, or remove the "
                "sample"
            )
    SampleError.check(problems)
    if weights and any(map(is_torch, values)):
        torch = sys.modules["torch"]
        tensors = [torch.as_tensor(x, dtype=torch.float64) for x in values]
        return torch.stack(tensors)
    return reals


def _to_real(x: object, weights: bool) -> float:
    """Return a real number, or a scalar array or tensor, as a float; raise a TypeError otherwise.

    `weights` is True if the number is a weight, for which booleans are not accepted.
    """
    types = f"{type(x).__name__} {getattr(x, 'dtype', '')}"
    is_scalar = isinstance(x, Number) or getattr(x, "ndim", None) == 0
    if not is_scalar or isinstance(x, str) or "complex" in types or (weights and "bool" in types):
        raise TypeError
    return to_float(x)


def check_weights(
    p: Weights | None,
    n: int,
    dropped: Collection[int] = (),
    like: Array | None = None,
    groups: object = None,
) -> Array | None:
    """Validate weights p and return them in float64, normalized to sum to 1; None if p is None.

    p has one weight for each sample that the user passed: the n remaining samples, and those whose
    indices are in `dropped`, whose weights are removed. If weights were passed as a list of lists,
    they must have the group sizes of `groups`, the groups of the samples. The result is a tensor if
    p is one. If `like` is a tensor, the result is a tensor on the device of `like`.
    """
    if p is None:
        return None
    per_sample = check_per_sample(p, "p", min_value=0, weights=True)
    weights = per_sample.for_samples(n + len(dropped), groups)
    if is_torch(weights) and weights.requires_grad and like is not None and not is_torch(like):
        raise TypeError(
            "`p` has a gradient, which is lost unless the samples are a torch tensor; pass "
            "p.detach(), or the samples as a tensor"
        )
    if like is not None and is_torch(like):
        weights = sys.modules["torch"].as_tensor(weights, device=like.device)
    hint = "p / p.sum()" if hasattr(p, "sum") else "np.divide(p, sum(p))"
    if per_sample.sizes is not None:
        hint = "each weight divided by the sum of all weights"
    weights = normalize_weights(weights, machine_epsilon(p), hint)
    if not dropped:
        return weights
    retained = [i for i in range(n + len(dropped)) if i not in dropped]
    weights = weights[retained]
    total = namespace(weights).sum(weights)
    if to_float(total) == 0:
        raise ValueError(
            "`p` is 0 for all samples that remain, because samples were dropped (on_error='skip'); "
            "pass positive weights for usable samples"
        )
    return weights / total


def normalize_weights(weights: Array, epsilon: float, hint: str = "p / p.sum()") -> Array:
    """Divide weights by their sum; raise a ValueError unless the sum is 1 up to rounding.

    `epsilon` is the machine epsilon of the dtype in which the user passed the weights, and `hint`
    what to pass instead of weights whose sum is not 1.
    """
    xp = namespace(weights)
    with np.errstate(all="ignore"):  # weights may underflow, and their sum overflow
        total = xp.sum(weights)
        if not abs(to_float(total) - 1) <= max(WEIGHT_TOLERANCE, 2 * epsilon):
            raise ValueError(f"`p` must sum to 1, got {to_float(total):.6g}; pass {hint}")
        return weights / total
