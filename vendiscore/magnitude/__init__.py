"""The magnitude of metric spaces: how many points can be told apart, at every scale."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..hints import refuse_calls

if TYPE_CHECKING:
    from .area import mag_area as mag_area
    from .area import mag_areas as mag_areas
    from .area import mag_diff as mag_diff
    from .function import convergence_scale as convergence_scale
    from .function import magnitude as magnitude
    from .function import magnitude_dimension as magnitude_dimension
    from .function import magnitude_function as magnitude_function
    from .function import magnitude_weights as magnitude_weights
    from .function import spread as spread

_AREAS = ("mag_area", "mag_areas", "mag_diff")
__all__ = [
    *_AREAS,
    "convergence_scale",
    "magnitude",
    "magnitude_dimension",
    "magnitude_function",
    "magnitude_weights",
    "spread",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{'area' if name in _AREAS else 'function'}", __name__), name)


refuse_calls(__name__)
