"""The rest of a score without near-duplicates, at threshold after threshold."""

from dataclasses import replace

import numpy as np
import pytest

from vendiscore import compute
from vendiscore.report import find
from vendiscore_page.answers.thinning import thinning

X = np.repeat(np.random.default_rng(0).normal(size=(8, 3)), 3, axis=0)
X = X + np.random.default_rng(1).normal(scale=0.1, size=X.shape)
HOW = {"k": "rbf", "sigma": 1.0}
FOUND = replace(find(X, None, HOW), threshold=0.5)


def test_each_score_is_that_of_the_samples_that_are_kept():
    curve = thinning(FOUND)
    assert curve["removed"][0] == 0
    assert curve["VS"][0] == pytest.approx(compute(X, **HOW)["VS"], rel=1e-12)
    assert len(curve["removed"]) > 3
    for threshold, removed, score in zip(*map(list, curve.values()), strict=True):
        kept = FOUND.explanation.rethreshold(threshold).kept
        assert len(kept) == len(X) - removed
        assert score == pytest.approx(compute(X[kept], **HOW)["VS"], rel=1e-12)


def test_it_goes_down_to_the_floor_by_ever_more():
    curve, explained = thinning(FOUND), FOUND.explanation
    assert np.all(np.diff(curve["removed"]) > 0)
    assert np.all(np.diff(curve["thresholds"]) < 0)
    assert explained.floor == pytest.approx(0.3)
    assert curve["thresholds"][-1] >= explained.floor
    least = explained.rethreshold(explained.floor)
    assert curve["removed"][-1] == len(X) - len(least.kept)
    assert len(curve["VS"]) <= 14


def test_copies_go_at_once_and_a_single_sample_stays():
    copies = thinning(find(["a b"] * 4 + ["c d"], None, {"ns": [1]}))
    assert copies["removed"] == [0, 3]
    assert copies["VS"][1] == 2
    for texts in (["a b"], ["a b", "c d"]):
        assert thinning(find(texts, None, {"ns": [1]}))["removed"] == [0]
