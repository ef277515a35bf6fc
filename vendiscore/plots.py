"""The documented import path of `vendiscore.tools.plots`."""

from .support.hints import refuse_calls
from .tools.plots import *  # noqa: F403
from .tools.plots import __all__ as __all__

refuse_calls(__name__)
