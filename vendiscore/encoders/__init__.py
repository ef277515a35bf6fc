"""From samples to rows of numbers: networks, their files, and batches."""
