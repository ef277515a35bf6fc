"""Readers of files: detection of formats, delimiters, and the columns of samples and labels."""
