"""Kernels on molecules: Tanimoto or Dice similarity of their RDKit fingerprints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from ..errors import SampleError
from ..fingerprints import BitSimilarity, Measure
from ..packages import require
from ..registry import register_kernel
from ..similarity import Similarity

OnError = Literal["raise", "skip"]


@register_kernel(
    "morgan",
    samples="molecules",
    source="Rogers & Hahn, J. Chem. Inf. Model. 2010",
    needs="molecules",
)
def morgan(
    molecules: Sequence[Any],
    radius: int = 2,
    n_bits: int = 1024,
    chirality: bool = False,
    measure: Measure = "tanimoto",
    on_error: OnError = "raise",
) -> Similarity:
    """Similarity of Morgan (circular, ECFP-like) fingerprints.

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES or molecules.
    radius : int of at least 0
        Bonds around each atom that a substructure reaches; 2 is ECFP4.
    n_bits : int of at least 1
        Length that substructures are folded to.
    chirality : bool
        Tell stereoisomers apart.
    measure : {"tanimoto", "dice"}
        |A ∩ B| / |A ∪ B| or 2 |A ∩ B| / (|A| + |B|) of the bits that are set.
    on_error : {"raise", "skip"}
        Refuse a molecule that cannot be read, or leave it out, warn, and list it in
        `Similarity.dropped` and the details.

    Returns
    -------
    Similarity
        Molecules with no bit set are like each other (1; RDKit gives 0) and unlike all others (0).

    Raises
    ------
    SampleError
        For a SMILES that RDKit cannot read, an empty molecule or anything else.
    MissingPackageError
        If rdkit is not installed.

    Notes
    -----
    Equivalent to `DataStructs.BulkTanimotoSimilarity` of fingerprints from
    `rdFingerprintGenerator`, to the last bit. Keeps 5 n · n_bits bytes.
    """
    make = _generators("morgan").GetMorganGenerator(
        radius=_at_least(0, radius=radius),
        fpSize=_at_least(1, n_bits=n_bits),
        includeChirality=chirality,
    )
    return _compare(molecules, make.GetFingerprintAsNumPy, measure, on_error)


@register_kernel(
    "rdkit",
    samples="molecules",
    source="RDKit Book, RDKit Fingerprints (Daylight-like paths)",
    needs="molecules",
)
def rdkit(
    molecules: Sequence[Any],
    max_path: int = 7,
    n_bits: int = 2048,
    measure: Measure = "tanimoto",
    on_error: OnError = "raise",
) -> Similarity:
    """Similarity of RDKit fingerprints: all subgraphs of up to `max_path` bonds.

    Other parameters, errors and notes as for "morgan".
    """
    make = _generators("rdkit").GetRDKitFPGenerator(
        maxPath=_at_least(1, max_path=max_path), fpSize=_at_least(1, n_bits=n_bits)
    )
    return _compare(molecules, make.GetFingerprintAsNumPy, measure, on_error)


@register_kernel(
    "maccs",
    samples="molecules",
    source="Durant et al., J. Chem. Inf. Comput. Sci. 2002",
    needs="molecules",
)
def maccs(
    molecules: Sequence[Any], measure: Measure = "tanimoto", on_error: OnError = "raise"
) -> Similarity:
    """Similarity of the 166 MACCS keys, each a question about the structure.

    Parameters, errors and notes as for "morgan".
    """
    _generators("maccs")
    from rdkit.DataStructs import ConvertToNumpyArray
    from rdkit.Chem.rdMolDescriptors import GetMACCSKeysFingerprint

    def keys(molecule: Any) -> np.ndarray:
        row = np.empty(0, np.uint8)
        ConvertToNumpyArray(GetMACCSKeysFingerprint(molecule), row)
        return row

    return _compare(molecules, keys, measure, on_error)


@register_kernel(
    "atom_pair",
    samples="molecules",
    source="Carhart, Smith & Venkataraghavan, J. Chem. Inf. Comput. Sci. 1985",
    needs="molecules",
)
def atom_pair(
    molecules: Sequence[Any],
    n_bits: int = 2048,
    measure: Measure = "tanimoto",
    on_error: OnError = "raise",
) -> Similarity:
    """Similarity of atom pairs: two atoms and the bonds between them, counts simulated by bits.

    Parameters, errors and notes as for "morgan". Stereoisomers are not told apart: RDKit's option
    for it gives both members of a pair of enantiomers the same bits.
    """
    make = _generators("atom_pair").GetAtomPairGenerator(fpSize=_at_least(4, n_bits=n_bits))
    return _compare(molecules, make.GetFingerprintAsNumPy, measure, on_error)


@register_kernel(
    "topological_torsion",
    samples="molecules",
    source="Nilakantan et al., J. Chem. Inf. Comput. Sci. 1987",
    needs="molecules",
)
def topological_torsion(
    molecules: Sequence[Any],
    n_bits: int = 2048,
    chirality: bool = False,
    measure: Measure = "tanimoto",
    on_error: OnError = "raise",
) -> Similarity:
    """Similarity of chains of four bonded atoms, counts simulated by bits.

    Parameters, errors and notes as for "morgan".
    """
    make = _generators("topological_torsion").GetTopologicalTorsionGenerator(
        fpSize=_at_least(4, n_bits=n_bits), includeChirality=chirality
    )
    return _compare(molecules, make.GetFingerprintAsNumPy, measure, on_error)


def _generators(kernel: str) -> Any:
    return require("rdkit.Chem.rdFingerprintGenerator", "molecules", f"kernel {kernel!r}")


def _at_least(least: int, **option: Any) -> int:
    ((name, value),) = option.items()
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"`{name}` must be an integer of at least {least}, got {value!r}")
    return int(value)


def _compare(
    molecules: Sequence[Any],
    fingerprint: Callable[[Any], np.ndarray],
    measure: Measure,
    on_error: OnError,
) -> Similarity:
    if on_error not in ("raise", "skip"):
        raise ValueError(f"`on_error` must be 'raise' or 'skip', got {on_error!r}")
    from rdkit.rdBase import BlockLogs

    rows: list[np.ndarray] = []
    dropped: dict[int, str] = {}
    with BlockLogs():  # what RDKit would print about a molecule is in the error
        for i, molecule in enumerate(molecules):
            try:
                rows.append(_bits(molecule, i, fingerprint))
            except SampleError as error:
                if on_error == "raise":
                    raise
                dropped[i] = error.problem
    if not rows:
        raise ValueError(
            f"none of the {len(molecules)} samples is a molecule: sample 0 {dropped[0]}"
        )
    similarity = BitSimilarity(np.stack(rows), measure)
    similarity.dropped = dropped
    return similarity


def _bits(sample: Any, i: int, fingerprint: Callable[[Any], np.ndarray]) -> np.ndarray:
    from rdkit.Chem import Mol, MolFromSmiles

    remedy = "correct or remove it, or pass on_error='skip'"
    if not isinstance(sample, (str, Mol)):
        raise SampleError(
            i, f"must be a SMILES or an rdkit.Chem.Mol, got {type(sample).__name__}: {sample!r:.40}"
        )
    molecule = MolFromSmiles(sample) if isinstance(sample, str) else sample
    if molecule is None:
        raise SampleError(i, f"is not a SMILES that RDKit can read: {sample!r}; {remedy}")
    if molecule.GetNumAtoms() == 0:
        raise SampleError(i, f"is a molecule without atoms: {sample!r}; {remedy}")
    try:
        return fingerprint(molecule)
    except RuntimeError as error:  # RDKit's broken preconditions, as of an unsanitized Mol
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        raise SampleError(
            i, f"is a Mol without a fingerprint ({reason}); call Chem.SanitizeMol on it"
        ) from None
