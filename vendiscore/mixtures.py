"""Mixtures of registered kernels: weighted sums and products, each of its own column of a record.

A mixture is given in place of a kernel name, as a dict of weights or a list of names. A name may
say which column of the samples its kernel compares, after a colon:

    compute(table, k={"morgan:smiles": 0.5, "tags:odors": 0.5})
    compute(table, k=["labels:shape", "labels:colour"], combine="product")
    compute(texts, k={"ngram_overlap": 0.9, "bleu": 0.1}, options={"ngram_overlap": {"ns": 1}})

With columns, the samples are a list of dicts, a dict of columns, a pandas DataFrame, an Arrow
table or a `datasets.Dataset`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

import numpy as np

from .arrays import as_samples
from .composite import ProductSimilarity, SumSimilarity
from .errors import SampleError, suggestion
from .registry import apply_kernel, check_options, get_kernel
from .similarity import Similarity

Mixture = Mapping[str, float] | Sequence[str]
Combine = Literal["sum", "product"]

# Weights may miss a sum of 1 by as much, which is rounding in single precision.
WEIGHT_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Part:
    """One kernel of a mixture: `name` as it was given, split into kernel and column."""

    name: str
    kernel: str
    column: str
    weight: float
    options: Mapping[str, Any]


def is_mixture(k: Any) -> TypeGuard[Mixture]:
    """Whether `k` has the form of a mixture."""
    return isinstance(k, (Mapping, list, tuple))


def mixture(
    samples: Any,
    k: Mixture,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    combine: Combine = "sum",
) -> Similarity:
    """Σ_j w_j k_j(x, y), or Π_j k_j(x, y), of registered kernels k_j.

    Parameters
    ----------
    samples : list of dict, dict of columns, DataFrame, Dataset; or what all kernels compare
        See the module; without a column in its name a kernel compares the samples themselves.
    k : dict of name to weight, or list of names
        Weights are at least 0 and sum to 1, so that k(x, x) = 1; a list means equal weights.
    options : dict of name to dict, optional
        Options of each kernel, by its name in `k`.
    combine : {"sum", "product"}
        A product has no weights: `k` is a list. It is large only where all kernels are.

    Returns
    -------
    Similarity
        Positive semidefinite if all parts are. A sample that one part leaves out
        (`on_error="skip"`) is left out of all.

    Raises
    ------
    TypeError, ValueError
        For unknown kernels, columns and options, and weights that do not sum to 1.
    SampleError
        For a sample that a kernel cannot read; the message names the column.

    References
    ----------
    Friedman & Dieng, arXiv 2210.02410: ½ [same shape] + ½ [same colour].

    Examples
    --------
    >>> shapes = {"shape": ["square", "square", "disc"], "colour": ["red", "blue", "red"]}
    >>> mixture(shapes, {"labels:shape": 0.25, "labels:colour": 0.75}).dense()
    array([[1.  , 0.25, 0.75],
           [0.25, 1.  , 0.  ],
           [0.75, 0.  , 1.  ]])
    """
    parts = read_mixture(k, options, combine)
    if isinstance(samples, Iterator):
        samples = list(samples)  # each kernel goes through them
    built = _without_dropped([_build(part, samples) for part in parts], parts)
    settings: dict[str, Any] = {}
    for part, similarity in zip(parts, built, strict=True):
        own = {key: value for key, value in similarity.settings.items() if key != "kernel"}
        settings |= {f"{part.name}.{key}": value for key, value in own.items()}
    dropped = built[0].dropped
    mixed: Similarity
    if combine == "sum":
        terms = "+".join(f"{part.weight:g}*{part.name}" for part in parts)
        mixed = SumSimilarity(built, [part.weight for part in parts])
    else:
        terms = "*".join(part.name for part in parts)
        mixed = ProductSimilarity(built)
    mixed.settings = {"kernel": terms, **settings}
    mixed.dropped = dropped
    return mixed


def read_mixture(
    k: Mixture,
    options: Any = None,
    combine: Any = "sum",
    **unknown: Any,
) -> list[Part]:
    """The parts of a mixture, checked without looking at samples."""
    for name in unknown:
        raise TypeError(
            f"`{name}` is not an option of a mixture of kernels; give one kernel its option by "
            f"options={{{next(iter(k), 'kernel')!r}: {{{name!r}: …}}}}"
        )
    if combine not in ("sum", "product"):
        raise ValueError(f"`combine` must be 'sum' or 'product', got {combine!r}")
    if not k:
        raise ValueError("`k` must name at least one kernel, got an empty mixture")
    for name in k:
        if not isinstance(name, str):
            raise TypeError(
                f"`k` must be a mixture of kernel names, got {type(name).__name__}; add up "
                f"Similarities of your own by SumSimilarity"
            )
    if len(set(k)) < len(k):
        raise ValueError(f"`k` must name a kernel and column once, got {list(k)}")
    options = _check_options_by_name(options, k)
    parts = []
    for name, weight in zip(k, _weights(k, combine), strict=True):
        kernel, _, column = name.partition(":")
        own = options.get(name, {})
        check_options(get_kernel(kernel), own)
        parts.append(Part(name, kernel, column, weight, own))
    return parts


def _check_options_by_name(options: Any, k: Any) -> Mapping[str, Mapping[str, Any]]:
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(
        isinstance(o, Mapping) for o in options.values()
    ):
        raise TypeError(
            f"`options` must be a dict of dicts, kernel by kernel, got {options!r:.60}; pass "
            f"options={{{next(iter(k))!r}: {{…}}}}"
        )
    for name in options:
        if name not in k:
            raise ValueError(f"`options` names {name!r}, which `k` does not. {suggestion(name, k)}")
    return options


def _weights(k: Mixture, combine: Combine) -> list[float]:
    if combine == "product":
        if isinstance(k, Mapping):
            raise ValueError(f"combine='product' has no weights: pass k={list(k)} as a list")
        return [1.0] * len(k)
    if not isinstance(k, Mapping):
        return [1 / len(k)] * len(k)
    for name, weight in k.items():
        number = isinstance(weight, (int, float, np.number)) and not isinstance(weight, bool)
        if not number or not 0 <= weight < np.inf:
            raise ValueError(
                f"`k` must give weights that are finite and at least 0, got {weight!r} for {name!r}"
            )
    total = float(sum(k.values()))
    if abs(total - 1) > WEIGHT_TOLERANCE:
        raise ValueError(
            f"the weights in `k` must sum to 1, so that k(x, x) = 1, got {total:.6g}; divide them "
            f"by their sum"
        )
    return [float(weight) / total for weight in k.values()]


def _build(part: Part, samples: Any) -> Similarity:
    column = as_samples(_column(samples, part))
    try:
        return apply_kernel(part.kernel, column, part.options)
    except SampleError as error:
        if not part.column:
            raise
        raise SampleError(error.index, f"of column {part.column!r} {error.problem}") from None


def _column(samples: Any, part: Part) -> Any:
    names = getattr(samples, "column_names", getattr(samples, "columns", None))
    if isinstance(samples, Mapping):
        names = samples.keys()
    if names is None and not (isinstance(samples, (list, tuple)) and _is_records(samples)):
        if part.column:
            raise TypeError(
                f"`k` names the column {part.column!r}, but samples of type "
                f"{type(samples).__name__} have no columns: pass a list of dicts, a dict of "
                f"columns, a DataFrame or a Dataset, or k={{{part.kernel!r}: …}}"
            )
        return samples
    if not part.column:
        known = list(samples[0] if names is None else names)
        raise ValueError(
            f"samples have columns: say which one {part.name!r} compares, such as "
            f"'{part.kernel}:{known[0] if known else 'column'}'. {suggestion('', map(str, known))}"
        )
    if names is not None:
        if part.column not in names:
            raise ValueError(
                f"samples have no column {part.column!r}. "
                f"{suggestion(part.column, map(str, names))}"
            )
        return samples[part.column]
    for i, record in enumerate(samples):
        if not isinstance(record, Mapping) or part.column not in record:
            raise SampleError(i, f"has no {part.column!r}, which {part.name!r} compares")
    return [record[part.column] for record in samples]


def _is_records(samples: Sequence[Any]) -> bool:
    return len(samples) > 0 and isinstance(samples[0], Mapping)


def _without_dropped(built: list[Similarity], parts: Sequence[Part]) -> list[Similarity]:
    """The same samples of each part: those that no part left out."""
    sizes = [similarity.n + len(similarity.dropped) for similarity in built]
    if len(set(sizes)) > 1:
        found = ", ".join(f"{p.name}: {size}" for p, size in zip(parts, sizes, strict=True))
        raise ValueError(f"columns must be equally long, got {found}")
    reasons = {i: why for similarity in built for i, why in similarity.dropped.items()}
    dropped = dict(sorted(reasons.items()))
    if not dropped:
        return built
    if len(dropped) == sizes[0]:
        raise ValueError("every sample is left out by one kernel or another; none is left")
    taken = []
    for similarity in built:
        own = [i for i in range(sizes[0]) if i not in similarity.dropped]
        place = np.flatnonzero([i not in dropped for i in own])
        part = similarity.take(place)
        part.settings, part.dropped = similarity.settings, dropped
        taken.append(part)
    return taken
