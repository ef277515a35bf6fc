"""Kernel "tanimoto" for rows of bits and RDKit fingerprints, compared with sets and RDKit."""

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import reference
import scipy.sparse as sp

from vendiscore import SampleError, as_similarity, compute, score
from vendiscore.similarity.bit_sets import BitSimilarity

# Most tests include rows without bits.
pytestmark = pytest.mark.filterwarnings("ignore:Kernel 'tanimoto' represents")
COEFFICIENTS = ("tanimoto", "dice")
every_coefficient = pytest.mark.parametrize("coefficient", COEFFICIENTS)


def draw_bits(n: int = 60, d: int = 40, density: float = 0.2, seed: int = 0) -> np.ndarray:
    """Return rows of bits with two empty rows and a duplicate."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d)) < rng.random((n, 1)) * 2 * density
    X[[1, n // 2]] = False
    X[-1] = X[0]
    return X


def naive_similarity(X: np.ndarray, coefficient: str) -> np.ndarray:
    sets = [set(np.flatnonzero(row).tolist()) for row in X]
    return reference.similarity_matrix(sets, getattr(reference, coefficient))


CONTAINERS = {
    "bool": np.array,
    "uint8": lambda X: X.astype(np.uint8),
    "int8": lambda X: X.astype(np.int8),
    "int64": lambda X: X.astype(np.int64),
    "uint64": lambda X: X.astype(np.uint64),
    "float16": lambda X: X.astype(np.float16),
    "float32": lambda X: X.astype(np.float32),
    "float64 with -0.0": lambda X: np.where(X, 1.0, -0.0),
    "by columns": lambda X: np.asfortranarray(X.astype(np.uint8)),
    "every other column": lambda X: np.repeat(X.astype(np.uint8), 2, axis=1)[:, ::2],
    "lists": lambda X: X.astype(int).tolist(),
    "lists of booleans": lambda X: X.tolist(),
    "tuples": lambda X: [tuple(row) for row in X.astype(float).tolist()],
    "list of rows": lambda X: list(X.astype(np.uint8)),
    "objects": lambda X: X.astype(int).astype(object),
    "CSR matrix": lambda X: sp.csr_matrix(X.astype(float)),
    "CSR of booleans": sp.csr_array,
    "COO with zeros": lambda X: sp.coo_array(
        (X.ravel().astype(int), np.indices(X.shape).reshape(2, -1)), shape=X.shape
    ),
}


@every_coefficient
@pytest.mark.parametrize("container", CONTAINERS)
def test_rows_of_bits_in_any_container_match_sets(container, coefficient):
    X = draw_bits()
    K = as_similarity(CONTAINERS[container](X), k="tanimoto", coefficient=coefficient).dense()
    np.testing.assert_array_equal(K, naive_similarity(X, coefficient))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float32", "float64", "bfloat16"])
def test_tensors_of_bits_match_sets(dtype):
    torch = pytest.importorskip("torch")
    X = draw_bits()
    T = torch.as_tensor(X).to(getattr(torch, dtype))
    for rows in (T, list(T)):
        K = as_similarity(rows, k="tanimoto").dense()
        np.testing.assert_array_equal(K, naive_similarity(X, "tanimoto"))


def test_tensor_with_gradient_is_rejected():
    torch = pytest.importorskip("torch")
    T = torch.eye(3, requires_grad=True)
    for rows in (T, list(T)):
        with pytest.raises(
            TypeError, match=r"'tanimoto' cannot be differentiated; pass samples\.d"
        ):
            compute(rows, k="tanimoto")
    assert compute(T.detach(), k="tanimoto")["VS"] == pytest.approx(3)


def test_data_frame_of_bits_matches_sets():
    pandas = pytest.importorskip("pandas")
    X = draw_bits()
    table = pandas.DataFrame(X)
    table[3] = table[3].astype(int)  # columns of two types
    K = as_similarity(table, k="tanimoto").dense()
    np.testing.assert_array_equal(K, naive_similarity(X, "tanimoto"))


@every_coefficient
@pytest.mark.parametrize("density", [0.004, 0.02, 0.3])
def test_sparse_rows_match_dense_rows(density, coefficient):
    X = draw_bits(300, 500, density)
    dense, sparse = (
        as_similarity(rows, k="tanimoto", coefficient=coefficient) for rows in (X, sp.csr_array(X))
    )
    assert sp.issparse(sparse.entries.bits) == (density < 0.1)
    np.testing.assert_array_equal(sparse.dense(), dense.dense())
    index = np.array([7, 3, 3, 299])
    np.testing.assert_array_equal(sparse.rows(index), dense.rows(index))
    np.testing.assert_array_equal(sparse.take(index).dense(), dense.take(index).dense())
    np.testing.assert_array_equal(sparse.groups(), dense.groups())
    V = np.random.default_rng(0).standard_normal((300, 2))
    np.testing.assert_allclose(sparse.matmul(V), dense.dense() @ V, rtol=0, atol=1e-9)
    for q in (1, 2, "inf"):
        assert score(sp.csr_array(X), "tanimoto", q=q, coefficient=coefficient) == pytest.approx(
            score(X, "tanimoto", q=q, coefficient=coefficient), rel=1e-12
        )


def test_empty_rows_are_identical_and_unrelated_to_others():
    X = [[0, 0, 0], [1, 0, 1], [0, 0, 0]]
    for rows in (X, sp.csr_array(X)):
        K = as_similarity(rows, k="tanimoto").dense()
        np.testing.assert_array_equal(K, [[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    assert compute(np.zeros((3, 4), bool), k="tanimoto")["VS"] == 1
    assert compute(sp.csr_array((3, 4)), k="tanimoto")["VS"] == 1


@every_coefficient
def test_weights_and_groups_match_similarity_matrix(coefficient):
    X = draw_bits()
    p = np.random.default_rng(1).dirichlet(np.ones(60))
    K = naive_similarity(X, coefficient)
    options = {"k": "tanimoto", "coefficient": coefficient}
    for score_options in ({"p": p, "q": [1, 2]}, {"measures": ["VS", "IntDiv", "MagArea"]}):
        assert compute(X, **options, **score_options) == pytest.approx(
            compute(K, score_K=True, **score_options)
        )
    nested = compute([X[:20].tolist(), X[20:].tolist()], **options)
    assert nested == pytest.approx(compute(X, groups=[0] * 20 + [1] * 40, **options))


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([[0, 1], [1, 2]], "sample 1 must contain only 0 and 1, got 2 in column 1; pass X > 0"),
        (np.array([[0, 1], [0.5, 1]]), r"sample 1 must contain only 0 and 1, got 0\.5 in column 0"),
        (
            np.array([[0, 1], [np.nan, 1]]),
            "sample 1 must contain only 0 and 1, got nan in column 0",
        ),
        (
            np.array([[0, -1], [1, 1]]),
            "sample 0 must contain only 0 and 1, got -1 in column 1; .*k='c",
        ),
        (np.array([[0, 255]], np.uint8), "sample 0 must contain only 0 and 1, got 255 in column 1"),
        (sp.csr_array([[0, 1], [3, 2]]), "sample 1 must contain only 0 and 1, got 3 in column 0"),
        (
            [[0, 1], [1, 0, 1], [0, 0]],
            r"sample 1 of `samples` has shape \(3,\), but other rows have",
        ),
        (
            [[0, 1], "CCO"],
            "sample 1 must be a row of 0 and 1 or .*'CCO'; for molecules, use k='mor",
        ),
        (["CCO", "CCN"], r"sample 0 must be a row .*'CCO'; .*\(2 samples cannot be used: 0, 1\)"),
        (["0110", "1100"], r"sample 0 must .*'0110'; pass \[int\(bit\) for bit in text\] for each"),
        ([[0, 1], None], "sample 1 of `samples` must be a row of numbers, got NoneType"),
    ],
)
def test_error_names_sample_and_column_of_invalid_entry(rows, problem):
    with pytest.raises(SampleError, match=problem):
        compute(rows, k="tanimoto")


def test_all_invalid_rows_are_named_and_can_be_dropped():
    X = draw_bits().astype(float)
    X[[5, 9, 44], [1, 0, 39]] = 0.25
    for rows in (X, X.tolist(), sp.csr_array(X)):
        with pytest.raises(SampleError) as error:
            compute(rows, k="tanimoto")
        assert list(error.value.problems) == [5, 9, 44]
        with pytest.warns(
            UserWarning, match="dropped 3 of 60 samples that kernel 'tanimoto' cannot use"
        ):
            result = compute(rows, k="tanimoto", on_error="skip")
        assert result["VS"] == pytest.approx(
            compute(np.delete(draw_bits(), [5, 9, 44], axis=0), k="tanimoto")["VS"]
        )


@pytest.mark.parametrize("shape", [(3,), (2, 2, 2, 2), (3, 0)])
def test_rows_must_be_two_dimensional(shape):
    with pytest.raises(ValueError, match=r"must be two-dimensional|at least one column"):
        compute(np.zeros(shape, bool), k="tanimoto")


def test_estimate_needs_less_memory_than_full_matrix(monkeypatch):
    X = draw_bits(4000, 64)
    expected = compute(X[::10], k="tanimoto")["VS"]  # a subset has a lower score
    # prevents caching of the matrix
    monkeypatch.setattr("vendiscore.support.memory.MAX_CACHE_FRACTION", 0.0)
    for rows in (X, sp.csr_array(X)):
        tracemalloc.start()
        result = compute(rows, k="tanimoto", method="estimate", rtol=0.02, seed=0, details=True)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert "lanczos" in str(result["details"]["method"])
        assert peak < 4000**2 * 5  # less than two thirds of the size of K
        assert expected < result["VS"] < 4000


def test_too_many_bits_are_rejected_before_copying(monkeypatch):
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 1000)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 0)
    with pytest.raises(MemoryError, match=r"60 rows of 40 bits .*pass sparse rows"):
        compute(draw_bits(), k="tanimoto")


def test_bits_are_neither_copied_nor_changed():
    X = draw_bits()
    similarity = as_similarity(X, k="tanimoto")
    assert isinstance(similarity, BitSimilarity)
    assert np.shares_memory(similarity.entries.bits, X)
    rows = sp.csr_array(np.where(X, 1, 0))
    expected = rows.copy()
    compute(rows, k="tanimoto")
    assert (rows != expected).nnz == 0


def test_rows_of_bits_do_not_need_rdkit():
    code = (
        "import sys; sys.modules['rdkit'] = None\n"
        "from vendiscore import compute\n"
        "print(compute([[1, 1, 0], [1, 0, 0]], k='tanimoto')['VS'])"
    )
    root = Path(__file__).resolve().parents[3]
    process = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert float(process.stdout) == pytest.approx(
        np.exp(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))
    )


SMILES = ["CCO", "CCN", "C", "c1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O", "OC1OC(O)C(O)C1O"]


@every_coefficient
@pytest.mark.parametrize("fingerprint_type", ["Fingerprint", "SparseFingerprint"])
@pytest.mark.parametrize("generator", ["Morgan", "AtomPair", "TopologicalTorsion"])
def test_rdkit_fingerprints_match_rdkit_similarities(generator, fingerprint_type, coefficient):
    Chem = pytest.importorskip("rdkit.Chem")
    from rdkit import DataStructs
    from rdkit.Chem import rdFingerprintGenerator

    make = getattr(
        getattr(rdFingerprintGenerator, f"Get{generator}Generator")(), f"Get{fingerprint_type}"
    )
    fingerprints = [make(Chem.MolFromSmiles(s)) for s in SMILES]
    bulk = getattr(DataStructs, f"Bulk{coefficient.capitalize()}Similarity")
    expected = np.array([bulk(fingerprint, fingerprints) for fingerprint in fingerprints])
    empty = [not p.GetNumOnBits() for p in fingerprints]
    expected[np.ix_(empty, empty)] = 1  # RDKit returns 0 for two empty fingerprints
    K = as_similarity(fingerprints, k="tanimoto", coefficient=coefficient).dense()
    np.testing.assert_array_equal(K, expected)
    p = [0.1, 0.2, 0.1, 0.3, 0.2, 0.1]
    assert compute(fingerprints, k="tanimoto", coefficient=coefficient, p=p) == pytest.approx(
        compute(expected, score_K=True, p=p)
    )


def test_rdkit_fingerprints_match_scores_of_molecules():
    Chem = pytest.importorskip("rdkit.Chem")
    from rdkit.Chem import rdFingerprintGenerator, rdMolDescriptors

    molecules = [Chem.MolFromSmiles(s) for s in SMILES]
    morgan = rdFingerprintGenerator.GetMorganGenerator(radius=2)  # default number of bits
    for name, make in {
        "morgan": morgan.GetFingerprint,
        "maccs": rdMolDescriptors.GetMACCSKeysFingerprint,
    }.items():
        expected = compute(SMILES, k=name)
        fingerprints = [make(molecule) for molecule in molecules]
        assert compute(fingerprints, k="tanimoto") == expected
        assert (
            compute([list(fingerprint) for fingerprint in fingerprints], k="tanimoto") == expected
        )
        groups = [fingerprints[:3], fingerprints[3:]]
        assert compute(groups, k="tanimoto") == compute([SMILES[:3], SMILES[3:]], k=name)


def test_samples_other_than_fingerprints_are_named():
    Chem = pytest.importorskip("rdkit.Chem")
    from rdkit import DataStructs
    from rdkit.Chem import rdFingerprintGenerator

    molecules = [Chem.MolFromSmiles(s) for s in SMILES]
    make = rdFingerprintGenerator.GetMorganGenerator(radius=2)
    bit_fingerprint, count_fingerprint = (
        make.GetFingerprint(molecules[0]),
        make.GetCountFingerprint(molecules[1]),
    )
    short_fingerprint = DataStructs.ExplicitBitVect(64)
    samples = [
        bit_fingerprint,
        bit_fingerprint,
        count_fingerprint,
        short_fingerprint,
        "CCO",
        [0, 1],
    ]
    problem = (
        "sample 2 must be a fingerprint of 2048 bits, as most samples are, got UIntSparseIntVect"
    )
    with pytest.raises(SampleError, match=problem) as error:
        compute(samples, k="tanimoto")
    assert list(error.value.problems) == [2, 3, 4, 5]
    with pytest.raises(SampleError, match="use GetFingerprint of the generator"):
        compute([count_fingerprint, count_fingerprint], k="tanimoto")
    with pytest.raises(SampleError, match=r"got Mol: .*for molecules, use k='morgan'"):
        compute(molecules, k="tanimoto")
    with pytest.raises(
        SampleError, match=r"got ExplicitBitVect: .*for fingerprints, use k='tanimoto'"
    ):
        compute([bit_fingerprint], k="morgan")
    with pytest.raises(ValueError, match=r"`k` is required .*ExplicitBitVect; pass k='tanimoto'"):
        compute([bit_fingerprint, bit_fingerprint])
