"""Sums of added samples, which a metric keeps instead of the samples if its options allow it."""

from __future__ import annotations

from collections.abc import Sequence

from ..arrays import sparse as sp
from ..arrays.inputs import as_samples
from ..arrays.namespace import detached
from ..arrays.types import Samples
from ..resolve.group_labels import grouped
from ..scoring.request import Request
from ..streaming.configuration import refused, settings_of
from ..streaming.state import FollowsFromDataError, State

KEEP = "load the metric with stream=False, which keeps samples, and add them again"


def empty_state(request: Request) -> State | None:
    """Return the state that samples can be added to, or None if the request needs them kept."""
    if _unserved(request) or refused(request.how):
        return None
    return State.of_fields(settings_of(request.how), request.how)


def folded(
    empty: State | None,
    samples: Samples | None,
    kept: Sequence[object],
    groups: object = None,
    request: Request | None = None,
) -> State | None:
    """Return the state of a batch that goes with those kept, or None if samples are to be kept."""
    if empty is None or samples is None or (kept and not is_stream(kept)):
        return None
    if not kept and request is not None and _differing(empty, request):
        return None
    read = as_samples(samples)
    if not kept and sp.issparse(read):
        return None
    table = isinstance(read, list) and getattr(samples, "ndim", 1) == 2
    if groups is not None or grouped(read, empty.how, table=table)[1] is not None:
        if kept:
            raise TypeError(f"`samples` are in groups, but earlier samples were added up; {KEEP}")
        return None
    if table:
        read = [tuple(row) for row in read]
    else:
        read = list(map(detached, read)) if isinstance(read, list) else detached(read)
    try:
        return empty.changed().update(read)
    except FollowsFromDataError:
        if kept:
            raise
        return None


def is_stream(batches: Sequence[object]) -> bool:
    """Return whether batches are states."""
    states = [isinstance(batch, State) for batch in batches]
    if any(states) and not all(states):
        raise TypeError(
            "samples of some batches were kept and others were added up, since they are in groups "
            f"or have other options; load all metrics with the same keywords, and {KEEP}"
        )
    return any(states)


def _unserved(request: Request) -> list[str]:
    """Return the arguments of a request whose results follow from no state."""
    named = {
        "groups": request.groups is not None,
        "p": request.p is not None,
        "prompts": request.how.prompts is not None,
        "ci": request.ci is not None,
        "method": request.estimating is not None,
    }
    measures = [each.measure.name for each in request.measures if each.measure.name != "VS"]
    asked = [f"`{name}`" for name, given in named.items() if given]
    return asked + ([f"`measures` {', '.join(measures)}"] if measures else [])


def _differing(empty: State, request: Request) -> list[str]:
    """Return the arguments of a request that the states of a metric cannot serve."""
    if asked := _unserved(request):
        return asked
    if refused(request.how):
        return ["another `k`"]
    loaded, now = empty.settings, settings_of(request.how)
    names = [name for name in {**loaded, **now} if loaded.get(name) != now.get(name)]
    return ["another `k`"] if "kernel" in names else [f"another `{name}`" for name in names]


def check_served(empty: State | None, request: Request) -> None:
    """Raise a TypeError if a request needs samples that were not kept."""
    asked = ["this"] if empty is None else _differing(empty, request)
    if asked:
        raise TypeError(
            f"{', '.join(asked)} cannot be computed from samples that were added up on arrival, as "
            f"the options of this metric request; {KEEP}"
        )
