"""Distances of all pairs of rows, the kernels that fall with them, and nearest neighbours."""
