"""The documented import path of names of `vendiscore.support.errors`."""

from ..support.errors import NotPSDError, SampleError

__all__ = ["NotPSDError", "SampleError"]
