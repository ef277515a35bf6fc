"""Measures by name, and the SampleSet that they are functions of: samples and their views."""

from ..support.suggestions import make_non_callable

make_non_callable(__name__)
