"""Metric scripts of the installed package, for `evaluate.load` and `EvaluationSuite`."""
