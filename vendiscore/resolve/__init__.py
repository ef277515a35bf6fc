"""From samples and keywords to the Similarity that is measured."""
