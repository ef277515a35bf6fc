"""The documented import path of names of `vendiscore.tools.reports.document`."""

from ..tools.reports.document import Report, style

__all__ = ["Report", "style"]
