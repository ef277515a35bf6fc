"""Magnitude functions: error messages for invalid arguments and samples."""

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
def test_invalid_arguments_are_rejected(call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message) if "\\" not in message else message):
        call(make_normal_rows(5, 2))


def test_invalid_samples_are_named() -> None:
    X = make_normal_rows(5, 2)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"sample 3 .* must be finite, got nan"):
        magnitude(X)
    with pytest.raises(
        ValueError, match="sample 1 is a zero vector, for which metric 'cosine' is undefined"
    ):
        magnitude([[1.0, 0.0], [0.0, 0.0]], metric="cosine")


def test_invalid_distances_are_rejected() -> None:
    def distances_with_entry(i: int, j: int, value: float) -> np.ndarray:
        D = pairwise_distances(make_normal_rows(6, 2))
        D[i, j] = value
        return D

    for D, message in (
        (
            distances_with_entry(2, 4, 9.0),
            r"must be a symmetric matrix of distances, got 9 at \[2, 4\]",
        ),
        (distances_with_entry(3, 3, 1.0), "sample 3 must have distance 0 to itself, got 1"),
        (distances_with_entry(1, 5, np.nan), "sample 1 .* must be finite, got nan"),
        (distances_with_entry(1, 2, -1.0), r"at least 0, got -1 at \[1, 2\]"),
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


def bipartite_distances() -> np.ndarray:
    """Return distances of the bipartite graph K_{3,2}, indefinite below t = ln √2."""
    D = np.full((5, 5), 2.0)
    D[:3, 3:] = D[3:, :3] = 1.0
    np.fill_diagonal(D, 0)
    return D


def test_indefinite_similarities_raise_with_scale() -> None:
    assert np.linalg.eigvalsh(np.exp(-0.3 * bipartite_distances())).min() < 0
    with pytest.raises(
        IndefiniteError, match=r"at scale t=0\.3 are singular .* larger scales"
    ) as e:
        magnitude(bipartite_distances(), 0.3, metric="precomputed")
    assert e.value.t == 0.3
    D = bipartite_distances()
    assert magnitude(D, 1.0, metric="precomputed") == pytest.approx(solve_weights(D, 1.0).sum())


@pytest.mark.parametrize("method", ["auto", "cholesky"])
def test_large_indefinite_spaces_raise(method: str) -> None:
    D = np.full((400, 400), 2.0)
    D[:200, 200:] = D[200:, :200] = 1.0
    np.fill_diagonal(D, 0)
    with pytest.raises(IndefiniteError, match=r"t=0\.3"):
        magnitude(D, 0.3, metric="precomputed", solver=method)


def test_similarities_above_1_are_rejected() -> None:
    with pytest.raises(ValueError, match="similarities of at most 1, got 2 for samples 0 and 1"):
        magnitude([1.0, 5.0], k=lambda a, b: 1.0 if a == b else 2.0)


def test_too_large_input_raises_before_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 10_000_000)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 1 << 19)
    with pytest.raises(TooLargeError, match=r"\(12,000,000 bytes\).*use fewer samples"):
        magnitude(make_normal_rows(1000, 2))
    with pytest.raises(TooLargeError, match=r"\(12,000,000 bytes\).*use fewer samples"):
        magnitude(make_normal_rows(1000, 2), k="rbf")


@pytest.mark.parametrize("point", [[[1.0, 2.0]], [[1.0, 2.0]] * 4], ids=["one sample", "copies"])
def test_difference_from_single_point_requires_t_cut(point):
    samples = np.random.default_rng(0).standard_normal((6, 2))
    message = r"`references` is 0, because `references` consist of a single point .* pass `t_cut`"
    for options in ({}, {"absolute": True}, {"relative": True}, {"average": True}):
        with pytest.raises(ValueError, match=message):
            mag_diff(samples, point, **options)
        with pytest.raises(ValueError, match=message):
            compute(samples, point, measures="MagDiff", **options)
        assert mag_diff(point, point, **options) == 0
    with pytest.raises(
        ValueError, match=r"the convergence scale of `references`.* must be above 0"
    ):
        load("magnitude").compute(samples=samples, references=point)
    assert load("magnitude").compute(samples=samples, references=point, t_cut=2.0)["MagDiff"] > 0
    assert mag_diff(samples, point, t_cut=2.0) > 0 > mag_diff(point, samples)
    with pytest.raises(ValueError, match="the convergence scale of the sets is 0"):
        mag_areas([samples, point, point])
    assert mag_areas([point, point]) == [0, 0]
