"""Kernels by name, and similarities of samples from keywords."""
