"""Few plain numbers go to the core at once, all else to a reader."""

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
        np.ones((2, 3), np.uint8),
    ],
)
def test_numbers_in_rows_are_read(rows):
    read = scores.plain_rows(rows)
    assert read.tolist() == np.asarray(rows, dtype=float).tolist()
    assert read.dtype in (np.float64, np.float32)


@pytest.mark.parametrize(
    "rows",
    [
        None,
        "ab",
        [],
        [[]],
        [1, 2],
        [[1], [1, 2]],
        [["a"]],
        [[1 + 2j]],
        [[2**53 + 1]],
        np.ones(3),
        np.ones((0, 3)),
        np.ones((2, 2, 2)),
        np.ones((2, 2), np.float16),
        np.eye(2, dtype=np.dtype(np.float64).newbyteorder()),
        np.eye(2, dtype=np.dtype(np.float32).newbyteorder()),
        np.ma.masked_array([[1.0]], [[True]]),
    ],
)
def test_all_else_is_left_to_a_reader(rows):
    assert scores.plain_rows(rows) is None


def test_weights_are_read_and_sum_to_1():
    assert scores.plain_weights([0.25, 0.75], 2).tolist() == [0.25, 0.75]
    assert scores.plain_weights(np.array([0.250001, 0.75]), 2).sum() == 1
    for odd in (
        [1, 0],
        [0.5],
        np.array([1.5, -0.5]),
        np.array([np.nan, 1]),
        ["a", "b"],
        [0.25, 0.5],
        None,
    ):
        assert scores.plain_weights(odd, 2) is None


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [4, 150])
@pytest.mark.parametrize("place", [(1, 2), (1, 1)])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("score", [score_K, score_X])
@pytest.mark.parametrize("q", [1, 2])
def test_rows_that_are_not_finite_are_named(odd, n, place, normalize, dtype, score, q):
    rows = np.eye(n, dtype=dtype)
    rows[place] = odd
    with pytest.raises(ValueError, match=f"sample 1 of `.` must be finite, got {odd}; remove"):
        score(rows, q, normalize=normalize)


def test_errors_of_finite_rows_are_those_of_the_core():
    with pytest.raises(ValueError, match="sample 1 of `X` cannot be normalized"):
        score_X(np.array([[1.0, 2.0], [0.0, 0.0]]))
    for shape in ((70, 80), (80, 70)):
        with pytest.raises(ValueError, match="must be a square similarity matrix, got shape"):
            score_K(np.ones(shape))


def test_repeats_are_noticed_where_many_samples_are_repeated():
    X = np.random.default_rng(0).standard_normal((400, 10))
    assert not scores._has_repeats(np.corrcoef(X))
    X[200:] = X[:200]
    X /= np.linalg.norm(X, axis=1)[:, None]
    K = X @ X.T
    np.fill_diagonal(K, 1.0)
    K[200:, :200][np.diag_indices(200)] = K[:200, 200:][np.diag_indices(200)] = 1.0
    assert scores._has_repeats(K)


@pytest.mark.parametrize("name", ["references", "clusters"])
def test_an_array_that_a_single_score_has_no_use_for_is_refused_by_name(name):
    X = np.eye(4)
    with pytest.raises(TypeError, match=f"`{name}` has no effect on a single number"):
        score(X, score_X=True, normalize=True, **{name: np.arange(4)})
