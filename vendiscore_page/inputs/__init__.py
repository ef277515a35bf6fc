"""Readers of visitors' input: files, pasted text, examples and datasets as samples of one kind."""
