"""The documented import path of `vendiscore.tools.analysis.report_text`."""

from ..tools.analysis.report_text import *  # noqa: F403
from ..tools.analysis.report_text import __all__ as __all__
from ..tools.analysis.report_text import __getattr__ as __getattr__
