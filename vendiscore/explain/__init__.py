"""Which samples make a set as diverse as it is."""
