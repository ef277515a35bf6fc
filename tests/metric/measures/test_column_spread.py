"""GMStds, the geometric mean of the standard deviations of columns."""

import numpy as np
import pytest
import scipy.sparse

from vendiscore import compute

RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 4)) * [1, 10, 0.1, 3]


def compute_gmstds(samples, **options):
    return compute(samples, measures=["GMStds"], **options)["GMStds"]


def test_gmstds_equals_geometric_mean_of_column_standard_deviations():
    expected = np.exp(np.log(X.std(axis=0)).mean())
    assert compute_gmstds(X) == pytest.approx(expected, rel=1e-12)
    assert compute_gmstds(X + 100) == pytest.approx(expected, rel=1e-9)
    assert compute_gmstds(X[:, :1]) == pytest.approx(X[:, 0].std(), rel=1e-12)


@pytest.mark.parametrize("factor", [1e-200, 1e-3, 7.0, 1e200])
def test_gmstds_scales_linearly_with_the_samples(factor):
    assert compute_gmstds(X * factor) == pytest.approx(compute_gmstds(X) * factor, rel=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e300])
def test_gmstds_is_exactly_zero_with_a_constant_column(value):
    rows = X.copy()
    rows[:, 2] = value
    assert compute_gmstds(rows) == 0.0


def test_gmstds_of_sparse_samples_matches_dense_samples():
    rows = np.where(RNG.random((20, 4)) < 0.5, X, 0)
    assert compute_gmstds(scipy.sparse.csr_array(rows)) == pytest.approx(
        compute_gmstds(rows), rel=1e-12
    )
    rows[:, 1] = 0
    assert compute_gmstds(scipy.sparse.csr_array(rows)) == 0.0


def test_gmstds_of_many_columns_matches_numpy():
    rows = RNG.standard_normal((400, 3000))
    expected = np.exp(np.log(rows.std(axis=0)).mean())
    assert compute_gmstds(rows) == pytest.approx(expected, rel=1e-12)


def test_gmstds_of_tensors_matches_arrays():
    torch = pytest.importorskip("torch")
    assert compute_gmstds(torch.tensor(X)) == pytest.approx(compute_gmstds(X), rel=1e-12)
