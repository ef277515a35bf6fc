"""Scores of samples that arrive in batches: `State`, `GroupState`, `score_batches`, `Monitor`."""
