"""The documented import path of names of `vendiscore.tools.cli`."""

from .tools.cli import main

__all__ = ["main"]
