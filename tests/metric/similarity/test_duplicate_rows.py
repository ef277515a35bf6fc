"""Identical rows are grouped exactly, also if hashes collide, in order of first appearance."""

import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import FeatureSimilarity
from vendiscore.similarity import duplicate_rows
from vendiscore.similarity.duplicate_rows import group_identical_rows
from vendiscore.similarity.matrix import materialize_matrix

RNG = np.random.default_rng(0)
PICKS = RNG.integers(0, 150, 700)
# Distinct rows, which may differ in one entry, in high bits only or in the last bit only.
ROWS = {
    "normal": RNG.normal(size=(150, 5)),
    "wide": RNG.normal(size=(150, 60)),
    "single": RNG.normal(size=(150, 7)).astype(np.float32),
    "half": RNG.normal(size=(150, 3)).astype(np.float16),
    "signs": 1.0 - 2 * ((np.arange(150)[:, None] >> np.arange(8)) & 1),
    "last bits": 1 + np.arange(150)[:, None] * np.finfo(float).eps * np.array([1, 0, 2]),
    "one column of many": np.pad(np.arange(150.0)[:, None], ((0, 0), (40, 41))),
    "bytes": np.arange(150, dtype=np.uint8)[:, None],
    "bits": ((np.arange(150)[:, None] >> np.arange(8)) & 1).astype(bool),
    "complex": RNG.normal(size=(150, 2)) + 1j,
}


def group_codes_by_dict(A) -> list[int]:
    code_of_row: dict[tuple, int] = {}
    return [code_of_row.setdefault(tuple(row), len(code_of_row)) for row in A.tolist()]


@pytest.mark.parametrize("n", [0, 1, 7, 700])
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_groups_are_numbered_by_first_appearance(kind, layout, n):
    A = ROWS[kind][PICKS[:n]]
    if layout in (sp.csr_array, sp.csc_array) and A.dtype == np.float16:
        pytest.skip("SciPy has no sparse arrays of half precision")
    result = group_identical_rows(layout(A).tocsr() if "sparse" in layout.__module__ else layout(A))
    assert result.tolist() == group_codes_by_dict(A)
    assert result.dtype == int


@pytest.mark.parametrize("n", [5, 700])
def test_rows_without_columns_are_identical(n):
    assert group_identical_rows(np.ones((n, 0))).tolist() == [0] * n
    assert group_identical_rows(sp.csr_array((n, 4))).tolist() == [0] * n


def test_rows_with_equal_hashes_are_distinguished(monkeypatch):
    monkeypatch.setattr(duplicate_rows, "_hash_rows", lambda A: np.zeros(len(A), np.uint64))
    for kind in ("normal", "wide", "signs"):
        A = ROWS[kind][PICKS]
        assert group_identical_rows(A).tolist() == group_codes_by_dict(A)


@pytest.mark.parametrize("kind", ["normal", "wide", "single", "signs", "last bits", "bits"])
def test_hashes_of_distinct_rows_differ(kind):
    assert len(set(duplicate_rows._hash_rows(ROWS[kind]).tolist())) == len(ROWS[kind])


@pytest.mark.parametrize("n", [4, 700])
def test_signed_zeros_are_equal_and_nan_equals_nan(n):
    A = np.tile([[0.0, np.nan], [-0.0, np.nan], [1.0, np.nan], [0.0, 2.0]], (n // 4, 1))
    assert group_identical_rows(A).tolist() == [0, 0, 1, 2] * (n // 4)


def test_materialized_matrix_keeps_identical_rows_in_one_group():
    """Matrix products round the copies of a row differently."""
    rng = np.random.default_rng(0)
    for n in (20, 50, 100):
        inverse = rng.integers(0, n // 3, n)
        X = rng.normal(size=(n // 3, 130))[inverse]
        similarity = materialize_matrix(FeatureSimilarity(X).normalized(), 1000)
        _, expected = np.unique(inverse, return_inverse=True)
        _, result = np.unique(similarity.groups(), return_inverse=True)
        assert (
            len(set(zip(expected, result, strict=True))) == len(set(result)) == len(set(expected))
        )
        np.testing.assert_allclose(similarity.dense(), FeatureSimilarity(X).normalized().dense())
