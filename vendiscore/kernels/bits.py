"""The kernel "tanimoto" on binary rows and RDKit fingerprints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from typing import Protocol, TypeGuard

import numpy as np

from ..resolve.kernel import register_kernel
from ..similarity import sparse as sp
from ..similarity.base import Similarity
from ..similarity.bit_sets import COEFFICIENTS, MAX_BITS, MAX_RARE_FREQUENCY, BitSimilarity
from ..similarity.sample_arrays import as_matrix
from ..support import memory
from ..support.arguments import check_choice, check_no_gradient
from ..support.errors import SampleError, short_repr
from ..support.namespace import is_torch, row_blocks, to_host
from ..support.types import Rows, SampleContainer


class _BitVector(Protocol):
    """An RDKit bit vector, dense or sparse."""

    def GetNumBits(self) -> int: ...

    def GetOnBits(self) -> Iterable[int]: ...


@register_kernel(
    "tanimoto",
    samples="rows of bits",
    source="Jaccard, New Phytologist 1912; Willett et al., J. Chem. Inf. Comput. Sci. 1998",
)
def tanimoto(bits: SampleContainer, coefficient: str = "tanimoto") -> Similarity:
    """|A ∩ B| / |A ∪ B| of two binary rows (Jaccard): shared bits divided by bits set in either.

    Equal to RDKit's `DataStructs.BulkTanimotoSimilarity` to the last digit, and to 1 − SciPy's
    "jaccard" distance, except that two rows without set bits have similarity 1 (RDKit gives 0).
    Sparse rows with few set bits stay sparse. The n × n matrix is computed only if it is needed.

    Parameters
    ----------
    bits : array of shape (n, d), or list
        Rows of 0 and 1 as numbers or booleans (NumPy, SciPy sparse, torch or lists), or RDKit bit
        vectors of equal length.
    coefficient : {"tanimoto", "dice"}, default "tanimoto"
        |A ∩ B| / |A ∪ B|, or 2 |A ∩ B| / (|A| + |B|).

    Raises
    ------
    SampleError
        If rows contain values other than 0 and 1 (the message names the column), or differ in
        length.
    TypeError
        If `bits` is a tensor that requires a gradient.
    TooLargeError
        If 5 bytes per bit do not fit in memory.
    """
    valid_coefficient = check_choice("coefficient", coefficient, COEFFICIENTS)
    if isinstance(bits, list) and any(map(_is_fingerprint, bits)):
        rows = _drop_empty_columns(_build_fingerprint_rows(bits))
        return BitSimilarity(rows, valid_coefficient)
    X = _as_numeric_rows(bits)
    SampleError.check(_describe_improper_rows(X))
    # Sparse rows may have more columns than MAX_BITS, most of them empty.
    rows = _drop_empty_columns(X) if sp.issparse(X) else _as_bytes(X)
    return BitSimilarity(rows, valid_coefficient)


def _as_numeric_rows(samples: SampleContainer) -> Rows:
    """Return samples as a two-dimensional NumPy array of their own dtype, or as a CSR array.

    Raises a SampleError if they are not rows of numbers.
    """
    if isinstance(samples, list) and not any(
        is_torch(row) or isinstance(row, np.ma.MaskedArray) for row in samples
    ):
        # Fast path for booleans, integers and floats (dtype kinds "biuf"). Rows that NumPy cannot
        # convert are checked one by one by `as_matrix`.
        with suppress(TypeError, ValueError, OverflowError):
            X = np.asarray(samples)
            samples = X if X.dtype.kind in "biuf" else samples
    check_no_gradient("kernel 'tanimoto'", samples=samples)
    if is_torch(samples):
        samples = to_host(samples)
    if isinstance(samples, list) or samples.ndim != 2 or samples.dtype.kind not in "biuf":
        try:
            X = as_matrix(samples, extra_check=lambda X: _describe_improper_rows(to_host(X)))
        except SampleError as error:
            raise _add_molecule_hint(error, samples) from error.__cause__
        return to_host(X)
    if not samples.shape[1]:
        as_matrix(samples)  # raises with an explanation
    return samples


def _describe_improper_rows(X: Rows) -> dict[int, str]:
    """Describe the rows of X that contain values other than 0 and 1, by row index."""
    problems = {}
    if sp.issparse(X):
        # Positions in the CSR data, and the rows that contain them.
        invalid = np.flatnonzero((X.data != 0) & (X.data != 1))
        row_of_invalid = np.searchsorted(X.indptr, invalid, "right") - 1
        rows, first = np.unique(row_of_invalid, return_index=True)
        for i, j in zip(rows.tolist(), invalid[first], strict=True):
            problems[i] = _describe_non_bit(X.data[j], X.indices[j])
        return problems
    if X.dtype.kind == "b":
        return problems
    for block in row_blocks(len(X), X[:1].nbytes):
        is_invalid = (X[block] != 0) & (X[block] != 1)
        if not is_invalid.any():  # checking whole blocks first is ten times faster
            continue
        for i in np.flatnonzero(is_invalid.any(axis=1)).tolist():
            column = int(np.argmax(is_invalid[i]))  # the first one
            problems[block.start + i] = _describe_non_bit(X[block.start + i, column], column)
    return problems


def _describe_non_bit(value: object, column: object) -> str:
    return (
        f"must contain only 0 and 1, got {value:.6g} in column {column}; pass X > 0 for presence "
        "and absence, or compare numbers with k='cosine'"
    )


def _add_molecule_hint(error: SampleError, samples: SampleContainer) -> SampleError:
    """Return the error with a hint for each sample that is a text or an RDKit object.

    Such a sample is a molecule, for which another kernel is suitable; a vector of counts of RDKit;
    or a text of bits such as "0110".
    """
    problems = dict(error.problems)
    for i in problems if isinstance(samples, list) else ():
        sample = samples[i]
        if isinstance(sample, str) or _is_rdkit_object(sample):
            hint = "for molecules, use k='morgan'"
            if hasattr(sample, "GetNonzeroElements"):  # a vector of counts of RDKit
                hint = "use GetFingerprint of the generator instead of counts"
            if isinstance(sample, str) and not sample.strip("01"):
                hint = "pass [int(bit) for bit in text] for each text of bits"
            problems[i] = (
                f"must be a row of 0 and 1 or an RDKit fingerprint, got "
                f"{type(sample).__name__}: {short_repr(sample)}; {hint}"
            )
    return SampleError.from_problems(problems)


def _as_bytes(X: np.ndarray) -> np.ndarray:
    """Return the binary rows X as an array of bytes, without a copy if possible."""
    n, d = X.shape
    _check_size(int(d))
    _require_memory(n, d)
    return X.view(np.uint8) if X.dtype.itemsize == 1 else (X != 0).view(np.uint8)


def _require_memory(n: int, d: int) -> None:
    """Raise a TooLargeError unless n rows of d bits fit in memory as bytes and as float32."""
    memory.require(5 * n * d, f"{n} rows of {d} bits", "pass sparse rows, or fewer samples")


def _check_size(bits: int) -> None:
    # Larger numbers of shared bits would not be exact in single precision.
    if bits > MAX_BITS:
        raise ValueError(
            f"rows must have at most {MAX_BITS} bits, got {bits}; fold them to fewer bits"
        )


def _drop_empty_columns(B: Rows) -> Rows:
    """Return the binary rows B without columns in which no bit is set.

    They are returned in CSR format, or as dense bytes if many bits are set.
    """
    # A copy, because the stored zeros are removed in place.
    B = sp.csr_array(B, dtype=np.float32, copy=True)
    B.eliminate_zeros()
    used_columns, columns = np.unique(B.indices, return_inverse=True)
    n = B.shape[0]
    d = max(1, len(used_columns))
    B = sp.csr_array((B.data, columns.ravel(), B.indptr), shape=(n, d))
    _check_size(int(np.diff(B.indptr).max()))  # the largest number of set bits of a row
    if B.nnz <= MAX_RARE_FREQUENCY * n * d:
        return B
    _require_memory(n, d)
    return B.astype(np.uint8).toarray()


def _is_rdkit_object(sample: object) -> bool:
    return type(sample).__module__.partition(".")[0] == "rdkit"


def _is_fingerprint(sample: object) -> TypeGuard[_BitVector]:
    """Return whether the sample is an RDKit bit vector."""
    return _is_rdkit_object(sample) and hasattr(sample, "GetOnBits")


def _build_fingerprint_rows(samples: Sequence[object]) -> sp.csr_array:
    """Return RDKit fingerprints of equal length as a CSR array, with a 1 for each set bit.

    Raises a SampleError for samples that are not fingerprints, and for fingerprints that do not
    have the most common length.
    """
    widths = [sample.GetNumBits() if _is_fingerprint(sample) else 0 for sample in samples]
    width = Counter(filter(None, widths)).most_common(1)[0][0]
    problems = {}
    set_bits = []
    for i, sample in enumerate(samples):
        if _is_fingerprint(sample) and widths[i] == width:
            set_bits.append(list(sample.GetOnBits()))
            continue
        received = f"{type(sample).__name__}: {short_repr(sample)}"
        if widths[i]:  # a fingerprint of another length
            received = f"a fingerprint of {widths[i]} bits"
        problems[i] = (
            f"must be a fingerprint of {width} bits, as most samples are, got {received}; "
            "recompute it"
        )
    SampleError.check(problems)
    starts = np.cumsum([0, *map(len, set_bits)])
    columns = np.fromiter(chain.from_iterable(set_bits), np.int64)
    return sp.csr_array((np.ones(len(columns)), columns, starts), (len(set_bits), width))
