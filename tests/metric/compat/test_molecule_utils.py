"""`compat.molecule_utils` returns the results of `vendi_score.molecule_utils`."""

import numpy as np
import pytest

from vendiscore.compat import molecule_utils

pytest.importorskip("rdkit")
reference = pytest.importorskip("vendi_score.molecule_utils")
SMILES = ["CCO", "CCN", "c1ccccc1O", "c1ccccc1N", "CC(=O)O", "CCO"]


def test_molecule_functions_match_vendi_score(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("smiles,mass\n" + "\n".join(f"{s},1" for s in [*SMILES, "C1CC"]))
    for options in ({}, {"unique": True}, {"max_samples": 3}):
        ours, expected = (
            module.load_molecules(path, **options) for module in (molecule_utils, reference)
        )
        assert [molecule.features for molecule in ours] == [
            molecule.features for molecule in expected
        ]
    mols = [molecule_utils.get_mol(s) for s in SMILES]
    assert molecule_utils.get_mol("C1CC") is reference.get_mol("C1CC") is None
    assert molecule_utils.get_mol("") is None
    assert molecule_utils.get_mol(mols[0]) is mols[0]
    for fp in ("morgan", "rdk"):
        result = molecule_utils.get_tanimoto_K(mols, fp)
        np.testing.assert_allclose(result, reference.get_tanimoto_K(mols, fp), rtol=1e-12)


def test_get_tanimoto_k_with_fingerprint_function_returns_jaccard_similarity():
    bits = {"CCO": [1, 1, 0, 0], "CCN": [1, 0, 1, 0]}
    result = molecule_utils.get_tanimoto_K([*bits], fp=lambda smiles: np.array(bits[smiles]))
    np.testing.assert_allclose(result, [[1, 1 / 3], [1 / 3, 1]])


def test_get_tanimoto_k_rejects_unknown_fingerprint():
    with pytest.raises(ValueError, match="`fp` must be 'morgan', 'rdk' or a function, got 'maccs'"):
        molecule_utils.get_tanimoto_K(["CCO"], "maccs")
