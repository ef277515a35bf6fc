"""Eigenvalues become shares: what is rounding, what is refused, what is warned of."""

import warnings

import numpy as np
import pytest

from vendiscore import NotPSDError, compute
from vendiscore.core.shares import (
    EPS,
    NEGATIVE_MASS,
    Rounding,
    Shares,
    check_psd,
    diagonal_shares,
    shares,
)


def rounding(n, spacing=0.0, psd=False):
    return Rounding(n, psd, spacing, lambda: "look at the kernel")


def test_shares_descend_and_sum_to_1():
    found = shares(np.array([0.2, 0.3, 0.5]), rounding(3))
    assert found.values.tolist() == [0.5, 0.3, 0.2]
    assert (found.negative_mass, found.lost) == (0.0, 0)
    assert found.cut == 3 * EPS * 0.5


@pytest.mark.parametrize(("times", "kept"), [(0.9, 2), (1.1, 3)])
def test_what_is_below_n_eps_times_the_largest_is_zero(times, kept):
    small = times * 100 * EPS * 0.6
    found = shares(np.array([small, 0.4, 0.6]), rounding(100))
    assert np.count_nonzero(found.values) == kept
    assert found.cut == 100 * EPS * 0.6


def test_entries_of_a_coarse_precision_have_a_coarse_cut():
    values = np.array([1e-4, 0.4 - 1e-4, 0.6])
    found = shares(values, rounding(3, spacing=1e-3))
    assert [len(found.positive_at(q)) for q in (0, 0.5, 1, 2)] == [2, 2, 3, 3]
    assert found.positive_at(0).sum() == pytest.approx(1)
    assert np.count_nonzero(shares(values, rounding(3, spacing=1e-3, psd=True)).values) == 3


def test_small_negative_eigenvalues_are_rounding_and_larger_ones_are_refused():
    for negative, refused in ((0.9 * NEGATIVE_MASS, False), (1.1 * NEGATIVE_MASS, True)):
        values = np.array([-negative, 0.4, 0.6 + negative])
        if refused:
            with pytest.raises(NotPSDError) as error:
                shares(values, rounding(3))
            assert error.value.negative_mass == pytest.approx(negative)
            assert error.value.smallest == pytest.approx(-negative)
        else:
            found = shares(values, rounding(3))
            assert found.negative_mass == pytest.approx(negative)
        clipped = shares(values, rounding(3), "clip").values
        assert clipped.sum() == pytest.approx(1)
        assert clipped.min() == 0


def test_errors_of_the_entries_may_make_eigenvalues_negative():
    """Twice the area 0.42 σ √n of half a semicircle, σ the spacing over √12."""
    values, coarse = np.array([-1e-3, 0.4, 0.601]), rounding(100, spacing=1e-3)
    assert coarse.negative_mass == pytest.approx(2 * 0.42 * 1e-3 / 12**0.5 * 10, rel=0.04)
    with pytest.warns(UserWarning, match="count as rounding of the precision"):
        shares(values, coarse)


def test_eigenvalues_that_do_not_sum_to_1_are_refused():
    with pytest.raises(ValueError, match=r"sum to 1\.2 instead of 1: look at the kernel"):
        shares(np.array([0.6, 0.6]), rounding(2))


def test_orders_below_1_warn_where_a_tail_was_cut():
    found = shares(np.array([1e-18, 1e-16, 1e-14, 0.5, 0.5]), rounding(5))
    assert found.lost == 2
    with pytest.warns(UserWarning, match="2 eigenvalues below"):
        found.warn_of_cut([2.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found.warn_of_cut([1.0, 2.0])
        found.warn_of_cut([])
        Shares(values=np.array([0.5, 0.5])).warn_of_cut([0.0])


def test_eigenvalues_of_a_diagonal_matrix_are_its_entries():
    exact, places = diagonal_shares(np.diag([0.2, 0.5, 0.3]))
    assert places.tolist() == [1, 2, 0]
    assert exact.values.tolist() == [0.5, 0.3, 0.2]
    assert diagonal_shares(np.array([[0.5, 0.1], [0.1, 0.5]])) is None
    assert diagonal_shares(np.diag([0.2, -0.5])) is None
    below = np.diag([0.2, 0.8, 0.0])
    below[2, 1] = 1e-300
    assert diagonal_shares(below) is None


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
