"""The documented import path of names of `vendiscore.tools.integrations.transformers`."""

from ..tools.integrations.transformers import DiversityCallback

__all__ = ["DiversityCallback"]
