"""The documented import path of names of `vendiscore.tools.integrations.lm_eval`."""

from ..tools.integrations.lm_eval import vendi_score

__all__ = ["vendi_score"]
