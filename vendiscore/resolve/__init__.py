"""Build the Similarity that measures need from samples and keywords."""
