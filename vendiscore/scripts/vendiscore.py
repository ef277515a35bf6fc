"""The Vendi Score as a Hugging Face metric, of the installed package."""

from vendiscore.integrations.huggingface import VendiScore

__all__ = ["VendiScore"]
