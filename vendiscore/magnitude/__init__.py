"""The magnitude of metric spaces: the effective number of distinct points at each scale.

A scale t multiplies all distances.
"""

from ..support.suggestions import make_non_callable
from .area import mag_area, mag_areas, mag_diff
from .magnitude_functions import (
    convergence_scale,
    magnitude,
    magnitude_dimension,
    magnitude_function,
    magnitude_weights,
    spread,
)

__all__ = [
    "convergence_scale",
    "mag_area",
    "mag_areas",
    "mag_diff",
    "magnitude",
    "magnitude_dimension",
    "magnitude_function",
    "magnitude_weights",
    "spread",
]

make_non_callable(__name__)
