"""Samples that cannot be used: all of them at once, by their rows, and a score of the others."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from itertools import islice
from typing import TypeVar

from ...errors import SampleError
from ...reading.samples import Samples
from ...reading.tables import join_names
from ..quotas import RefusedError
from .group_lists import emptied

Value = TypeVar("Value")
Step = TypeVar("Step")
_SHOWN = 10


class UnusableError(RefusedError):
    """Some samples cannot be used, and the visitor has not said to leave them out.

    `what` counts them, `each` has a line for each of the first, `others` is how many are left, and
    `rows` says where they are: "lines 23–27".
    """

    def __init__(self, found: Mapping[str, tuple[Samples, Mapping[int, str]]], what: str) -> None:
        bad = sum(len(problems) for _, problems in found.values())
        all_ = sum(len(samples) for samples, _ in found.values())
        self.what = f"{bad:,} of {all_:,} {what} cannot be used"
        self.each = list(islice(unusable(found), _SHOWN))
        if bad > _SHOWN:
            self.each.append(f"and {bad - _SHOWN:,} more")
        self.others = all_ - bad
        self.rows = "; ".join(
            f"{name}{samples.where(sorted(problems))}"
            for name, (samples, problems) in found.items()
            if problems
        )
        then = (
            f"Correct them, or leave them out to score the others ({self.others:,})."
            if self.others
            else "None is left to score."
        )
        super().__init__(f"{self.what}: {'; '.join(self.each)}. {then}")


def unusable(found: Mapping[str, tuple[Samples, Mapping[int, str]]]) -> Iterable[str]:
    """A line for each sample that cannot be used, by the name of its set."""
    for name, (samples, problems) in found.items():
        for i, problem in sorted(problems.items()):
            yield f"{name}{samples.said(i, problem)}"


def left_out(samples: Samples, problems: Mapping[int, str]) -> tuple[str, ...]:
    """A note on the samples that were left out, if any were."""
    if not problems:
        return ()
    first = next(iter(unusable({"": (samples, problems)})))
    said = (
        f"Left out {len(problems):,} of {len(samples):,} ({samples.where(sorted(problems))}): "
        f"{first}{'; …' if len(problems) > 1 else '.'}"
    )
    if not (lost := emptied(samples.groups, problems)):
        return (said,)
    return (
        said,
        f"Nothing is left of these groups, which are not scored: {join_names(map(str, lost))}.",
    )


def sifted(
    sets: Mapping[str, Samples],
    what: str,
    run: Callable[[dict[str, list[int]]], Generator[Step, None, Value]],
    leave_out: bool,
) -> Generator[Step, None, tuple[dict[str, dict[int, str]], Value]]:
    """Run on the samples that can be used, so that all the others are known at once."""
    bad = {name: dict(samples.problems) for name, samples in sets.items()}
    while True:
        kept = {
            name: [i for i in range(len(samples)) if i not in bad[name]]
            for name, samples in sets.items()
        }
        found = {
            f"set {name}, " if name else "": (samples, bad[name]) for name, samples in sets.items()
        }
        if sets and not all(kept.values()):
            raise UnusableError(found, what)
        try:
            result = yield from run(kept)
        except SampleError as error:
            places = [(name, i) for name in kept for i in kept[name]]
            for at, problem in error.problems.items():
                name, i = places[at]
                bad[name][i] = problem
            continue
        if any(bad.values()) and not leave_out:
            raise UnusableError(found, what)
        return bad, result
