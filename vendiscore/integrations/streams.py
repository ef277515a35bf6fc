"""Added samples that are summed up instead of kept, where a metric was loaded so that it can be.

A metric that was loaded with a kernel whose features can be added up, and for nothing but the Vendi
Score, needs no samples: a `State` of them has the same score. It stands among the batches that
are added as one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import scipy.sparse as sp

from ..arrays.inputs import as_samples
from ..resolve.group_labels import grouped
from ..scoring.request import Request
from ..streaming.configuration import Configuration, refused, settings_of
from ..streaming.state import FollowsFromDataError, State

KEEP = "load the metric with stream=False, which keeps samples, and add them anew"


def empty_state(request: Request) -> State | None:
    """The state that samples can be added to, or None if what is asked for needs them kept."""
    if unserved(request) or refused(request.how):
        return None
    return State(Configuration(settings_of(request.how), request.how))


def folded(
    empty: State | None,
    samples: Any,
    kept: Sequence[Any],
    groups: Any = None,
    request: Request | None = None,
) -> State | None:
    """The state of a batch that goes with those kept, or None if its samples are to be kept.

    They are where others are, where `request`, which is about to be computed, needs them, and
    where the first ones are groups, sparse rows, which have too many features to multiply with each
    other, or an option would follow from them.
    """
    if empty is None or samples is None or (kept and not is_stream(kept)):
        return None
    if not kept and request is not None and differing(empty, request):
        return None
    read = as_samples(samples)
    if not kept and sp.issparse(read):
        return None
    table = isinstance(read, list) and getattr(samples, "ndim", 1) == 2
    nested = groups is None and grouped(read, empty.how, table=table)[1] is not None
    if kept and (nested or groups is not None):
        raise TypeError(f"`samples` comes in groups, after others that were added up; {KEEP}")
    if nested or groups is not None:
        return None
    try:
        return empty.update([tuple(row) for row in read] if table else _detached(read))
    except FollowsFromDataError:
        if kept:
            raise
        return None


def _detached(samples: Any) -> Any:
    if isinstance(samples, list):
        return [_detached(one) if hasattr(one, "detach") else one for one in samples]
    return samples.detach() if hasattr(samples, "detach") else samples


def is_stream(batches: Sequence[Any]) -> bool:
    """Whether batches are states."""
    states = [isinstance(batch, State) for batch in batches]
    if any(states) and not all(states):
        raise TypeError(
            f"samples of some batches were kept and of others added up, since they are groups or "
            f"follow other options; load all metrics with the same keywords, and {KEEP}"
        )
    return any(states)


def unserved(request: Request) -> list[str]:
    """What a request asks for that follows from no state."""
    named = {
        "groups": request.groups is not None,
        "p": request.p is not None,
        "ci": request.ci is not None,
        "corrected": request.corrected,
        "method": request.estimating is not None,
    }
    measures = [each.measure.name for each in request.measures if each.measure.name != "VS"]
    asked = [f"`{name}`" for name, given in named.items() if given]
    return asked + ([f"`measures` {', '.join(measures)}"] if measures else [])


def differing(empty: State, request: Request) -> list[str]:
    """What a request asks for that the states of a metric cannot serve."""
    if asked := unserved(request):
        return asked
    if refused(request.how):
        return ["another `k`"]
    loaded, now = empty.settings, settings_of(request.how)
    names = [name for name in {**loaded, **now} if loaded.get(name) != now.get(name)]
    return ["another `k`"] if "kernel" in names else [f"another `{name}`" for name in names]


def check_served(empty: State | None, request: Request) -> None:
    """Raise a TypeError for what a metric cannot answer of samples that it has not kept."""
    asked = ["this"] if empty is None else differing(empty, request)
    if asked:
        raise TypeError(
            f"{', '.join(asked)} cannot be had of samples that were added up as they came, as they "
            f"are for the options that this metric was loaded with; {KEEP}"
        )


def scored(states: Sequence[Any], request: Request) -> dict[str, Any]:
    """What the sum of states gives of a request that was checked."""
    first, *others = states
    q = request.orders if request.several else request.orders[0]
    numbers: dict[str, Any] = first.merge(*others).compute(
        q, psd=request.psd, details=request.details
    )
    return numbers
