"""The documented import path of `vendiscore.tools.reports.thumbnails`."""

from ..tools.reports.thumbnails import *  # noqa: F403
from ..tools.reports.thumbnails import __all__ as __all__
