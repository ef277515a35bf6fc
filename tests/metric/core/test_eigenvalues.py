"""Eigenvalues are normalized: what is rounding, what is refused, what is warned of."""

import warnings

import numpy as np
import pytest

from vendiscore import NotPSDError, compute
from vendiscore.core.eigenvalues import (
    EPS,
    NEGATIVE_MASS,
    EigenvalueTolerance,
    check_psd,
    clip_eigenvalues,
    compute_eigenvalues,
    is_diagonal,
    normalize_above,
    normalize_eigenvalues,
)


def rounding(n, precision=0.0, psd=False):
    return EigenvalueTolerance(n, precision, psd, lambda: "look at the kernel")


def test_normalized_eigenvalues_descend_and_sum_to_1():
    result = normalize_eigenvalues(np.array([0.2, 0.3, 0.5]), rounding(3))
    assert result.values.tolist() == [0.5, 0.3, 0.2]
    assert (result.negative_mass, result.count_truncated()) == (0.0, 0)
    assert result.largest_threshold == 3 * EPS * 0.5


@pytest.mark.parametrize(("times", "kept"), [(0.9, 2), (1.1, 3)])
def test_what_is_below_n_eps_times_the_largest_is_zero(times, kept):
    small = times * 100 * EPS * 0.6
    result = normalize_eigenvalues(np.array([small, 0.4, 0.6]), rounding(100))
    assert np.count_nonzero(result.values) == kept
    assert result.largest_threshold == 100 * EPS * 0.6


def test_entries_of_a_coarse_precision_have_a_coarse_cut():
    values = np.array([1e-4, 0.4 - 1e-4, 0.6])
    result = normalize_eigenvalues(values, rounding(3, precision=1e-3))
    assert [np.count_nonzero(result.values_at(q)) for q in (0, 0.5, 1, 2)] == [2, 2, 3, 3]
    assert result.values_at(0).sum() == pytest.approx(1)
    assert (
        np.count_nonzero(
            normalize_eigenvalues(values, rounding(3, precision=1e-3, psd=True)).values
        )
        == 3
    )


def test_small_negative_eigenvalues_are_rounding_and_larger_ones_are_refused():
    for negative, refused in ((0.9 * NEGATIVE_MASS, False), (1.1 * NEGATIVE_MASS, True)):
        values = np.array([-negative, 0.4, 0.6 + negative])
        if refused:
            with pytest.raises(NotPSDError) as error:
                normalize_eigenvalues(values, rounding(3))
            assert error.value.negative_mass == pytest.approx(negative)
            assert error.value.smallest == pytest.approx(-negative)
        else:
            result = normalize_eigenvalues(values, rounding(3))
            assert result.negative_mass == pytest.approx(negative)
        clipped = normalize_eigenvalues(values, rounding(3), "clip").values
        assert clipped.sum() == pytest.approx(1)
        assert clipped.min() == 0


def test_errors_of_the_entries_may_make_eigenvalues_negative():
    """Twice the area 0.42 σ √n of half a semicircle, σ the spacing over √12."""
    values, coarse = np.array([-1e-3, 0.4, 0.601]), rounding(100, precision=1e-3)
    assert coarse.max_negative_mass == pytest.approx(2 * 0.42 * 1e-3 / 12**0.5 * 10, rel=0.04)
    with pytest.warns(UserWarning, match="treated as rounding errors of the input precision"):
        normalize_eigenvalues(values, coarse)


def test_eigenvalues_that_do_not_sum_to_1_are_refused():
    with pytest.raises(ValueError, match=r"must sum to 1, got 1\.2; look at the kernel"):
        normalize_eigenvalues(np.array([0.6, 0.6]), rounding(2))


def test_orders_below_1_warn_where_a_tail_was_cut():
    result = normalize_eigenvalues(np.array([1e-18, 1e-16, 1e-14, 0.5, 0.5]), rounding(5))
    assert result.count_truncated() == 2
    with pytest.warns(UserWarning, match="2 eigenvalues below"):
        result.warn_about_truncation([2.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result.warn_about_truncation([1.0, 2.0])
        result.warn_about_truncation([])
        normalize_eigenvalues(np.array([0.5, 0.5]), rounding(2)).warn_about_truncation([0.0])


def test_eigenvalues_of_a_diagonal_matrix_are_its_entries():
    result = compute_eigenvalues(np.diag([0.2, 0.5, 0.3]), rounding(3), vectors=True)
    assert result.values.tolist() == [0.5, 0.3, 0.2]
    assert result.vectors.tolist() == np.eye(3)[:, [1, 2, 0]].tolist()
    assert is_diagonal(np.diag([0.2, 0.0]))
    assert not is_diagonal(np.array([[0.5, 0.1], [0.1, 0.5]]))
    assert not is_diagonal(np.diag([0.2, -0.5]))
    below = np.diag([0.2, 0.8, 0.0])
    below[2, 1] = 1e-300
    assert not is_diagonal(below)


def test_each_matrix_of_a_stack_has_the_eigenvalues_that_it_has_alone():
    generator = np.random.default_rng(0)
    F = generator.standard_normal((6, 5, 3))
    A = F @ F.swapaxes(1, 2)
    A /= np.trace(A, axis1=1, axis2=2)[:, None, None]
    stack = compute_eigenvalues(A, rounding(5), vectors=True)
    for i, one in enumerate(A):
        alone = compute_eigenvalues(one, rounding(5), vectors=True)
        assert stack.values[i] == pytest.approx(alone.values, abs=1e-15)
        assert np.count_nonzero(stack.values[i]) == 3
        assert abs(np.sum(stack.vectors[i] * alone.vectors, axis=0))[:3] == pytest.approx(1)
        assert stack.count_truncated()[i] == alone.count_truncated()
        for q in (0, 0.5, 1, 2, np.inf):
            assert stack.hill_number(q)[i] == pytest.approx(alone.hill_number(q), rel=1e-13)


def test_impossible_matrices_of_a_stack_are_marked_and_one_alone_is_refused():
    values = np.array([[0.2, 0.3, 0.5], [-1e-3, 0.4, 0.601], [0.3, 0.4, 0.5], [np.nan] * 3])
    checked = normalize_eigenvalues(values, rounding(3))
    assert checked.is_impossible.tolist() == [False, True, True, True]
    clipped = normalize_eigenvalues(values, rounding(3), "clip")
    assert clipped.is_impossible.tolist() == [False, False, True, True]
    assert clipped.values[1] == pytest.approx(np.array([0.601, 0.4, 0]) / 1.001)
    for row in values[1:]:
        with pytest.raises(ValueError):
            normalize_eigenvalues(row, rounding(3))


def test_rows_of_eigenvalues_are_clipped_and_normalized():
    values = np.array([[-1e-3, 1e-17, 1.0, 3.0], [0.0, 2.0, 2.0, 4.0]])
    positive = clip_eigenvalues(values)
    assert positive == pytest.approx(np.array([[0, 0, 0.25, 0.75], [0, 0.25, 0.25, 0.5]]))
    assert (positive[0, :2] == 0).all()
    assert (normalize_above(values, 1.5) > 0).sum() == 4


def test_only_two_words_say_what_becomes_of_negative_eigenvalues():
    assert check_psd("clip") == "clip"
    with pytest.raises(ValueError, match="`psd` must be 'check' or 'clip', got 'no'"):
        check_psd("no")


def with_negative_mass(share):
    """Return similarities (3, 3) whose negative eigenvalue is nearly −share of the trace."""
    c = 1 - 9 * share
    return np.array([[1, 1, c], [1, 1, 1], [c, 1, 1]])


@pytest.mark.parametrize("groups", [None, [0, 0, 0, 1, 1, 1]])
def test_a_negative_share_of_two_millionths_is_refused_and_of_half_a_millionth_is_rounding(groups):
    for share, refused in ((2e-6, True), (0.5e-6, False)):
        K = np.kron(np.eye(2), with_negative_mass(share))
        if groups is None:
            K = K[:3, :3]
        negative = -np.linalg.eigvalsh(K / len(K))[0]
        assert negative == pytest.approx(share / (1 if groups is None else 2), rel=0.01)
        if refused:
            with pytest.raises(NotPSDError):
                compute(K, score_K=True, groups=groups)
        else:
            assert compute(K, score_K=True, groups=groups)["VS"] == pytest.approx(1, abs=1e-4)
