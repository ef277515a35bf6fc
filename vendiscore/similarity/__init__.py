"""Similarities as operators, and what they stand on: containers, distances, weights, memory."""
