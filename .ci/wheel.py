"""Check an installed wheel away from the repository: both metrics, a kernel of each kind."""

from pathlib import Path

import evaluate
import numpy as np

import vendiscore

PACKAGE = Path(vendiscore.__file__).parent
SAMPLES = {
    "ngram_overlap": ["a cat", "a cat", "the dog"],
    "cosine": [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]],
    "labels": ["a", "a", "b"],
    "tags": [{"a"}, {"a", "b"}, {"c"}],
    "morgan": ["CCO", "CCCO", "c1ccccc1"],
    "pixels": list(np.random.default_rng(0).integers(0, 255, (3, 4, 4), dtype=np.uint8)),
}

assert PACKAGE.parent.name == "site-packages", PACKAGE
assert (PACKAGE.parent / "vendiscore_page" / "static" / "index.html").is_file()
for name in ("vendiscore", "magnitude"):
    loaded = vendiscore.load(name), evaluate.load(str(PACKAGE / "scripts" / f"{name}.py"))
    for kernel, samples in SAMPLES.items():
        first, second = (metric.compute(samples=samples, k=kernel) for metric in loaded)
        assert first == second, (first, second)
        assert name == "magnitude" or 1 < first["VS"] < 3, first
        print(name, kernel, first)
