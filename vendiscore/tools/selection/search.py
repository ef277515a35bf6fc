"""Greedy selection, followed by swaps of selected samples for other candidates."""

import math
from typing import TypeAlias

import numpy as np

from ...support.errors import warn
from ...support.progress import Counts, run_with_progress, track
from .facility_location import FacilityLocation
from .vendi_objective import VendiObjective

# Maximum number of rounds of swaps. A round evaluates all selected samples, the members of the set.
# The first two rounds find most swaps.
MAX_ROUNDS = 8
# With many candidates, the search ends after a round that raised log VS by less than
# MIN_ROUND_GAIN, and a round evaluates only the MAX_SWAPPED_MEMBERS members whose removal lowers
# the score least. In tests with 1,000 members, all useful swaps were among 50 of them.
MIN_ROUND_GAIN = 1e-4
MAX_SWAPPED_MEMBERS = 512

Objective: TypeAlias = VendiObjective | FacilityLocation


def select_greedily(objective: Objective) -> bool:
    """Add the best candidate until the set is complete; return True after Ctrl-C."""
    constraints = objective.constraints
    initial = constraints.initial
    size = constraints.size
    try:
        for step in track(range(size), size, "selecting"):
            if step < len(initial):
                objective.add(initial[step])
            else:
                allowed = constraints.allowed(objective.selected)
                objective.add(objective.best_candidate(allowed))
    except KeyboardInterrupt:
        if len(objective.selected) <= len(initial):
            raise
        warn(
            f"interrupted: the result contains the first {len(objective.selected):,} of {size:,} "
            f"samples, selected greedily without swaps"
        )
        return True
    return False


def swap_members(objective: VendiObjective) -> tuple[int, bool]:
    """Swap selected samples for candidates while this raises the objective.

    Return the number of swaps, and whether Ctrl-C ended the search.
    """
    n_swaps = [0]
    size = objective.constraints.size
    try:
        run_with_progress(_swap_rounds(objective, n_swaps), MAX_ROUNDS * size, "swapping")
    except KeyboardInterrupt:
        warn(
            f"interrupted: the result contains all {size:,} samples, but the search stopped after "
            f"{n_swaps[0]:,} swaps; more swaps might raise the score"
        )
        return n_swaps[0], True
    return n_swaps[0], False


def _swap_rounds(objective: VendiObjective, n_swaps: list[int]) -> Counts[None]:
    """Swap members in rounds, the most promising first, and count the swaps in `n_swaps[0]`."""
    initial = objective.constraints.initial
    size = objective.constraints.size
    last_gain = math.inf
    for r in range(MAX_ROUNDS):
        yield r * size
        members = np.flatnonzero(~np.isin(objective.selected, initial))
        if not len(members):
            return
        objective.refresh_candidates()
        if objective.has_untracked and last_gain < MIN_ROUND_GAIN * size:
            return
        if objective.has_untracked and len(members) > MAX_SWAPPED_MEMBERS:
            by_loss = np.argsort(objective.removal_losses(members), kind="stable")
            members = members[by_loss[:MAX_SWAPPED_MEMBERS]]
        selected = np.array(objective.selected)
        _, gains = objective.swap_gains(members)
        promising = members[np.argsort(-gains)]
        promising = promising[: np.count_nonzero(gains > objective.min_swap_gain)]
        n_before = n_swaps[0]
        phi = objective.phi
        for i, index in enumerate(selected[promising]):
            j = objective.selected.index(index)
            n_swaps[0] += objective.swap(j)
            yield r * size + i * size // len(promising)
        if n_swaps[0] == n_before:
            return
        if objective.quality_tradeoff is None:
            last_gain = objective.phi - phi
