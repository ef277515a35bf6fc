"""Products of every kind of Similarity agree with the dense matrix."""

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

KINDS = {
    "rbf": lambda: as_similarity(X, k="rbf"),
    "narrow rbf": lambda: as_similarity(X, k="rbf", sigma=0.3),
    "wide rbf": lambda: as_similarity(X, k="rbf", sigma=1e9),
    "rbf of few columns": lambda: as_similarity(X[:, :3], k="rbf"),
    "rbf with an outlier": lambda: as_similarity(np.vstack([X[1:], 1e5 + X[:1]]), k="rbf", sigma=5),
    "rbf far apart": lambda: as_similarity(X + 1e8 * (np.arange(N)[:, None] % 2), k="rbf", sigma=5),
    "rbf of huge numbers": lambda: as_similarity(X * 2.0**700, k="rbf"),
    "rbf of tiny numbers": lambda: as_similarity(X * 2.0**-700, k="rbf"),
    "laplacian": lambda: as_similarity(X, k="laplacian"),
    "polynomial": lambda: as_similarity(X, k="polynomial"),
    "high polynomial": lambda: as_similarity(X, k="polynomial", degree=90),
    "tanimoto": lambda: BitSimilarity(BITS),
    "rare bits": lambda: BitSimilarity(RARE),
    "dice": lambda: BitSimilarity(BITS, "dice"),
    "of rows": lambda: RowsSimilarity.of_rows(X, lambda A, B: 1 / (1 + cdist(A, B))),
    "matrix": lambda: MatrixSimilarity(X @ X.T),
    "single matrix": lambda: MatrixSimilarity((X @ X.T).astype(np.float32)),
    "features": lambda: FeatureSimilarity(X),
    "single features": lambda: FeatureSimilarity(X.astype(np.float32)),
    "whole features": lambda: FeatureSimilarity(BITS),
    "sparse features": lambda: FeatureSimilarity(COUNTS),
    "repeated": lambda: RepeatedSimilarity(BitSimilarity(BITS[:99]), np.arange(N) % 99),
    "sum": lambda: SumSimilarity([BitSimilarity(BITS), as_similarity(X, k="rbf")], [0.3, 0.7]),
    "product": lambda: ProductSimilarity([BitSimilarity(BITS), as_similarity(X, k="rbf")]),
}


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_product_is_one_of_the_dense_matrix(kind, kept, scaled, monkeypatch):
    monkeypatch.setattr("vendiscore.similarity.rows.KEPT_SHARE", 0.25 if kept else 0.0)
    similarity = KINDS[kind]()
    if scaled:
        similarity = similarity.scaled(rng.uniform(0.5, 2, N))
    K = similarity.dense()
    largest = K if K.min() >= 0 else np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    for columns in (V, V[:, 0], V * [1e-200, 1.0, 1e200], V[:, :0], np.eye(N, 5)):
        for _ in range(2):
            product = similarity.matmul(columns)
            assert product.dtype == np.float64
            assert product.shape == columns.shape
            assert np.all(np.abs(product - K @ columns) <= 1e-12 * (largest @ np.abs(columns)))
