"""Second moments Σ x xᵀ of unit-norm rows, stored as rows or as a triangle."""

import numpy as np
import pytest
import scipy.sparse

from vendiscore import FeatureSimilarity, TooLargeError
from vendiscore.tools.streams import second_moment
from vendiscore.tools.streams.second_moment import (
    SecondMoment,
    is_smaller_as_rows,
    pack_triangle,
    require_memory,
    scale_to_diagonal,
    second_moment_from_rows,
    second_moment_from_similarity,
    triangle_length,
)

RNG = np.random.default_rng(0)
D = 5
X = RNG.standard_normal((40, D))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
WEIGHTS = RNG.random(40)


def full_matrix(moment):
    """Return FᵀF as a matrix."""
    C = np.zeros((moment.d, moment.d))
    C[np.triu_indices(moment.d)] = moment.packed_triangle()
    return C + np.triu(C, 1).T


@pytest.mark.parametrize("n", [1, 2, 3, 40])
@pytest.mark.parametrize("weighted", [False, True])
def test_second_moment_matches_sum_over_unit_rows(n, weighted):
    weights = WEIGHTS[:n] if weighted else None
    F = UNIT[:n] * np.sqrt(WEIGHTS[:n, None] if weighted else 1)
    for moment in (
        second_moment_from_rows([X[:n]], weights, False),
        second_moment_from_similarity(FeatureSimilarity(X[:n]), weights),
        second_moment_from_similarity(FeatureSimilarity(scipy.sparse.csr_array(X[:n])), weights),
    ):
        assert (moment.d, moment.is_rows) == (D, n < 3)
        np.testing.assert_allclose(full_matrix(moment), F.T @ F, rtol=1e-12, atol=1e-13)
        assert moment.last_diagonal_entry() == pytest.approx((F[:, -1] ** 2).sum())
        expected = F @ F.T if moment.is_rows else F.T @ F
        np.testing.assert_allclose(moment.matrix(), expected, rtol=1e-12, atol=1e-13)
        values, V = np.linalg.eigh(moment.matrix())
        axes = moment.principal_axes(V[:, values > 1e-9])
        positive = values[values > 1e-9]
        np.testing.assert_allclose(axes * positive @ axes.T, F.T @ F, rtol=1e-9, atol=1e-10)


def test_rows_are_stored_while_smaller_than_the_triangle():
    assert triangle_length(D) == 15
    assert [is_smaller_as_rows(m, D) for m in (1, 2, 3)] == [True, True, False]
    two_rows = second_moment_from_rows([X[:2]], None, False)
    assert two_rows.is_rows
    assert not two_rows.combined_with(second_moment_from_rows([X[2:3]], None, False)).is_rows
    assert (
        second_moment_from_rows([X[:1]], None, False)
        .combined_with(second_moment_from_rows([X[1:2]], None, False))
        .is_rows
    )


@pytest.mark.parametrize("cuts", [[1], [1, 2], [2, 20], [10, 11, 39]])
def test_moments_of_parts_add_up(cuts):
    expected = second_moment_from_rows([X], None, False)
    first, *other_moments = (
        second_moment_from_rows([rows], None, False) for rows in np.split(X, cuts)
    )
    for moment in other_moments:
        first = first.combined_with(moment)
    np.testing.assert_allclose(full_matrix(first), full_matrix(expected), rtol=1e-12, atol=1e-13)
    chunks = second_moment_from_rows(np.split(X, cuts), None, False)
    np.testing.assert_allclose(full_matrix(chunks), full_matrix(expected), rtol=1e-12, atol=1e-13)


def test_block_size_does_not_change_the_moment(monkeypatch):
    monkeypatch.setattr(second_moment, "BLOCK_BYTES", 1)
    result = second_moment_from_rows([X], WEIGHTS, False)
    expected = (UNIT * WEIGHTS[:, None]).T @ UNIT
    np.testing.assert_allclose(full_matrix(result), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "chunks",
    [
        [np.ones((2, 2), int)],
        [np.ones(3)],
        [np.ones((2, 0))],
        [np.ones((0, 3))],
        [np.ones((2, 3)), np.ones((2, 4))],
        [np.array([[1.0, 0], [0, 0]])],
        [np.array([[1.0, np.nan]])],
        [np.array([[1e-150, 0]])],
        [np.array([[1e150, 0]])],
        [scipy.sparse.csr_array(np.eye(2))],
    ],
)
def test_unsupported_rows_return_none(chunks):
    assert second_moment_from_rows(chunks, None, False) is None


def test_rows_without_unit_norm_return_none_if_unit_norm_is_required():
    assert second_moment_from_rows([X], None, True) is None
    assert second_moment_from_rows([UNIT], None, True) is not None
    assert second_moment_from_rows([UNIT.astype(np.float32)], None, True) is not None


def test_inputs_are_not_modified_and_values_are_read_only():
    rows, weights = UNIT.copy(), WEIGHTS.copy()
    moment = second_moment_from_rows([rows[:2]], weights[:2], False)
    second_moment_from_rows([rows], None, False)
    np.testing.assert_array_equal(rows, UNIT)
    np.testing.assert_array_equal(weights, WEIGHTS)
    with pytest.raises(ValueError, match="read-only"):
        moment.values[0] = 1


def test_scale_to_diagonal_normalizes_and_weights():
    similarity = FeatureSimilarity(X)
    np.testing.assert_allclose(
        scale_to_diagonal(similarity).dense(), UNIT @ UNIT.T, rtol=1e-12, atol=1e-14
    )
    np.testing.assert_allclose(
        scale_to_diagonal(similarity, WEIGHTS).diagonal(), WEIGHTS, rtol=1e-12
    )


def test_triangle_is_packed_row_by_row():
    C = np.array([[1, 2, 3], [2, 4, 5], [3, 5, 6]])
    assert pack_triangle(C).tolist() == [1, 2, 3, 4, 5, 6]
    moment = SecondMoment(3, pack_triangle(C.astype(float)))
    np.testing.assert_array_equal(moment.matrix(), C)
    assert moment.last_diagonal_entry() == 6


def test_state_that_exceeds_memory_raises():
    require_memory(100)
    with pytest.raises(TooLargeError, match="a state of 10000000 features"):
        require_memory(10**7)


def test_tensors_give_the_moment_of_arrays():
    torch = pytest.importorskip("torch")
    result = second_moment_from_rows([torch.tensor(X)], None, False)
    np.testing.assert_allclose(result.values, second_moment_from_rows([X], None, False).values)
    assert second_moment_from_rows([torch.tensor(X, requires_grad=True)], None, False) is None
