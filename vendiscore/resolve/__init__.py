"""Kernels by name, and the Similarity that samples and keywords make."""
