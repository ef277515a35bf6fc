"""The documented import path of `vendiscore.encoders.sample_encoder`."""

from .sample_encoder import Encoder

__all__ = ["Encoder"]
