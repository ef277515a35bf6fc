"""Compute the default measures of the metric `magnitude` without `evaluate`."""

from typing import Any

from vendiscore.scoring.compute import evaluate_request
from vendiscore.scoring.score_request import default_magnitude_measures, parse_request


def compute_magnitude(samples: Any, references: Any = None, **options: Any) -> dict[str, Any]:
    return evaluate_request(
        samples, references, parse_request(options, default_magnitude_measures, references)
    )
