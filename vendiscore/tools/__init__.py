"""Tools built on the metric: comparisons, analyses, selection, streams, reports, the command."""
