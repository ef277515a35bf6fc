"""Kernels on molecules: Tanimoto or Dice similarity of their RDKit fingerprints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arguments import flag, integer, one_of
from ..arrays import memory
from ..errors import SampleError
from ..optional import require
from ..registry import register_kernel
from ..similarity.base import Similarity
from ..similarity.bits import BitSimilarity, Measure

# Sizes of sets of fewer bits than this are exact in single precision.
_MOST_BITS = (1 << 24) - 1
# RDKit's own integers; no molecule has as many bonds.
_MOST_BONDS = 255


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
) -> Similarity:
    """Similarity of Morgan (circular, ECFP-like) fingerprints.

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES or molecules.
    radius : int of at least 0
        Bonds around each atom that a substructure reaches; 2 is ECFP4.
    n_bits : int of at least 1
        Length that substructures are folded to. 1,024 is that of MOSES and of published Vendi
        Scores; RDKit's own default, 2,048, folds fewer together and scores a little higher.
    chirality : bool
        Tell stereoisomers apart.
    measure : {"tanimoto", "dice"}
        |A ∩ B| / |A ∪ B| or 2 |A ∩ B| / (|A| + |B|) of the bits that are set.

    Returns
    -------
    Similarity
        Molecules with no bit set are like each other (1; RDKit gives 0) and unlike all others (0).

    Raises
    ------
    SampleError
        For SMILES that RDKit cannot read, empty molecules and anything else.
    MissingPackageError
        If rdkit is not installed.

    Notes
    -----
    Equivalent to `DataStructs.BulkTanimotoSimilarity` of fingerprints from
    `rdFingerprintGenerator`, to the last bit. Keeps 5 n · n_bits bytes.
    """
    settings = {
        "radius": integer("radius", radius, 0, _MOST_BONDS),
        "n_bits": integer("n_bits", n_bits, 1, _MOST_BITS),
        "chirality": flag("chirality", chirality),
    }
    make = _generators("morgan").GetMorganGenerator(
        radius=settings["radius"],
        fpSize=settings["n_bits"],
        includeChirality=settings["chirality"],
    )
    return _compare(molecules, make.GetFingerprintAsNumPy, measure, settings)


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
) -> Similarity:
    """Similarity of RDKit fingerprints: all subgraphs of up to `max_path` bonds.

    Errors and notes as for "morgan".

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES or molecules.
    max_path : int of at least 1
        Bonds of the largest subgraph.
    n_bits : int of at least 1
        Length that subgraphs are folded to.
    measure : {"tanimoto", "dice"}
        |A ∩ B| / |A ∪ B| or 2 |A ∩ B| / (|A| + |B|) of the bits that are set.
    """
    settings = {
        "max_path": integer("max_path", max_path, 1, _MOST_BONDS),
        "n_bits": integer("n_bits", n_bits, 1, _MOST_BITS),
    }
    make = _generators("rdkit").GetRDKitFPGenerator(
        maxPath=settings["max_path"], fpSize=settings["n_bits"]
    )
    return _compare(molecules, make.GetFingerprintAsNumPy, measure, settings)


@register_kernel(
    "maccs",
    samples="molecules",
    source="Durant et al., J. Chem. Inf. Comput. Sci. 2002",
    needs="molecules",
)
def maccs(molecules: Sequence[Any], measure: Measure = "tanimoto") -> Similarity:
    """Similarity of the 166 MACCS keys, each a question about the structure.

    Errors and notes as for "morgan".

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES or molecules.
    measure : {"tanimoto", "dice"}
        |A ∩ B| / |A ∪ B| or 2 |A ∩ B| / (|A| + |B|) of the keys that hold.
    """
    _generators("maccs")
    from rdkit.Chem.rdMolDescriptors import GetMACCSKeysFingerprint
    from rdkit.DataStructs import ConvertToNumpyArray

    def keys(molecule: Any) -> np.ndarray:
        row = np.empty(0, np.uint8)
        ConvertToNumpyArray(GetMACCSKeysFingerprint(molecule), row)
        return row

    return _compare(molecules, keys, measure, {})


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
) -> Similarity:
    """Similarity of atom pairs: two atoms and the bonds between them, counts simulated by bits.

    Errors and notes as for "morgan". Stereoisomers are not told apart: RDKit's option for it gives
    both members of a pair of enantiomers the same bits.

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES or molecules.
    n_bits : int of at least 4
        Length that pairs are folded to.
    measure : {"tanimoto", "dice"}
        |A ∩ B| / |A ∪ B| or 2 |A ∩ B| / (|A| + |B|) of the bits that are set.
    """
    settings = {"n_bits": integer("n_bits", n_bits, 4, _MOST_BITS)}
    make = _generators("atom_pair").GetAtomPairGenerator(fpSize=settings["n_bits"])
    return _compare(molecules, make.GetFingerprintAsNumPy, measure, settings)


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
) -> Similarity:
    """Similarity of chains of four bonded atoms, counts simulated by bits.

    Errors and notes as for "morgan".

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES or molecules.
    n_bits : int of at least 4
        Length that chains are folded to.
    chirality : bool
        Tell stereoisomers apart.
    measure : {"tanimoto", "dice"}
        |A ∩ B| / |A ∪ B| or 2 |A ∩ B| / (|A| + |B|) of the bits that are set.
    """
    settings = {
        "n_bits": integer("n_bits", n_bits, 4, _MOST_BITS),
        "chirality": flag("chirality", chirality),
    }
    make = _generators("topological_torsion").GetTopologicalTorsionGenerator(
        fpSize=settings["n_bits"], includeChirality=settings["chirality"]
    )
    return _compare(molecules, make.GetFingerprintAsNumPy, measure, settings)


def _generators(kernel: str) -> Any:
    return require("rdkit.Chem.rdFingerprintGenerator", "molecules", f"kernel {kernel!r}")


def _compare(
    molecules: Sequence[Any],
    fingerprint: Callable[[Any], np.ndarray],
    measure: Measure,
    settings: dict[str, Any],
) -> Similarity:
    one_of("measure", measure, ("tanimoto", "dice"), "other numbers come by measures=[…]")
    from rdkit.rdBase import BlockLogs

    n = len(molecules)
    bits = np.empty((0, 0), np.uint8)
    problems: dict[int, str] = {}
    with BlockLogs():  # what RDKit would print about a molecule is in the error
        for i, molecule in enumerate(molecules):
            try:
                row = _bits(molecule, fingerprint)
            except ValueError as error:
                problems[i] = str(error)
                continue
            if not bits.size:
                # The bits, and their copy in single precision for products.
                what = f"the fingerprints of {n} molecules"
                memory.require(5 * n * len(row), what, "compare fewer samples, or fewer bits")
                bits = np.empty((n, len(row)), np.uint8)
            bits[i] = row
    SampleError.check(problems)
    return BitSimilarity(bits, measure, settings)


def _bits(sample: Any, fingerprint: Callable[[Any], np.ndarray]) -> np.ndarray:
    """The fingerprint of a molecule; the ValueError says what is wrong with the sample."""
    from rdkit.Chem import Mol, MolFromSmiles

    remedy = "correct or remove it"
    if not isinstance(sample, (str, Mol)):
        column = "; of a table pass one column, such as df['smiles']"
        raise ValueError(  # noqa: TRY004
            f"must be a SMILES or an rdkit.Chem.Mol, got {type(sample).__name__}: {sample!r:.40}"
            f"{column if isinstance(sample, (list, tuple, dict)) else ''}"
        )
    molecule = MolFromSmiles(sample) if isinstance(sample, str) else sample
    if molecule is None:
        raise ValueError(f"is not a SMILES that RDKit can read: {sample!r}; {remedy}")
    if molecule.GetNumAtoms() == 0:
        raise ValueError(f"is a molecule without atoms: {sample!r}; {remedy}")
    try:
        return fingerprint(molecule)
    except RuntimeError as error:  # RDKit's broken preconditions, as of an unsanitized Mol
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        raise ValueError(
            f"is a Mol without a fingerprint ({reason}); call Chem.SanitizeMol on it"
        ) from None
