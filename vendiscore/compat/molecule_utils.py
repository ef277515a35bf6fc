"""Functions of `vendi_score.molecule_utils`, with the same names and signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from ..kernels.molecules import parse_molecule
from ..resolve.similarity_builder import as_similarity
from ..support.optional import require
from ..support.types import Record
from . import raise_missing_name as __getattr__  # noqa: F401

# Arguments of `as_similarity` for each value of `fp`.
_KERNELS: dict[str, Record] = {
    "morgan": {"k": "morgan", "n_bits": 1024},
    "rdk": {"k": "rdkit"},
}


def get_mol(smiles_or_mol: object) -> object:
    """Parse a SMILES string with RDKit; return None if invalid, and RDKit molecules unchanged."""
    if not isinstance(smiles_or_mol, str):
        return smiles_or_mol
    try:
        return parse_molecule(smiles_or_mol)
    except ValueError:
        return None


def load_molecules(
    fn: str | Path, max_samples: int = 2000, unique: bool = False
) -> list[SimpleNamespace]:
    """Return the first valid molecules of a CSV file, with attributes `x`, `features` and `labels`.

    The SMILES strings are in the first column of the file `fn`, below a header. At most
    `max_samples` molecules are returned. With `unique`, repeated SMILES strings are removed. `x` is
    the RDKit molecule, `features` is {"s": SMILES}, and `labels` is empty, as in `vendi_score`.
    """
    lines = Path(fn).read_text(encoding="utf-8").splitlines()[1:]
    smiles = [line.strip().partition(",")[0] for line in lines]
    selected = dict.fromkeys(smiles) if unique else smiles
    parsed = ((text, get_mol(text)) for text in selected)  # a generator: parsed only as needed
    valid = (
        SimpleNamespace(x=molecule, features={"s": text}, labels={})
        for text, molecule in parsed
        if molecule is not None
    )
    # RDKit would print an error for each invalid SMILES.
    with require("rdkit.rdBase", "molecules", "load_molecules").BlockLogs():
        return list(islice(valid, max_samples))


def get_tanimoto_K(
    mols: Sequence[object], fp: str | Callable[..., object] = "morgan"
) -> np.ndarray:
    """Return the Tanimoto similarity matrix of molecules.

    `mols` are RDKit molecules or SMILES strings. `fp` is the fingerprint: "morgan" (1,024 bits),
    "rdk" (RDKit's topological fingerprint), or a function that computes it from a molecule.
    """
    if callable(fp):
        return as_similarity([fp(mol) for mol in mols], k="tanimoto").dense()
    if fp not in _KERNELS:
        raise ValueError(f"`fp` must be 'morgan', 'rdk' or a function, got {fp!r}")
    return as_similarity(mols, **_KERNELS[fp]).dense()
