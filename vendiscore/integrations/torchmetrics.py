"""The documented import path of names of `vendiscore.tools.integrations.torchmetrics`."""

from ..tools.integrations.torchmetrics import VendiScore

__all__ = ["VendiScore"]
