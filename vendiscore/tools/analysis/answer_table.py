"""Answers of several sources as a table with one row per answer."""

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
    """Table with one row per answer; missing answers have no row.

    Attributes
    ----------
    samples : list, array or Similarity
        The answers.
    names : tuple of str
        Names of the sources.
    prompts : tuple of labels
        The prompts; empty for sets without prompts.
    source : array of int of shape (n,)
        Source of each of the n answers, as a position in `names`.
    prompt : array of int of shape (n,)
        Prompt of each answer, as a position in `prompts`; 0 for sets without prompts.
    index : array of int of shape (n,)
        Index of each answer among all samples that the caller passed.
    """

    samples: Any
    names: tuple[str, ...]
    prompts: tuple[Hashable, ...]
    source: np.ndarray
    prompt: np.ndarray
    index: np.ndarray

    def select(self, rows: np.ndarray, samples: Similarity | None) -> "AnswerTable":
        """Return a table of some rows; `samples` are the answers in these rows."""
        return replace(
            self,
            samples=samples,
            source=self.source[rows],
            prompt=self.prompt[rows],
            index=self.index[rows],
        )

    def describe(self, row: int) -> str:
        """Describe the answer in a row for error messages."""
        prompt_description = (
            f" to prompt {short_repr(self.prompts[self.prompt[row]])}" if self.prompts else ""
        )
        return f"an answer of {self.names[self.source[row]]!r}{prompt_description}"


def tabulate_samples(
    samples: Samples, by: object, prompts: object, spec: SimilaritySpec
) -> AnswerTable:
    """Build the table of one list of samples; `by` and `prompts` have one label per sample."""
    samples = check_collection(samples, spec)
    if isinstance(samples, Similarity):
        (samples,) = build_set_similarities([samples], spec, ["answers"])
    n = samples.n if isinstance(samples, Similarity) else num_samples(samples)
    index = np.flatnonzero(~find_missing(samples, n))
    sources = parse_group_labels(by, "by", n).select(index)
    prompt_labels = GroupLabels((), np.zeros_like(index))
    if prompts is not None:
        prompt_labels = parse_group_labels(prompts, "prompts", n).select(index)
    names = tuple(format_labels(sources, "by"))
    _check_two_sources(names)
    if len(index) < n:
        samples = take_samples(samples, index)
    return AnswerTable(
        samples, names, prompt_labels.labels, sources.codes, prompt_labels.codes, index
    )


def tabulate_sets(sets: Samples, names: object, spec: SimilaritySpec) -> AnswerTable:
    """Build the table of one set of samples per source, without prompts."""
    samples = {}
    codes = []
    for name, of_source in _name_sources(sets, names).items():
        samples[name] = check_collection(of_source, spec, name)
        codes.append(np.zeros(num_samples(samples[name]), dtype=int))
    return _concatenate_sources(samples, (), codes)


def tabulate_answers(
    answers: Samples, prompts: object, names: object, spec: SimilaritySpec
) -> AnswerTable:
    """Build the table of answers to prompts, with one collection of answers per source."""
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
                f"{name!r} must have {len(labels)} items, one per prompt, got {counts[name]}; use "
                "None for missing answers"
            )
    a = min(counts, key=counts.__getitem__)
    b = max(counts, key=counts.__getitem__)
    if counts[a] < counts[b]:
        raise ValueError(
            f"sources must have the same number of items, one per prompt: {a!r} has {counts[a]} "
            f"and {b!r} has {counts[b]}; use None for missing answers, pass each source as a dict "
            f"from prompts to answers, or pass aligned=False if the samples do not answer prompts"
        )
    return _concatenate_sources(samples, range(counts[b]) if labels is None else labels, codes)


def _concatenate_sources(
    samples: Record, prompts: Sequence[Hashable], codes: Sequence[np.ndarray]
) -> AnswerTable:
    """Build the table from the samples by source name, and the prompt codes of their samples."""
    source = np.repeat(np.arange(len(codes)), list(map(len, codes)))
    rows = np.arange(len(source))
    flat = concatenate_samples(list(samples.values()))
    return AnswerTable(flat, tuple(samples), tuple(prompts), source, np.concatenate(codes), rows)


def find_missing(samples: Samples, n: int) -> np.ndarray:
    """Return a mask of the n samples: True for None, NaN and an empty list."""
    if not isinstance(samples, list):
        return np.zeros(n, dtype=bool)
    return np.array([_is_missing_answer(sample) for sample in samples])


def _is_missing_answer(sample: object) -> bool:
    """Return whether a source did not answer: None, NaN, NA or an empty list."""
    if isinstance(sample, list):
        return not sample
    may_be_missing = (
        sample is None or isinstance(sample, float) or type(sample).__name__ == "NAType"
    )
    return may_be_missing and is_missing(sample)


def _name_sources(answers: Any, names: object) -> Record:
    """Return a dict from source names to answers; raise unless there are at least two sources."""
    is_table = hasattr(answers, "columns") or hasattr(answers, "column_names")
    is_sequence = isinstance(answers, (list, tuple)) or hasattr(answers, "ndim")
    if not isinstance(answers, Mapping) and (is_table or not is_sequence):
        raise TypeError(
            f"`answers` must be a dict from sources to answers, or one list of answers per source, "
            f"got {type(answers).__name__}; for a table, pass its columns: sources(df['answer'], "
            f"df['prompt'], by=df['model'])"
        )
    by_source = name_sets(answers, names, "source")
    _check_two_sources(tuple(by_source))
    return by_source


def _check_two_sources(names: Sequence[str]) -> None:
    """Raise unless there are at least two sources."""
    if len(names) < 2:
        got = f"got only {names[0]!r}" if names else "got none"
        raise ValueError(
            f"`sources` requires at least two sources, {got}; add a source, or use `compute` to "
            f"score the answers of a single source"
        )


def _collect_prompts(prompts: object, by_source: Record) -> tuple[Hashable, ...] | None:
    """Return the prompts as labels, by default the keys of answers that are dicts.

    The result is None if there are neither `prompts` nor dicts of answers.
    """
    dicts = [answers for answers in by_source.values() if isinstance(answers, Mapping)]
    if prompts is None:
        if not dicts:
            return None
        prompts = list(dict.fromkeys(prompt for answers in dicts for prompt in answers))
    labels = parse_group_labels(prompts, "prompts")
    if len(labels) < len(labels.codes):
        twice = int(np.argmax(np.bincount(labels.codes) > 1))
        raise ValueError(
            f"`prompts` contains {short_repr(labels.labels[twice])} twice; pass each prompt once, "
            "with a list of all its answers"
        )
    return labels.labels


def _order_by_prompt(
    answers: Mapping[Any, object], prompts: Sequence[Hashable], name: str
) -> list[Any]:
    """List the answers of one source in the order of `prompts`; None for missing answers."""
    prompt_set = set(prompts)
    for prompt in answers:
        if prompt not in prompt_set:
            raise ValueError(
                f"{name!r} has an answer to {short_repr(prompt)}, which is not in `prompts`; add "
                "this prompt, or remove the answer"
            )
    return [answers.get(prompt) for prompt in prompts]


def _flatten_answers(
    answers: Samples, spec: SimilaritySpec, name: str
) -> tuple[Samples, np.ndarray, int]:
    """Flatten the answers of one source, which may include lists of answers to one prompt.

    Return the samples, the prompt codes of the samples, and the number of prompts.
    """
    answers = as_samples(answers, name)
    n_prompts = num_samples(answers)
    codes = np.flatnonzero(~find_missing(answers, n_prompts))
    if not len(codes):
        raise ValueError(f"{name!r} has no answers; remove this source")
    if isinstance(answers, list):
        answers = take_samples(answers, codes)
        if any(isinstance(answer, list) for answer in answers):
            if spec.has_callable_kernel:  # answers may have any type except list
                lists = [answer if isinstance(answer, list) else [answer] for answer in answers]
                counts = [len(answers_to_prompt) for answers_to_prompt in lists]
                return concatenate_samples(lists), np.repeat(codes, counts), n_prompts
            # `flatten_groups` expects only lists, so a single text becomes a list of one text.
            answers = [[answer] if isinstance(answer, str) else answer for answer in answers]
    flat_answers, groups = flatten_groups(answers, spec, stacks=True, name=name)
    answer_codes = codes if groups is None else codes[groups.codes]
    return flat_answers, answer_codes, n_prompts
