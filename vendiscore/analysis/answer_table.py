"""Read answers of several sources in any form as one list with the source of each."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..resolve.kernel_request import How
from ..resolve.sample_labels import (
    Groups,
    check_size,
    encode_labels,
    flatten_groups,
    is_missing,
    label_names,
    name_sets,
    read_labels,
)
from ..resolve.sets import read_collection, resolve_sets
from ..similarity.base import Similarity
from ..similarity.inputs import as_samples, choose
from ..similarity.pools import pooled, size
from ..support.errors import quoted
from ..support.types import Record, Samples


@dataclass(frozen=True, eq=False)
class Answers:
    """Samples with the source and the prompt of each; whole sets have an empty `prompts`."""

    samples: Samples
    names: tuple[str, ...]
    source: np.ndarray
    prompts: tuple[Hashable, ...]
    prompt: np.ndarray
    came: np.ndarray | None = None  # places among all samples passed, if some are left out

    def place(self, i: int) -> int:
        """Return the place of sample i among all samples passed."""
        return int(i if self.came is None else self.came[i])

    def called(self, i: int) -> str:
        """Return the name of sample i in messages."""
        which = f" to prompt {quoted(self.prompts[self.prompt[i]])}" if self.prompts else ""
        return f"an answer of {self.names[self.source[i]]!r}{which}"


def from_rows(
    samples: Samples,
    by: object,
    prompts: object,
    how: How,
) -> Answers:
    """Return answers with the source and, unless they are whole sets, the prompt of each."""
    samples = read_collection(samples, how)
    if isinstance(samples, Similarity):
        (samples,) = resolve_sets([samples], how, ["answers"])
    n = samples.n if isinstance(samples, Similarity) else size(samples)
    kept = np.flatnonzero(~_missing(samples, n))

    def of_kept(labels: object, name: str) -> Groups:
        read = read_labels(labels, name)
        check_size(read, n, name)
        return encode_labels([read.labels[code] for code in read.codes[kept]])

    sources = of_kept(by, "by")
    asked = Groups((), 0 * sources.codes)
    if prompts is not None:
        asked = of_kept(prompts, "prompts")
    names = tuple(label_names(sources, "by"))
    _check_several(names)
    if len(kept) < n:
        samples = choose(samples, kept)
    return Answers(samples, names, sources.codes, asked.labels, asked.codes, kept)


def from_sources(
    answers: Samples,
    prompts: object,
    names: object,
    aligned: bool,
    how: How,
) -> Answers:
    """Return answers passed source by source: a dict by name, or lists or arrays."""
    named = _named(answers, names)
    _check_several(tuple(named))
    if not aligned:
        sets = [read_collection(samples, how, name) for name, samples in named.items()]
        sizes = [size(samples) for samples in sets]
        source = np.repeat(np.arange(len(sets)), sizes)
        return Answers(pooled(sets), tuple(named), source, (), 0 * source)
    by_prompt = [passed for passed in named.values() if isinstance(passed, Mapping)]
    if prompts is None and by_prompt:
        prompts = list(dict.fromkeys(key for passed in by_prompt for key in passed))
    labels = None if prompts is None else read_labels(prompts, "prompts")
    if labels is not None and len(labels) < len(labels.codes):
        at = int(np.argmax(np.bincount(labels.codes) > 1))
        raise ValueError(
            f"`prompts` has {quoted(labels.labels[at])} twice; give all answers to one "
            "prompt in one place, as a list"
        )
    flat = []
    places = []
    lengths = {}
    for name, passed in named.items():
        if isinstance(passed, Mapping):
            assert labels is not None
            for key in passed:
                if key not in labels.labels:
                    raise ValueError(f"{name!r} answers {quoted(key)}, which `prompts` lacks")
            passed = [passed.get(key) for key in labels.labels]
        samples, of_prompts, length = _entries(passed, how, name)
        flat.append(samples)
        places.append(of_prompts)
        lengths[name] = length
        if labels is not None and length != len(labels):
            raise ValueError(
                f"{name!r} has answers to {length} prompts, but `prompts` has {len(labels)}; "
                "put None where a source has no answer"
            )
    a = min(lengths, key=lengths.__getitem__)
    b = max(lengths, key=lengths.__getitem__)
    if lengths[a] < lengths[b]:
        raise ValueError(
            f"sources must have answers to the same prompts, one place for each: {a!r} has "
            f"{lengths[a]} and {b!r} {lengths[b]}; put None where there is no answer, pass each "
            f"source as a dict of prompt to answer, or aligned=False, if they are sets of samples "
            f"that answer no prompts"
        )
    source = np.repeat(np.arange(len(flat)), list(map(len, places)))
    asked = tuple(range(lengths[b])) if labels is None else labels.labels
    return Answers(pooled(flat), tuple(named), source, asked, np.concatenate(places))


def _named(answers: Any, names: object) -> Record:
    """Return sources by name."""
    table = hasattr(answers, "columns") or hasattr(answers, "column_names")
    several = isinstance(answers, (list, tuple)) or hasattr(answers, "ndim")
    if not isinstance(answers, Mapping) and (table or not several):
        raise TypeError(
            f"`answers` must be a dict of source to answers, or a list of these, got "
            f"{type(answers).__name__}; pass columns of a table one by one: sources(df['answer'], "
            f"df['prompt'], by=df['model'])"
        )
    return name_sets(answers, names, "source")


def _entries(passed: Samples, how: How, name: str) -> tuple[Samples, np.ndarray, int]:
    """Return the samples of one source, the prompt of each, and the number of prompts."""
    answers = as_samples(passed, name)
    length = size(answers)
    places = np.flatnonzero(~_missing(answers, length))
    if not len(places):
        raise ValueError(f"{name!r} has no answer; leave it out")
    if isinstance(answers, list):
        answers = choose(answers, places)
        if any(isinstance(answer, list) for answer in answers):
            single = object if how.is_function else str  # becomes a list of one
            answers = [
                one if isinstance(one, list) or not isinstance(one, single) else [one]
                for one in answers
            ]
            if how.is_function:
                counts = list(map(len, answers))
                return pooled(answers), np.repeat(places, counts), length
    flat, groups = flatten_groups(answers, how, stacks=True, name=name)
    if groups is not None:
        places = places[groups.codes]
    return flat, places, length


def _missing(samples: Samples, n: int) -> np.ndarray:
    """Return which of n samples are None, NaN or an empty list."""
    missing = np.zeros(n, dtype=bool)
    for i, sample in enumerate(samples if isinstance(samples, list) else ()):
        if type(sample).__name__ in ("NoneType", "float", "float64", "NAType"):
            missing[i] = is_missing(sample)
        elif isinstance(sample, list):
            missing[i] = not sample
    return missing


def _check_several(names: Sequence[str]) -> None:
    """Raise unless there are two sources or more."""
    if len(names) < 2:
        found = f"got {names[0]!r} alone" if names else "got none"
        raise ValueError(
            f"`sources` compares two or more, {found}; add another, or score the answers of one by "
            f"`compute`"
        )


def check_shared(names: Sequence[str], shared: np.ndarray) -> None:
    """Raise for two sources that have no prompt in common."""
    apart = np.argwhere(np.triu(shared == 0, 1))
    if len(apart):
        a, b = apart[0]
        raise ValueError(
            f"{names[a]!r} and {names[b]!r} have answers to no prompt in common; leave one out"
        )


def check_defined(names: Sequence[str], S: np.ndarray) -> None:
    """Raise for a source whose answers cancel out, so that it is similar to nothing."""
    defined = np.isfinite(S).sum(axis=1)
    least = int(defined.argmin())
    if defined[least] < len(S):
        raise ValueError(
            f"the answers of {names[least]!r} to a prompt have a mean similarity of 0 or less with "
            f"each other, so that no cosine is defined; take a kernel without negative values, or "
            f"leave {names[least]!r} out"
        )
