"""Fingerprint kernels compared with RDKit's similarities, and handling of invalid molecules."""

import re

import numpy as np
import pytest

from vendiscore import SampleError, as_similarity, compute
from vendiscore.similarity.bit_sets import BitSimilarity

Chem = pytest.importorskip("rdkit.Chem")
from rdkit import DataStructs  # noqa: E402
from rdkit.Chem import rdFingerprintGenerator, rdMolDescriptors  # noqa: E402

KERNELS = {
    "morgan": rdFingerprintGenerator.GetMorganGenerator(radius=2).GetFingerprint,
    "rdkit": rdFingerprintGenerator.GetRDKitFPGenerator().GetFingerprint,
    "maccs": rdMolDescriptors.GetMACCSKeysFingerprint,
    "atom_pair": rdFingerprintGenerator.GetAtomPairGenerator().GetFingerprint,
    "topological_torsion": rdFingerprintGenerator.GetTopologicalTorsionGenerator().GetFingerprint,
}
BULK_SIMILARITIES = {
    "tanimoto": lambda a, b: (
        DataStructs.BulkTanimotoSimilarity(a, b) if a.GetNumOnBits() else [0.0] * len(b)
    ),  # earlier versions return 1 for two empty fingerprints
    "dice": DataStructs.BulkDiceSimilarity,
}


def compute_rdkit_similarities(name: str, smiles: list[str], coefficient: str) -> np.ndarray:
    fingerprints = [KERNELS[name](Chem.MolFromSmiles(s)) for s in smiles]
    return np.array([BULK_SIMILARITIES[coefficient](f, fingerprints) for f in fingerprints])


def has_no_bits(name: str, smiles: list[str]) -> np.ndarray:
    return np.array([KERNELS[name](Chem.MolFromSmiles(s)).GetNumOnBits() == 0 for s in smiles])


@pytest.mark.parametrize("coefficient", ["tanimoto", "dice"])
@pytest.mark.parametrize("name", KERNELS)
def test_similarities_of_odors_match_rdkit_exactly(name, coefficient, odors):
    smiles = [s for s, _ in odors[::11]][:300]
    K = as_similarity(smiles, k=name, coefficient=coefficient).dense()
    expected = compute_rdkit_similarities(name, smiles, coefficient)
    assert has_no_bits(name, smiles).sum() <= 40
    np.fill_diagonal(expected, 1)  # RDKit returns 0 for an empty fingerprint with itself
    np.testing.assert_array_equal(K, expected)


def test_similarities_of_common_molecules_match_rdkit():
    smiles = ["CCO", "CCN", "c1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O"]
    for name in KERNELS:
        K = as_similarity(smiles, k=name).dense()
        expected = compute_rdkit_similarities(name, smiles, "tanimoto")
        np.fill_diagonal(expected, 1)
        np.testing.assert_array_equal(K, expected)


def test_molecules_and_smiles_are_equivalent():
    smiles = ["CCO", "c1ccccc1O", "CCN"]
    molecules = [Chem.MolFromSmiles(s) for s in smiles]
    assert compute(smiles, k="morgan") == compute(molecules, k="morgan")
    assert compute([smiles[0], molecules[0]], k="morgan")["VS"] == pytest.approx(1)


@pytest.mark.parametrize("coefficient", ["tanimoto", "dice"])
def test_bit_similarity_matches_sets(coefficient):
    rng = np.random.default_rng(3)
    bits = (rng.random((80, 30)) < rng.random((80, 1)) * 0.5).astype(np.uint8)
    bits[[4, 9]] = 0
    sets = [set(np.flatnonzero(row)) for row in bits]

    def naive(a: set, b: set) -> float:
        if not a and not b:
            return 1.0
        n_common = len(a & b)
        return (
            n_common / len(a | b) if coefficient == "tanimoto" else 2 * n_common / (len(a) + len(b))
        )

    expected = np.array([[naive(a, b) for b in sets] for a in sets])
    similarity = BitSimilarity(bits, coefficient)
    np.testing.assert_array_equal(similarity.dense(), expected)
    V = rng.standard_normal((80, 3))
    np.testing.assert_allclose(similarity.matmul(V), expected @ V, atol=1e-12)
    assert np.linalg.eigvalsh(expected)[0] > -1e-12


def test_matmul_without_cached_matrix_matches_cached(monkeypatch):
    bits = (np.random.default_rng(0).random((50, 20)) < 0.3).astype(np.uint8)
    v = np.arange(50.0)
    cached = BitSimilarity(bits)
    assert cached.matmul(v).shape == (50,)
    assert cached._cache.K is not None
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 0)
    blocked = BitSimilarity(bits)
    np.testing.assert_allclose(blocked.matmul(v), cached.matmul(v), rtol=1e-13)
    assert blocked._cache.K is None


@pytest.mark.parametrize("coefficient", ["tanimoto", "dice"])
def test_molecules_without_bits_are_similar_only_to_identical(coefficient):
    # The first four molecules have no chain of four bonded atoms.
    smiles = ["C", "CC", "O", "[CH4]", "CCCCO"]
    K = as_similarity(smiles, k="topological_torsion", coefficient=coefficient)
    expected = np.eye(5)
    expected[0, 3] = expected[3, 0] = 1
    np.testing.assert_array_equal(K.dense(), expected)
    assert sorted(K.partial) == [0, 1, 2, 3]
    assert len(set(K.groups())) == 4
    molecules = [Chem.MolFromSmiles(s) for s in smiles]
    assert compute(molecules, k="topological_torsion")["VS"] == compute(K)["VS"]
    with pytest.warns(
        UserWarning, match="represents 20 of 20 samples only in part; sample 0 has no"
    ):
        result = compute(["C", "O", "N", "[Na+]"] * 5, k="rdkit", coefficient=coefficient)
    assert result["VS"] == pytest.approx(4)


def test_smiles_is_parsed_beyond_null_character():
    # RDKit up to 2024.9 parses "C\0C" as "C".
    with pytest.raises(SampleError, match=r"sample 1 is not a SMILES"):
        compute(["CCO", "C\0C"], k="morgan")


def test_smiles_with_half_surrogate_is_named():
    with pytest.raises(SampleError, match=r"sample 1 is not a SMILES .*'C\\ud800'; correct or"):
        compute(["CCO", "C\ud800"], k="morgan")


def test_invalid_molecules_are_named_with_hint():
    with pytest.raises(SampleError, match=r"sample 2 is not a SMILES.*'C1CC'") as error:
        compute(["CCO", "CCO", "C1CC", "CCN"], k="morgan")
    # The hint is a note of the exception only, not part of warnings about dropped samples.
    assert error.value.__notes__ == ["pass on_error='skip' to drop unusable samples"]
    with pytest.warns(UserWarning, match="dropped 1 of 2.*'C1CC'; correct or remove it$"):
        compute(["CCO", "C1CC"], k="morgan", on_error="skip")
    with pytest.raises(
        SampleError, match=r"got list: \['CCO'\]; for a table, pass one column, .*\['smi"
    ):
        compute(pytest.importorskip("pandas").DataFrame({"smiles": ["CCO", "CCN"]}), k="morgan")
    with pytest.raises(SampleError, match=r"sample 1 is a molecule without atoms"):
        compute(["CCO", ""], k="maccs")
    with pytest.raises(
        SampleError, match=r"sample 1 must be a SMILES or an rdkit.Chem.Mol, got int"
    ):
        compute(["CCO", 3], k="rdkit")
    with pytest.raises(
        SampleError, match=r"sample 0 is a Mol whose fingerprint cannot be computed.*SanitizeMol"
    ):
        compute([Chem.MolFromSmiles("c1ccccc1", sanitize=False)], k="morgan")


def test_invalid_smiles_prints_nothing(capfd):
    with pytest.raises(SampleError):
        compute(["C1CC"], k="morgan")
    assert capfd.readouterr() == ("", "")


def test_skipped_molecules_are_reported_and_not_scored():
    smiles = ["CCO", "bad", "CCN", "CCO", "bad", "worse", "c1ccccc1"]
    good = ["CCO", "CCN", "CCO", "c1ccccc1"]
    with pytest.warns(UserWarning, match=r"dropped 3 of 7 samples.*sample 1 is"):
        result = compute(smiles, k="morgan", on_error="skip", details=True)
    details = result["details"]
    assert result["VS"] == compute(good, k="morgan")["VS"]
    assert list(details["dropped"]) == [1, 4, 5]
    assert "'worse'" in details["dropped"][5]
    assert details["n"] == 4
    assert "|dropped=3|" in details["signature"]


def test_weights_are_renormalized_after_skipping():
    smiles = ["CCO", "bad", "CCN", "CCO"]
    with pytest.warns(UserWarning, match="dropped 1 of 4"):
        score = compute(smiles, k="morgan", on_error="skip", p=[0.1, 0.5, 0.2, 0.2])
    assert score == pytest.approx(compute(["CCO", "CCN", "CCO"], k="morgan", p=[0.2, 0.4, 0.4]))
    with (
        pytest.warns(UserWarning, match="dropped 1 of 4"),
        pytest.raises(ValueError, match="one number for each of 4 samples, got 3"),
    ):
        compute(smiles, k="morgan", on_error="skip", p=[0.2, 0.4, 0.4])
    with (
        pytest.warns(UserWarning, match="dropped 1 of 4"),
        pytest.raises(ValueError, match="is 0 for all samples that remain"),
    ):
        compute(smiles, k="morgan", on_error="skip", p=[0, 1, 0, 0])


def test_skip_works_with_normalize_and_mixtures():
    records = {"smiles": ["CCO", "bad", "CCN"], "label": ["a", "b", "a"]}
    kernel = {"morgan:smiles": 0.5, "labels:label": 0.5}
    options = {"morgan:smiles": {"on_error": "skip"}}
    with pytest.warns(UserWarning, match="dropped 1 of 3"):
        similarity = as_similarity(records, k=kernel, options=options, normalize=True)
    assert list(similarity.dropped) == [1]
    k = as_similarity(["CCO", "CCN"], k="morgan").dense()[0, 1]
    np.testing.assert_allclose(similarity.dense()[0, 1], (k + 1) / 2)


def test_chirality_distinguishes_stereoisomers():
    carvones = ["CC1=CC[C@H](CC1=O)C(C)=C", "CC1=CC[C@@H](CC1=O)C(C)=C"]  # (R)- and (S)-carvone
    assert compute(carvones, k="morgan")["VS"] == pytest.approx(1)
    assert compute(carvones, k="morgan", chirality=True)["VS"] > 1.1


def test_tanimoto_is_lower_than_dice():
    """Tanimoto T = D / (2 − D) is at most Dice D, so the score is higher."""
    smiles = ["CCO", "CCN", "CCC", "c1ccccc1O"]
    T = as_similarity(smiles, k="morgan").dense()
    D = as_similarity(smiles, k="morgan", coefficient="dice").dense()
    np.testing.assert_allclose(T, D / (2 - D), atol=1e-15)
    assert compute(smiles, k="morgan")["VS"] > compute(smiles, k="morgan", coefficient="dice")["VS"]


def test_unknown_coefficient_is_rejected():
    with pytest.raises(ValueError, match=re.escape("`coefficient` must be 'tanimoto' or 'dice'")):
        compute(["CCO"], k="morgan", coefficient="cosine")
