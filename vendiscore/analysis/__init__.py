"""Analyses of single samples: how much each adds to the diversity of its set, and its repeats."""

from .layout import clustered_order as clustered_order
