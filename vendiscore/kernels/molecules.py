"""Kernels on molecules: Tanimoto or Dice similarity of their RDKit fingerprints."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arguments import flag, integer, one_of
from ..arrays import memory
from ..errors import SampleError
from ..optional import require
from ..registry.kernel import register_kernel
from ..similarity.base import Similarity
from ..similarity.bit_sets import COEFFICIENTS, BitSimilarity

# Sizes of sets of fewer bits than this are exact in single precision.
_MOST_BITS = (1 << 24) - 1
# RDKit's own integers; no molecule has as many bonds.
_MOST_BONDS = 255

Bits = Callable[[Any], np.ndarray]


class Option(NamedTuple):
    """An option of fingerprints: its default, how it is read, and what it is."""

    default: Any
    read: Callable[[str, Any], Any]
    text: str


def _whole(default: int, least: int, most: int, text: str) -> Option:
    return Option(
        default,
        lambda name, value: integer(name, value, least, most),
        f"int of at least {least}\n        {text}",
    )


def _folded(default: int, least: int, what: str, more: str = "") -> Option:
    return _whole(default, least, _MOST_BITS, f"Length that {what} are folded to.{more}")


_CHIRALITY = Option(False, flag, "bool\n        Tell stereoisomers apart.")


class Fingerprint(NamedTuple):
    """A kernel: what it is, its options, and RDKit's function of a molecule."""

    name: str
    label: str
    term: str
    source: str
    summary: str
    options: Mapping[str, Option]
    make: Callable[[Mapping[str, Any]], Bits]


def _generated(method: str, names: Mapping[str, str]) -> Callable[[Mapping[str, Any]], Bits]:
    """Return what a generator of RDKit makes, whose options have other names there."""

    def make(options: Mapping[str, Any]) -> Bits:
        generators = _rdkit("rdkit.Chem.rdFingerprintGenerator")
        given = {names[name]: value for name, value in options.items()}
        found: Bits = getattr(generators, method)(**given).GetFingerprintAsNumPy
        return found

    return make


def _maccs(options: Mapping[str, Any]) -> Bits:
    keys = _rdkit("rdkit.Chem.rdMolDescriptors").GetMACCSKeysFingerprint
    from rdkit.DataStructs import ConvertToNumpyArray

    def bits(molecule: Any) -> np.ndarray:
        row = np.empty(0, np.uint8)
        ConvertToNumpyArray(keys(molecule), row)
        return row

    return bits


FINGERPRINTS = (
    Fingerprint(
        *("morgan", "share substructures", "Morgan fingerprints"),
        "Rogers & Hahn, J. Chem. Inf. Model. 2010",
        "Similarity of Morgan (circular, ECFP-like) fingerprints.",
        {
            "radius": _whole(
                2, 0, _MOST_BONDS, "Bonds around each atom that a substructure reaches; 2 is ECFP4."
            ),
            "n_bits": _folded(
                2048,
                1,
                "substructures",
                " 2,048 is RDKit's own default. The fewer bits,\n        the more substructures "
                "share one, and the lower the score: of 3,522 odorants by 6 % with 2,048\n        "
                "bits, and by 11 % with 1,024, which MOSES and published Vendi Scores have.",
            ),
            "chirality": _CHIRALITY,
        },
        _generated(
            "GetMorganGenerator",
            {"radius": "radius", "n_bits": "fpSize", "chirality": "includeChirality"},
        ),
    ),
    Fingerprint(
        *("rdkit", "share paths of bonds", "RDKit fingerprints"),
        "RDKit Book, RDKit Fingerprints (Daylight-like paths)",
        "Similarity of RDKit fingerprints: all subgraphs of up to `max_path` bonds.",
        {
            "max_path": _whole(7, 1, _MOST_BONDS, "Bonds of the largest subgraph."),
            "n_bits": _folded(2048, 1, "subgraphs"),
        },
        _generated("GetRDKitFPGenerator", {"max_path": "maxPath", "n_bits": "fpSize"}),
    ),
    Fingerprint(
        *("maccs", "share well-known groups", "MACCS keys"),
        "Durant et al., J. Chem. Inf. Comput. Sci. 2002",
        "Similarity of the 166 MACCS keys, each a question about the structure.",
        {},
        _maccs,
    ),
    Fingerprint(
        *("atom_pair", "share pairs of atoms", "atom pairs"),
        "Carhart, Smith & Venkataraghavan, J. Chem. Inf. Comput. Sci. 1985",
        "Similarity of atom pairs: two atoms and the bonds between them, counts simulated by "
        "bits.\n\n    Stereoisomers are not told apart: RDKit's option for it gives both members "
        "of a pair of\n    enantiomers the same bits.",
        {"n_bits": _folded(2048, 4, "pairs")},
        _generated("GetAtomPairGenerator", {"n_bits": "fpSize"}),
    ),
    Fingerprint(
        *("topological_torsion", "share chains of four atoms", "topological torsions"),
        "Nilakantan et al., J. Chem. Inf. Comput. Sci. 1987",
        "Similarity of chains of four bonded atoms, counts simulated by bits.",
        {"n_bits": _folded(2048, 4, "chains"), "chirality": _CHIRALITY},
        _generated(
            "GetTopologicalTorsionGenerator", {"n_bits": "fpSize", "chirality": "includeChirality"}
        ),
    ),
)
_DOC = """{summary}

    Parameters
    ----------
    molecules : sequence of str or rdkit.Chem.Mol
        SMILES, with or without a name behind a space, InChI, or molecules.
{options}    coefficient : {{"tanimoto", "dice"}}
        |A ∩ B| / |A ∪ B| or 2 |A ∩ B| / (|A| + |B|) of the bits that are set.

    Returns
    -------
    Similarity
        Molecules with no bit set are like each other (1; RDKit gives 0) and unlike all others (0).

    Raises
    ------
    SampleError
        For SMILES and InChI that RDKit cannot read, empty molecules and anything else.
    MissingPackageError
        If rdkit is not installed.

    Notes
    -----
    Equivalent to `DataStructs.BulkTanimotoSimilarity` of RDKit's fingerprints, to the last bit.
    Keeps 5 bytes for each bit of each molecule.
    """


def _kernel(fingerprint: Fingerprint) -> Callable[..., Similarity]:
    """Return the function of molecules and options that is registered for a fingerprint."""

    def build(
        molecules: Sequence[Any], *, coefficient: str = "tanimoto", **options: Any
    ) -> Similarity:
        settings = {
            name: option.read(name, options.get(name, option.default))
            for name, option in fingerprint.options.items()
        }
        return _compare(molecules, fingerprint.make(settings), coefficient, settings)

    named = {name: option.default for name, option in fingerprint.options.items()}
    build.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("molecules", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
                for name, default in {**named, "coefficient": "tanimoto"}.items()
            ),
        ]
    )
    told = "".join(f"    {name} : {option.text}\n" for name, option in fingerprint.options.items())
    build.__doc__ = _DOC.format(summary=fingerprint.summary, options=told)
    build.__name__ = build.__qualname__ = fingerprint.name
    return build


for _fingerprint in FINGERPRINTS:
    register_kernel(
        _fingerprint.name,
        samples="molecules",
        source=_fingerprint.source,
        needs="molecules",
        label=_fingerprint.label,
        term=_fingerprint.term,
    )(_kernel(_fingerprint))


def _rdkit(module: str) -> Any:
    return require(module, "molecules", "a kernel on molecules")


def _compare(
    molecules: Sequence[Any],
    fingerprint: Bits,
    coefficient: str,
    settings: dict[str, Any],
) -> Similarity:
    chosen = one_of("coefficient", coefficient, COEFFICIENTS)
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
    return BitSimilarity(bits, chosen, settings)


def unreadable(samples: Sequence[Any]) -> dict[int, str]:
    """Return {index: why RDKit cannot read that molecule}, as predicates."""
    _rdkit("rdkit.Chem")
    from rdkit.rdBase import BlockLogs

    problems: dict[int, str] = {}
    with BlockLogs():
        for i, sample in enumerate(samples):
            try:
                _molecule(sample)
            except ValueError as error:
                problems[i] = str(error)
    return problems


def _molecule(sample: Any) -> Any:
    """Return RDKit's molecule of a sample; the ValueError says what is wrong with it."""
    from rdkit.Chem import Mol, MolFromInchi, MolFromSmiles

    remedy = "correct or remove it"
    if not isinstance(sample, (str, Mol)):
        column = "; of a table pass one column, such as df['smiles']"
        made = "; fingerprints that are made go to k='tanimoto'"
        listed, vector = isinstance(sample, (list, tuple, dict)), hasattr(sample, "ToBitString")
        raise ValueError(  # noqa: TRY004
            f"must be a SMILES or an rdkit.Chem.Mol, got {type(sample).__name__}: {sample!r:.40}"
            f"{column if listed else made if vector else ''}"
        )
    inchi = isinstance(sample, str) and sample.lstrip().startswith("InChI=")
    if isinstance(sample, str):
        read: Callable[[str], Any] = MolFromInchi if inchi else MolFromSmiles
        written = sample.split()[0] if inchi else sample
        molecule = None if "\0" in written else read(written)  # older RDKit stops there
    else:
        molecule = sample
    if molecule is None:
        kind = "an InChI" if inchi else "a SMILES"
        raise ValueError(f"is not {kind} that RDKit can read: {sample!r}; {remedy}")
    if molecule.GetNumAtoms() == 0:
        raise ValueError(f"is a molecule without atoms: {sample!r}; {remedy}")
    return molecule


def _bits(sample: Any, fingerprint: Bits) -> np.ndarray:
    """Return the fingerprint of a molecule; the ValueError says what is wrong with the sample."""
    molecule = _molecule(sample)
    try:
        return fingerprint(molecule)
    except RuntimeError as error:  # RDKit's broken preconditions, as of an unsanitized Mol
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        raise ValueError(
            f"is a Mol without a fingerprint ({reason}); call Chem.SanitizeMol on it"
        ) from None
