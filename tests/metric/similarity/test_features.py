"""FeatureSimilarity equals X Xᵀ for all storage formats and algorithms."""

import pickle

import numpy as np
import pytest
import scipy.sparse

import vendiscore
from vendiscore import FeatureSimilarity, SampleError
from vendiscore.similarity import features
from vendiscore.similarity.base import check_diagonal
from vendiscore.similarity.features import add_sparse, row_dot_products

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 5))
# One frequent column, several rare columns, and two identical rows.
COUNTS = np.where(RNG.random((12, 20)) < 0.15, RNG.integers(1, 4, (12, 20)), 0)
COUNTS[:, 0] = RNG.integers(1, 5, 12)
COUNTS[5] = COUNTS[2]
ROWS = {
    "float64": X,
    "float32": X.astype(np.float32),
    "int8": np.rint(X * 20).astype(np.int8),
    "wide": RNG.standard_normal((12, 30)),
    "fortran": np.asfortranarray(X),
    "sparse": scipy.sparse.csr_array(COUNTS),
    "sparse float32": scipy.sparse.csr_array(COUNTS.astype(np.float32)),
}
INDEX = np.array([7, 0, 7, 3])
V = RNG.standard_normal((12, 3))


def to_dense(rows):
    return np.asarray(rows.toarray() if scipy.sparse.issparse(rows) else rows, float)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("scale", [None, np.linspace(0.5, 2, 12)], ids=["plain", "scaled"])
def test_all_methods_match_dot_products(name, scale):
    rows = to_dense(ROWS[name])
    similarity = FeatureSimilarity(ROWS[name])
    if scale is not None:
        similarity, rows = similarity.scaled(scale), rows * scale[:, None]
    K = rows @ rows.T
    assert_close = np.testing.assert_allclose
    tolerance = {"rtol": 1e-11, "atol": 1e-11}
    assert_close(similarity.dense(), K, **tolerance)
    assert_close(similarity.diagonal(), K.diagonal(), **tolerance)
    assert_close(similarity.rows(slice(2, 5)), K[2:5], **tolerance)
    assert_close(similarity.rows(slice(0, 12)), K, **tolerance)
    assert_close(similarity.matmul(V), K @ V, **tolerance)
    assert_close(similarity.matmul(V[:, 0]), K @ V[:, 0], **tolerance)
    assert_close(similarity.squared_norm(), (K**2).sum(), rtol=1e-11)
    assert_close(similarity.covariance(), rows.T @ rows, **tolerance)
    W = RNG.standard_normal((rows.shape[1], 2))
    assert_close(similarity.projected(W), rows @ W, **tolerance)
    single = similarity.projected(W, single=True)
    assert_close(single, rows @ W, rtol=1e-3, atol=1e-2)
    assert_close(to_dense(similarity.features()), rows, **tolerance)
    for subset in (similarity.take, similarity.part):
        assert_close(subset(INDEX).dense(), K[np.ix_(INDEX, INDEX)], **tolerance)
    indices = np.array([[0, 1, 2], [3, 4, 5], [11, 0, 7], [1, 1, 2]])
    assert_close(
        similarity.stack(indices), [K[np.ix_(index, index)] for index in indices], **tolerance
    )
    consecutive_indices = np.arange(12).reshape(4, 3)
    assert_close(
        similarity.stack(consecutive_indices),
        [K[np.ix_(index, index)] for index in consecutive_indices],
        **tolerance,
    )


@pytest.mark.parametrize("name", ROWS)
def test_normalized_similarities_are_cosines(name):
    rows = to_dense(ROWS[name])
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(
        FeatureSimilarity(ROWS[name]).normalized().dense(), unit @ unit.T, rtol=1e-6, atol=1e-6
    )


def test_unit_rows_are_normalized_when_their_scale_is_used():
    rows = X.astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    normalized = FeatureSimilarity(rows).normalized()
    score = vendiscore.score(normalized)
    exact_rows = rows.astype(float)
    exact_rows /= np.linalg.norm(exact_rows, axis=1, keepdims=True)
    expected = exact_rows @ exact_rows.T
    assert score == pytest.approx(vendiscore.score_K(expected), rel=1e-12)
    np.testing.assert_allclose(normalized.dense(), expected, atol=1e-15)
    np.testing.assert_allclose(
        pickle.loads(pickle.dumps(normalized)).take(np.array([3, 1])).dense(),
        expected[np.ix_([3, 1], [3, 1])],
        atol=1e-15,
    )
    factors = np.linspace(1, 2, len(rows))
    np.testing.assert_allclose(
        FeatureSimilarity(rows).normalized().scaled(factors).diagonal(), factors**2, atol=1e-14
    )
    unscaled = FeatureSimilarity(rows).normalized().bare()
    np.testing.assert_array_equal(unscaled.diagonal(), FeatureSimilarity(rows).diagonal())
    np.testing.assert_allclose(unscaled.normalized().diagonal(), 1, atol=1e-15)


def test_scaled_unit_rows_fail_the_check_of_the_diagonal():
    rows = np.eye(3, dtype=np.float32)
    similarity = FeatureSimilarity(rows).normalized()
    assert check_diagonal(similarity) is similarity
    with pytest.raises(SampleError, match="sample 2"):
        check_diagonal(similarity.scaled(np.array([1.0, 1.0, 2.0])))


@pytest.mark.parametrize("power", [-200, 200])
def test_cosines_are_accurate_for_lengths_whose_squares_overflow(power):
    rows = X * 10.0 ** (power * np.sign(X[:, :1]))
    result = FeatureSimilarity(rows).normalized().dense()
    np.testing.assert_allclose(result, FeatureSimilarity(X).normalized().dense(), atol=1e-12)


def test_normalized_rejects_zero_rows():
    rows = X.copy()
    rows[4] = 0
    with pytest.raises(SampleError, match="sample 4"):
        FeatureSimilarity(rows).normalized()


@pytest.mark.parametrize(("min_frequency", "max_columns"), [(0.0, 3), (0.02, 256), (1.0, 256)])
def test_common_columns_are_split_off_without_changing_similarities(
    min_frequency, max_columns, monkeypatch
):
    monkeypatch.setattr(features, "MIN_COMMON_FREQUENCY", min_frequency)
    monkeypatch.setattr(features, "MAX_COMMON_COLUMNS", max_columns)
    similarity = FeatureSimilarity(ROWS["sparse"])
    common, rare = similarity.split_common_columns()
    counts = np.count_nonzero(COUNTS, axis=0)
    is_common = counts > min_frequency * 12
    assert common.shape[1] == min(max_columns, is_common.sum())
    assert common.shape[1] + rare.shape[1] == 20
    if common.shape[1] > 0:
        assert np.count_nonzero(common, axis=0).min() >= np.diff(rare.tocsc().indptr).max()
    np.testing.assert_allclose(similarity.dense(), COUNTS @ COUNTS.T)
    assert similarity.squared_norm() == pytest.approx(((COUNTS @ COUNTS.T) ** 2.0).sum())


def test_float32_block_products_are_in_double_precision(monkeypatch):
    monkeypatch.setattr(features, "MAX_COPIED_BYTES", 0)
    rows = ROWS["float32"].astype(float)
    result = FeatureSimilarity(ROWS["float32"]).rows(slice(1, 9))
    np.testing.assert_allclose(result, (rows @ rows.T)[1:9], rtol=1e-13, atol=1e-13)


def test_compact_drops_zero_columns_of_integers():
    pixels = np.zeros((3, 6), np.uint8)
    pixels[:, [1, 4]] = [[1, 2], [3, 4], [5, 6]]
    similarity = FeatureSimilarity(pixels).scaled(np.arange(1.0, 4))
    compacted = similarity.compact()
    assert compacted.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    np.testing.assert_allclose(compacted.dense(), similarity.dense())
    for rows in (pixels.astype(float), pixels[:, [1, 4]], np.zeros((2, 3), np.uint8)):
        unchanged = FeatureSimilarity(rows)
        assert unchanged.compact() is unchanged


def test_subsets_of_sparse_features_keep_only_nonzero_columns(monkeypatch):
    subset = FeatureSimilarity(ROWS["sparse"]).part(np.array([1, 2]))
    assert subset.X.shape[1] == np.count_nonzero(COUNTS[1:3].any(axis=0))
    assert isinstance(subset.X, np.ndarray)
    monkeypatch.setattr(features, "MAX_DENSE_SIZE", 0)
    assert scipy.sparse.issparse(FeatureSimilarity(ROWS["sparse"]).part(np.array([1, 2])).X)


def test_work_estimates_count_products_of_pairs():
    dense = FeatureSimilarity(X)
    assert dense.entries_work() == 12**2 * 5
    sparse = FeatureSimilarity(ROWS["sparse"])
    counts = np.count_nonzero(COUNTS, axis=0)
    common = counts > 12 * features.MIN_COMMON_FREQUENCY
    rare = (counts[~common] ** 2).sum()
    assert sparse.entries_work() == 2 * 12**2 * common.sum() + features.SPARSE_PAIR_WORK * rare
    per_row = np.count_nonzero(COUNTS, axis=1)
    assert sparse.covariance_work() == features.SPARSE_PAIR_WORK * (per_row**2).sum()


def test_groups_contain_identical_rows():
    groups = FeatureSimilarity(ROWS["sparse"]).groups()
    assert groups[5] == groups[2]
    assert len({*groups}) == 11


def test_iter_scaled_blocks_yields_scaled_rows_in_double_precision():
    similarity = FeatureSimilarity(ROWS["float32"])
    blocks = list(similarity.iter_scaled_blocks(np.full(12, 2.0)))
    assert [X.dtype for _, X in blocks] == [np.float64] * len(blocks)
    np.testing.assert_allclose(np.concatenate([X for _, X in blocks]), 2 * ROWS["float32"])


def test_in_numpy_converts_tensors_without_gradient():
    torch = pytest.importorskip("torch")
    similarity = FeatureSimilarity(torch.tensor(X)).scaled(torch.full((12,), 2.0))
    assert not similarity.in_threads
    host = similarity.in_numpy()
    assert isinstance(host.X, np.ndarray)
    np.testing.assert_allclose(host.dense(), 4 * X @ X.T, rtol=1e-12)
    differentiable = FeatureSimilarity(torch.tensor(X, requires_grad=True))
    assert differentiable.in_numpy() is differentiable
    stack = differentiable.stack(np.array([[0, 1], [2, 3]]))
    np.testing.assert_allclose(stack[1].detach().numpy(), X[2:4] @ X[2:4].T, rtol=1e-12)


def test_row_dot_products_match_elementwise_sums():
    A, B = X[:4], X[4:8]
    expected = (A * B).sum(axis=1)
    np.testing.assert_allclose(row_dot_products(A, B), expected)
    sparse = row_dot_products(scipy.sparse.csr_array(A), scipy.sparse.csr_array(B))
    np.testing.assert_allclose(sparse, expected)


def test_add_sparse_adds_in_place():
    K = np.ones((3, 3))
    E = scipy.sparse.csr_array(np.array([[0, 2, 0], [0, 0, 0], [3, 0, 4]]))
    assert add_sparse(K, E) is K
    assert K.tolist() == [[1, 3, 1], [1, 1, 1], [4, 1, 5]]


def test_normalizing_integer_rows_twice_changes_nothing():
    rows = np.array([[255, 3], [0, 200], [255, 3]], np.uint8)
    once = FeatureSimilarity(rows).normalized()
    twice = once.normalized()
    np.testing.assert_allclose(twice.dense(), once.dense(), rtol=1e-12)
