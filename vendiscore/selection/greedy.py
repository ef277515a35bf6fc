"""Choosing one sample after the other, and then exchanging one for another where that is better."""

from __future__ import annotations

from collections import deque

from ..progress import track
from .constraints import Constraints
from .objectives import Objective, Spectral

# How often all members are tried; most exchanges are found the first time.
PASSES = 4


def greedy(objective: Objective, constraints: Constraints) -> list[int]:
    """The places, each the best at its time, after those that are in from the start."""
    for step in track(range(constraints.size), constraints.size, "selecting"):
        if step < len(constraints.initial):
            objective.add(constraints.initial[step])
        else:
            objective.add(objective.best(constraints.open(objective.places)))
    return objective.places


def exchanged(objective: Spectral, constraints: Constraints, passes: int = PASSES) -> int:
    """Exchange members for candidates while that raises the objective; how many were."""
    free = [place for place in objective.places if place not in set(constraints.initial)]
    # Those that add least first; one that came in is tried again, after all others.
    losses = {v: objective.resolvent.loss(j) for j, v in enumerate(objective.places)}
    queue = deque(sorted(free, key=losses.__getitem__))
    done = failed = 0
    trials = passes * len(queue)
    for _ in track(range(trials), trials, "exchanging"):
        if failed == len(queue):
            break
        member = queue.popleft()
        j = objective.places.index(member)
        allowed = constraints.open(objective.places[:j] + objective.places[j + 1 :])
        allowed[member] = False
        x = objective.exchange(j, allowed)
        if x is None:
            failed += 1
        else:
            objective.swap(j, x)
            done, failed = done + 1, 0
        queue.append(member if x is None else x)
    return done
