"""Pictures of diversity: each function draws on matplotlib Axes, its own if none are given.

Colours and ink are those of the reader's style, which is not touched; nothing is shown or saved.
"""

from .comparisons import draws, profiles
from .diversity import profile, spectrum
from .explanations import contributions
from .magnitudes import magnitude
from .selections import selection
from .similarities import heat_map

__all__ = [
    "contributions",
    "draws",
    "heat_map",
    "magnitude",
    "profile",
    "profiles",
    "selection",
    "spectrum",
]
