"""`Candidates` gives rows and features of the normalized similarity, with a diagonal of 1."""

import numpy as np
import pytest
import scipy.sparse

from vendiscore import FeatureSimilarity, MatrixSimilarity
from vendiscore.tools.selection.candidates import Candidates

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 4))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
K = UNIT @ UNIT.T
INDEX = np.array([7, 0, 120])
BYTES = np.zeros((300, 6), np.uint8)
BYTES[:, 1:5] = RNG.integers(1, 200, (300, 4))


@pytest.mark.parametrize(
    "make_similarity",
    [
        lambda: FeatureSimilarity(X),
        lambda: FeatureSimilarity(X).normalized(),
        lambda: FeatureSimilarity(scipy.sparse.csr_array(X)),
        lambda: MatrixSimilarity(K * 4),
    ],
    ids=["rows", "normalized", "sparse", "matrix"],
)
def test_rows_are_cosine_similarities(make_similarity):
    candidates = Candidates(make_similarity())
    assert candidates.n == 300
    np.testing.assert_allclose(candidates.rows(INDEX), K[INDEX], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(candidates.row(7), K[7], rtol=1e-9, atol=1e-12)
    assert candidates.row(7)[7] == 1.0
    similarities_among = candidates.similarities_among(INDEX)
    np.testing.assert_allclose(similarities_among, K[np.ix_(INDEX, INDEX)], rtol=1e-9, atol=1e-12)


def test_returned_rows_are_copies():
    matrix = K.copy()
    np.fill_diagonal(matrix, 1)
    candidates = Candidates(MatrixSimilarity(matrix))
    candidates.row(3)[:] = 7
    candidates.similarities_among(INDEX)[:] = 7
    assert matrix[3, 0] == K[3, 0]
    assert candidates.similarity.K is matrix  # not copied, because its diagonal is exactly 1


@pytest.mark.parametrize(
    ("rows", "dim"), [(X, 4), (X.astype(np.float32), 4), (BYTES, 4)], ids=["f8", "f4", "u1"]
)
def test_features_have_unit_norm_in_double_precision(rows, dim):
    candidates = Candidates(FeatureSimilarity(rows))
    assert candidates.dim == dim
    F = candidates.features(slice(0, 300))
    assert F.dtype == np.float64
    np.testing.assert_allclose(np.linalg.norm(F, axis=1), 1, rtol=1e-6)
    unit_rows = rows.astype(float) / np.linalg.norm(rows.astype(float), axis=1, keepdims=True)
    np.testing.assert_allclose(F @ F.T, unit_rows @ unit_rows.T, atol=1e-6)
    np.testing.assert_array_equal(candidates.features(INDEX), F[INDEX])


def test_dim_is_none_for_sparse_features_and_matrices():
    assert Candidates(FeatureSimilarity(scipy.sparse.csr_array(X))).dim is None
    assert Candidates(MatrixSimilarity(K)).dim is None


def test_blocks_cover_all_candidates():
    blocks = list(Candidates(FeatureSimilarity(X)).iter_blocks())
    covered = np.concatenate([np.arange(300)[block] for block in blocks])
    assert covered.tolist() == list(range(300))
