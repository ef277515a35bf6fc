"""The documented import path of exceptions that are defined in `vendiscore.support.errors`."""

from ..support.errors import NotPSDError, SampleError

__all__ = ["NotPSDError", "SampleError"]
