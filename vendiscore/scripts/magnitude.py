"""The magnitude of a metric space as a Hugging Face metric, of the installed package."""

from vendiscore.integrations.huggingface import Magnitude

__all__ = ["Magnitude"]
