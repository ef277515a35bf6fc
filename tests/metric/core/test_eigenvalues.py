"""Normalization of eigenvalues: truncation of rounding errors, exceptions and warnings."""

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
    is_nonnegative_diagonal,
    normalize_above,
    normalize_eigenvalues,
)


def make_tolerance(n, precision=0.0, psd=False):
    return EigenvalueTolerance(n, precision, psd, lambda: "look at the kernel")


def test_normalized_eigenvalues_descend_and_sum_to_1():
    result = normalize_eigenvalues(np.array([0.2, 0.3, 0.5]), make_tolerance(3))
    assert result.values.tolist() == [0.5, 0.3, 0.2]
    assert (result.negative_mass, result.count_truncated()) == (0.0, 0)
    assert result.largest_threshold == 3 * EPS * 0.5


@pytest.mark.parametrize(("factor", "n_nonzero"), [(0.9, 2), (1.1, 3)])
def test_values_below_n_eps_times_maximum_become_zero(factor, n_nonzero):
    small = factor * 100 * EPS * 0.6
    result = normalize_eigenvalues(np.array([small, 0.4, 0.6]), make_tolerance(100))
    assert np.count_nonzero(result.values) == n_nonzero
    assert result.largest_threshold == 100 * EPS * 0.6


def test_low_input_precision_raises_threshold():
    values = np.array([1e-4, 0.4 - 1e-4, 0.6])
    result = normalize_eigenvalues(values, make_tolerance(3, precision=1e-3))
    assert [np.count_nonzero(result.values_at(q)) for q in (0, 0.5, 1, 2)] == [2, 2, 3, 3]
    assert result.values_at(0).sum() == pytest.approx(1)
    assert (
        np.count_nonzero(
            normalize_eigenvalues(values, make_tolerance(3, precision=1e-3, psd=True)).values
        )
        == 3
    )


def test_small_negative_eigenvalues_are_clipped_and_larger_raise():
    for negative, is_rejected in ((0.9 * NEGATIVE_MASS, False), (1.1 * NEGATIVE_MASS, True)):
        values = np.array([-negative, 0.4, 0.6 + negative])
        if is_rejected:
            with pytest.raises(NotPSDError) as error:
                normalize_eigenvalues(values, make_tolerance(3))
            assert error.value.negative_mass == pytest.approx(negative)
            assert error.value.smallest == pytest.approx(-negative)
        else:
            result = normalize_eigenvalues(values, make_tolerance(3))
            assert result.negative_mass == pytest.approx(negative)
        clipped = normalize_eigenvalues(values, make_tolerance(3), "clip").values
        assert clipped.sum() == pytest.approx(1)
        assert clipped.min() == 0


def test_low_input_precision_allows_negative_eigenvalues():
    """The limit is twice 0.42 σ √n, from Wigner's semicircle law; σ = input precision / √12."""
    values, tolerance = np.array([-1e-3, 0.4, 0.601]), make_tolerance(100, precision=1e-3)
    assert tolerance.max_negative_mass == pytest.approx(2 * 0.42 * 1e-3 / 12**0.5 * 10, rel=0.04)
    with pytest.warns(UserWarning, match="treated as rounding errors of the input precision"):
        normalize_eigenvalues(values, tolerance)


def test_normalize_eigenvalues_rejects_sum_other_than_1():
    with pytest.raises(ValueError, match=r"must sum to 1, got 1\.2; look at the kernel"):
        normalize_eigenvalues(np.array([0.6, 0.6]), make_tolerance(2))


def test_orders_below_1_warn_about_truncated_eigenvalues():
    result = normalize_eigenvalues(np.array([1e-18, 1e-16, 1e-14, 0.5, 0.5]), make_tolerance(5))
    assert result.count_truncated() == 2
    with pytest.warns(UserWarning, match="2 eigenvalues below"):
        result.warn_about_truncation([2.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result.warn_about_truncation([1.0, 2.0])
        result.warn_about_truncation([])
        normalize_eigenvalues(np.array([0.5, 0.5]), make_tolerance(2)).warn_about_truncation([0.0])


def test_diagonal_matrix_has_its_entries_as_eigenvalues():
    result = compute_eigenvalues(np.diag([0.2, 0.5, 0.3]), make_tolerance(3), vectors=True)
    assert result.values.tolist() == [0.5, 0.3, 0.2]
    assert result.vectors.tolist() == np.eye(3)[:, [1, 2, 0]].tolist()
    assert is_nonnegative_diagonal(np.diag([0.2, 0.0]))
    assert not is_nonnegative_diagonal(np.array([[0.5, 0.1], [0.1, 0.5]]))
    assert not is_nonnegative_diagonal(np.diag([0.2, -0.5]))
    lower_triangular = np.diag([0.2, 0.8, 0.0])
    lower_triangular[2, 1] = 1e-300
    assert not is_nonnegative_diagonal(lower_triangular)


def test_stacked_matrices_match_single_matrices():
    generator = np.random.default_rng(0)
    F = generator.standard_normal((6, 5, 3))
    A = F @ F.swapaxes(1, 2)
    A /= np.trace(A, axis1=1, axis2=2)[:, None, None]
    stack = compute_eigenvalues(A, make_tolerance(5), vectors=True)
    for i, matrix in enumerate(A):
        single = compute_eigenvalues(matrix, make_tolerance(5), vectors=True)
        assert stack.values[i] == pytest.approx(single.values, abs=1e-15)
        assert np.count_nonzero(stack.values[i]) == 3
        assert abs(np.sum(stack.vectors[i] * single.vectors, axis=0))[:3] == pytest.approx(1)
        assert stack.count_truncated()[i] == single.count_truncated()
        for q in (0, 0.5, 1, 2, np.inf):
            assert stack.hill_number(q)[i] == pytest.approx(single.hill_number(q), rel=1e-13)


def test_invalid_matrices_of_stack_are_marked_and_single_raise():
    values = np.array([[0.2, 0.3, 0.5], [-1e-3, 0.4, 0.601], [0.3, 0.4, 0.5], [np.nan] * 3])
    result = normalize_eigenvalues(values, make_tolerance(3))
    assert result.is_impossible.tolist() == [False, True, True, True]
    clipped = normalize_eigenvalues(values, make_tolerance(3), "clip")
    assert clipped.is_impossible.tolist() == [False, False, True, True]
    assert clipped.values[1] == pytest.approx(np.array([0.601, 0.4, 0]) / 1.001)
    for row in values[1:]:
        with pytest.raises(ValueError):
            normalize_eigenvalues(row, make_tolerance(3))


def test_rows_of_eigenvalues_are_clipped_and_normalized():
    values = np.array([[-1e-3, 1e-17, 1.0, 3.0], [0.0, 2.0, 2.0, 4.0]])
    positive = clip_eigenvalues(values)
    assert positive == pytest.approx(np.array([[0, 0, 0.25, 0.75], [0, 0.25, 0.25, 0.5]]))
    assert (positive[0, :2] == 0).all()
    assert (normalize_above(values, 1.5) > 0).sum() == 4


def test_check_psd_accepts_only_check_and_clip():
    assert check_psd("clip") == "clip"
    with pytest.raises(ValueError, match="`psd` must be 'check' or 'clip', got 'no'"):
        check_psd("no")


def make_indefinite_similarity(negative_mass):
    """Return a 3 × 3 similarity matrix with a negative eigenvalue near −negative_mass · trace."""
    c = 1 - 9 * negative_mass
    return np.array([[1, 1, c], [1, 1, 1], [c, 1, 1]])


@pytest.mark.parametrize("groups", [None, [0, 0, 0, 1, 1, 1]])
def test_negative_mass_above_1e_6_raises_and_below_is_rounding(groups):
    for negative_mass, is_rejected in ((2e-6, True), (0.5e-6, False)):
        K = np.kron(np.eye(2), make_indefinite_similarity(negative_mass))
        if groups is None:
            K = K[:3, :3]
        negative = -np.linalg.eigvalsh(K / len(K))[0]
        assert negative == pytest.approx(negative_mass / (1 if groups is None else 2), rel=0.01)
        if is_rejected:
            with pytest.raises(NotPSDError):
                compute(K, score_K=True, groups=groups)
        else:
            assert compute(K, score_K=True, groups=groups)["VS"] == pytest.approx(1, abs=1e-4)
