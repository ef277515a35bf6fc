"""What a visitor sent, read: files, pasted text, examples and datasets as samples of one kind."""
