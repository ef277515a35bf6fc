"""The Space: a page, and an API, on which anybody can score a set of samples without code."""
