"""Kernels on molecules: Tanimoto or Dice similarity of RDKit fingerprints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..resolve.kernel import register_kernel
from ..similarity.base import Similarity
from ..similarity.bit_sets import COEFFICIENTS, MAX_BITS, BitSimilarity
from ..support import memory
from ..support.arguments import check_bool, check_choice, check_int
from ..support.errors import SampleError, short_repr
from ..support.optional import require
from ..support.types import Record

if TYPE_CHECKING:
    from rdkit.Chem import Mol

Value = TypeVar("Value")
# Limit of RDKit's integers; no molecule has this many bonds.
_MAX_BONDS = 255

MoleculeFunction = Callable[["Mol"], Value]  # computes a fingerprint or a SMILES
_register = partial(register_kernel, samples="molecules", needs="molecules")


@_register(
    "morgan",
    source="Rogers & Hahn, J. Chem. Inf. Model. 2010",
    label="share substructures",
    term="Morgan fingerprints",
)
def morgan(
    molecules: Sequence[object],
    *,
    radius: int = 2,
    n_bits: int = 2048,
    chirality: bool = False,
    coefficient: str = "tanimoto",
) -> Similarity:
    """Tanimoto similarity of Morgan fingerprints (circular, similar to ECFP).

    Equal to RDKit's `DataStructs.BulkTanimotoSimilarity` to the last digit, except that molecules
    without set bits have similarity 1 to themselves and their duplicates (RDKit gives 0). Each bit
    of each fingerprint takes 5 bytes of memory.

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES (a name after a space is ignored), InChI, or RDKit molecules.
    radius : int, default 2
        Radius of the substructures around each atom, in bonds; 2 corresponds to ECFP4.
    n_bits : int, default 2048
        Length of the fingerprint. Shorter ones have more collisions and lower the score: for 3,522
        odorants by 6 % with 2,048 bits (RDKit's default) and by 11 % with 1,024 (as in MOSES).
    chirality : bool, default False
        Whether to distinguish stereoisomers.
    coefficient : {"tanimoto", "dice"}, default "tanimoto"
        |A ∩ B| / |A ∪ B|, or 2 |A ∩ B| / (|A| + |B|), of the set bits.

    Raises
    ------
    SampleError
        If SMILES or InChI cannot be parsed, molecules are empty, or samples have another type.
    MissingPackageError
        If rdkit is missing (extra `molecules`).
    """
    return _compare_by_generator(
        molecules,
        coefficient,
        "GetMorganGenerator",
        radius=check_int("radius", radius, 0, _MAX_BONDS),
        n_bits=check_int("n_bits", n_bits, 1, MAX_BITS),
        chirality=check_bool("chirality", chirality),
    )


@_register(
    "rdkit",
    source="RDKit Book, RDKit Fingerprints (Daylight-like paths)",
    label="share paths of bonds",
    term="RDKit fingerprints",
)
def rdkit(
    molecules: Sequence[object],
    *,
    max_path: int = 7,
    n_bits: int = 2048,
    coefficient: str = "tanimoto",
) -> Similarity:
    """Tanimoto similarity of RDKit fingerprints: all subgraphs of up to `max_path` bonds.

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES (a name after a space is ignored), InChI, or RDKit molecules.
    max_path : int, default 7
        Maximum number of bonds of a subgraph.
    n_bits : int, default 2048
        Length of the fingerprint.
    coefficient : {"tanimoto", "dice"}, default "tanimoto"
        |A ∩ B| / |A ∪ B|, or 2 |A ∩ B| / (|A| + |B|), of the set bits.
    """
    return _compare_by_generator(
        molecules,
        coefficient,
        "GetRDKitFPGenerator",
        max_path=check_int("max_path", max_path, 1, _MAX_BONDS),
        n_bits=check_int("n_bits", n_bits, 1, MAX_BITS),
    )


@_register(
    "maccs",
    source="Durant et al., J. Chem. Inf. Comput. Sci. 2002",
    label="share well-known groups",
    term="MACCS keys",
)
def maccs(molecules: Sequence[object], *, coefficient: str = "tanimoto") -> Similarity:
    """Tanimoto similarity of the 166 MACCS keys, each of which encodes a structural feature.

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES (a name after a space is ignored), InChI, or RDKit molecules.
    coefficient : {"tanimoto", "dice"}, default "tanimoto"
        |A ∩ B| / |A ∪ B|, or 2 |A ∩ B| / (|A| + |B|), of the set bits.
    """
    keys = _require_rdkit("rdkit.Chem.rdMolDescriptors").GetMACCSKeysFingerprint
    return _compare_fingerprints(
        molecules, lambda molecule: np.array(keys(molecule), np.uint8), coefficient, {}
    )


@_register(
    "atom_pair",
    source="Carhart, Smith & Venkataraghavan, J. Chem. Inf. Comput. Sci. 1985",
    label="share pairs of atoms",
    term="atom pairs",
)
def atom_pair(
    molecules: Sequence[object], *, n_bits: int = 2048, coefficient: str = "tanimoto"
) -> Similarity:
    """Tanimoto similarity of atom pairs: two atoms and the number of bonds between them.

    The count of each pair in a molecule is encoded by several bits (RDKit's count simulation).
    Stereoisomers are not distinguished, because RDKit's option for this gives both members of a
    pair of enantiomers the same bits.

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES (a name after a space is ignored), InChI, or RDKit molecules.
    n_bits : int, default 2048
        Length of the fingerprint, at least 4.
    coefficient : {"tanimoto", "dice"}, default "tanimoto"
        |A ∩ B| / |A ∪ B|, or 2 |A ∩ B| / (|A| + |B|), of the set bits.
    """
    n_bits = check_int("n_bits", n_bits, 4, MAX_BITS)
    return _compare_by_generator(molecules, coefficient, "GetAtomPairGenerator", n_bits=n_bits)


@_register(
    "topological_torsion",
    source="Nilakantan et al., J. Chem. Inf. Comput. Sci. 1987",
    label="share chains of four atoms",
    term="topological torsions",
)
def topological_torsion(
    molecules: Sequence[object],
    *,
    n_bits: int = 2048,
    chirality: bool = False,
    coefficient: str = "tanimoto",
) -> Similarity:
    """Tanimoto similarity of topological torsions, chains of four bonded atoms.

    The count of each torsion in a molecule is encoded by several bits (RDKit's count simulation).

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES (a name after a space is ignored), InChI, or RDKit molecules.
    n_bits : int, default 2048
        Length of the fingerprint, at least 4.
    chirality : bool, default False
        Whether to distinguish stereoisomers.
    coefficient : {"tanimoto", "dice"}, default "tanimoto"
        |A ∩ B| / |A ∪ B|, or 2 |A ∩ B| / (|A| + |B|), of the set bits.
    """
    return _compare_by_generator(
        molecules,
        coefficient,
        "GetTopologicalTorsionGenerator",
        n_bits=check_int("n_bits", n_bits, 4, MAX_BITS),
        chirality=check_bool("chirality", chirality),
    )


# Names of options of the kernels in RDKit.
_RDKIT_NAMES = {"max_path": "maxPath", "n_bits": "fpSize", "chirality": "includeChirality"}


def _require_rdkit(module: str) -> ModuleType:
    return require(module, "molecules", "a kernel on molecules")


def _compare_by_generator(
    molecules: Sequence[object], coefficient: str, generator_name: str, **settings: int
) -> Similarity:
    """Return the similarity of molecules under a fingerprint generator of RDKit.

    `generator_name` is a function of `rdkit.Chem.rdFingerprintGenerator` that makes the generator.
    `settings` are the options of the kernel, which are passed to that function under their names in
    RDKit. `coefficient` is "tanimoto" or "dice".
    """
    make_generator = getattr(_require_rdkit("rdkit.Chem.rdFingerprintGenerator"), generator_name)
    options = {_RDKIT_NAMES.get(name, name): value for name, value in settings.items()}
    compute_fingerprint = make_generator(**options).GetFingerprintAsNumPy
    return _compare_fingerprints(molecules, compute_fingerprint, coefficient, settings)


def _compare_fingerprints(
    molecules: Sequence[object],
    compute_fingerprint: MoleculeFunction[np.ndarray],
    coefficient: str,
    settings: Record,
) -> Similarity:
    """Return the Tanimoto or Dice similarity of the fingerprints of molecules.

    `compute_fingerprint` computes the fingerprint of an RDKit molecule as an array of 0 and 1.
    `coefficient` is "tanimoto" or "dice", and `settings` are the options of the kernel to report.
    """
    valid_coefficient = check_choice("coefficient", coefficient, COEFFICIENTS)
    n = len(molecules)
    bits = np.empty((0, 0), np.uint8)
    problems = {}
    for i, row in enumerate(_iter_molecule_values(molecules, compute_fingerprint)):
        if isinstance(row, ValueError):
            problems[i] = str(row)
            continue
        if not bits.size:
            # The bits, and a copy in single precision for dot products.
            description = f"the fingerprints of {n} molecules"
            memory.require(5 * n * len(row), description, "compare fewer samples, or fewer bits")
            bits = np.empty((n, len(row)), np.uint8)
        bits[i] = row
    SampleError.check(problems)
    empty = np.flatnonzero(~bits.any(axis=1)).tolist()
    if empty:
        # Tanimoto similarity of molecules without set bits is 0/0. An additional bit for each of
        # them, which is also set in its duplicates, makes them similar only to duplicates.
        empty_molecules = [molecules[i] for i in empty]
        to_smiles = _require_rdkit("rdkit.Chem").MolToSmiles
        smiles = np.array([*_iter_molecule_values(empty_molecules, to_smiles)])
        new_bits = np.zeros((n, len(empty)), np.uint8)
        new_bits[empty] = np.equal.outer(smiles, smiles)
        bits = np.hstack([bits, new_bits])
    note = "has no bit set in this fingerprint, so it is similar only to duplicates; use k='morgan'"
    return BitSimilarity(bits, valid_coefficient, settings).noted(
        partial=dict.fromkeys(empty, note)
    )


def canonical_smiles(molecules: Sequence[object]) -> list[str]:
    """Return the canonical SMILES of molecules; identical molecules have the same SMILES.

    Raises a ValueError for the first sample that is not a valid molecule.

    >>> canonical_smiles(["OCC", "CCO"])
    ['CCO', 'CCO']
    """
    canonical = []
    for smiles in _iter_molecule_values(molecules, _require_rdkit("rdkit.Chem").MolToSmiles):
        if isinstance(smiles, ValueError):
            raise smiles
        canonical.append(smiles)
    return canonical


def find_invalid_molecules(samples: Sequence[object]) -> dict[int, str]:
    """Return what is wrong with samples that are not valid molecules, by index.

    >>> list(find_invalid_molecules(["CCO", "C("]))
    [1]
    """
    molecules = enumerate(_iter_molecule_values(samples, lambda molecule: molecule))
    return {i: str(error) for i, error in molecules if isinstance(error, ValueError)}


def _iter_molecule_values(
    samples: Sequence[object], function: MoleculeFunction[Value]
) -> Iterator[Value | ValueError]:
    """Yield the value of `function` for each sample, converted to an RDKit molecule.

    If a sample is invalid or has no value, yield a ValueError that describes the problem instead.
    """
    with _require_rdkit("rdkit.rdBase").BlockLogs():  # the errors contain what RDKit would print
        for sample in samples:
            try:
                yield function(parse_molecule(sample))
            except ValueError as error:
                yield error
            except RuntimeError as error:  # failed preconditions of RDKit (unsanitized Mol)
                reason = str(error).strip().partition("\n")[0]
                yield ValueError(
                    f"is a Mol whose fingerprint cannot be computed ({reason}); call "
                    "Chem.SanitizeMol first"
                )


def is_readable(text: str) -> bool:
    """Return whether RDKit reads a whole text, which it gets as UTF-8."""
    # Older versions of RDKit stop parsing at NUL. UTF-8 has no halves of surrogate pairs.
    return "\0" not in text and text.encode(errors="ignore").decode() == text


def parse_molecule(sample: object) -> Mol:
    """Return the RDKit molecule of a sample: a SMILES, an InChI or an RDKit molecule.

    Raises a ValueError, whose message has no subject, if the sample is none of these.
    """
    from rdkit.Chem import Mol, MolFromInchi, MolFromSmiles

    if not isinstance(sample, (str, Mol)):
        hint = ""
        if isinstance(sample, (list, tuple, dict)):
            hint = (
                "; for a table, pass one column, such as df['smiles'] or "
                "vendiscore.read(df).samples"
            )
        elif hasattr(sample, "ToBitString"):  # a fingerprint of RDKit
            hint = "; for fingerprints, use k='tanimoto'"
        raise ValueError(  # noqa: TRY004
            f"must be a SMILES or an rdkit.Chem.Mol, got {type(sample).__name__}: "
            f"{short_repr(sample)}{hint}"
        )
    is_inchi = isinstance(sample, str) and sample.lstrip().startswith("InChI=")
    if isinstance(sample, str):
        parse = MolFromInchi if is_inchi else MolFromSmiles
        # RDKit ignores a name after a SMILES, but not after an InChI.
        text = sample.split()[0] if is_inchi else sample
        molecule = parse(text) if is_readable(text) else None
    else:
        molecule = sample
    if molecule is None:
        format_name = "an InChI" if is_inchi else "a SMILES"
        raise ValueError(
            f"is not {format_name} that RDKit can parse: {sample!r}; correct or remove it"
        )
    if molecule.GetNumAtoms() == 0:
        raise ValueError(f"is a molecule without atoms: {sample!r}; correct or remove it")
    return molecule
