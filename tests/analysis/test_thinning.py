"""The rest of a score without near-duplicates, at threshold after threshold."""

import numpy as np
import pytest

from vendiscore import compute, explain
from vendiscore.analysis import thinning

X = np.repeat(np.random.default_rng(0).normal(size=(8, 3)), 3, axis=0)
X = X + np.random.default_rng(1).normal(scale=0.1, size=X.shape)
FOUND = explain(X, k="rbf", sigma=1.0, threshold=0.5)


def test_each_score_is_that_of_the_samples_that_are_kept():
    curve = thinning(FOUND)
    assert curve.removed[0] == 0
    assert curve.scores[0] == pytest.approx(compute(X, k="rbf", sigma=1.0)["VS"], rel=1e-12)
    assert len(curve.removed) > 3
    for threshold, removed, score in zip(
        curve.thresholds[1:], curve.removed[1:], curve.scores[1:], strict=True
    ):
        kept = FOUND.rethreshold(threshold).kept
        assert len(kept) == len(X) - removed
        assert score == pytest.approx(compute(X[kept], k="rbf", sigma=1.0)["VS"], rel=1e-12)


def test_it_goes_down_to_the_floor_by_ever_more():
    curve = thinning(FOUND)
    assert np.all(np.diff(curve.removed) > 0)
    assert np.all(np.diff(curve.thresholds) < 0)
    assert FOUND.floor == pytest.approx(0.3)
    assert curve.thresholds[-1] >= FOUND.floor
    least = FOUND.rethreshold(FOUND.floor)
    assert curve.removed[-1] == len(X) - len(least.kept)


@pytest.mark.parametrize("steps", [1, 3, 50])
def test_there_are_no_more_rows_than_steps_and_the_ends(steps):
    assert len(thinning(FOUND, steps=steps).scores) <= steps + 2


def test_copies_go_at_once_and_a_single_sample_stays():
    copies = thinning(explain(["a b"] * 4 + ["c d"], ns=[1]))
    assert copies.removed.tolist() == [0, 3]
    assert copies.scores[1] == 2
    for texts in (["a b"], ["a b", "c d"]):
        assert thinning(explain(texts, ns=[1])).removed.tolist() == [0]


def test_the_floor_can_be_further_down():
    from vendiscore.analysis.explain import explained
    from vendiscore.measures.subject import Subject
    from vendiscore.resolve.sets import as_similarity

    subject = Subject(as_similarity(X, k="rbf", sigma=1.0))
    deep, shallow = explained(subject, 1.0, 0.8, 0.1), explained(subject, 1.0, 0.8)
    assert (deep.floor, shallow.floor) == (0.1, pytest.approx(0.6))
    assert deep.rethreshold(0.6).groups == shallow.rethreshold(0.6).groups
    assert explained(subject, 1.0, 0.8, 0.9).floor == 0.8
