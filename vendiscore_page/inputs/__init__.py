"""Reading of user input: files, pasted text, examples and datasets."""
