"""Shared utilities: validation of arguments, NumPy and torch arrays, errors and types."""
