"""Arrays whose shape does not say what a sample is: errors that spell what to pass instead."""

from typing import NoReturn

from ..support.namespace import is_numpy, is_torch
from ..support.types import Pool
from . import sparse as sp


def refuse_rows(samples: Pool, name: str) -> NoReturn:
    """Raise a ValueError for an array that is not (n, d), or for a list of arrays of rows."""
    passed, shape = _passed(samples)
    remedy = "reshape it to (n, d)"
    if len(shape) > 2:
        remedy = f"pass np.reshape({name}, ({shape[0]}, -1)), or images with k='pixels'"
    if len(shape) == 3 and shape[1] == 1 and not isinstance(samples, (list, tuple)):
        remedy = f"pass {name}.squeeze(1)"
    elif len(shape) == 3:
        rows = "x.toarray()" if sp.issparse(samples[0]) else "x"
        remedy = (
            f"pass [list({rows}) for x in {name}] if each of the {shape[0]} is a group; if each is "
            f"one sample, {remedy}"
        )
    raise ValueError(
        f"`{name}` must be two-dimensional, one row per sample, got {passed}; {remedy}"
    )


def check_label_shape(labels: Pool, name: str, *, table: bool = False) -> None:
    """Raise a ValueError for labels of two dimensions, and for a list of arrays of numbers."""
    if isinstance(labels, (list, tuple)) and not table:
        first = next(iter(labels), None)
        numbers = is_torch(first) or (is_numpy(first) and first.dtype.kind in "fiub")
        if not numbers or getattr(first, "ndim", 0) == 0:
            return
    elif not table and getattr(labels, "ndim", 1) < 2:
        return
    passed, shape = _passed(labels)
    remedy = (
        f"pass one column of it, or compute(counts={name}) of counts, a row a site and a column a "
        f"species; groups of labels are a list of lists, or one list with `groups`"
    )
    if shape[1:] == (1,):
        remedy = f"pass {name}.squeeze(1)"
    raise ValueError(
        f"`{name}` must be one-dimensional, one label per sample, got {passed}; {remedy}"
    )


def _passed(samples: Pool) -> tuple[str, tuple[int, ...]]:
    """Return words for what was passed, and its shape: of a list by the first of it."""
    if not isinstance(samples, (list, tuple)):
        shape = tuple(samples.shape)
        return f"shape {shape}", shape
    first = samples[0]
    if not hasattr(first, "shape"):
        return f"a table of shape {(len(samples), len(first))}", (len(samples), len(first))
    shape = tuple(first.shape)
    return f"a list of {len(samples)} arrays, the first of shape {shape}", (len(samples), *shape)
