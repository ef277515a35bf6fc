"""What every folder uses: arguments, arrays of NumPy and torch, errors and types."""
