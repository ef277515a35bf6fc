"""The documented import path of names of `vendiscore.tools.analysis.layout`."""

from ..tools.analysis.layout import clustered_order

__all__ = ["clustered_order"]
