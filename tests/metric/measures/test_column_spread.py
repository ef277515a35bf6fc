"""The geometric mean of standard deviations of columns."""

import numpy as np
import pytest
import scipy.sparse

from vendiscore import compute

RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 4)) * [1, 10, 0.1, 3]


def spread(samples, **arguments):
    return compute(samples, measures=["GMStds"], **arguments)["GMStds"]


def test_gmstds_equals_geometric_mean_of_column_standard_deviations():
    expected = np.exp(np.log(X.std(axis=0)).mean())
    assert spread(X) == pytest.approx(expected, rel=1e-12)
    assert spread(X + 100) == pytest.approx(expected, rel=1e-9)
    assert spread(X[:, :1]) == pytest.approx(X[:, 0].std(), rel=1e-12)


@pytest.mark.parametrize("factor", [1e-200, 1e-3, 7.0, 1e200])
def test_gmstds_scales_linearly_with_the_samples(factor):
    assert spread(X * factor) == pytest.approx(spread(X) * factor, rel=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e300])
def test_gmstds_is_exactly_zero_with_a_constant_column(value):
    rows = X.copy()
    rows[:, 2] = value
    assert spread(rows) == 0.0


def test_gmstds_of_sparse_samples_matches_dense_samples():
    rows = np.where(RNG.random((20, 4)) < 0.5, X, 0)
    assert spread(scipy.sparse.csr_array(rows)) == pytest.approx(spread(rows), rel=1e-12)
    rows[:, 1] = 0
    assert spread(scipy.sparse.csr_array(rows)) == 0.0


def test_gmstds_of_many_columns_matches_numpy():
    rows = RNG.standard_normal((400, 3000))
    expected = np.exp(np.log(rows.std(axis=0)).mean())
    assert spread(rows) == pytest.approx(expected, rel=1e-12)


def test_gmstds_of_tensors_matches_arrays():
    torch = pytest.importorskip("torch")
    assert spread(torch.tensor(X)) == pytest.approx(spread(X), rel=1e-12)
