"""Search for a selection: one sample at a time, then exchanges of members for candidates."""

import math
from typing import TypeAlias

import numpy as np

from ...support.errors import warn
from ...support.progress import Counts, run_with_progress, track
from .objectives import Spectral
from .representatives import Cover

# Number of times that all members are looked at; the first two find most exchanges.
ROUNDS = 8
# With many candidates, rounds end that raise log VS by less, and so many members are looked at, the
# ones that the set would miss least: of 1,000, all whose exchange was worth it were among 50.
ENDS = 1e-4
MEMBERS = 512

Objective: TypeAlias = Spectral | Cover


def greedy(objective: Objective) -> bool:
    """Choose samples, each the best at its time; return whether Ctrl-C stopped it."""
    constraints = objective.constraints
    first = constraints.initial
    size = constraints.size
    try:
        for step in track(range(size), size, "selecting"):
            if step < len(first):
                objective.add(first[step])
            else:
                objective.add(objective.best(constraints.open(objective.places)))
    except KeyboardInterrupt:
        if len(objective.places) <= len(first):
            raise
        warn(
            f"interrupted: {len(objective.places):,} of {size:,} samples are chosen, the first of "
            f"a greedy choice, and none was exchanged"
        )
        return True
    return False


def exchanged(objective: Spectral) -> tuple[int, bool]:
    """Exchange members while that helps; return how many were, and whether Ctrl-C stopped it."""
    done = [0]
    size = objective.constraints.size
    try:
        run_with_progress(_rounds(objective, done), ROUNDS * size, "exchanging")
    except KeyboardInterrupt:
        warn(
            f"interrupted: all {size:,} samples are chosen, and exchanges ended after {done[0]:,}; "
            f"more might raise the score"
        )
        return done[0], True
    return done[0], False


def _rounds(objective: Spectral, done: list[int]) -> Counts[None]:
    """Exchange members, the best exchanges first, in rounds; count them in `done`."""
    fixed = objective.constraints.initial
    size = objective.constraints.size
    raised = math.inf
    for r in range(ROUNDS):
        yield r * size
        members = np.flatnonzero(~np.isin(objective.places, fixed))
        if not len(members):
            return
        objective.follow()
        if objective.has_many and raised < ENDS * size:
            return
        if objective.has_many and len(members) > MEMBERS:
            least_missed = np.argsort(objective.losses(members), kind="stable")
            members = members[least_missed[:MEMBERS]]
        places = np.array(objective.places)
        _, more = objective.exchanges(members)
        promising = members[np.argsort(-more)]
        promising = promising[: np.count_nonzero(more > objective.least)]
        before = done[0]
        total = objective.total
        for i, place in enumerate(places[promising]):
            j = objective.places.index(place)
            done[0] += objective.exchange(j)
            yield r * size + i * size // len(promising)
        if done[0] == before:
            return
        if objective.merit is None:
            raised = objective.total - total
