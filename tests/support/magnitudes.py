"""The usual measures of the metric `magnitude`, without the metric."""

from typing import Any

from vendiscore.request import magnitudes, read_request
from vendiscore.scoring import measure


def compute(samples: Any, references: Any = None, **how: Any) -> dict[str, Any]:
    return measure(samples, references, read_request(how, magnitudes, references))
