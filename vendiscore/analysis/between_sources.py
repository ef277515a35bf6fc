"""The documented import path of names of `vendiscore.tools.analysis.sources_result`."""

from ..tools.analysis.sources_result import Score, ScoreWithInterval, SourceRow, Sources

__all__ = ["Score", "ScoreWithInterval", "SourceRow", "Sources"]
