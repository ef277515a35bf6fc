"""Scripts of an installed package, for what takes paths: `evaluate.load`, `EvaluationSuite`."""
