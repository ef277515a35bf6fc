"""Pictures of diversity: each function draws on matplotlib Axes, its own if none are given.

Colours and ink are those of the reader's style, which is not touched; nothing is shown or saved.
"""

from .comparisons import intervals, profiles
from .diversity import profile, spectrum
from .explanations import contributions
from .growth import growth
from .magnitudes import magnitude
from .selections import selection
from .similarities import heat_map

__all__ = [
    "contributions",
    "growth",
    "heat_map",
    "intervals",
    "magnitude",
    "profile",
    "profiles",
    "selection",
    "spectrum",
]
