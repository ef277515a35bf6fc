"""Check shapes of samples, and decide whether elements of a list are samples or groups of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from ..support.arguments import is_collection
from ..support.namespace import is_numpy, is_torch
from ..support.types import SampleContainer, Samples
from . import sparse as sp
from .concatenation import infer_shape, num_samples


def raise_row_shape_error(samples: SampleContainer, name: str) -> NoReturn:
    """Raise a ValueError that says that samples must be a matrix with one row per sample.

    The message suggests how to convert them, depending on their shape. `name` is the argument that
    it mentions.
    """
    description, shape = _describe_shape(samples)
    hint = "reshape it to two dimensions"
    if len(shape) > 2:
        hint = f"pass np.reshape({name}, ({shape[0]}, -1)), or images with k='pixels'"
    if len(shape) == 3 and shape[1] == 1 and not isinstance(samples, (list, tuple)):
        hint = f"pass {name}.squeeze(1)"
    elif len(shape) == 3:
        rows = "x.toarray()" if sp.issparse(samples[0]) else "x"
        hint = (
            f"pass [list({rows}) for x in {name}] if each of the {shape[0]} arrays is a group; if "
            f"each is one sample, {hint}"
        )
    raise ValueError(
        f"`{name}` must be two-dimensional, one row per sample, got {description}; {hint}"
    )


def check_label_shape(labels: SampleContainer, name: str, *, table: bool = False) -> None:
    """Raise a ValueError for labels with two dimensions, and for a list of numeric arrays.

    With `table`, the caller already knows that `labels` are a table, and the error is always
    raised. `name` is the argument that it mentions.
    """
    if isinstance(labels, (list, tuple)) and not table:
        first = next(iter(labels), None)
        is_numeric = is_torch(first) or (is_numpy(first) and first.dtype.kind in "fiub")
        if not is_numeric or getattr(first, "ndim", 0) == 0:
            return
    elif not table and getattr(labels, "ndim", 1) < 2:
        return
    description, shape = _describe_shape(labels)
    hint = (
        f"pass one column. For a table of counts (one row per site, one column per species), use "
        f"compute(counts={name}). For groups of labels, pass a list of lists, or add `groups`"
    )
    if shape[1:] == (1,):
        hint = f"pass {name}.squeeze(1)"
    raise ValueError(
        f"`{name}` must be one-dimensional, one label per sample, got {description}; {hint}"
    )


def _describe_shape(samples: SampleContainer) -> tuple[str, tuple[int, ...]]:
    """Return a description of the shape of samples for a message, and the shape as a tuple.

    The shape of a list is inferred from its first element.
    """
    if not isinstance(samples, (list, tuple)):
        shape = tuple(samples.shape)
        return f"shape {shape}", shape
    first = samples[0]
    if not hasattr(first, "shape"):
        return f"a table of shape {(len(samples), len(first))}", (len(samples), len(first))
    shape = tuple(first.shape)
    return f"a list of {len(samples)} arrays, the first of shape {shape}", (len(samples), *shape)


def is_nested(samples: Any, sample_type: str, name: str) -> bool:
    """Return whether the elements of `samples` are groups of samples, not single samples.

    `sample_type` is, for example, "text" or "vectors". Raises a ValueError for a list of several
    matrices of similarities or distances; `name` is the argument in its message.
    """
    if not isinstance(samples, (list, tuple)) and not is_numpy(samples) and not is_torch(samples):
        return False
    if sample_type in _MATRIX_TYPES and all(_is_array(item) and item.ndim > 1 for item in samples):
        raise ValueError(
            f"`{name}` must be one matrix with the {sample_type} of all samples, got "
            f"{len(samples)} matrices; pass one matrix, and to `compute` also `groups`, a label "
            "per sample"
        )
    if sample_type not in IS_GROUP:
        return False
    if hasattr(samples, "ndim"):  # an array; groups of other sample types cannot be in an array
        if sample_type in ROW_TYPES:
            return bool(samples.ndim == 3)
        return sample_type == "labels" and bool(samples.ndim == 2)
    non_empty = [member for member in samples if not (isinstance(member, list) and not member)]
    if not non_empty:
        # Empty lists are empty groups, unless a sample of this type may be an empty list.
        return sample_type in _TYPES_WITHOUT_EMPTY_LISTS
    return all(map(IS_GROUP[sample_type], non_empty))


def nesting_depth(prompts: Any, samples: Samples | None) -> int:
    """Return 0 for a single prompt, 1 for a list of prompts and 2 for a list of lists of prompts.

    The depth of a list of numbers depends on the samples to which the prompts belong: a row of
    numbers is a single prompt if samples are rows, but a list of prompts if samples are numbers. If
    `samples` is None, prompts are labels, which are always in a list.
    """
    if samples is None:
        is_list_of_lists = num_samples(prompts) and all(map(is_collection, prompts))
        return 2 if is_list_of_lists else 1
    is_numeric = infer_shape(prompts) is not None
    if not is_numeric and not isinstance(prompts, list):
        return 0
    # Prompts with one dimension less than the samples are a single prompt (depth 0), because a
    # sample also has one dimension less. Prompts with as many dimensions as the samples are a list
    # (depth 1). A list of objects other than numbers is never a single prompt.
    additional_dimensions = _count_dimensions(prompts) - max(1, _count_dimensions(samples))
    return max(additional_dimensions + 1, 0 if is_numeric else 1)


def _count_dimensions(x: object) -> int:
    """Return the number of dimensions of an array or nested list; 0 for other objects.

    The dimensions of a list are inferred from its first element.
    """
    shape = infer_shape(x)
    if shape is not None:
        return len(shape)
    if not isinstance(x, list):
        return 0
    return 1 + _count_dimensions(x[0] if x else None)


def _is_array(x: object) -> bool:
    return is_numpy(x) or is_torch(x) or sp.issparse(x)


def is_list(member: object) -> bool:
    """Return whether a value is a list, or a 1-d array of strings or objects."""
    if isinstance(member, np.ndarray):
        return member.ndim == 1 and member.dtype.kind in "OUST"
    return isinstance(member, list)


def _is_list_of_rows(member: Any) -> bool:
    """Return whether a value is a list of rows of numbers, or a matrix.

    A list must not be empty.
    """
    if isinstance(member, list):
        first = member[0]
        return isinstance(first, (list, tuple)) or getattr(first, "ndim", 0) == 1
    return _is_array(member) and member.ndim == 2


# For each sample type, a function that returns whether an element of a list of samples is a group
# of samples, not a sample. Elements that are empty lists are not passed.
IS_GROUP: dict[str, Callable[[Any], bool]] = {
    "text": is_list,
    "molecules": is_list,
    "images": lambda member: (
        isinstance(member, list) and not isinstance(member[0], (int, float, list, np.number))
    ),
    "labels": lambda member: isinstance(member, list) or (is_numpy(member) and member.ndim == 1),
    "vectors": _is_list_of_rows,
    "class probabilities": _is_list_of_rows,
    "rows of bits": lambda member: (
        (isinstance(member, list) and type(member[0]).__module__.startswith("rdkit."))
        or _is_list_of_rows(member)
    ),
    # Frozensets and tuples are not sets of labels here: they are hashable and may be labels.
    "sets of labels": lambda member: (
        isinstance(member, list) and all(isinstance(one, (list, set)) for one in member)
    ),
    "records": lambda member: (
        isinstance(member, list) and all(isinstance(one, Mapping) for one in member)
    ),
}
_MATRIX_TYPES = ("similarities", "distances")
ROW_TYPES = ("vectors", "class probabilities", "rows of bits")
# Sample types of which no sample is an empty list, so an empty list is an empty group.
_TYPES_WITHOUT_EMPTY_LISTS = ("text", "molecules", "images")
