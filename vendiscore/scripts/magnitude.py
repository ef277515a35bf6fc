"""Script of the Hugging Face metric for magnitude, in the installed package."""

from vendiscore.integrations.huggingface import Magnitude

__all__ = ["Magnitude"]
