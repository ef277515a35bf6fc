"""The documented import path of names of `vendiscore.tools.analysis.phrase_costs`."""

from ..tools.analysis.phrase_costs import *  # noqa: F403
from ..tools.analysis.phrase_costs import __all__ as __all__
