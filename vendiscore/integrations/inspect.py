"""The documented import path of names of `vendiscore.tools.integrations.inspect`."""

from ..tools.integrations.inspect import completion, vendi_score

__all__ = ["completion", "vendi_score"]
