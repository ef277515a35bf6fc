"""Choosing one sample after the other, and then exchanging one for another where that is better."""

from __future__ import annotations

import numpy as np

from ..progress import track
from .constraints import Constraints
from .objectives import Objective, Spectral

# How often all members are looked at; most exchanges are found the first two times.
ROUNDS = 8


def greedy(objective: Objective, constraints: Constraints) -> list[int]:
    """Return the places, each the best at its time, after those that are in from the start."""
    for step in track(range(constraints.size), constraints.size, "selecting"):
        if step < len(constraints.initial):
            objective.add(constraints.initial[step])
        else:
            objective.add(objective.best(constraints.open(objective.places)))
    return objective.places


def exchanged(objective: Spectral, constraints: Constraints, rounds: int = ROUNDS) -> int:
    """Exchange members for candidates while that raises the objective; return how many were.

    All members are looked at together; then the one that gains most comes first, if it still does.
    """
    fixed, done = set(constraints.initial), 0
    for _ in track(range(rounds), rounds, "exchanging"):
        places = np.array(objective.places)
        members = np.flatnonzero([place not in fixed for place in objective.places])
        if not len(members):
            break
        _, more = objective.exchanges(members, constraints.instead(objective.places, members))
        promising = members[np.argsort(-more)][: int((more > objective.least).sum())]
        before = done
        for place in places[promising]:
            j = objective.places.index(place)
            done += objective.exchange(j, constraints.instead(objective.places, np.array([j])))
        if done == before:
            break
    return done
