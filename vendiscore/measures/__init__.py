"""What is measured of a similarity: a registry of functions with names."""
