"""Mixtures of kernels: weighted sums and products; "morgan:smiles" compares a column of records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..similarity.base import Similarity
from ..similarity.composite import ProductSimilarity, SumSimilarity
from ..similarity.concatenation import num_samples
from ..similarity.sample_arrays import as_samples
from ..similarity.weights import WEIGHT_TOLERANCE
from ..support.arguments import check_choice, check_float
from ..support.errors import SampleError, short_repr
from ..support.signature import format_number
from ..support.suggestions import suggest_name
from ..support.types import Options, Samples
from .kernel import (
    Combine,
    Kernel,
    Mixture,
    add_model_option,
    check_kernel_options,
    parse_kernel_name,
)
from .kernel_builder import (
    build_kernel_similarity,
    build_similarities,
    check_on_error,
    materialize_iterators,
)


@dataclass(frozen=True)
class MixtureComponent:
    """One kernel of a mixture; `name` is the name as passed, "kernel" or "kernel:column"."""

    name: str
    kernel: Kernel
    column: str
    weight: float
    options: Options
    drop_unusable: bool


def build_mixture_similarity(
    components: Sequence[MixtureComponent],
    columns: Any,
    combine: Combine,
    fit_to: np.ndarray | None,
) -> Similarity:
    """Return Σ_j w_j k_j(x, y) or Π_j k_j(x, y) for registered kernels (arXiv 2210.02410)."""
    sizes = [num_samples(each) for each in columns]
    if len(set(sizes)) > 1:
        lengths = ", ".join(
            f"{p.name}: {found}" for p, found in zip(components, sizes, strict=True)
        )
        raise ValueError(f"columns must be equally long, got {lengths}")
    builds = [partial(_build_component, part) for part in components]
    skipping = [part.drop_unusable for part in components]
    built, dropped = build_similarities(builds, columns, skipping, "the mixture", fit_to)
    settings = {}
    fitted = {}
    every = {}
    for part, similarity in zip(components, built, strict=True):
        for key, value in similarity.settings.items():
            if key != "kernel":
                settings[f"{part.name}.{key}"] = value
        own = {**part.options, **similarity.fitted}
        if own:
            every[part.name] = own
        if similarity.fitted:
            fitted["options"] = every
    mixed: Similarity
    if combine == "sum":
        terms = "+".join(f"{format_number(part.weight)}*{part.name}" for part in components)
        mixed = SumSimilarity(built, [part.weight for part in components])
    else:
        terms = "*".join(part.name for part in components)
        mixed = ProductSimilarity(built)
    return mixed.noted(
        settings={"kernel": terms, **settings},
        fitted=fitted,
        notes=[note for similarity in built for note in similarity.notes],
        dropped=dropped,
        vocabulary_columns=all(similarity.vocabulary_columns for similarity in built),
    )


def parse_mixture(
    k: Mixture,
    options: object = None,
    combine: Combine = "sum",
    on_error: object = "raise",
) -> list[MixtureComponent]:
    """Parse the components of a mixture; needs no samples."""
    check_choice("combine", combine, ("sum", "product"))
    check_on_error(on_error)
    if not k:
        raise ValueError("`k` must name at least one kernel, got an empty mixture")
    for name in k:
        if not isinstance(name, str):
            raise TypeError(
                f"`k` must be a mixture of kernel names, got {type(name).__name__}; add up "
                f"Similarities of your own by SumSimilarity"
            )
    if len(set(k)) < len(k):
        raise ValueError(
            f"`k` must name each kernel and column once, got {short_repr(list(k))}; "
            "leave out one of two"
        )
    options = _check_options_by_name(options, k)
    parts = []
    for name, weight in zip(k, _check_weights(k, combine), strict=True):
        kernel_name, _, of = name.partition(":")
        kernel, model = parse_kernel_name(kernel_name)
        own = add_model_option(kernel_name, model, options.get(name, {}))
        check_kernel_options(kernel, own)
        skip = check_on_error(own.pop("on_error", on_error))
        parts.append(MixtureComponent(name, kernel, of, weight, own, skip))
    return parts


def _check_options_by_name(options: object, k: Mixture) -> Mapping[str, Options]:
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(
        isinstance(o, Mapping) for o in options.values()
    ):
        raise TypeError(
            f"`options` must be a dict of dicts, kernel by kernel, got {short_repr(options)}; pass "
            f"options={{{next(iter(k))!r}: {{…}}}}"
        )
    for name in options:
        if name not in k:
            raise ValueError(
                f"`options` names {name!r}, which `k` does not. {suggest_name(name, k)}"
            )
    return options


def _check_weights(k: Mixture, combine: Combine) -> list[float]:
    if combine == "product":
        if isinstance(k, Mapping):
            raise ValueError(f"combine='product' has no weights: pass k={list(k)} as a list")
        return [1.0] * len(k)
    if not isinstance(k, Mapping):
        return [1 / len(k)] * len(k)
    weights = [
        check_float(
            f"k[{name!r}]", weight, "a finite weight of at least 0", lambda w: 0 <= w < np.inf
        )
        for name, weight in k.items()
    ]
    total = sum(weights)
    if not abs(total - 1) <= WEIGHT_TOLERANCE:
        raise ValueError(
            f"the weights in `k` must sum to 1, so that k(x, x) = 1, got {total:.6g}; divide them "
            f"by their sum"
        )
    return [weight / total for weight in weights]


def _build_component(
    component: MixtureComponent, values: Samples, fit_to: np.ndarray | None
) -> Similarity:
    """Build the similarity of a component from the values of its column."""
    where = f"of column {component.column!r} " if component.column else ""
    if isinstance(values, list):
        SampleError.check({i: v for i, v in enumerate(values) if isinstance(v, _MissingValue)})
    try:
        return build_kernel_similarity(component.kernel, values, component.options, fit_to)
    except SampleError as error:
        problems = {}
        for i, problem in error.problems.items():
            problems[i] = where + problem.removeprefix("of `samples` ")
        raise SampleError.from_problems(problems) from error.__cause__


class _MissingValue(str):
    """Placeholder for the value of a record without the column; describes the problem."""


def select_column(samples: Any, component: MixtureComponent) -> Any:
    """Return what a component compares: a column of records, or the samples themselves."""
    names = getattr(samples, "column_names", getattr(samples, "columns", None))
    if isinstance(samples, Mapping):
        names = samples.keys()
    if names is None and not (isinstance(samples, (list, tuple)) and any(map(_is_record, samples))):
        if component.column:
            raise TypeError(
                f"`k` names the column {component.column!r}, but samples of type "
                f"{type(samples).__name__} have no columns: pass a list of dicts, a dict of "
                f"columns, a DataFrame or a Dataset, or k={{{component.kernel.name!r}: …}}"
            )
        return materialize_iterators(as_samples(samples))
    if not component.column:
        known = list(next(filter(_is_record, samples)) if names is None else names)
        such = f"{component.kernel.name}:{known[0] if known else 'column'}"
        raise ValueError(
            f"samples have columns: say which one {component.name!r} compares, such as {such!r}. "
            f"{suggest_name('', map(str, known))}"
        )
    if names is not None:
        if component.column not in names:
            raise ValueError(
                f"samples have no column {component.column!r}. "
                f"{suggest_name(component.column, map(str, names))}"
            )
        return materialize_iterators(as_samples(samples[component.column]))
    missing = _MissingValue(f"has no {component.column!r}, which {component.name!r} compares")
    values = [
        record[component.column] if _is_record(record) and component.column in record else missing
        for record in samples
    ]
    return materialize_iterators(values)


def _is_record(sample: object) -> bool:
    return isinstance(sample, Mapping)
