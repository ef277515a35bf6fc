"""Alternatives that answer the question about an ambiguous file, each tried before it is offered.

An alternative is kept if reading the file with it returns usable samples, or leads to another
question that has such an alternative.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from types import MappingProxyType

import numpy as np

from ...support.types import Options, Record
from .limits import AskError, RefusedError
from .samples import Samples

MAX_ALTERNATIVES = 12
_MAX_SECONDS = 10.0  # after which no further alternative of a large file is tried
_MAX_QUESTIONS = 3  # that follow each other, for example about the column and then its sets
_MAX_PARSED_MOLECULES = 200
_MAX_MATRIX_SIZE = 1_000  # rows of a similarity matrix that is scored to try it

# Read the file with options. Return the samples, and further options that the caller requires to
# use them; raise an error if the file cannot be read or used.
Read = Callable[[Options], tuple[Samples, Options]]
# Complete the options of an answer to a question: one or more alternatives, or none if the caller
# does not support this answer.
Expand = Callable[[AskError, Options], Sequence[Record]]


@dataclass(frozen=True)
class Alternative:
    """A way to read an ambiguous file that has been tried.

    `label` is the answer to the question, `options` are options of reading, and `skips` says
    whether some of the samples are unusable and must be dropped.
    """

    label: str
    options: Record
    skips: bool = False


def find_alternatives(
    question: AskError, expand: Expand, read: Read
) -> tuple[list[Alternative], str]:
    """Return the alternatives that work, in the order of the question.

    The second item says why the first of the others does not work; it is "" if all of them work.
    At most 12 alternatives are returned, and fewer if trying them takes more than ten seconds.
    """
    deadline = monotonic() + _MAX_SECONDS
    working: list[Alternative] = []
    reason = ""
    for label, answer in question.choices:
        for options in expand(question, answer):
            if len(working) == MAX_ALTERNATIVES or (working and monotonic() > deadline):
                return working, reason
            result = _try(options, question, expand, read, deadline, _MAX_QUESTIONS)
            if isinstance(result, str):
                reason = reason or result
            else:
                working.append(replace(result, label=label))
    return working, reason


def _try(
    options: Options,
    question: AskError,
    expand: Expand,
    read: Read,
    deadline: float,
    n_questions: int,
) -> Alternative | str:
    """Read the file with `options`; return an alternative, or why it does not work.

    `question` is the one that the options answer, and `n_questions` the number of questions that
    may still follow.
    """
    try:
        samples, further_options = read(options)
    except AskError as error:
        if error.question == question.question or not n_questions:
            return error.question
        answers = (more for _, answer in error.choices for more in expand(error, answer))
        for answer in answers:
            result = _try({**options, **answer}, error, expand, read, deadline, n_questions - 1)
            if isinstance(result, Alternative):
                return Alternative("", dict(options))
            if monotonic() > deadline:
                break
        return error.question
    except (RefusedError, OSError) as error:
        return str(error)
    problems = find_unusable(samples, options)
    if not len(samples):
        return "no samples found"
    if 2 * len(problems) > len(samples):
        first = min(problems)
        return f"{samples.place(first)} {problems[first]}"
    return Alternative("", {**options, **further_options}, bool(problems))


def find_unusable(samples: Samples, options: Options = MappingProxyType({})) -> dict[int, str]:
    """Return what is wrong with samples that the default kernel for their type cannot compare.

    `options` are those with which they were read. They say whether the samples are rows of a
    similarity matrix.
    """
    problems = dict(samples.problems)
    values = samples.values
    if options.get("matrix") or options.get("distances"):
        problem = ""
        if len(values) <= _MAX_MATRIX_SIZE:
            problem = _check_matrix(np.asarray(values), bool(options.get("normalize")))
        return dict.fromkeys(range(len(values)), problem) if problem else problems
    if samples.kind == "vectors" and isinstance(values, np.ndarray) and values.ndim == 2:
        zero_rows = np.flatnonzero(~values.any(axis=1)).tolist()
        problems |= dict.fromkeys(zero_rows, "is a vector of zeros")
    elif samples.kind in ("texts", "sequences"):
        for i, text in enumerate(values):
            if isinstance(text, str) and not text.strip():
                problems.setdefault(i, "is empty")
    elif samples.kind == "molecules":
        problems |= _find_invalid_molecules(values)
    return problems


def _check_matrix(K: np.ndarray, normalize: bool) -> str:
    """Return why a matrix cannot be scored as similarities, or ""."""
    from ...scoring.scores import score_K

    try:
        score_K(K, normalize=normalize)
    except ValueError as error:
        return str(error)
    return ""


def _find_invalid_molecules(molecules: Sequence[object]) -> dict[int, str]:
    """Return what is wrong with molecules that RDKit cannot parse; none if it is not installed."""
    try:
        from ...kernels.molecules import find_invalid_molecules

        return find_invalid_molecules(molecules[:_MAX_PARSED_MOLECULES])
    except ImportError:
        return {}


def expand_answer(
    answer: Options,
    detected: Mapping[str, str],
    *,
    supported: Collection[str],
    needs_sets: bool = False,
) -> list[Record]:
    """Complete an answer to a question by the columns that were detected before.

    A column that groups samples can define sets (the option `by`) or groups (`group_by`), each of
    which is an alternative. `detected` maps options such as "prompts" to detected columns.
    `supported` are the options that the caller has; with `needs_sets`, it requires several sets.
    """
    columns = {name: column for name, column in detected.items() if column and name in supported}
    prompts = {name: column for name, column in columns.items() if name == "prompts"}
    rest = {name: value for name, value in answer.items() if name not in ("pool", "group_by")}
    if rest.pop("separator", None):  # of the web app for one text per line
        rest["type"] = "txt"
    if answer.get("pool"):
        if needs_sets:
            return []
        # With detected columns of prompts, all rows can also be one set without the column in
        # question.
        return [*([rest | columns] if prompts else []), rest | {"pool": True}]
    if column := answer.get("group_by"):
        alternatives = []
        if "by" in supported:
            alternatives.append(rest | {"by": column} | prompts)
        if "group_by" in supported and not needs_sets:
            alternatives.append(rest | {"group_by": column} | columns)
        return alternatives
    if needs_sets and "subfolders" in answer:  # this reads all subfolders as one set
        return []
    return [rest]
