"""score_X and score_K: validation of rows and weights, and small plain matrices."""

import numpy as np
import pytest

from vendiscore import score, score_K, score_X
from vendiscore.scoring import scores


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2], [3, 4]],
        [[True, False]],
        np.ones((2, 3)),
        np.ones((2, 3), np.float32),
        np.ones((2, 3), np.float16),
        np.ones((2, 3), np.uint8),
        np.eye(2, dtype=np.dtype(np.float64).newbyteorder()),
        np.eye(2, dtype=np.dtype(np.float32).newbyteorder()),
    ],
)
def test_score_x_of_any_dtype_matches_float64(rows):
    floats = np.asarray(rows).astype(float)
    assert score_X(rows) == pytest.approx(score_X(floats), rel=1e-12)


@pytest.mark.parametrize(
    "rows",
    [None, "ab", [], [[]], [1, 2], [[1], [1, 2]], [["a"]], [[1 + 2j]], np.ones(3), np.ones((0, 3))],
)
def test_score_x_rejects_invalid_rows(rows):
    with pytest.raises((TypeError, ValueError), match="X"):
        score_X(rows)


def test_is_small_matrix_accepts_only_plain_float_matrices():
    assert scores.is_small_matrix(np.eye(3), "K")
    assert scores.is_small_matrix(np.ones((3, 2), np.float32), "X")
    unsupported = [
        [[1.0]],
        np.ones(3),
        np.ones((0, 3)),
        np.ones((2, 2, 2)),
        np.ones((2, 2), np.float16),
    ]
    unsupported += [
        np.eye(2, dtype=np.dtype(np.float64).newbyteorder()),
        np.ma.masked_array([[1.0]]),
    ]
    assert not any(scores.is_small_matrix(rows, "X") for rows in unsupported)


@pytest.mark.parametrize("p", [[0.25, 0.75], np.array([0.250001, 0.75]), np.float32([0.25, 0.75])])
def test_score_x_normalizes_weights(p):
    X = np.array([[1.0, 0.0], [1.0, 1.0]])
    weights = np.asarray(p, float)
    expected = score(X, "cosine", p=weights / weights.sum())
    assert score_X(X, p=p) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "p", [[0.5], np.array([1.5, -0.5]), np.array([np.nan, 1]), ["a", "b"], [0.25, 0.5]]
)
def test_score_x_rejects_invalid_weights(p):
    with pytest.raises((TypeError, ValueError), match="`p`"):
        score_X(np.eye(2), p=p)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [4, 150])
@pytest.mark.parametrize("index", [(1, 2), (1, 1)])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("score", [score_K, score_X])
@pytest.mark.parametrize("q", [1, 2])
def test_rows_that_are_not_finite_raise(value, n, index, normalize, dtype, score, q):
    rows = np.eye(n, dtype=dtype)
    rows[index] = value
    with pytest.raises(ValueError, match=f"sample 1 of `.` must be finite, got {value}; remove"):
        score(rows, q, normalize=normalize)


def test_zero_rows_and_non_square_matrices_raise():
    with pytest.raises(ValueError, match="sample 1 of `X` cannot be normalized"):
        score_X(np.array([[1.0, 2.0], [0.0, 0.0]]))
    for shape in ((70, 80), (80, 70)):
        with pytest.raises(ValueError, match="must be a square similarity matrix, got shape"):
            score_K(np.ones(shape))


def test_may_have_many_duplicates_detects_duplicates():
    X = np.random.default_rng(0).standard_normal((400, 10))
    assert not scores._may_have_many_duplicates(np.corrcoef(X))
    X[200:] = X[:200]
    X /= np.linalg.norm(X, axis=1)[:, None]
    K = X @ X.T
    np.fill_diagonal(K, 1.0)
    K[200:, :200][np.diag_indices(200)] = K[:200, 200:][np.diag_indices(200)] = 1.0
    assert scores._may_have_many_duplicates(K)


@pytest.mark.parametrize("name", ["references", "clusters"])
def test_score_rejects_unsupported_arrays(name):
    X = np.eye(4)
    with pytest.raises(TypeError, match=f"`{name}` is not supported by functions"):
        score(X, score_X=True, normalize=True, **{name: np.arange(4)})
