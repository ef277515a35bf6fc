"""Surprise of samples that were compared before is that of the samples themselves."""

import numpy as np
import pytest

from vendiscore.measures.divergences import surprise, surprise_of_first
from vendiscore.resolve.sets import as_similarity

A = ["a cat sat", "a dog sat", "the cat ran", "it snows", "a cat sat"]
B = ["a dog ran", "a cat ran", "the dog sat here"]
X = np.random.default_rng(0).normal(size=(30, 4))


@pytest.mark.parametrize(
    ("samples", "references", "how"),
    [
        (A, B, {"k": "ngram_overlap", "ns": [1, 2]}),
        (B, A, {"k": "ngram_overlap", "ns": [1]}),
        (X[:20], X[20:], {"k": "cosine"}),
        (X[:5], X[5:], {"k": "rbf", "sigma": 2.0}),
    ],
)
def test_it_is_that_of_both_sets(samples, references, how):
    together = [*samples, *references] if isinstance(samples, list) else X
    pool = as_similarity(together, **how)
    right = surprise(samples, references, **how)
    assert surprise_of_first(pool, len(samples)) == pytest.approx(right, abs=1e-9)


@pytest.mark.parametrize("n", [0, 30, 31, -1])
def test_there_must_be_samples_and_references(n):
    with pytest.raises(ValueError, match="`n` must be from 1 to 29, to leave references"):
        surprise_of_first(as_similarity(X, k="cosine"), n)
