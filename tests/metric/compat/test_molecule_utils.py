"""The functions of vendi_score.molecule_utils give the numbers of that package."""

import numpy as np
import pytest

from vendiscore.compat import molecule_utils

pytest.importorskip("rdkit")
MOLECULE = pytest.importorskip("vendi_score.molecule_utils")
SMILES = ["CCO", "CCN", "c1ccccc1O", "c1ccccc1N", "CC(=O)O", "CCO"]


def test_molecules_are_read_and_compared_alike(tmp_path):
    file = tmp_path / "some.csv"
    file.write_text("smiles,mass\n" + "\n".join(f"{s},1" for s in [*SMILES, "C1CC"]))
    for how in ({}, {"unique": True}, {"max_samples": 3}):
        ours, peer = (of.load_molecules(file, **how) for of in (molecule_utils, MOLECULE))
        assert [each.features for each in ours] == [each.features for each in peer]
    mols = [molecule_utils.get_mol(s) for s in SMILES]
    assert molecule_utils.get_mol("C1CC") is MOLECULE.get_mol("C1CC") is None
    assert molecule_utils.get_mol("") is None
    assert molecule_utils.get_mol(mols[0]) is mols[0]
    for fp in ("morgan", "rdk"):
        result = molecule_utils.get_tanimoto_K(mols, fp)
        np.testing.assert_allclose(result, MOLECULE.get_tanimoto_K(mols, fp), rtol=1e-12)


def test_similarities_of_a_function_are_the_shared_bits_of_all():
    bits = {"CCO": [1, 1, 0, 0], "CCN": [1, 0, 1, 0]}
    result = molecule_utils.get_tanimoto_K([*bits], fp=lambda smiles: np.array(bits[smiles]))
    np.testing.assert_allclose(result, [[1, 1 / 3], [1 / 3, 1]])


def test_an_unknown_fingerprint_is_refused():
    with pytest.raises(ValueError, match="`fp` must be 'morgan', 'rdk' or a function, got 'maccs'"):
        molecule_utils.get_tanimoto_K(["CCO"], "maccs")
