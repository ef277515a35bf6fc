"""Similarities of rows of a tensor are the same if computed when asked and if kept."""

import math

import numpy as np
import pytest

from vendiscore import (
    MatrixSimilarity,
    ProductSimilarity,
    SumSimilarity,
    as_similarity,
    compute,
    score,
)
from vendiscore.similarity import torch_rows
from vendiscore.similarity.composite import RepeatedSimilarity
from vendiscore.similarity.torch_rows import TensorSimilarity

torch = pytest.importorskip("torch")

KERNELS = ["rbf", "laplacian"]


@pytest.fixture
def no_room(monkeypatch):
    monkeypatch.setattr(torch_rows, "KEPT_SHARE", 0.0)
    monkeypatch.setattr(torch_rows.memory, "FEW_BYTES", 0)
    monkeypatch.setattr(torch_rows, "BLOCK_BYTES", 1 << 12)


def rows(n=40, d=3):
    return torch.randn(n, d, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def both(kernel, X, sigma):
    """Return as it is without room, and K in NumPy."""
    lazy = as_similarity(X, k=kernel, sigma=sigma)
    assert isinstance(lazy, TensorSimilarity)
    return lazy, as_similarity(X.numpy(), k=kernel, sigma=sigma).dense()


def test_a_matrix_that_there_is_room_for_is_kept():
    assert isinstance(as_similarity(rows(), k="rbf", sigma=1.0), MatrixSimilarity)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("scale", "offset", "sigma"),
    [(1, 0, 1.5), (1, 1e6, 1.5), (1e5, 0, 1.0), (1e200, 0, 1e200), (1e-200, 0, 1e-200)],
    ids=["usual", "far from 0", "narrow", "huge", "tiny"],
)
def test_entries_products_and_norms_are_those_of_the_matrix(no_room, kernel, scale, offset, sigma):
    X = scale * rows() + offset
    lazy, K = both(kernel, X, sigma)
    V = rows(40, 2)
    some = np.array([7, 3, 7])
    np.testing.assert_allclose(lazy.dense(), K, atol=1e-13)
    np.testing.assert_allclose(lazy.rows(slice(5, 9)), K[5:9], atol=1e-9)
    np.testing.assert_allclose(lazy.rows(some), K[some], atol=1e-9)
    np.testing.assert_allclose(lazy.matmul(V), K @ V.numpy(), atol=1e-8)
    np.testing.assert_allclose(lazy.matmul(V[:, 0]), K @ V.numpy()[:, 0], atol=1e-8)
    assert float(lazy.squared_norm()) == pytest.approx(np.sum(K * K), rel=1e-9)
    np.testing.assert_allclose(lazy.take(some).dense(), K[some][:, some], atol=1e-13)
    assert lazy.diagonal().tolist() == [1.0] * 40
    s = torch.linspace(0.5, 2, 40, dtype=torch.float64)
    scaled, S = lazy.scaled(s), K * s.numpy() * s.numpy()[:, None]
    np.testing.assert_allclose(scaled.matmul(V), S @ V.numpy(), atol=1e-8)
    np.testing.assert_allclose(scaled.dense(), S, atol=1e-12)
    assert float(scaled.squared_norm()) == pytest.approx(np.sum(S * S), rel=1e-9)


@pytest.mark.parametrize("q", [0.5, 1, 2, math.inf])
@pytest.mark.parametrize("kernel", KERNELS)
def test_scores_and_gradients_are_those_of_the_kept_matrix(monkeypatch, kernel, q):
    X, sigma = rows(20), torch.tensor(1.3, dtype=torch.float64)

    def found():
        leaves = X.clone().requires_grad_(), sigma.clone().requires_grad_()
        value = score(leaves[0], kernel, sigma=leaves[1], q=q)
        return value, *torch.autograd.grad(value, leaves)

    kept = found()
    monkeypatch.setattr(torch_rows, "KEPT_SHARE", 0.0)
    monkeypatch.setattr(torch_rows.memory, "FEW_BYTES", 0)
    for ours, theirs in zip(found(), kept, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("offset", [0, 1e6], ids=["product", "differences"])
def test_products_can_be_differentiated(no_room, kernel, offset):
    X = rows(6) + offset

    def product(X):
        return as_similarity(X, k=kernel, sigma=2.0).matmul(torch.ones(6, dtype=torch.float64))

    assert torch.autograd.gradcheck(product, X.requires_grad_(), eps=1e-4 if offset else 1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_an_estimate_is_within_its_error_and_refuses_a_gradient(no_room, kernel, monkeypatch):
    monkeypatch.setattr(torch_rows, "BLOCK_BYTES", 1 << 22)
    X = rows(1500, 4)
    exact = score(X.numpy(), kernel, sigma=2.0)
    how = {"method": "estimate", "rtol": 0.01}
    found = compute(as_similarity(X, k=kernel, sigma=2.0), **how)
    assert found["VS_se"] > 0
    assert abs(found["VS"] - exact) <= 4 * found["VS_se"]
    with pytest.raises(TypeError, match=r"An estimate cannot be differentiated; pass samples\.de"):
        compute(as_similarity(X.requires_grad_(), k=kernel, sigma=2.0), **how)
    sigma = torch.tensor(2.0, requires_grad=True)
    with pytest.raises(TypeError, match="An estimate cannot be differentiated"):
        compute(as_similarity(X.detach(), k=kernel, sigma=sigma), **how)


def test_it_is_a_part_of_mixtures_and_is_weighted(no_room):
    X, p = rows(12), np.arange(1, 13) / 78
    lazy, K = both("rbf", X, 1.5)
    linear = as_similarity(X, k="cosine")
    mixed = SumSimilarity([lazy, linear], [0.5, 0.5])
    np.testing.assert_allclose(mixed.dense(), (K + linear.dense().numpy()) / 2, atol=1e-12)
    assert float(score(X, "rbf", sigma=1.5, p=p)) == pytest.approx(
        score(X.numpy(), "rbf", sigma=1.5, p=p)
    )


@pytest.mark.parametrize("precision", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("kind", ["rows", "K", "sum", "product", "repeated"])
def test_whatever_is_a_tensor_has_products_in_double_precision(kind, precision):
    X = rows(100, 3).to(getattr(torch, precision))
    cosine = as_similarity(X, k="cosine")
    square = torch.eye(100, dtype=X.dtype).add_(0.5).div_(1.5)
    given = as_similarity(square, score_K=True)
    K, dense = {
        "rows": lambda: (cosine, cosine.dense()),
        "K": lambda: (given, given.dense()),
        "sum": lambda: (
            SumSimilarity([cosine, given], [0.5, 0.5]),
            cosine.dense() / 2 + given.dense() / 2,
        ),
        "product": lambda: (ProductSimilarity([cosine, given]), cosine.dense() * given.dense()),
        "repeated": lambda: (
            RepeatedSimilarity(cosine.take(np.arange(50)), np.arange(100) % 50),
            cosine.dense()[:50, :50].tile(2, 2),
        ),
    }[kind]()
    V = rows(100, 2)
    for S, expected in [(K, dense), (K.scaled(V[:, 1]), dense * V[:, 1] * V[:, 1:])]:
        torch.testing.assert_close(S.matmul(V), expected @ V, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(S.matmul(V[:, 0]), expected @ V[:, 0], rtol=1e-12, atol=1e-12)


def test_measures_of_many_rows_of_a_tensor_make_no_matrix():
    X = torch.rand(100_000, 2, generator=torch.Generator().manual_seed(0))  # K has 80 GB
    found, expected = (compute(rows, k="cosine", measures="IntDiv") for rows in (X, X.numpy()))
    assert float(found["IntDiv"]) == pytest.approx(expected["IntDiv"], rel=1e-12)
    means = [compute(rows, rows[1:] / 2, k="cosine", measures="MMD") for rows in (X, X.numpy())]
    assert float(means[0]["MMD"]) == pytest.approx(means[1]["MMD"], abs=1e-12)


@pytest.mark.parametrize("given", ["rows", "K"])
def test_a_tensor_in_single_precision_is_estimated(given):
    decay = 1 / torch.arange(1, 1201)
    X = torch.randn(1000, 1200, generator=torch.Generator().manual_seed(0)) * decay
    cosine = as_similarity(X, k="cosine").dense()
    how = {"k": "cosine"} if given == "rows" else {"score_K": True}
    samples = X if given == "rows" else cosine.float()
    found = compute(samples, method="estimate", rtol=0.1, **how)
    assert found["VS_se"] > 0
    assert abs(float(found["VS"]) - float(compute(samples, **how)["VS"])) < 4 * found["VS_se"]
