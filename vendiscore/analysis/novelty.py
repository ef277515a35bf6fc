"""The documented import path of names of `vendiscore.tools.analysis.novelty`."""

from ..tools.analysis.novelty import Novelty

__all__ = ["Novelty"]
