"""Registered measures, and the `SampleSet` that they are computed from."""

from ..support.suggestions import make_non_callable

make_non_callable(__name__)
