"""A similarity matrix as an operator: from features, entries, fingerprints, parts of others."""
