"""Scores of groups: each by itself, their mean, and its standard error over groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.namespace import scalar
from ..errors import warn
from ..measures.evaluation import Chosen, measure_each
from ..measures.subject import Subject
from ..progress import track
from ..uncertainty.subsampling import mean_error, student
from .intervals import Sureness
from .request import Request

ALONE = (
    "Every group has one sample, and one sample alone scores the same whatever it is: pass several "
    "for each group (lm-eval: `repeats` and the filter `take_first_k`)."
)
# Groups that differ in size by this factor are said to.
UNLIKE = 2
# Prompts are many with a few answers each; so few groups of so many samples are models, say.
_FEW, _LARGE = 12, 20
SOURCES = "Groups this few and this large are often sources, such as models,"


def measure_groups(subject: Subject, request: Request) -> tuple[list[dict[str, Any]], Sureness]:
    """Return means of measures over groups, measures of all groups together, and their errors."""
    assert subject.groups is not None
    each = [chosen for chosen in request.measures if not chosen.measure.groups]
    _check_interval(len(subject.groups), request, each)
    found = Sureness(meaning="NAME_se is the standard error of the mean over the groups")
    if each and all(part.came == 1 for part in subject.parts):
        warn(ALONE)
        found.notes.append(ALONE)
    if any(chosen.measure.needs == "similarity" for chosen in each):
        _ = subject.similarity  # once for all, before groups are counted
    rows: list[list[dict[str, Any]]] = []
    found.table = []
    parts = zip(subject.groups.labels, subject.parts, strict=True)
    for label, part in track(parts, len(subject.groups), "scoring groups"):
        try:
            row = measure_each(part, each, request.suffixes)
        except Exception as error:
            error.add_note(f"this is about {part.name}")
            raise
        rows.append(row)
        numbers = {key: scalar(value) for own in row for key, value in own.items()}
        found.table.append({"group": label, "n": part.n} | numbers)
        if not request.details:
            part.forget()
    sizes = [row["n"] for row in found.table]
    scores: list[dict[str, Any]] = []
    for chosen in request.measures:
        if chosen.measure.groups:
            scores += measure_each(subject, [chosen], request.suffixes)
            continue
        place = each.index(chosen)
        # Of tensors a tensor, which can be differentiated.
        own = rows[0][place]
        scores.append({key: sum(row[place][key] for row in rows) / len(rows) for key in own})
        for key in own:
            values = np.array([row[key] for row in found.table])
            found.numbers[key] = _spread(values, chosen, sizes, request.ci)
        if request.ci is not None:
            found.methods[chosen.measure.name] = "student"
    found.notes += _notes(request, each, sizes)
    subject.notes += dict.fromkeys(note for part in subject.parts for note in part.notes)
    return scores, found


def _check_interval(n: int, request: Request, each: Sequence[Chosen]) -> None:
    if request.corrected:
        raise ValueError(
            "`corrected` is for one set of samples, and of groups there is a mean of scores as "
            "they are; leave it out, or score one group at a time"
        )
    if request.interval != "auto":
        raise ValueError(
            f"`interval={request.interval!r}` is for one set of samples, and with groups `ci` is "
            f"that of their mean; leave `interval` out"
        )
    if request.ci is not None and not each:
        raise ValueError(
            f"`ci` with groups is that of a mean over them, and {', '.join(request.of_groups)} is "
            f"of all groups together; add 'VS' to `measures`, or leave `ci` out"
        )
    if request.ci is not None and n < 2:
        raise ValueError(
            "`ci` with groups is that of a mean over them, and there is one group; pass two or "
            "more, or leave `ci` out"
        )


def _notes(request: Request, each: Sequence[Chosen], sizes: Sequence[int]) -> list[str]:
    """Return what to know of numbers of groups."""
    names = ", ".join(chosen.measure.name for chosen in each)
    notes = []
    if each:
        notes.append(f"Means over {len(sizes)} groups, which all count alike: {names}.")
    if each and max(sizes) >= UNLIKE * min(sizes):
        notes.append(
            f"Groups have {min(sizes)} to {max(sizes)} samples, and most scores are larger for "
            f"more samples: compare groups of one size."
        )
    if each and are_sources(sizes):
        notes.append(
            f"{SOURCES} and the mean over them says little: `compare`, with these labels as `by`, "
            f"says which source is more diverse, and how sure that is."
        )
    if request.ci is not None and request.of_groups:
        together = ", ".join(request.of_groups)
        notes.append(f"Of all groups together, and without an interval: {together}.")
    return notes


def are_sources(sizes: Sequence[int]) -> bool:
    """Return whether groups of these sizes are few and large, as models are and prompts are not."""
    return 1 < len(sizes) <= _FEW and sum(sizes) >= _LARGE * len(sizes)


def _spread(
    values: np.ndarray, chosen: Chosen, sizes: Sequence[int], level: float | None
) -> dict[str, float]:
    """Return the standard error of a mean, and its interval if there is a level."""
    if len(values) < 2:
        return {}
    if level is None:
        return {"se": mean_error(values)[1]}
    _, se, low, high = student(values, level)
    least, most = np.mean([chosen.measure.limits(size) for size in sizes], axis=0)
    return {"se": se, "low": max(low, float(least)), "high": min(high, float(most))}
