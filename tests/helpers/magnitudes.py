"""The usual measures of the metric `magnitude`, without the metric."""

from typing import Any

from vendiscore.scoring.compute import measure
from vendiscore.scoring.request import magnitudes, read_request


def compute(samples: Any, references: Any = None, **how: Any) -> dict[str, Any]:
    return measure(samples, references, read_request(how, magnitudes, references))
