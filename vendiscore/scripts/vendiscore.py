"""Script of the Hugging Face metric for the Vendi Score, in the installed package."""

from vendiscore.integrations.huggingface import VendiScore

__all__ = ["VendiScore"]
