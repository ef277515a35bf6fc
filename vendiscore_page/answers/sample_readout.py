"""Samples as they were read: what the page shows of them, and which cannot be used."""

from collections.abc import Callable, Generator, Mapping
from itertools import islice
from typing import TypeVar

import numpy as np

from vendiscore import SampleError
from vendiscore.report import AskError, join_names, sentences

from ..aliases import Record
from ..inputs import uploads
from ..inputs.submission import KINDS, Asked, Given
from ..inputs.visitor_samples import Samples
from ..quotas import RefusedError
from . import kernel_menu
from .quality_columns import boolean_columns, numeric_columns
from .questions import questions

Value = TypeVar("Value")
Step = TypeVar("Step")
_SHOWN = 10
# Fields of samples that the page shows unchanged.
_PLAIN = ("kind", "draw", "unit", "name", "column", "by", "prompt_column", "separator", "text")
_PREVIEW, _LONGEST = 3, 300  # samples, and characters of each


class UnusableError(RefusedError):
    """Some samples cannot be used, and the visitor has not said to leave them out."""

    def __init__(self, found: Mapping[str, tuple[Samples, Mapping[int, str]]], what: str) -> None:
        lines = [
            f"{name}{samples.said(i, problem)}"
            for name, (samples, problems) in found.items()
            for i, problem in sorted(problems.items())
        ]
        total = sum(len(samples) for samples, _ in found.values())
        self.what: str = f"{len(lines):,} of {total:,} {what} cannot be used"
        more = [f"and {len(lines) - _SHOWN:,} more"] if len(lines) > _SHOWN else []
        self.each: list[str] = lines[:_SHOWN] + more
        self.others: int = total - len(lines)
        self.rows: str = "; ".join(
            f"{name}{samples.where(sorted(problems))}"
            for name, (samples, problems) in found.items()
            if problems
        )
        then = (
            f"Correct them, or continue with the other {self.others:,}."
            if self.others
            else "There are no usable samples."
        )
        super().__init__(f"{self.what}: {'; '.join(self.each)}. {then}")

    def to_dict(self) -> Record:
        return {"lines": self.each, "others": self.others, "rows": self.rows}


def left_out(samples: Samples, problems: Mapping[int, str]) -> tuple[str, ...]:
    """Return a note on the samples that were left out, if any were."""
    if not problems:
        return ()
    bad = sorted(problems)
    more = "; …" if len(bad) > 1 else "."
    said = (
        f"Not used: {len(bad):,} of {len(samples):,} samples ({samples.where(bad)}): "
        f"{samples.said(bad[0], problems[bad[0]])}{more}"
    )
    kept = {label for i, label in enumerate(samples.groups) if i not in problems} | {""}
    lost = [str(label) for label in dict.fromkeys(samples.groups) if label not in kept]
    if not lost:
        return (said,)
    return said, f"These groups have no usable samples and are not scored: {join_names(lost)}."


def sifted(
    sets: Mapping[str, Samples],
    what: str,
    run: Callable[[dict[str, list[int]]], Generator[Step, None, Value]],
    leave_out: bool,
) -> Generator[Step, None, tuple[dict[str, dict[int, str]], Value]]:
    """Run on the samples that can be used, so that all the others are known at once."""
    bad = {name: dict(samples.problems) for name, samples in sets.items()}
    found = {f"set {name}, " if name else "": (sets[name], bad[name]) for name in sets}
    while True:
        kept = {
            name: [i for i in range(len(samples)) if i not in bad[name]]
            for name, samples in sets.items()
        }
        if sets and not all(kept.values()):
            raise UnusableError(found, what)
        try:
            result = yield from run(kept)
        except SampleError as error:
            places = [(bad[name], i) for name in kept for i in kept[name]]
            for at, problem in error.problems.items():
                problems, i = places[at]
                problems[i] = problem
            continue
        if any(bad.values()) and not leave_out:
            raise UnusableError(found, what)
        return bad, result


def read(given: Given, asked: Asked) -> tuple[Record, Samples | None]:
    """Read samples; return what the page shows of them, or its question and None."""
    try:
        samples = uploads.read(given, asked)
    except AskError as error:
        return question(error), None
    return read_answer(samples), samples


def question(error: AskError) -> Record:
    choices = [{"label": name, "options": some} for name, some in error.choices]
    return {"question": {"text": error.question, "choices": choices}}


def read_answer(samples: Samples) -> Record:
    """Return what the page shows of samples that were read, before anything is scored."""
    usable = (i for i in range(len(samples)) if i not in samples.problems)
    bad = samples.problems
    error = UnusableError({"": (samples, bad)}, samples.kind) if bad else None
    roles = samples.all_roles.items()
    kernel, advice = _advised_kernel(samples)
    return {
        **{name: getattr(samples, name) for name in _PLAIN},
        **{name: list(getattr(samples, name)) for name in ("kinds", "notes", "columns")},
        "kernel": kernel,
        "n": len(samples),
        "total": max(samples.total, len(samples)),
        "taken": samples.sentence,
        "said": _said(samples),
        "advice": advice,
        "preview": [_shown(samples, i) for i in islice(usable, _PREVIEW)],
        "groups": len(set(samples.sets or samples.groups) - {""}),
        "sets_by": samples.sets_by,
        "roles": {role: [column, len({*labels} - {""})] for role, (column, labels) in roles},
        "correct": samples.correct_by,
        "min_quality": samples.min_quality,
        # The columns that can be chosen as `correct`, and their default threshold.
        "correct_columns": [
            *((name, None) for name in boolean_columns(samples)),
            *numeric_columns(samples).items(),
        ],
        **questions(samples),
        "prompts": len(set(samples.prompts) - {""}),
        "splits": [{"value": value, "count": count} for value, count in samples.splits],
        "problems": error and {"count": len(bad), **error.to_dict()},
    }


def _advised_kernel(samples: Samples) -> tuple[str, list[str]]:
    """Return the kernel for samples that the usual encoder does not suit, and a note on it.

    Both are empty for other samples.
    """
    if samples.kind not in KINDS:
        return "", []
    choice, reason = kernel_menu.default_choice(samples.kind, [samples])
    if not reason:
        return "", []
    usual = kernel_menu.choices(samples.kind)[0]
    because = f"{reason}, and the model ({usual.term}) is for English text"
    return choice.kernel, [
        f"By default, these texts are compared by {choice.term}, because {because}."
    ]


def _said(samples: Samples) -> str:
    """Say how much was read: "20 rows, 0 unreadable, split by semicolons"."""
    n, bad = len(samples), len(samples.problems)
    counted = f"{n:,} {samples.unit}{'s'[: n != 1]}"
    many = counted
    if samples.total > n:
        many = f"random subset of {n:,} of {samples.total:,} {samples.unit}s"
    return ", ".join(filter(None, [many, f"{bad:,} unreadable", samples.how]))


def _shown(samples: Samples, i: int) -> object:
    value = samples.values[i]
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"
    if samples.kind == "images":
        return {"image": value.thumbnail}
    return sentences.format_row(np.ravel(value))
