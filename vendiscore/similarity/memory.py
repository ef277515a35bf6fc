"""The documented import path of `vendiscore.support.memory`, which kernels of users import."""

from ..support.memory import TooLargeError, available_bytes, has_room, require

__all__ = ["TooLargeError", "available_bytes", "has_room", "require"]
