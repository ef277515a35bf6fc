"""Plots of scores, similarities and sources with matplotlib.

Each function draws on the Axes `ax`, or on those of a new pyplot figure if `ax` is omitted. Colours
follow the matplotlib style of the user. No function shows or saves a figure.

>>> from matplotlib.figure import Figure
>>> from vendiscore import plots
>>> ax = plots.spectrum([0.5, 0.3, 0.2], ax=Figure().add_subplot())
>>> [float(bar.get_height()) for bar in ax.patches]
[50.0, 30.0, 20.0]
"""

from ...support.suggestions import make_non_callable
from .curves import growth, intervals, magnitude, monitor, profile, selection
from .labelled_map import source_map
from .phrase_bars import phrases
from .set_structure import contributions, heat_map, spectrum

__all__ = [
    "contributions",
    "growth",
    "heat_map",
    "intervals",
    "magnitude",
    "monitor",
    "phrases",
    "profile",
    "selection",
    "source_map",
    "spectrum",
]

make_non_callable(__name__)
