"""The documented import path of `vendiscore.tools.plots`."""

from .support.suggestions import make_non_callable
from .tools.plots import *  # noqa: F403
from .tools.plots import __all__ as __all__

make_non_callable(__name__)
