"""Samples as the web app shows them after reading, and the unusable ones among them."""

from collections.abc import Callable, Generator, Mapping
from itertools import islice
from typing import TypeVar

import numpy as np

from vendiscore import SampleError
from vendiscore.report import AskError, join_names, sentences

from ..aliases import Record
from ..inputs import uploads
from ..inputs.submission import KINDS, InputSettings, UserInput
from ..inputs.visitor_samples import Samples
from ..quotas import RefusedError
from . import kernel_menu
from .quality_columns import find_boolean_columns, find_numeric_columns
from .questions import list_questions

Value = TypeVar("Value")
Step = TypeVar("Step")
_MAX_SHOWN = 10
# Fields of samples that the page shows unchanged.
_UNCHANGED_FIELDS = (
    "kind",
    "draw",
    "unit",
    "name",
    "column",
    "by",
    "prompt_column",
    "separator",
    "text",
)
_PREVIEW, _PREVIEW_LENGTH = 3, 300  # samples, and characters of each


class UnusableError(RefusedError):
    """Some samples are unusable, and the user has not chosen to drop them."""

    def __init__(
        self, samples_by_name: Mapping[str, tuple[Samples, Mapping[int, str]]], item_name: str
    ) -> None:
        lines = [
            f"{name}{samples.describe_problem(i, problem)}"
            for name, (samples, problems) in samples_by_name.items()
            for i, problem in sorted(problems.items())
        ]
        total = sum(len(samples) for samples, _ in samples_by_name.values())
        self.summary: str = f"{len(lines):,} of {total:,} {item_name} cannot be used"
        remainder = [f"and {len(lines) - _MAX_SHOWN:,} more"] if len(lines) > _MAX_SHOWN else []
        self.lines: list[str] = lines[:_MAX_SHOWN] + remainder
        self.n_usable: int = total - len(lines)
        self.rows: str = "; ".join(
            f"{name}{samples.describe_locations(sorted(problems))}"
            for name, (samples, problems) in samples_by_name.items()
            if problems
        )
        advice = (
            f"Correct them, or continue with the other {self.n_usable:,}."
            if self.n_usable
            else "There are no usable samples."
        )
        super().__init__(f"{self.summary}: {'; '.join(self.lines)}. {advice}")

    def to_dict(self) -> Record:
        return {"lines": self.lines, "others": self.n_usable, "rows": self.rows}


def describe_dropped(samples: Samples, problems: Mapping[int, str]) -> tuple[str, ...]:
    """Return a note on the samples that were left out, if any were."""
    if not problems:
        return ()
    dropped = sorted(problems)
    suffix = "; …" if len(dropped) > 1 else "."
    description = (
        f"Not used: {len(dropped):,} of {len(samples):,} samples "
        f"({samples.describe_locations(dropped)}): "
        f"{samples.describe_problem(dropped[0], problems[dropped[0]])}{suffix}"
    )
    scored_groups = {label for i, label in enumerate(samples.groups) if i not in problems} | {""}
    unscored_groups = [
        str(label) for label in dict.fromkeys(samples.groups) if label not in scored_groups
    ]
    if not unscored_groups:
        return (description,)
    return (
        description,
        f"These groups have no usable samples and are not scored: {join_names(unscored_groups)}.",
    )


def run_on_usable(
    sets: Mapping[str, Samples],
    item_name: str,
    run: Callable[[dict[str, list[int]]], Generator[Step, None, Value]],
    leave_out: bool,
) -> Generator[Step, None, tuple[dict[str, dict[int, str]], Value]]:
    """Run a job on the usable samples; repeat it until all unusable samples are known."""
    problems_by_set = {name: dict(samples.problems) for name, samples in sets.items()}
    samples_by_name = {
        f"set {name}, " if name else "": (sets[name], problems_by_set[name]) for name in sets
    }
    while True:
        usable = {
            name: [i for i in range(len(samples)) if i not in problems_by_set[name]]
            for name, samples in sets.items()
        }
        if sets and not all(usable.values()):
            raise UnusableError(samples_by_name, item_name)
        try:
            result = yield from run(usable)
        except SampleError as error:
            origins = [(problems_by_set[name], i) for name in usable for i in usable[name]]
            for position, problem in error.problems.items():
                problems, i = origins[position]
                problems[i] = problem
            continue
        if any(problems_by_set.values()) and not leave_out:
            raise UnusableError(samples_by_name, item_name)
        return problems_by_set, result


def read(user_input: UserInput, settings: InputSettings) -> tuple[Record, Samples | None]:
    """Read samples; return what the page shows of them, or its question and None."""
    try:
        samples = uploads.read(user_input, settings)
    except AskError as error:
        return format_question(error), None
    return read_answer(samples), samples


def format_question(error: AskError) -> Record:
    choices = [{"label": name, "options": options} for name, options in error.choices]
    return {"question": {"text": error.question, "choices": choices}}


def read_answer(samples: Samples) -> Record:
    """Return what the page shows of samples that were read, before anything is scored."""
    usable = (i for i in range(len(samples)) if i not in samples.problems)
    problems = samples.problems
    error = UnusableError({"": (samples, problems)}, samples.kind) if problems else None
    roles = samples.all_roles.items()
    kernel, advice = _recommend_kernel(samples)
    return {
        **{name: getattr(samples, name) for name in _UNCHANGED_FIELDS},
        **{name: list(getattr(samples, name)) for name in ("kinds", "notes", "columns")},
        "kernel": kernel,
        "n": len(samples),
        "total": max(samples.total, len(samples)),
        "taken": samples.sentence,
        "said": _describe_counts(samples),
        "advice": advice,
        "preview": [_format_preview(samples, i) for i in islice(usable, _PREVIEW)],
        "groups": len(set(samples.sets or samples.groups) - {""}),
        "sets_by": samples.sets_by,
        "roles": {role: [column, len({*labels} - {""})] for role, (column, labels) in roles},
        "correct": samples.correct_by,
        "min_quality": samples.min_quality,
        # The columns that can be chosen as `correct`, and their default threshold.
        "correct_columns": [
            *((name, None) for name in find_boolean_columns(samples)),
            *find_numeric_columns(samples).items(),
        ],
        **list_questions(samples),
        "prompts": len(set(samples.prompts) - {""}),
        "splits": [{"value": value, "count": count} for value, count in samples.splits],
        "problems": error and {"count": len(problems), **error.to_dict()},
    }


def _recommend_kernel(samples: Samples) -> tuple[str, list[str]]:
    """Return the kernel for samples that the usual encoder does not suit, and a note on it.

    Both are empty for other samples.
    """
    if samples.kind not in KINDS:
        return "", []
    choice, reason = kernel_menu.default_choice(samples.kind, [samples])
    if not reason:
        return "", []
    default = kernel_menu.list_choices(samples.kind)[0]
    explanation = f"{reason}, and the model ({default.term}) is for English text"
    return choice.kernel, [
        f"By default, these texts are compared by {choice.term}, because {explanation}."
    ]


def _describe_counts(samples: Samples) -> str:
    """Describe how much was read: "20 rows, 0 unreadable, split by semicolons"."""
    n, n_problems = len(samples), len(samples.problems)
    count_text = f"{n:,} {samples.unit}{'s'[: n != 1]}"
    size_text = count_text
    if samples.total > n:
        size_text = f"random subset of {n:,} of {samples.total:,} {samples.unit}s"
    return ", ".join(filter(None, [size_text, f"{n_problems:,} unreadable", samples.how]))


def _format_preview(samples: Samples, i: int) -> object:
    value = samples.values[i]
    if isinstance(value, str):
        return value if len(value) <= _PREVIEW_LENGTH else f"{value[: _PREVIEW_LENGTH - 1]}…"
    if samples.kind == "images":
        return {"image": value.thumbnail}
    return sentences.format_row(np.ravel(value))
