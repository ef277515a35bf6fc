"""Products with vectors agree with the dense matrix for all Similarity classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from vendiscore import (
    FeatureSimilarity,
    MatrixSimilarity,
    ProductSimilarity,
    RowsSimilarity,
    SumSimilarity,
    as_similarity,
    compute,
)
from vendiscore.similarity.bit_sets import BitSimilarity
from vendiscore.similarity.composite import RepeatedSimilarity

N = 190
rng = np.random.default_rng(0)
X = rng.standard_normal((N, 30))
BITS = (rng.random((N, 40)) < 0.2).astype(np.uint8)
BITS[[5, 150]] = 0
RARE = (rng.random((N, 900)) < 0.02).astype(np.uint8) | np.eye(N, 900, dtype=np.uint8)
RARE[5] = 0
COUNTS = sp.csr_array(rng.random((N, 60)) * (rng.random((N, 60)) < 0.2))
V = rng.standard_normal((N, 3))

SIMILARITIES = {
    "rbf": lambda: as_similarity(X, k="rbf"),
    "narrow rbf": lambda: as_similarity(X, k="rbf", sigma=0.3),
    "wide rbf": lambda: as_similarity(X, k="rbf", sigma=1e9),
    "rbf of few columns": lambda: as_similarity(X[:, :3], k="rbf"),
    "rbf with an outlier": lambda: as_similarity(np.vstack([X[1:], 1e5 + X[:1]]), k="rbf", sigma=5),
    "rbf far apart": lambda: as_similarity(X + 1e8 * (np.arange(N)[:, None] % 2), k="rbf", sigma=5),
    "rbf of huge numbers": lambda: as_similarity(X * 2.0**700, k="rbf"),
    "rbf of tiny numbers": lambda: as_similarity(X * 2.0**-700, k="rbf"),
    "laplacian": lambda: as_similarity(X, k="laplacian"),
    "a power of cosines": lambda: RowsSimilarity.of_rows(
        X / np.linalg.norm(X, axis=1, keepdims=True), lambda A, B: (A @ B.T) ** 3, psd=True
    ),
    "tanimoto": lambda: BitSimilarity(BITS),
    "rare bits": lambda: BitSimilarity(RARE),
    "dice": lambda: BitSimilarity(BITS, "dice"),
    "of rows": lambda: RowsSimilarity.of_rows(X, lambda A, B: 1 / (1 + cdist(A, B))),
    "matrix": lambda: MatrixSimilarity(X @ X.T),
    "single matrix": lambda: MatrixSimilarity((X @ X.T).astype(np.float32)),
    "features": lambda: FeatureSimilarity(X),
    "single features": lambda: FeatureSimilarity(X.astype(np.float32)),
    "integer features": lambda: FeatureSimilarity(BITS),
    "sparse features": lambda: FeatureSimilarity(COUNTS),
    "repeated": lambda: RepeatedSimilarity(BitSimilarity(BITS[:99]), np.arange(N) % 99),
    "sum": lambda: SumSimilarity([BitSimilarity(BITS), as_similarity(X, k="rbf")], [0.3, 0.7]),
    "product": lambda: ProductSimilarity([BitSimilarity(BITS), as_similarity(X, k="rbf")]),
}


@pytest.mark.parametrize("is_cached", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("name", SIMILARITIES)
def test_matmul_matches_the_dense_matrix(name, is_cached, scaled, monkeypatch):
    monkeypatch.setattr("vendiscore.support.memory.MAX_CACHE_FRACTION", 0.25 if is_cached else 0.0)
    similarity = SIMILARITIES[name]()
    if scaled:
        similarity = similarity.scaled(rng.uniform(0.5, 2, N))
    K = similarity.dense()
    bound = K if K.min() >= 0 else np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    for columns in (V, V[:, 0], V * [1e-200, 1.0, 1e200], V[:, :0], np.eye(N, 5)):
        for _ in range(2):
            product = similarity.matmul(columns)
            assert product.dtype == np.float64
            assert product.shape == columns.shape
            assert np.all(np.abs(product - K @ columns) <= 1e-12 * (bound @ np.abs(columns)))


@pytest.mark.parametrize("precision", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("kind", ["rows", "K", "sum", "product", "repeated"])
def test_matmul_of_tensors_is_in_double_precision(kind, precision):
    torch = pytest.importorskip("torch")
    V = torch.randn(100, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    X = V.to(getattr(torch, precision))
    cosine = as_similarity(X, k="cosine")
    square = torch.eye(100, dtype=X.dtype).add_(0.5).div_(1.5)
    from_matrix = as_similarity(square, score_K=True)
    K, dense = {
        "rows": lambda: (cosine, cosine.dense()),
        "K": lambda: (from_matrix, from_matrix.dense()),
        "sum": lambda: (
            SumSimilarity([cosine, from_matrix], [0.5, 0.5]),
            cosine.dense() / 2 + from_matrix.dense() / 2,
        ),
        "product": lambda: (
            ProductSimilarity([cosine, from_matrix]),
            cosine.dense() * from_matrix.dense(),
        ),
        "repeated": lambda: (
            RepeatedSimilarity(cosine.take(np.arange(50)), np.arange(100) % 50),
            cosine.dense()[:50, :50].tile(2, 2),
        ),
    }[kind]()
    for similarity, expected in [(K, dense), (K.scaled(V[:, 1]), dense * V[:, 1] * V[:, 1:2])]:
        torch.testing.assert_close(similarity.matmul(V), expected @ V, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(
            similarity.matmul(V[:, 0]), expected @ V[:, 0], rtol=1e-12, atol=1e-12
        )


def test_measures_of_many_tensor_rows_build_no_matrix():
    torch = pytest.importorskip("torch")
    X = torch.rand(100_000, 2, generator=torch.Generator().manual_seed(0))  # K has 80 GB
    result, expected = (compute(rows, k="cosine", measures="IntDiv") for rows in (X, X.numpy()))
    assert float(result["IntDiv"]) == pytest.approx(expected["IntDiv"], rel=1e-12)
    means = [compute(rows, rows[1:] / 2, k="cosine", measures="MMD") for rows in (X, X.numpy())]
    assert float(means[0]["MMD"]) == pytest.approx(means[1]["MMD"], abs=1e-12)


@pytest.mark.parametrize("input_form", ["rows", "K"])
def test_estimates_of_single_precision_tensors_are_accurate(input_form):
    torch = pytest.importorskip("torch")
    decay = 1 / torch.arange(1, 1201)
    X = torch.randn(1000, 1200, generator=torch.Generator().manual_seed(0)) * decay
    cosine = as_similarity(X, k="cosine").dense()
    options = {"k": "cosine"} if input_form == "rows" else {"score_K": True}
    samples = X if input_form == "rows" else cosine.float()
    result = compute(samples, method="estimate", rtol=0.1, **options)
    assert result["VS_se"] > 0
    assert abs(float(result["VS"]) - float(compute(samples, **options)["VS"])) < 4 * result["VS_se"]
