"""Analyses of sets: what each sample adds, repeats, differences of sets and sources, growth."""

from .layout import clustered_order as clustered_order
