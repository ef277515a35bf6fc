"""The front door: keywords to a dict of numbers, intervals, rewards, and sums of batches."""
