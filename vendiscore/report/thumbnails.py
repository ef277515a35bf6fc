"""The documented import path of `vendiscore.tools.reports.thumbnails`."""

from ..tools.reports.thumbnails import depicted, encoded, sketch, small, uri

__all__ = ["depicted", "encoded", "sketch", "small", "uri"]
