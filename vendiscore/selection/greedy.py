"""Choosing one sample after the other, and then exchanging one for another where that is better."""

from __future__ import annotations

import numpy as np

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
    fixed = set(constraints.initial)
    done = 0
    for _ in range(passes):
        losses = [objective.resolvent.loss(j) for j in range(len(objective.places))]
        tried = [objective.places[j] for j in np.argsort(losses)]
        before = done
        for member in track(tried, len(tried), "exchanging"):
            if member in fixed:
                continue
            j = objective.places.index(member)
            others = objective.places[:j] + objective.places[j + 1 :]
            allowed = constraints.open(others)
            allowed[member] = False
            x = objective.exchange(j, allowed)
            if x is not None:
                objective.swap(j, x)
                done += 1
        if done == before:
            break
    return done
