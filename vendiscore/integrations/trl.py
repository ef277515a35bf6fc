"""The documented import path of names of `vendiscore.tools.integrations.trl`."""

from ..tools.integrations.trl import VendiReward

__all__ = ["VendiReward"]
