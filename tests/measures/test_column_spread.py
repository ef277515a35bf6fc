"""The L2-star discrepancy as a measure, against Warnock's formula and SciPy."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import qmc

from vendiscore import SampleError, compute

X = np.random.default_rng(0).random((15, 3))


def warnock(X):
    """Return the root of 3⁻ᵈ − 2¹⁻ᵈ/n Σ Π (1 − x²) + n⁻² ΣΣ Π (1 − max(x, x'))."""
    n, d = X.shape
    pairs = sum(np.prod(1 - np.maximum(a, b)) for a, b in itertools.product(X, X))
    singles = np.prod(1 - X**2, axis=1).sum()
    return (3.0**-d - 2.0 ** (1 - d) / n * singles + pairs / n**2) ** 0.5


def measured(X, **how):
    return compute(X, measures="L2Star", **how)["L2Star"]


@pytest.mark.parametrize("how", [{}, {"k": "rbf"}, {"metric": "manhattan"}], ids=str)
@pytest.mark.parametrize("n", [1, 2, 15])
def test_is_that_of_the_unit_cube(n, how):
    beside = {"measures": ["L2Star", "t_conv"]} if "metric" in how else {"measures": ["L2Star"]}
    found = compute(X[:n], **beside, **how)["L2Star"]
    assert found == pytest.approx(warnock(X[:n]), rel=1e-8)
    assert found == pytest.approx(qmc.discrepancy(X[:n], method="L2-star"), rel=1e-12)


def test_a_box_is_scaled_to_the_cube():
    low, high = np.array([-1.0, 0.0, 5.0]), np.array([1.0, 10.0, 6.0])
    rows = low + X * (high - low)
    assert measured(rows, box=(low, high)) == pytest.approx(measured(X), rel=1e-10)
    assert measured(4 * X - 2, box=(-2, 2)) == pytest.approx(measured(X), rel=1e-10)
    assert measured(4 * X - 2, box=([-2], [2, 2, 2])) == pytest.approx(measured(X), rel=1e-10)
    assert measured(np.array([[0.1], [0.3]]), box=(0.1, 0.3)) == measured([0.0, 1.0])


@pytest.mark.parametrize("of", [np.ndarray.tolist, np.float32, sp.csr_array, np.asfortranarray])
def test_rows_of_any_kind_are_read(of):
    assert measured(of(X)) == pytest.approx(warnock(X), rel=1e-6 if of is np.float32 else 1e-9)
    column = X[:, 0].tolist()
    assert measured(column) == pytest.approx(warnock(X[:, :1]), rel=1e-9)


def test_grows_for_points_that_leave_more_of_the_box_empty():
    even = np.random.default_rng(1).random((200, 2))
    found = [measured(side * even) for side in (1.0, 0.9, 0.7, 0.4, 0.1, 0.0)]
    assert found == sorted(found)


def test_groups_are_a_loop():
    labels = np.repeat([0, 1, 2], 5)
    expected = np.mean([warnock(rows) for rows in np.split(X, 3)])
    assert measured(X, groups=labels) == pytest.approx(expected, rel=1e-9)
    assert measured(X, groups=labels, k="rbf") == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "how", "message"),
    [
        ((4, 1, 1.5), {}, r"^sample 4 has 1.5 in column 1, outside of \[0, 1\], the box of L2"),
        ((4, 2, -1e-9), {}, r"sample 4 has -1e-09 in column 2, outside of \[0, 1\]"),
        ((9, 0, 2.0), {"groups": np.repeat([0, 1, 2], 5)}, "^sample 9 has 2 in column 0"),
        ((9, 0, 2.0), {"box": (0, [1, 1, 3])}, r"sample 9 has 2 in column 0, outside of \[0, 1\]"),
        ((9, 0, np.inf), {}, "sample 9 .*must be finite"),
    ],
)
def test_points_outside_are_named_with_their_column(change, how, message):
    rows = X.copy()
    i, j, rows[i, j] = change
    with pytest.raises(SampleError, match=message):
        measured(rows, **how)


@pytest.mark.parametrize(
    ("box", "message"),
    [
        (1, "`box` must be the lowest and the highest corner, each a number or one for each colu"),
        ((0, 1, 2), "`box` must be the lowest and the highest corner"),
        (([0, 0], [1, 1, 1]), "`box` must be the lowest and the highest corner"),
        ((1, 1), "`box` must have every lowest end below the highest, got"),
        (([0, 0], 1), "`box` must have an end for each of 3 columns, got 2; pass one number"),
        ((0, np.inf), "`box` must be of finite numbers, got inf"),
    ],
)
def test_what_is_no_box_is_refused(box, message):
    with pytest.raises(ValueError, match=message):
        measured(X, box=box)


def test_needs_points_and_has_no_gradient():
    for samples, how in ((["a", "b"], {}), (X @ X.T, {"score_K": True, "normalize": True})):
        with pytest.raises(TypeError, match="L2Star needs samples that are points, got"):
            measured(samples, **how)
    torch = pytest.importorskip("torch")
    assert measured(torch.from_numpy(X)) == measured(X)
    with pytest.raises(TypeError, match="L2Star cannot be differentiated"):
        measured(torch.from_numpy(X).requires_grad_())
