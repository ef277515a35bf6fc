"""The usual measures of the metric `magnitude`, without the metric."""

from typing import Any

from vendiscore.scoring.compute import evaluate_request
from vendiscore.scoring.score_request import default_magnitude_measures, parse_request


def compute_magnitude(samples: Any, references: Any = None, **how: Any) -> dict[str, Any]:
    return evaluate_request(
        samples, references, parse_request(how, default_magnitude_measures, references)
    )
