"""Similarity matrices as operators, distances, and validation of samples and weights."""
