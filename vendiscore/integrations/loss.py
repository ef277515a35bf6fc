"""The documented import path of names of `vendiscore.tools.integrations.loss`."""

from ..tools.integrations.loss import VendiLoss

__all__ = ["VendiLoss"]
