"""Mixtures of kernels: weighted sums and products of similarities.

The name "morgan:smiles" applies the kernel "morgan" to the column "smiles" of records.
"""

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
    """One kernel of a mixture, with its column, weight and options.

    `name` is the name that was passed, "kernel" or "kernel:column". `column` is the column of the
    records that the kernel compares, or "" if it compares the samples themselves. If
    `drop_unusable`, samples that the kernel cannot use are dropped instead of raising a
    SampleError.
    """

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
    """Combine the similarities of the components of a mixture (arXiv 2210.02410).

    The result is Σ_j w_j k_j(x, y) for ``combine="sum"``, or Π_j k_j(x, y) for "product", where
    component j has the weight w_j and the kernel k_j. `columns` holds the values that each
    component compares. Kernel options are fitted to the samples with the indices `fit_to`, or to
    all samples if it is None.
    """
    sizes = [num_samples(column) for column in columns]
    if len(set(sizes)) > 1:
        lengths = ", ".join(
            f"{component.name}: {size}" for component, size in zip(components, sizes, strict=True)
        )
        raise ValueError(f"columns must have equal lengths, got {lengths}")
    builders = [partial(_build_component, component) for component in components]
    drop_flags = [component.drop_unusable for component in components]
    similarities, dropped = build_similarities(builders, columns, drop_flags, "the mixture", fit_to)
    settings = {}
    fitted = {}
    options_by_name = {}  # passed and fitted options, as in the argument `options`
    for component, similarity in zip(components, similarities, strict=True):
        for key, value in similarity.settings.items():
            # The names of the kernels are combined below, in `kernel_name`.
            if key != "kernel":
                settings[f"{component.name}.{key}"] = value
        options = {**component.options, **similarity.fitted}
        if options:
            options_by_name[component.name] = options
    # `fitted` contains keywords with which a call would give the same result without fitting. For a
    # mixture, this is the argument `options`.
    if any(similarity.fitted for similarity in similarities):
        fitted["options"] = options_by_name
    mixed: Similarity
    if combine == "sum":
        weights = [component.weight for component in components]
        terms = [f"{format_number(component.weight)}*{component.name}" for component in components]
        kernel_name = "+".join(terms)
        mixed = SumSimilarity(similarities, weights)
    else:
        kernel_name = "*".join(component.name for component in components)
        mixed = ProductSimilarity(similarities)
    return mixed.noted(
        settings={"kernel": kernel_name, **settings},
        fitted=fitted,
        notes=[note for similarity in similarities for note in similarity.notes],
        dropped=dropped,
        vocabulary_columns=all(similarity.vocabulary_columns for similarity in similarities),
    )


def parse_mixture(
    k: Mixture,
    options: object = None,
    combine: Combine = "sum",
    on_error: object = "raise",
) -> list[MixtureComponent]:
    """Parse a mixture, passed as the argument `k`, and its options into components.

    `k` contains names of kernels, with weights if it is a dict. `options` maps names of components
    to the options of their kernels. `on_error` applies to the components whose options do not
    contain it.
    """
    check_choice("combine", combine, ("sum", "product"))
    check_on_error(on_error)
    if not k:
        raise ValueError("`k` must name at least one kernel, got an empty mixture")
    for name in k:
        if not isinstance(name, str):
            raise TypeError(
                f"a mixture `k` must contain kernel names, got an object of type "
                f"{type(name).__name__}; to combine Similarity objects, use SumSimilarity"
            )
    if len(set(k)) < len(k):
        raise ValueError(
            f"`k` must contain each name only once, got {short_repr(list(k))}; remove the duplicate"
        )
    options_by_name = _check_options_by_name(options, k)
    components = []
    for name, weight in zip(k, _check_weights(k, combine), strict=True):
        # A name is "KERNEL" or "KERNEL:COLUMN".
        kernel_name, _, column = name.partition(":")
        kernel, model = parse_kernel_name(kernel_name)
        # For "semantic" or a Hub id, the kernel is that of embeddings, and `model` becomes an
        # option.
        kernel_options = add_model_option(kernel_name, model, options_by_name.get(name, {}))
        check_kernel_options(kernel, kernel_options)
        drop_unusable = check_on_error(kernel_options.pop("on_error", on_error))
        component = MixtureComponent(
            name=name,
            kernel=kernel,
            column=column,
            weight=weight,
            options=kernel_options,
            drop_unusable=drop_unusable,
        )
        components.append(component)
    return components


def _check_options_by_name(options: object, k: Mixture) -> Mapping[str, Options]:
    """Check that `options` maps names of the mixture `k` to dicts; return {} for None."""
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(
        isinstance(o, Mapping) for o in options.values()
    ):
        raise TypeError(
            f"`options` must map each kernel name to a dict of its options, got "
            f"{short_repr(options)}; pass options={{{next(iter(k))!r}: {{…}}}}"
        )
    for name in options:
        if name not in k:
            raise ValueError(
                f"`options` contains {name!r}, which is not in `k`. {suggest_name(name, k)}"
            )
    return options


def _check_weights(k: Mixture, combine: Combine) -> list[float]:
    """Return the weight of each component; they sum to 1 unless combine="product"."""
    if combine == "product":
        if isinstance(k, Mapping):
            raise ValueError(
                f"weights are not supported with combine='product'; pass the list k={list(k)}"
            )
        # A product has no weights.
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
    # The tolerance allows for rounded weights, such as those of single precision.
    if not abs(total - 1) <= WEIGHT_TOLERANCE:
        raise ValueError(
            f"the weights in `k` must sum to 1, got {total:.6g}; divide the weights by their sum"
        )
    return [weight / total for weight in weights]


def _build_component(
    component: MixtureComponent, values: Samples, fit_to: np.ndarray | None
) -> Similarity:
    """Build the similarity of a component of a mixture from the values of its column.

    Kernel options are fitted to the values at the positions `fit_to`, or to all values if it is
    None. Messages of errors contain the name of the column.
    """
    # Kernels report problems of an argument `samples`, which is a column of the user's samples.
    prefix = f"of column {component.column!r} " if component.column else ""
    if isinstance(values, list):
        # A _MissingValue is a string that describes the problem and names the column, so it needs
        # no prefix.
        SampleError.check({i: v for i, v in enumerate(values) if isinstance(v, _MissingValue)})
    try:
        return build_kernel_similarity(component.kernel, values, component.options, fit_to)
    except SampleError as error:
        problems = {}
        for i, problem in error.problems.items():
            problems[i] = prefix + problem.removeprefix("of `samples` ")
        raise SampleError.from_problems(problems) from error.__cause__


class _MissingValue(str):
    """Placeholder for a missing value in a column of records: a string that describes the problem.

    The description names the column, as in "has no value in the column 'a', which …".
    """


def select_column(samples: Any, component: MixtureComponent) -> Any:
    """Return the values that a component of a mixture compares: a column of records, or `samples`.

    Records are a list of dicts, a dict of columns, a DataFrame or a Dataset. Other samples have no
    columns, and are compared themselves.
    """
    # Column names of a Dataset or a DataFrame; a list of dicts has none.
    names = getattr(samples, "column_names", getattr(samples, "columns", None))
    if isinstance(samples, Mapping):
        names = samples.keys()
    # Some entries may be no records, such as None; they are reported below as missing values.
    is_list_of_records = isinstance(samples, (list, tuple)) and any(map(_is_record, samples))
    if names is None and not is_list_of_records:
        if component.column:
            raise TypeError(
                f"k={component.name!r} requires samples with a column {component.column!r}, got "
                f"{type(samples).__name__} without columns; pass a list of dicts, a dict of "
                f"columns, a DataFrame or a Dataset, or use {component.kernel.name!r} in `k`"
            )
        # Values are read by several kernels, and again if samples are dropped, so iterators become
        # lists, also below.
        return materialize_iterators(as_samples(samples))
    if not component.column:
        columns = list(next(filter(_is_record, samples)) if names is None else names)
        example = f"{component.kernel.name}:{columns[0] if columns else 'column'}"
        raise ValueError(
            f"kernel {component.name!r} requires a column of these samples; pass, for example, "
            f"{example!r} in `k`. {suggest_name('', map(str, columns))}"
        )
    if names is not None:
        if component.column not in names:
            raise ValueError(
                f"samples have no column {component.column!r}. "
                f"{suggest_name(component.column, map(str, names))}"
            )
        return materialize_iterators(as_samples(samples[component.column]))
    missing_value = _MissingValue(
        f"has no value in the column {component.column!r}, which {component.name!r} requires"
    )
    values = [
        record[component.column]
        if _is_record(record) and component.column in record
        else missing_value
        for record in samples
    ]
    return materialize_iterators(values)


def _is_record(sample: object) -> bool:
    return isinstance(sample, Mapping)
