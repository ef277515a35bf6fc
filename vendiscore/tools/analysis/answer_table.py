"""Answers of several sources as a table: a row for each, with its source, prompt and sample."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...resolve.sample_labels import (
    GroupLabels,
    flatten_groups,
    format_labels,
    is_missing,
    name_sets,
    parse_group_labels,
)
from ...resolve.similarity_builder import build_set_similarities, check_collection
from ...resolve.similarity_spec import SimilaritySpec
from ...similarity.base import Similarity
from ...similarity.concatenation import concatenate_samples, num_samples
from ...similarity.sample_arrays import as_samples, take_samples
from ...support.errors import short_repr
from ...support.types import Record, Samples


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """A row for each answer that is not missing.

    Attributes
    ----------
    samples : list, array or Similarity
        The answers.
    names, prompts : tuple of str, tuple of labels
        The sources, and the prompts; sets that answer no prompts have none.
    source, prompt : array of int (n,)
        The source and the prompt of each answer, as positions in `names` and `prompts`.
    index : array of int (n,)
        The index of each answer among all samples that the caller passed.
    """

    samples: Any
    names: tuple[str, ...]
    prompts: tuple[Hashable, ...]
    source: np.ndarray
    prompt: np.ndarray
    index: np.ndarray

    def select(self, rows: np.ndarray, samples: Similarity | None) -> "AnswerTable":
        """Return the table of some rows, whose answers are `samples`."""
        return replace(
            self,
            samples=samples,
            source=self.source[rows],
            prompt=self.prompt[rows],
            index=self.index[rows],
        )

    def describe(self, row: int) -> str:
        """Describe the answer in a row for messages."""
        to = f" to prompt {short_repr(self.prompts[self.prompt[row]])}" if self.prompts else ""
        return f"an answer of {self.names[self.source[row]]!r}{to}"


def tabulate_samples(
    samples: Samples, by: object, prompts: object, spec: SimilaritySpec
) -> AnswerTable:
    """Return the table of samples with the source and the prompt of each, or None for sets."""
    samples = check_collection(samples, spec)
    if isinstance(samples, Similarity):
        (samples,) = build_set_similarities([samples], spec, ["answers"])
    n = samples.n if isinstance(samples, Similarity) else num_samples(samples)
    index = np.flatnonzero(~find_missing(samples, n))
    sources = parse_group_labels(by, "by", n).select(index)
    asked = GroupLabels((), np.zeros_like(index))
    if prompts is not None:
        asked = parse_group_labels(prompts, "prompts", n).select(index)
    names = tuple(format_labels(sources, "by"))
    _check_two_sources(names)
    if len(index) < n:
        samples = take_samples(samples, index)
    return AnswerTable(samples, names, asked.labels, sources.codes, asked.codes, index)


def tabulate_sets(sets: Samples, names: object, spec: SimilaritySpec) -> AnswerTable:
    """Return the table of sets of samples that answer no prompts, by source or in a list."""
    samples = {}
    codes = []
    for name, of_source in _name_sources(sets, names).items():
        samples[name] = check_collection(of_source, spec, name)
        codes.append(np.zeros(num_samples(samples[name]), dtype=int))
    return _concatenate_sources(samples, (), codes)


def tabulate_answers(
    answers: Samples, prompts: object, names: object, spec: SimilaritySpec
) -> AnswerTable:
    """Return the table of answers to prompts, by source or in a list of sources."""
    by_source = _name_sources(answers, names)
    labels = _collect_prompts(prompts, by_source)
    samples = {}
    codes = []
    counts = {}
    for name, of_source in by_source.items():
        if labels is not None and isinstance(of_source, Mapping):
            of_source = _order_by_prompt(of_source, labels, name)
        samples[name], prompt, counts[name] = _flatten_answers(of_source, spec, name)
        codes.append(prompt)
        if labels is not None and counts[name] != len(labels):
            raise ValueError(
                f"{name!r} has answers to {counts[name]} prompts, but `prompts` has {len(labels)}; "
                "put None where a source has no answer"
            )
    a = min(counts, key=counts.__getitem__)
    b = max(counts, key=counts.__getitem__)
    if counts[a] < counts[b]:
        raise ValueError(
            f"sources must have answers to the same prompts, one place for each: {a!r} has "
            f"{counts[a]} and {b!r} {counts[b]}; put None where there is no answer, pass each "
            f"source as a dict of prompt to answer, or aligned=False, if they are sets of samples "
            f"that answer no prompts"
        )
    return _concatenate_sources(samples, range(counts[b]) if labels is None else labels, codes)


def _concatenate_sources(
    samples: Record, prompts: Sequence[Hashable], codes: Sequence[np.ndarray]
) -> AnswerTable:
    """Return the table of samples by source, from the prompt codes of each source."""
    source = np.repeat(np.arange(len(codes)), list(map(len, codes)))
    rows = np.arange(len(source))
    flat = concatenate_samples(list(samples.values()))
    return AnswerTable(flat, tuple(samples), tuple(prompts), source, np.concatenate(codes), rows)


def find_missing(samples: Samples, n: int) -> np.ndarray:
    """Return which of n samples are None, NaN or an empty list, as an array of bool."""
    if not isinstance(samples, list):
        return np.zeros(n, dtype=bool)
    return np.array([_is_missing_answer(sample) for sample in samples])


def _is_missing_answer(sample: object) -> bool:
    if isinstance(sample, list):
        return not sample
    may_be = sample is None or isinstance(sample, float) or type(sample).__name__ == "NAType"
    return may_be and is_missing(sample)


def _name_sources(answers: Any, names: object) -> Record:
    """Return the answers of each source by its name, of two sources or more."""
    table = hasattr(answers, "columns") or hasattr(answers, "column_names")
    several = isinstance(answers, (list, tuple)) or hasattr(answers, "ndim")
    if not isinstance(answers, Mapping) and (table or not several):
        raise TypeError(
            f"`answers` must be a dict of source to answers, or a list of these, got "
            f"{type(answers).__name__}; pass columns of a table one by one: sources(df['answer'], "
            f"df['prompt'], by=df['model'])"
        )
    by_source = name_sets(answers, names, "source")
    _check_two_sources(tuple(by_source))
    return by_source


def _check_two_sources(names: Sequence[str]) -> None:
    """Raise unless there are two sources or more."""
    if len(names) < 2:
        got = f"got {names[0]!r} alone" if names else "got none"
        raise ValueError(
            f"`sources` compares two or more, {got}; add another, or score the answers of one by "
            f"`compute`"
        )


def _collect_prompts(prompts: object, by_source: Record) -> tuple[Hashable, ...] | None:
    """Return the prompts passed, or those of dicts of prompt to answer; None if there are none."""
    dicts = [answers for answers in by_source.values() if isinstance(answers, Mapping)]
    if prompts is None:
        if not dicts:
            return None
        prompts = list(dict.fromkeys(prompt for answers in dicts for prompt in answers))
    labels = parse_group_labels(prompts, "prompts")
    if len(labels) < len(labels.codes):
        twice = int(np.argmax(np.bincount(labels.codes) > 1))
        raise ValueError(
            f"`prompts` has {short_repr(labels.labels[twice])} twice; give all answers to one "
            "prompt in one place, as a list"
        )
    return labels.labels


def _order_by_prompt(
    answers: Mapping[Any, object], prompts: Sequence[Hashable], name: str
) -> list[Any]:
    """Return the answer of a source to each prompt, None where it is missing."""
    known = set(prompts)
    for prompt in answers:
        if prompt not in known:
            raise ValueError(f"{name!r} answers {short_repr(prompt)}, which `prompts` lacks")
    return [answers.get(prompt) for prompt in prompts]


def _flatten_answers(
    answers: Samples, spec: SimilaritySpec, name: str
) -> tuple[Samples, np.ndarray, int]:
    """Return the samples of one source, the prompt code of each, and the number of prompts."""
    answers = as_samples(answers, name)
    prompts = num_samples(answers)
    codes = np.flatnonzero(~find_missing(answers, prompts))
    if not len(codes):
        raise ValueError(f"{name!r} has no answer; leave it out")
    if isinstance(answers, list):
        answers = take_samples(answers, codes)
        if any(isinstance(answer, list) for answer in answers):
            single = object if spec.has_callable_kernel else str  # becomes a list of one
            lists: list[Any] = [
                answer if isinstance(answer, list) or not isinstance(answer, single) else [answer]
                for answer in answers
            ]
            if spec.has_callable_kernel:
                return concatenate_samples(lists), np.repeat(codes, list(map(len, lists))), prompts
            answers = lists
    flat, groups = flatten_groups(answers, spec, stacks=True, name=name)
    return flat, codes if groups is None else codes[groups.codes], prompts
