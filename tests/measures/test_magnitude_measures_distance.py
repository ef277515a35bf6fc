""" "MagDistance", against sums of inverse matrices."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import as_similarity, compute
from vendiscore.errors import IndefiniteError
from vendiscore.magnitude.spaces_of_samples import as_space

METRICS: dict[str, dict] = {
    "euclidean": {},
    "manhattan": {"metric": "manhattan"},
    "rbf": {"k": "rbf", "sigma": 1.0},
    "cosine": {"k": "cosine"},
    "1-k": {"k": "rbf", "sigma": 1.0, "metric": "1-k"},
}


def cloud(n: int, seed: int = 0, d: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def naive(X: np.ndarray, Y: np.ndarray, t: float, how: dict) -> float:
    def magnitude(points: np.ndarray) -> float:
        points = np.unique(points, axis=0)
        if how.get("k"):
            options = {name: value for name, value in how.items() if name != "metric"}
            D = 2 - 2 * as_similarity(points, **options).dense()
            D = D / 2 if how.get("metric") == "1-k" else np.sqrt(np.maximum(D, 0))
            np.fill_diagonal(D, 0)
        else:
            gaps = points[:, None] - points[None]
            D = np.abs(gaps).sum(-1) if how else np.linalg.norm(gaps, axis=-1)
        return float(np.linalg.solve(np.exp(-t * D), np.ones(len(D))).sum())

    return 2 * magnitude(np.vstack([X, Y])) - magnitude(X) - magnitude(Y)


def distance(X: Any, Y: Any, **how: Any) -> float:
    return compute(X, Y, measures="MagDistance", **how)["MagDistance"]


@pytest.mark.parametrize("t", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("how", METRICS.values(), ids=METRICS)
def test_it_is_the_magnitude_of_both_twice_less_that_of_each(how: dict, t: float) -> None:
    X, Y = cloud(9), np.vstack([cloud(6, seed=1), cloud(9)[:3]])  # of which three are of both
    found = distance(X, Y, t=t, **how)
    assert found == pytest.approx(naive(X, Y, t, how), rel=1e-8)
    assert distance(Y, X, t=t, **how) == pytest.approx(found, rel=1e-9)
    repeated = distance(np.repeat(X, 3, axis=0), Y, t=t, **how)
    assert repeated == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("how", METRICS.values(), ids=METRICS)
def test_a_set_is_at_no_distance_from_itself_to_the_last_digit(how: dict) -> None:
    X = cloud(30)
    for Y in (X, X[::-1], np.repeat(X, 2, axis=0)):
        assert distance(X, Y, **how) == 0.0
        found = compute(X, Y, measures="MagDistance", t=[0.3, 2.0], **how)
        assert found == {"MagDistance_t0.3": 0.0, "MagDistance_t2": 0.0}


def test_of_texts() -> None:
    assert distance(["a b", "c d"], ["c d", "a b", "a b"]) == 0.0
    one, two = ["a b", "c d"], ["a b", "e f"]  # three unlike texts at distance √2
    apart = math.exp(-math.sqrt(2))
    expected = 2 * 3 / (1 + 2 * apart) - 2 * 2 / (1 + apart)
    assert distance(one, two) == pytest.approx(expected, rel=1e-12)


def test_several_scales_are_those_one_by_one_and_end_at_the_number_of_unshared_points() -> None:
    X, Y = cloud(9), np.vstack([cloud(6, seed=1), cloud(9)[:3]])
    found = compute(X, Y, measures="MagDistance", t=[0.5, 2.0])
    for t in (0.5, 2.0):
        assert found[f"MagDistance_t{t:g}"] == pytest.approx(distance(X, Y, t=t), rel=1e-9)
    assert distance(X, Y, t=1e4) == pytest.approx(12, abs=1e-9)  # 6 of either
    assert distance(X, Y, t=1e-6) == pytest.approx(0, abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.floats(0.01, 30))
def test_it_is_never_below_zero_where_there_is_a_magnitude(seed: int, n: int, t: float) -> None:
    """No part of a positive definite space has a larger magnitude; other spaces are refused."""
    rng = np.random.default_rng(seed)
    shifts = rng.random((20, 20))
    D = shifts + shifts.T + rng.choice([0.0, 2.0])  # within [m, 2m] every matrix is a metric
    np.fill_diagonal(D, 0)

    def metric(a: np.ndarray, b: np.ndarray) -> float:
        return float(D[int(a[0]), int(b[0])])

    X, Y = rng.integers(0, 20, (n, 1)).astype(float), rng.integers(0, 20, (9 - n, 1)).astype(float)
    try:
        assert distance(X, Y, metric=metric, t=t) >= 0
    except (IndefiniteError, ArithmeticError, ValueError) as error:
        assert "outside of its range" not in str(error)  # noqa: PT017


def test_sets_that_are_almost_one_are_at_no_distance_below_zero() -> None:
    X = cloud(200)
    for scale in (1e-14, 1e-12, 1e-9):
        assert 0 <= distance(X, X + scale * cloud(200, seed=1)) < 1e-5


def test_groups_are_measured_beside_all_references() -> None:
    X, Y = cloud(12), cloud(5, seed=1)
    labels = np.arange(12) % 2
    for how in ({}, METRICS["rbf"]):
        found = distance(X, Y, groups=labels, **how)
        parts = [distance(X[labels == i], Y, **how) for i in (0, 1)]
        assert found == pytest.approx(np.mean(parts), rel=1e-10)


def test_signatures_tell_references_of_one_shape_apart() -> None:
    X, Y = cloud(5), cloud(4, seed=1)

    def signature(Y: np.ndarray) -> str:
        found = compute(X, Y, measures="MagDistance", details=True)
        assert found["details"]["distance"] == "euclidean"
        return found["details"]["signature"]

    assert signature(Y) == signature(Y.copy()) != signature(Y + 1)


def test_refusals() -> None:
    X, Y = cloud(4), cloud(3, seed=1)
    with pytest.raises(TypeError, match="a MetricSpace does not cover the samples of another"):
        distance(as_space(X), as_space(Y))
    D = np.abs(X[:, None, 0] - X[None, :, 0])
    with pytest.raises(TypeError, match="a matrix of distances does not cover the samples"):
        distance(D, D, metric="precomputed")
    with pytest.raises(ValueError, match="`t` must be"):
        distance(X, Y, t=-1)
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="magnitude cannot be differentiated"):
        distance(torch.tensor(X, requires_grad=True), torch.tensor(Y))
    theirs = distance(torch.tensor(X), torch.tensor(Y))
    assert theirs == pytest.approx(distance(X, Y), rel=1e-12)
