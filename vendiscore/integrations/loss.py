"""The documented import path of names of `vendiscore.tools.integrations.loss`."""

from ..tools.integrations.loss import VendiLoss, vendi_loss

__all__ = ["VendiLoss", "vendi_loss"]
