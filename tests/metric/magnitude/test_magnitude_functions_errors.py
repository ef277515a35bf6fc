"""Magnitude of what has none: every refusal says what is wrong and what to do."""

import re

import numpy as np
import pytest
from point_sets import make_normal_rows, pairwise_distances, solve_weights

from vendiscore import (
    IndefiniteError,
    TooLargeError,
    compute,
    convergence_scale,
    load,
    mag_area,
    mag_areas,
    mag_diff,
    magnitude_dimension,
    magnitude_weights,
)
from vendiscore.magnitude.magnitude_functions import magnitude


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda X: magnitude(X, -1),
            ValueError,
            "`t` must be a finite scale of at least 0, got -1",
        ),
        (lambda X: magnitude(X, "a"), TypeError, "`t` must be a finite scale"),
        (lambda X: magnitude(X, np.nan), ValueError, "`t` must be a finite scale"),
        (
            lambda X: magnitude_weights(X, 0),
            ValueError,
            "`t` must be above 0 for magnitude weights",
        ),
        (
            lambda X: convergence_scale(X, epsilon=1),
            ValueError,
            "`epsilon` must be a number between 0 and",
        ),
        (
            lambda X: convergence_scale(X, epsilon=0.0),
            ValueError,
            "`epsilon` must be a number between",
        ),
        (lambda X: mag_area(X, epsilon="x"), TypeError, "`epsilon` must be a number"),
        (
            lambda X: mag_area(X, n_scales=1),
            ValueError,
            "`n_scales` must be an integer from 2 to 1000000, got 1",
        ),
        (lambda X: mag_area(X, n_scales=2.5), TypeError, "`n_scales` must be an integer"),
        (
            lambda X: mag_area(X, t_cut=0),
            ValueError,
            "`t_cut` must be a finite scale above 0, got 0",
        ),
        (lambda X: mag_areas([]), ValueError, "`sets` must contain at least one"),
        (lambda X: mag_areas([X, [[np.nan, 1.0]]]), ValueError, r"`sets\[1\]` must be finite"),
        (lambda X: magnitude_dimension(X, scales=[1, 2]), ValueError, "at least 3 distinct"),
        (lambda X: magnitude(X, metric="euclidian"), ValueError, "Did you mean 'euclidean'?"),
        (lambda X: magnitude(X, solver="qr"), ValueError, "`solver` must be 'auto'"),
        (lambda X: magnitude(X, k="rbf", metric="cosine"), ValueError, "not both"),
        (lambda X: magnitude(X, k="rbff"), ValueError, "Did you mean 'rbf'?"),
        (lambda X: magnitude(X, sigmma=1), TypeError, "unknown keyword 'sigmma'"),
        (
            lambda X: magnitude(X, metric="euclidean", ns=1),
            TypeError,
            "`ns` is an option of kernels",
        ),
        (lambda X: magnitude(X, sigma=1.0), TypeError, "It is an option of 'laplacian', 'rbf"),
        (lambda X: magnitude(X, normalize=True), TypeError, "`normalize` is an option of kernels"),
        (lambda X: magnitude([], 1), ValueError, "`samples` is empty"),
    ],
)
def test_bad_arguments(call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message) if "\\" not in message else message):
        call(make_normal_rows(5, 2))


def test_bad_samples_are_named() -> None:
    X = make_normal_rows(5, 2)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"sample 3 .* must be finite, got nan"):
        magnitude(X)
    with pytest.raises(
        ValueError, match="sample 1 is a zero vector, for which metric 'cosine' is undefined"
    ):
        magnitude([[1.0, 0.0], [0.0, 0.0]], metric="cosine")


def test_bad_distances_are_named() -> None:
    def wrong(i: int, j: int, value: float) -> np.ndarray:
        D = pairwise_distances(make_normal_rows(6, 2))
        D[i, j] = value
        return D

    for D, message in (
        (wrong(2, 4, 9.0), r"must be a symmetric matrix of distances, got 9 at \[2, 4\]"),
        (wrong(3, 3, 1.0), "sample 3 must have distance 0 to itself, got 1"),
        (wrong(1, 5, np.nan), "sample 1 .* must be finite, got nan"),
        (wrong(1, 2, -1.0), r"at least 0, got -1 at \[1, 2\]"),
        (np.zeros((3, 2)), r"square matrix of distances, got shape \(3, 2\)"),
    ):
        with pytest.raises(ValueError, match=message):
            magnitude(D, metric="precomputed")
    D = pairwise_distances(make_normal_rows(6, 2))
    D[1, 4] = D[4, 1] = 0.0
    with pytest.raises(
        ValueError, match="samples 1 and 4 have distance 0, but different distances"
    ):
        magnitude(D, metric="precomputed")


def five_stars() -> np.ndarray:
    """Return distances of the bipartite graph K_{3,2}, indefinite below t = ln √2."""
    D = np.full((5, 5), 2.0)
    D[:3, 3:] = D[3:, :3] = 1.0
    np.fill_diagonal(D, 0)
    return D


def test_indefinite_similarities_are_reported_with_their_scale() -> None:
    assert np.linalg.eigvalsh(np.exp(-0.3 * five_stars())).min() < 0
    with pytest.raises(
        IndefiniteError, match=r"at scale t=0\.3 are singular .* larger scales"
    ) as e:
        magnitude(five_stars(), 0.3, metric="precomputed")
    assert e.value.t == 0.3
    D = five_stars()
    assert magnitude(D, 1.0, metric="precomputed") == pytest.approx(solve_weights(D, 1.0).sum())


@pytest.mark.parametrize("method", ["auto", "cholesky"])
def test_large_indefinite_spaces_are_reported_too(method: str) -> None:
    D = np.full((400, 400), 2.0)
    D[:200, 200:] = D[200:, :200] = 1.0
    np.fill_diagonal(D, 0)
    with pytest.raises(IndefiniteError, match=r"t=0\.3"):
        magnitude(D, 0.3, metric="precomputed", solver=method)


def test_functions_greater_than_one_are_no_kernels_for_distances() -> None:
    with pytest.raises(ValueError, match="similarities of at most 1, got 2 for samples 0 and 1"):
        magnitude([1.0, 5.0], k=lambda a, b: 1.0 if a == b else 2.0)


def test_too_large_is_said_before_anything_is_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 10_000_000)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 1 << 19)
    with pytest.raises(TooLargeError, match=r"\(12,000,000 bytes\).*use fewer samples"):
        magnitude(make_normal_rows(1000, 2))
    with pytest.raises(TooLargeError, match=r"\(12,000,000 bytes\).*use fewer samples"):
        magnitude(make_normal_rows(1000, 2), k="rbf")


@pytest.mark.parametrize("one", [[[1.0, 2.0]], [[1.0, 2.0]] * 4], ids=["one sample", "copies"])
def test_a_difference_from_one_point_needs_a_scale_to_end_at(one):
    several = np.random.default_rng(0).standard_normal((6, 2))
    empty = r"`references` is 0, because `references` consist of a single point .* pass `t_cut`"
    for options in ({}, {"absolute": True}, {"relative": True}, {"average": True}):
        with pytest.raises(ValueError, match=empty):
            mag_diff(several, one, **options)
        with pytest.raises(ValueError, match=empty):
            compute(several, one, measures="MagDiff", **options)
        assert mag_diff(one, one, **options) == 0
    with pytest.raises(ValueError, match="`references` must have a convergence scale above 0"):
        load("magnitude").compute(samples=several, references=one)
    assert load("magnitude").compute(samples=several, references=one, t_cut=2.0)["MagDiff"] > 0
    assert mag_diff(several, one, t_cut=2.0) > 0 > mag_diff(one, several)
    with pytest.raises(ValueError, match="the convergence scale of the sets is 0"):
        mag_areas([several, one, one])
    assert mag_areas([one, one]) == [0, 0]
