"""Read answers of several sources in any form as one list with the source of each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.types import Record, Samples
from ..resolve.group_labels import (
    by_name,
    check_size,
    coded,
    grouped,
    is_missing,
    read_labels,
    written,
)
from ..resolve.kernel_request import How
from ..resolve.sets import read_collection
from ..similarity.base import Similarity
from ..similarity.inputs import as_samples, choose
from ..similarity.members import members_of
from ..similarity.pools import pooled, size


@dataclass(frozen=True, eq=False)
class Answers:
    """Samples with the source and the prompt of each; whole sets have an empty `prompts`."""

    samples: Any
    names: tuple[str, ...]
    source: np.ndarray
    prompts: tuple[Hashable, ...]
    prompt: np.ndarray
    came: np.ndarray | None = None  # places among all samples passed, if some are left out

    def places(self) -> list[np.ndarray]:
        """Return the places of the answers to each prompt."""
        return members_of(self.prompt, max(1, len(self.prompts)))

    def place(self, i: int) -> int:
        """Return the place of sample i among all samples passed."""
        return int(i if self.came is None else self.came[i])

    def called(self, i: int) -> str:
        """Return the name of sample i in messages."""
        which = f" to prompt {self.prompts[self.prompt[i]]!r:.60}" if self.prompts else ""
        return f"an answer of {self.names[self.source[i]]!r}{which}"


def from_rows(samples: Samples, by: object, prompts: object, how: How) -> Answers:
    """Return answers with the source and, unless they are whole sets, the prompt of each."""
    samples = read_collection(samples, how)
    n = samples.n if isinstance(samples, Similarity) else size(samples)
    read = {"by": read_labels(by, "by")}
    if prompts is not None:
        read["prompts"] = read_labels(prompts, "prompts")
    for name, labels in read.items():
        check_size(labels, n, name)
    called = written(read["by"], "by")
    kept = np.flatnonzero(~_missing(samples, n))
    if len(kept) < n:
        samples = choose(samples, kept)
    sources = coded([called[code] for code in read["by"].codes[kept]])
    names = tuple(map(str, sources.labels))
    _check_several(names)
    if prompts is None:
        return Answers(samples, names, sources.codes, (), 0 * sources.codes, kept)
    asked = coded([read["prompts"].labels[code] for code in read["prompts"].codes[kept]])
    return Answers(samples, names, sources.codes, asked.labels, asked.codes, kept)


def from_sources(
    answers: Samples, prompts: object, names: object, aligned: bool, how: How
) -> Answers:
    """Return answers passed source by source: a dict by name, or lists or arrays."""
    named = _named(answers, names)
    _check_several(tuple(named))
    if not aligned:
        sets = [read_collection(own, how, name) for name, own in named.items()]
        source = np.repeat(np.arange(len(sets)), [size(each) for each in sets])
        return Answers(pooled(sets), tuple(named), source, (), 0 * source)
    if prompts is None and any(isinstance(own, Mapping) for own in named.values()):
        keys = (key for own in named.values() if isinstance(own, Mapping) for key in own)
        prompts = list(dict.fromkeys(keys))
    labels = None if prompts is None else read_labels(prompts, "prompts")
    if labels is not None and len(labels) < len(labels.codes):
        at = int(np.argmax(np.bincount(labels.codes) > 1))
        raise ValueError(
            f"`prompts` has {labels.labels[at]!r:.60} twice; give all answers to one prompt in one "
            f"place, as a list"
        )
    parts = {}
    for name, own in named.items():
        if isinstance(own, Mapping):
            assert labels is not None
            if unknown := [key for key in own if key not in labels.labels]:
                raise ValueError(f"{name!r} answers {unknown[0]!r:.60}, which `prompts` lacks")
            own = [own.get(key) for key in labels.labels]
        parts[name] = _entries(own, how, name)
    lengths = {name: length for name, (_, _, length) in parts.items()}
    if labels is not None and set(lengths.values()) != {len(labels)}:
        name = next(name for name, length in lengths.items() if length != len(labels))
        raise ValueError(
            f"{name!r} has answers to {lengths[name]} prompts, but `prompts` has {len(labels)}; "
            "put None where a source has no answer"
        )
    if len(set(lengths.values())) > 1:
        a, b = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise ValueError(
            f"sources must have answers to the same prompts, one place for each: {a!r} has "
            f"{lengths[a]} and {b!r} {lengths[b]}; put None where there is no answer, pass each "
            f"source as a dict of prompt to answer, or aligned=False, if they are sets of samples "
            f"that answer no prompts"
        )
    source = np.repeat(np.arange(len(parts)), [len(at) for _, at, _ in parts.values()])
    every = tuple(range(max(lengths.values()))) if labels is None else labels.labels
    flat, places, _ = zip(*parts.values(), strict=True)
    return Answers(pooled(flat), tuple(parts), source, every, np.concatenate(places))


def _named(answers: Any, names: Any) -> Record:
    """Return sources by name."""
    table = hasattr(answers, "columns") or hasattr(answers, "column_names")
    several = isinstance(answers, (list, tuple)) or hasattr(answers, "ndim")
    if not isinstance(answers, Mapping) and (table or not several):
        raise TypeError(
            f"`answers` must be a dict of source to answers, or a list of these, got "
            f"{type(answers).__name__}; pass columns of a table one by one: sources(df['answer'], "
            f"df['prompt'], by=df['model'])"
        )
    return by_name(answers, names, "source")


def _entries(own: Any, how: How, name: str) -> tuple[Any, np.ndarray, int]:
    """Return the samples of one source, the prompt of each, and the number of prompts."""
    own = as_samples(own, name)
    length, places = size(own), np.arange(size(own))
    if isinstance(own, list):
        places = np.flatnonzero(~_missing(own, length))
        own = choose(own, places)
        if any(isinstance(each, list) for each in own):
            own = [[each] if isinstance(each, str) else each for each in own]
    if not len(places):
        raise ValueError(f"{name!r} has no answer; leave it out")
    if how.is_function and isinstance(own, list) and any(isinstance(each, list) for each in own):
        own = [each if isinstance(each, list) else [each] for each in own]
        return pooled(own), np.repeat(places, list(map(len, own))), length
    flat, groups = grouped(own, how, name=name)
    return flat, places if groups is None else places[groups.codes], length


def _missing(samples: Samples, n: int) -> np.ndarray:
    """Return which of n samples are None, NaN or an empty list."""
    if not isinstance(samples, list):
        return np.zeros(n, dtype=bool)
    plain = ("NoneType", "float", "float64", "NAType")
    return np.array(
        [
            is_missing(each)
            if type(each).__name__ in plain
            else isinstance(each, list) and not each
            for each in samples
        ],
        dtype=bool,
    )


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
    if not len(apart):
        return
    a, b = apart[0]
    raise ValueError(
        f"{names[a]!r} and {names[b]!r} have answers to no prompt in common; leave one out"
    )


def check_defined(names: Sequence[str], S: np.ndarray) -> None:
    """Raise for a source whose answers cancel out, so that it is similar to nothing."""
    if not np.isfinite(S).all():
        name = names[int(np.argmin(np.isfinite(S).sum(axis=1)))]
        raise ValueError(
            f"the answers of {name!r} to a prompt have a mean similarity of 0 or less with each "
            f"other, so that no cosine is defined; take a kernel without negative values, or leave "
            f"{name!r} out"
        )
