"""The metric as one of several in `evaluate.combine`, which tells all what is meant for one."""

from __future__ import annotations

import inspect
from typing import Any

import evaluate


def keywords_of_others(caller: Any, own: evaluate.EvaluationModule) -> frozenset[str] | None:
    """What other metrics of a suite may be told, or None if no suite is calling."""
    if not isinstance(caller, evaluate.CombinedEvaluations):
        return None
    modules = [each for each in caller.evaluation_modules if each is not own]
    return frozenset(
        name for each in modules for name in inspect.signature(each._compute).parameters
    )
