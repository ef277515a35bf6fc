"""Fingerprint kernels against RDKit's own similarities, and what is done about bad molecules."""

import re
import warnings

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
BULK = {
    "tanimoto": lambda a, b: (
        DataStructs.BulkTanimotoSimilarity(a, b) if a.GetNumOnBits() else [0.0] * len(b)
    ),  # 1 between two without bits, in earlier versions
    "dice": DataStructs.BulkDiceSimilarity,
}


def by_rdkit(name: str, smiles: list[str], measure: str) -> np.ndarray:
    fingerprints = [KERNELS[name](Chem.MolFromSmiles(s)) for s in smiles]
    return np.array([BULK[measure](f, fingerprints) for f in fingerprints])


def empty(name: str, smiles: list[str]) -> np.ndarray:
    return np.array([KERNELS[name](Chem.MolFromSmiles(s)).GetNumOnBits() == 0 for s in smiles])


@pytest.mark.parametrize("measure", ["tanimoto", "dice"])
@pytest.mark.parametrize("name", KERNELS)
def test_similarity_is_that_of_rdkit_to_the_last_bit(name, measure, odors):
    smiles = [s for s, _ in odors[::11]][:300]
    K = as_similarity(smiles, k=name, coefficient=measure).dense()
    expected = by_rdkit(name, smiles, measure)
    assert empty(name, smiles).sum() <= 40
    np.fill_diagonal(expected, 1)  # RDKit gives empty fingerprints 0 with themselves
    np.testing.assert_array_equal(K, expected)


def test_similarity_is_that_of_rdkit_on_a_few_known_molecules():
    smiles = ["CCO", "CCN", "c1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O"]
    for name in KERNELS:
        K = as_similarity(smiles, k=name).dense()
        expected = by_rdkit(name, smiles, "tanimoto")
        np.fill_diagonal(expected, 1)
        np.testing.assert_array_equal(K, expected)


def test_molecules_and_smiles_are_the_same_samples():
    smiles = ["CCO", "c1ccccc1O", "CCN"]
    molecules = [Chem.MolFromSmiles(s) for s in smiles]
    assert compute(smiles, k="morgan") == compute(molecules, k="morgan")
    assert compute([smiles[0], molecules[0]], k="morgan")["VS"] == pytest.approx(1)


@pytest.mark.parametrize("measure", ["tanimoto", "dice"])
def test_bits_agree_with_sets(measure):
    rng = np.random.default_rng(3)
    bits = (rng.random((80, 30)) < rng.random((80, 1)) * 0.5).astype(np.uint8)
    bits[[4, 9]] = 0
    sets = [set(np.flatnonzero(row)) for row in bits]

    def naive(a: set, b: set) -> float:
        if not a and not b:
            return 1.0
        both = len(a & b)
        return both / len(a | b) if measure == "tanimoto" else 2 * both / (len(a) + len(b))

    expected = np.array([[naive(a, b) for b in sets] for a in sets])
    similarity = BitSimilarity(bits, measure)
    np.testing.assert_array_equal(similarity.dense(), expected)
    V = rng.standard_normal((80, 3))
    np.testing.assert_allclose(similarity.matmul(V), expected @ V, atol=1e-12)
    assert np.linalg.eigvalsh(expected)[0] > -1e-12


def test_products_agree_where_memory_is_too_short_to_keep_the_matrix(monkeypatch):
    bits = (np.random.default_rng(0).random((50, 20)) < 0.3).astype(np.uint8)
    v = np.arange(50.0)
    kept = BitSimilarity(bits)
    assert kept.matmul(v).shape == (50,)
    assert kept._cache.K is not None
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 0)
    blocked = BitSimilarity(bits)
    np.testing.assert_allclose(blocked.matmul(v), kept.matmul(v), rtol=1e-13)
    assert blocked._cache.K is None


@pytest.mark.parametrize("measure", ["tanimoto", "dice"])
def test_molecules_without_bits_are_like_equal_ones_alone(measure):
    # No chain of four bonded atoms in the first four.
    smiles = ["C", "CC", "O", "[CH4]", "CCCCO"]
    K = as_similarity(smiles, k="topological_torsion", coefficient=measure)
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
        result = compute(["C", "O", "N", "[Na+]"] * 5, k="rdkit", coefficient=measure)
    assert result["VS"] == pytest.approx(4)


def test_a_smiles_is_read_to_its_end():
    # RDKit up to 2024.9 reads "C\0C" as "C".
    with pytest.raises(SampleError, match=r"sample 1 is not a SMILES"):
        compute(["CCO", "C\0C"], k="morgan")


def test_unreadable_smiles_is_named_with_its_place():
    with pytest.raises(SampleError, match=r"sample 2 is not a SMILES.*'C1CC'") as refused:
        compute(["CCO", "CCO", "C1CC", "CCN"], k="morgan")
    # Advice for those who call, in no message that is shown elsewhere or after it was followed.
    assert refused.value.__notes__ == ["pass on_error='skip' to drop unusable samples"]
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


def test_reading_molecules_prints_nothing(capfd):
    with pytest.raises(SampleError):
        compute(["C1CC"], k="morgan")
    assert capfd.readouterr() == ("", "")


def test_skipped_molecules_are_reported_and_do_not_count():
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


def test_weights_are_given_for_all_samples_and_shared_among_those_left():
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


def test_nothing_left_out_is_nothing_reported():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        similarity = as_similarity(["CCO", "CCN"], k="morgan", on_error="skip")
    assert similarity.dropped == {}


def test_no_molecule_at_all_is_an_error():
    with pytest.raises(ValueError, match="'morgan' can use none of the 2 samples: sample 0"):
        compute(["bad", "worse"], k="morgan", on_error="skip")


def test_left_out_samples_survive_normalisation_and_mixtures():
    records = {"smiles": ["CCO", "bad", "CCN"], "label": ["a", "b", "a"]}
    mixed = {"morgan:smiles": 0.5, "labels:label": 0.5}
    options = {"morgan:smiles": {"on_error": "skip"}}
    with pytest.warns(UserWarning, match="dropped 1 of 3"):
        similarity = as_similarity(records, k=mixed, options=options, normalize=True)
    assert list(similarity.dropped) == [1]
    k = as_similarity(["CCO", "CCN"], k="morgan").dense()[0, 1]
    np.testing.assert_allclose(similarity.dense()[0, 1], (k + 1) / 2)


def test_stereoisomers_are_told_apart_on_request():
    carvones = ["CC1=CC[C@H](CC1=O)C(C)=C", "CC1=CC[C@@H](CC1=O)C(C)=C"]  # spearmint, caraway
    assert compute(carvones, k="morgan")["VS"] == pytest.approx(1)
    assert compute(carvones, k="morgan", chirality=True)["VS"] > 1.1


def test_tanimoto_is_the_harder_judge():
    """T = D / (2 − D): a lower similarity, so more diversity."""
    smiles = ["CCO", "CCN", "CCC", "c1ccccc1O"]
    T = as_similarity(smiles, k="morgan").dense()
    D = as_similarity(smiles, k="morgan", coefficient="dice").dense()
    np.testing.assert_allclose(T, D / (2 - D), atol=1e-15)
    assert compute(smiles, k="morgan")["VS"] > compute(smiles, k="morgan", coefficient="dice")["VS"]


def test_unknown_measure_is_refused():
    with pytest.raises(ValueError, match=re.escape("`coefficient` must be 'tanimoto' or 'dice'")):
        compute(["CCO"], k="morgan", coefficient="cosine")
