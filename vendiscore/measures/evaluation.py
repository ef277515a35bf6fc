"""Parsing of the argument `measures`, and evaluation of the measures on a sample set."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ..resolve.presets import expand_presets
from ..support.arguments import check_no_gradient, has_gradient, is_collection
from ..support.namespace import Array, asarray_like, is_torch, namespace, to_host
from ..support.suggestions import describe_parameters, suggest_name
from ..support.types import Options, Record
from .measure import RANGE_ROUNDING, Measure, get_measure
from .sample_set import SampleSet, UnsupportedInputError

# types accepted by the argument `measures`
MeasuresArgument: TypeAlias = str | Iterable[str] | Mapping[str, Options]


class ConfiguredMeasure(NamedTuple):
    """A measure with its validated options; `options` contains only options that were passed."""

    measure: Measure
    options: Options

    @property
    def settings(self) -> Record:
        """All options, with the default values of those that were not passed, except None."""
        options = {**self.measure.options, **self.options}
        return {name: value for name, value in options.items() if value is not None}


def parse_measures(measures: MeasuresArgument, shared: Record) -> list[ConfiguredMeasure]:
    """Parse the argument `measures` of `compute`, and validate the options of each measure.

    `shared` are further keywords of `compute`, which apply to all measures. A measure uses the
    keywords that are its options. An option that `measures` sets for a single measure overrides the
    keyword. All keywords that are options of one of the measures are removed from `shared`.
    """
    names = list(measures) if is_collection(measures) else [measures]
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"`measures` must be a name or a list of names, got {measures!r}")
    if not names:
        raise ValueError(
            "`measures` must contain at least one measure, got none; pass measures=['VS']"
        )
    # `measures` may be a dict from names to options.
    options_by_name = measures if isinstance(measures, Mapping) else {name: {} for name in names}
    configured: list[ConfiguredMeasure] = []
    option_names: set[str] = set()
    for name, measure_options in expand_presets(options_by_name).items():
        measure = get_measure(name)
        _check_option_names(measure, measure_options)
        options = {option: shared[option] for option in measure.options if option in shared}
        options |= measure_options
        for option, value in options.items():
            if option in measure.readers:  # functions that validate and convert a value
                options[option] = measure.readers[option](value)
        configured.append(ConfiguredMeasure(measure, options))
        option_names |= measure.options.keys()
    for option in option_names:
        shared.pop(option, None)
    return configured


def _check_option_names(measure: Measure, options: Options) -> None:
    """Raise a TypeError if one of `options` is not an option of the measure."""
    for option, value in options.items():
        if option in measure.options:
            continue
        descriptions = describe_parameters(measure.compute)
        hint = suggest_name(
            option,
            {name: descriptions.get(name, "") for name in measure.options},
            kind="keyword",
            value=value,
            quote="`",
        )
        hint = hint or "It has no options."
        raise TypeError(f"{option!r} is not an option of measure {measure.name!r}. {hint}")


def evaluate_measures(
    sample_set: SampleSet, measures: Sequence[ConfiguredMeasure], order_suffixes: Sequence[str]
) -> list[Record]:
    """Compute measures of a sample set; return a dict from result keys to values for each measure.

    `order_suffixes` contains the suffix of result keys, such as "_q2" or "", for each order.
    """
    results: list[Record] = []
    keys: set[str] = set()
    for measure, options in measures:
        try:
            values = measure.compute(sample_set, **options)
        except UnsupportedInputError as error:  # its message starts with "requires"
            raise TypeError(
                f"{measure.name} {error}; remove {measure.name!r} from `measures`"
            ) from None
        n = sample_set.n
        scores: Record = {}
        for suffix, value in _key_values_by_suffix(measure, values, order_suffixes).items():
            key = f"{measure.name}{suffix}"
            if key in keys:
                raise ValueError(
                    f"two measures return a value with the key {key!r}; remove one of them from "
                    f"`measures`"
                )
            keys.add(key)
            low, high = measure.ends
            # A float within the range needs no call of `check`, which is slow for many groups. The
            # lower limit is None if it is n.
            is_comparable = type(value) is float and low is not None
            is_inside = is_comparable and low <= value <= (n if high is None else high)
            if measure.name == "VS" and is_torch(value):
                is_inside = True  # checked when it was computed; reading it waits for the device
            scores[key] = value if is_inside else measure.check(value, n, sample_set.roundoff)
        results.append(scores)
    if "torch" in sys.modules:  # otherwise no argument is a tensor
        _check_no_lost_gradients(sample_set.parent, measures, results)
    return results


def _key_values_by_suffix(
    measure: Measure, values: object, order_suffixes: Sequence[str]
) -> Record:
    """Convert the values that a measure returned to a dict from suffixes of result keys to values.

    A measure returns such a mapping; one value per order, whose suffixes, such as "_q2", are
    `order_suffixes`; or a single value, whose suffix is "".
    """
    if isinstance(values, Mapping):
        return dict(values)
    if measure.ordered:
        scores = values if is_collection(values) else [values]
        return dict(zip(order_suffixes, scores, strict=True))
    return {"": values}


def _check_no_lost_gradients(
    parent: SampleSet, measures: Sequence[ConfiguredMeasure], results: Sequence[Options]
) -> None:
    """Raise a TypeError if an argument requires a gradient, but a value of a measure has none.

    `results` contains, for each measure, its values by result key. `parent` is the set with all
    samples, whose arguments are checked.
    """
    if not sys.modules["torch"].is_grad_enabled():
        return
    for (measure, options), values in zip(measures, results, strict=True):
        if not all(map(has_gradient, values.values())):
            # The measure lost the gradient, so no argument that it uses may require one.
            arguments = {**parent.spec.options, **options, "samples": parent.samples}
            if measure.references:
                arguments["references"] = parent.references
            check_no_gradient(measure.name, **arguments, p=parent.weights)


def evaluate_measures_stacked(
    sample_set: SampleSet, measures: Sequence[ConfiguredMeasure], order_suffixes: Sequence[str]
) -> tuple[list[Record], np.ndarray]:
    """Compute all measures for all g groups of a set, with groups of equal size in one array.

    `order_suffixes` contains the suffix of result keys, such as "_q2" or "", for each order.

    Returns, for each measure, a dict from result keys to arrays of shape (g,), with one value per
    group; and a mask (g,) of the groups that the caller must compute separately, because they are
    too large to be stacked or their values are invalid. The entries of these groups in the arrays
    are not meaningful.
    """
    from .stacked_groups import iter_stacked_groups

    assert sample_set.groups is not None
    is_separate = np.ones(len(sample_set.groups), dtype=bool)
    group_indices: list[np.ndarray] = []
    # For each measure, result keys with one array of values per stack.
    values_by_measure: list[dict[str, list[Array]]] = [{} for _ in measures]
    converted_from_torch = False
    for groups, stack in iter_stacked_groups(sample_set):
        group_indices.append(groups)
        is_invalid = np.zeros(len(groups), dtype=bool)
        for (measure, options), stack_values in zip(measures, values_by_measure, strict=True):
            result = measure.compute(stack, **options)
            low, high = measure.limits(stack.n)
            for suffix, values in _key_values_by_suffix(measure, result, order_suffixes).items():
                host_values = to_host(values)
                # Values outside the range by rounding errors are clipped; others are invalid.
                slack = RANGE_ROUNDING * np.abs(host_values).clip(1.0)
                is_outside = (host_values < low - slack) | (host_values > high + slack)
                is_invalid |= ~np.isfinite(host_values) | is_outside
                key = f"{measure.name}{suffix}"
                stack_values.setdefault(key, []).append(values.clip(low, high))
        is_invalid |= stack.unusual
        sample_set.notes += stack.notes
        # The stack uses another Similarity than the set if tensors were converted to NumPy.
        converted_from_torch = (
            sample_set.has_similarities and stack.similarity is not sample_set.similarity
        )
        is_separate[groups] = is_invalid
    # Stacks contain groups of equal size; restore the order of the groups. Groups that are in no
    # stack get the values of the first group in the stacks.
    stacked_order = np.concatenate([np.empty(0, int), *group_indices])
    stacked_positions = np.zeros(len(is_separate), int)
    stacked_positions[stacked_order] = np.arange(len(stacked_order))
    columns: list[Record] = []
    for stack_values in values_by_measure:
        column = {
            key: namespace(arrays[0]).concat(arrays)[stacked_positions]
            for key, arrays in stack_values.items()
        }
        if converted_from_torch:
            diagonal = sample_set.similarity.diagonal()
            column = {key: asarray_like(values, diagonal) for key, values in column.items()}
        columns.append(column)
    if "torch" in sys.modules:  # otherwise no argument is a tensor
        _check_no_lost_gradients(sample_set, measures, columns)
    return columns, is_separate
