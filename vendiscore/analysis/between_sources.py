"""The documented import path of names of `vendiscore.tools.analysis.between_sources`."""

from ..tools.analysis.between_sources import Score, SourceRow, Sources

__all__ = ["Score", "SourceRow", "Sources"]
