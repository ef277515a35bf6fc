"""Kernels and measures by name, and the files and packages that add them."""
