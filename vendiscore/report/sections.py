"""The documented import path of names of `vendiscore.tools.reports.sections`."""

from ..tools.reports.sections import Section

__all__ = ["Section"]
