"""Measures that are asked for, read with their options, and evaluated for a subject."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..arguments import has_gradient, is_several, refuse_gradient
from ..hints import suggestion
from ..registry.measure import Measure, get_measure
from ..registry.presets import expanded
from .subject import Subject, UnsuitedError


class Chosen(NamedTuple):
    """A measure with the options that were given, read."""

    measure: Measure
    options: Mapping[str, Any]

    @property
    def settings(self) -> dict[str, Any]:
        """All options that have a value, those not given with their defaults."""
        every = {**self.measure.options, **self.options}
        return {name: value for name, value in every.items() if value is not None}


def read_measures(measures: Any, shared: dict[str, Any]) -> list[Chosen]:
    """Read the measures of one or several names and their options, which `shared` loses."""
    names = list(measures) if is_several(measures) else [measures]
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"`measures` must be a name or a list of names, got {measures!r}")
    if not names:
        raise ValueError("`measures` is empty; pass measures=['VS'] or leave it out")
    of_each = {name: measures[name] if isinstance(measures, Mapping) else {} for name in names}
    chosen: list[Chosen] = []
    taken: set[str] = set()
    for name, own in expanded(of_each).items():
        measure = get_measure(name)
        for option in own:
            if option not in measure.options:
                hint = suggestion(option, measure.options, mark="`")
                said = f"`{option}` is not an option of measure {measure.name!r}. {hint}"
                raise TypeError(said.rstrip())
        options = {option: shared[option] for option in measure.options if option in shared} | own
        readers = measure.readers
        read = {n: readers[n](value) if n in readers else value for n, value in options.items()}
        chosen.append(Chosen(measure, read))
        taken |= measure.options.keys()
    for option in taken & shared.keys():
        del shared[option]
    return chosen


def measure_each(
    subject: Subject, measures: Sequence[Chosen], keys: Sequence[str]
) -> list[dict[str, Any]]:
    """Return {name: value} of each measure; `keys` are suffixes of orders, "" or "_q2"."""
    by_name: dict[str, Any] = {}
    # Eigenvectors are found first, since eigenvalues are read off them.
    first = [chosen for chosen in measures if chosen.measure.vectors]
    for measure, options in first + [chosen for chosen in measures if not chosen.measure.vectors]:
        try:
            by_name[measure.name] = measure.compute(subject, **options)
        except UnsuitedError as error:
            raise TypeError(f"{measure.name} needs {error}; leave it out of `measures`") from None
    every: list[dict[str, Any]] = []
    known: set[str] = set()
    n, similar = subject.n, "similarities" in subject.__dict__
    roundoff = subject.similarity.roundoff if similar else 0.0
    gradients = "torch" in sys.modules and sys.modules["torch"].is_grad_enabled()
    for measure, options in measures:
        found = by_name[measure.name]
        if not isinstance(found, Mapping):
            found = dict(zip(keys, found, strict=True)) if measure.ordered else {"": found}
        scores: dict[str, Any] = {}
        for suffix, value in found.items():
            key = f"{measure.name}{suffix}"
            if key in known:
                raise ValueError(f"measures give two numbers the name {key!r}; leave one out")
            known.add(key)
            low, high = measure.ends
            known_low = type(value) is float and low is not None  # n is the other end, at most
            inside = known_low and low <= value <= (n if high is None else high)
            scores[key] = value if inside else measure.check(value, n, roundoff)
        if gradients and not all(map(has_gradient, scores.values())):
            whole = subject.whole  # whose argument has a gradient that the number has lost
            given = {**whole.how.options, **options, "samples": whole.samples}
            given |= {"references": whole.references} if measure.references else {}
            refuse_gradient(measure.name, **given, p=whole.given_weights)
        every.append(scores)
    return every
