"""The documented import path of `vendiscore.tools.reports`; `vendiscore.report` is its function."""

from typing import TYPE_CHECKING

from ..tools.reports import __getattr__, report  # noqa: F401

if TYPE_CHECKING:
    from ..tools.reports import *  # noqa: F403
