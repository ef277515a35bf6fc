"""The front door: from samples and keywords to a dict of numbers."""
