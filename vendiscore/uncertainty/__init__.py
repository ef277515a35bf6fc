"""How sure a number is, and which differences chance does not explain."""
