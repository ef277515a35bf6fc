"""Parsing of the argument `measures`, and evaluation of the measures on a sample set."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ..resolve.presets import expand_presets
from ..support.arguments import check_no_gradient, has_gradient, is_collection
from ..support.namespace import Array, asarray_like, namespace, to_host
from ..support.suggestions import suggest_name
from ..support.types import Options, Record
from .measure import RANGE_ROUNDING, Measure, get_measure
from .sample_set import SampleSet, UnsupportedInputError

# types accepted by the argument `measures`
MeasuresArgument: TypeAlias = str | Iterable[str] | Mapping[str, Options]


class ConfiguredMeasure(NamedTuple):
    """A measure with its parsed options."""

    measure: Measure
    options: Options

    @property
    def settings(self) -> Record:
        """All options that are not None, including defaults."""
        every = {**self.measure.options, **self.options}
        return {name: value for name, value in every.items() if value is not None}


def parse_measures(measures: MeasuresArgument, shared: Record) -> list[ConfiguredMeasure]:
    """Parse `measures` and their options; options used from `shared` are removed from it."""
    names = list(measures) if is_collection(measures) else [measures]
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"`measures` must be a name or a list of names, got {measures!r}")
    if not names:
        raise ValueError("`measures` is empty; pass measures=['VS'] or leave it out")
    of_each = measures if isinstance(measures, Mapping) else {name: {} for name in names}
    chosen: list[ConfiguredMeasure] = []
    taken: set[str] = set()
    for name, own in expand_presets(of_each).items():
        measure = get_measure(name)
        for option in own:
            if option not in measure.options:
                hint = suggest_name(option, measure.options, quote="`", kind="keyword")
                message = f"`{option}` is not an option of measure {measure.name!r}. {hint}"
                raise TypeError(message.rstrip())
        options = {option: shared[option] for option in measure.options if option in shared}
        options |= own
        for option, value in options.items():
            if option in measure.readers:
                options[option] = measure.readers[option](value)
        chosen.append(ConfiguredMeasure(measure, options))
        taken |= measure.options.keys()
    for option in taken:
        shared.pop(option, None)
    return chosen


def evaluate_measures(
    sample_set: SampleSet, measures: Sequence[ConfiguredMeasure], keys: Sequence[str]
) -> list[Record]:
    """Return {key: value} for each measure; `keys` are suffixes of orders, "" or "_q2"."""
    every: list[Record] = []
    known: set[str] = set()
    for measure, options in measures:
        try:
            numbers = measure.compute(sample_set, **options)
        except UnsupportedInputError as error:
            raise TypeError(f"{measure.name} needs {error}; leave it out of `measures`") from None
        n = sample_set.n
        scores: Record = {}
        for suffix, value in _values_by_suffix(measure, numbers, keys).items():
            key = f"{measure.name}{suffix}"
            if key in known:
                raise ValueError(f"measures give two numbers the name {key!r}; leave one out")
            known.add(key)
            low, high = measure.ends
            known_low = type(value) is float and low is not None  # the upper end is a number, or n
            inside = known_low and low <= value <= (n if high is None else high)
            scores[key] = value if inside else measure.check(value, n, sample_set.roundoff)
        every.append(scores)
    if "torch" in sys.modules:
        _check_gradients_kept(sample_set.parent, measures, every)
    return every


def _values_by_suffix(measure: Measure, values: object, keys: Sequence[str]) -> Record:
    """Return the values of a measure by the suffix of their result keys."""
    if isinstance(values, Mapping):
        return dict(values)
    if measure.ordered:
        return dict(zip(keys, values if is_collection(values) else [values], strict=True))
    return {"": values}


def _check_gradients_kept(
    parent: SampleSet, measures: Sequence[ConfiguredMeasure], values: Sequence[Options]
) -> None:
    """Raise if an argument requires a gradient but a computed value has none."""
    if not sys.modules["torch"].is_grad_enabled():
        return
    for (measure, options), own in zip(measures, values, strict=True):
        if not all(map(has_gradient, own.values())):
            given = {**parent.spec.options, **options, "samples": parent.samples}
            if measure.references:
                given["references"] = parent.references
            check_no_gradient(measure.name, **given, p=parent.weights)


def evaluate_measures_stacked(
    sample_set: SampleSet, measures: Sequence[ConfiguredMeasure], keys: Sequence[str]
) -> tuple[list[Record], np.ndarray]:
    """Evaluate the measures for all groups at once.

    Returns {key: values of shape (g,)} for each measure, and a mask of the groups whose values are
    invalid and must be computed separately.
    """
    from .stacked_groups import iter_stacked_groups

    assert sample_set.groups is not None
    apart = np.ones(len(sample_set.groups), dtype=bool)
    order: list[np.ndarray] = []
    pieces: list[dict[str, list[Array]]] = [{} for _ in measures]
    in_numpy = False
    for groups, stack in iter_stacked_groups(sample_set):
        order.append(groups)
        bad = np.zeros(len(groups), dtype=bool)
        for (measure, options), own in zip(measures, pieces, strict=True):
            numbers = _values_by_suffix(measure, measure.compute(stack, **options), keys)
            low, high = measure.limits(stack.n)
            for suffix, values in numbers.items():
                known = to_host(values)
                slack = RANGE_ROUNDING * np.abs(known).clip(1.0)
                bad |= ~np.isfinite(known) | (known < low - slack) | (known > high + slack)
                own.setdefault(f"{measure.name}{suffix}", []).append(values.clip(low, high))
        bad |= stack.unusual
        sample_set.notes += stack.notes
        in_numpy = sample_set.has_similarities and stack.similarity is not sample_set.similarity
        apart[groups] = bad
    places = np.concatenate([np.empty(0, int), *order])
    back = np.zeros(len(apart), int)
    back[places] = np.arange(len(places))
    columns: list[Record] = []
    for own in pieces:
        column = {key: namespace(parts[0]).concat(parts)[back] for key, parts in own.items()}
        if in_numpy:  # convert to tensors
            like = sample_set.similarity.diagonal()
            column = {key: asarray_like(values, like) for key, values in column.items()}
        columns.append(column)
    if "torch" in sys.modules:
        _check_gradients_kept(sample_set, measures, columns)
    return columns, apart
