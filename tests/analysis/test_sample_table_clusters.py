"""The gain in a score by whole clusters of samples."""

import numpy as np
import pytest

from vendiscore import compute, explain


@pytest.mark.parametrize("q", [0.5, 1, 2, 3, float("inf")])
def test_clusters_add_as_a_whole(q):
    X = np.random.default_rng(0).standard_normal((24, 3))
    names = [f"photo {i % 7}" for i in range(24)]
    found = explain(X, q=q, k="rbf", sigma=1.0, clusters=names)
    for i in (0, 5, 23):
        others = [j for j in range(24) if names[j] != names[i]]
        without = compute(X[others], q=q, k="rbf", sigma=1.0)["VS"]
        assert found.adds[i] == pytest.approx(np.log(found.score) - np.log(without), abs=1e-9)
    again = explain(X, q=q, k="rbf", sigma=1.0, clusters=np.arange(24))
    assert again.adds == pytest.approx(explain(X, q=q, k="rbf", sigma=1.0).adds, abs=1e-9)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"clusters": [0] * 4}, "`clusters` must be at least 2, got 1 of 4 samples"),
        ({"clusters": [0, 1]}, "`clusters` must have one label for each of 4 samples"),
    ],
)
def test_clusters_that_cannot_be_left_out_are_refused(how, message):
    with pytest.raises(ValueError, match=message):
        explain(["a", "b", "c", "d"], k="labels", **how)
