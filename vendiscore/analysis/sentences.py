"""The documented import path of `vendiscore.tools.analysis.sentences`."""

from ..tools.analysis.sentences import *  # noqa: F403
from ..tools.analysis.sentences import __all__ as __all__
