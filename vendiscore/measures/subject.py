"""The documented import path of `vendiscore.measures.sample_set`."""

from .sample_set import SampleSet, Subject

__all__ = ["SampleSet", "Subject"]
