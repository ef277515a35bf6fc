"""The documented import path of names of `vendiscore.tools.analysis.spectral_modes`."""

from ..tools.analysis.spectral_modes import Mode

__all__ = ["Mode"]
