"""The documented import path of `vendiscore.tools.reports`; `vendiscore.report` is its function."""

from typing import TYPE_CHECKING

from ..tools.reports import __getattr__ as __getattr__
from ..tools.reports import report as report

if TYPE_CHECKING:
    from ..tools.reports import *  # noqa: F403
