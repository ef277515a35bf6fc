"""Questions that the columns of a table can answer, and what to ask the server for each."""

from collections import Counter
from collections.abc import Sequence

from vendiscore.scoring.subsampling import MIN_SAMPLES
from vendiscore.tools.reading.names import CORRECT_NAMES, is_named

from ..aliases import Options, Record
from ..inputs.submission import ONE_SET, ONE_TEXT, SETS
from ..inputs.visitor_samples import FILE, Samples
from ..quotas import MAX_SETS
from .different_sources import have_common_prompts
from .group_lists import can_compare_within
from .quality_columns import find_boolean_columns

_MAX_NAME_LENGTH = 40  # characters of the name of a column on a button
_MAX_NAMES = 3  # names on a button


def list_questions(samples: Samples) -> Record:
    """Return a table's questions, each with how its samples are read, and notes on the others.

    `current` is the label of the question that the samples answer as they were read, or None.
    """
    if samples.files:
        return _list_file_questions(samples)
    if not (samples.roles or samples.wide or samples.groups):
        return {"questions": [], "unasked": [], "current": None}
    n, notes = len(samples), list[str]()
    alone = {"by": None, "sets": None}
    many = f"{n:,} of {samples.total:,}" if samples.total > n else f"all {n:,}"
    pool = alone | {"pool": True}
    asked: list[Record] = [_build_question(f"Score {many} {samples.unit}s", pool)]
    column, prompts = _get_role(samples, "prompt")
    prompt_counts = Counter(label for label in prompts if label)
    if 2 <= len(prompt_counts) < sum(prompt_counts.values()) and not samples.wide:
        label = f"Score each of {len(prompt_counts):,} {_format_plural('prompt', column)}"
        asked.append(_build_question(label, alone | {"by": column}))
    if samples.wide:
        many = f"Score the answers of each row (one model, {len(samples.wide)} answers per prompt)"
        asked.append(
            _build_question(many, alone | {"answers": True, "pool": False, "column": None})
        )
        how = {"wide": True, "answers": False, "column": None, "sets": "model", "by": None}
        how |= {"prompts": None}
        asked.append(_build_question(f"Compare the columns {_join_names(samples.wide)}", how, True))
    for role in ("model", "label"):
        if role in samples.roles:
            found, why = _list_set_questions(samples, role)
            asked += found
            notes += why
    asked.append(_build_question("Find near-duplicates", pool, show="clusters"))
    asked.append(_build_question(f"Select diverse {samples.unit}s", pool, show="subset"))
    current = next(
        (prompt_counts["label"] for prompt_counts in asked if _is_answered(prompt_counts, samples)),
        None,
    )
    return {"questions": asked, "unasked": notes, "current": current}


def _list_file_questions(samples: Samples) -> Record:
    """Return what can be asked of several text files."""
    n = len(samples.files)
    asked = [_build_question(f"Score {n:,} texts, one per file", {"files": ONE_TEXT})]
    if n <= MAX_SETS:
        label = f"Which of the {n} files is most diverse?"
        asked.append(_build_question(label, {"files": SETS}, True))
    asked.append(_build_question("Score the texts of all files together", {"files": ONE_SET}))
    is_one_text = samples.unit == FILE
    files = ONE_TEXT if is_one_text else SETS if samples.sets_by == FILE else ONE_SET
    current = next(each["label"] for each in asked if each["options"]["files"] == files)
    return {"questions": asked, "unasked": [], "current": current}


def _is_answered(question: Record, samples: Samples) -> bool:
    """Return whether samples have the sets and groups that a question needs."""
    options = question["options"]
    if "wide" in options:
        return False
    if "answers" in options:
        by = samples.by or _get_role(samples, "prompt")[0]
        return (
            bool(samples.groups) and by == _get_role(samples, "prompt")[0] and not samples.sets_by
        )
    if options["sets"] != samples.sets_by:
        return False
    if question["compares"]:
        # Prompts that were detected are not used if models cannot be compared within them.
        return samples.by in (options["by"], _get_role(samples, "prompt")[0])
    return samples.by == options["by"] and bool(samples.groups) == bool(samples.by)


def _list_set_questions(samples: Samples, role: str) -> tuple[list[Record], list[str]]:
    """Return what can be asked of the models, or of the values of a label, and notes."""
    column, labels = _get_role(samples, role)
    sizes = Counter(label for label in labels if label)
    many, notes = _format_plural(role, column), []
    if missing := len(labels) - sum(sizes.values()):
        empty = f"{missing:,} {samples.unit}{'s'[: missing != 1]}"
        notes.append(f"{empty} without a {role} will not be used in analyses of {many}.")
    if len(sizes) == 1:
        only = f"“{next(iter(sizes)):.{_MAX_NAME_LENGTH}}”"
        notes.append(f"There is only one {role}, {only}; a comparison requires at least two.")
        return [], notes
    counts = Counter(samples.roles[role][1])
    sizes = Counter({label: counts[label] for label in sizes})
    if len(sizes) > MAX_SETS or min(sizes.values()) < MIN_SAMPLES:
        reason = f"there are {len(sizes):,}, more than {MAX_SETS}"
        if len(sizes) <= MAX_SETS:
            smallest = min(sizes, key=lambda label: sizes[label])
            reason = (
                f"“{smallest:.{_MAX_NAME_LENGTH}}” has fewer than {MIN_SAMPLES} {samples.unit}s"
            )
        notes.append(f"The {many} cannot be compared here: {reason}.")
        group_options = {"by": column, "sets": None}
        return [_build_question(f"Score each of {len(sizes):,} {many}", group_options)], notes
    options = {"sets": column, "by": _find_prompt_column(samples, labels), "prompts": None}
    options |= {"correct": None, "min_quality": None}
    result = [_build_question(f"Which of the {len(sizes)} {many} is most diverse?", options, True)]
    correct = [name for name in find_boolean_columns(samples) if is_named(name, CORRECT_NAMES)]
    if options["by"] and correct:
        label = f"Which of the {len(sizes)} {many} is most diverse among correct answers?"
        result.append(_build_question(label, options | {"correct": correct[0]}, True, "quality"))
    if samples.kind != "texts" or _have_common_prompts(samples, role):
        result.append(
            _build_question(f"What is the effective number of {many}?", options, True, "sources")
        )
    return result, notes


def _get_role(samples: Samples, role: str) -> tuple[str, Sequence[str]]:
    """Return the column of a role and the labels of all rows, also of those not drawn."""
    return samples.all_roles.get(role, ("", ()))


def _find_prompt_column(samples: Samples, labels: Sequence[str]) -> str | None:
    """Return the column of prompts if sets can be compared within prompts."""
    column, prompts = _get_role(samples, "prompt")
    return column if can_compare_within(labels, prompts) else None


def _have_common_prompts(samples: Samples, role: str) -> bool:
    """Return whether each two sets have answers to a prompt in common."""
    labels, prompts = samples.roles[role][1], samples.asked
    if samples.total > len(samples) and "prompt" in samples.all_roles:
        labels, prompts = (samples.all_roles[role_name][1] for role_name in (role, "prompt"))
    prompts_by_label: dict[str, set[str]] = {label: set() for label in labels if label}
    for label, prompt in zip(labels, prompts, strict=False):
        if label:
            prompts_by_label[label].add(prompt)
    return have_common_prompts(prompts_by_label.values())


def _join_names(names: Sequence[str]) -> str:
    short = [f"“{name:.{_MAX_NAME_LENGTH}}”" for name in names]
    if len(short) > _MAX_NAMES:
        return f"{short[0]} to {short[-1]}"
    return f"{', '.join(short[:-1])} and {short[-1]}"


def _format_plural(role: str, column: str) -> str:
    """Return the plural of a role; the values of a label have the name of their column."""
    return f"{role}s" if role != "label" else f"groups by “{column:.{_MAX_NAME_LENGTH}}”"


def _build_question(label: str, options: Options, compares: bool = False, show: str = "") -> Record:
    return {"label": label, "options": dict(options), "compares": compares, "show": show}
