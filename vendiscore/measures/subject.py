"""The documented import path of the classes in `vendiscore.measures.sample_set`."""

from .sample_set import SampleSet, Subject

__all__ = ["SampleSet", "Subject"]
