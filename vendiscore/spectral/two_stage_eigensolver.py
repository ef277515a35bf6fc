"""Compute eigenvalues by the two-stage reduction of LAPACK (as in dsyevd_2stage), using ctypes.

The first stage reduces a symmetric matrix to a band matrix, and the second stage reduces the band
matrix to a tridiagonal one. SciPy has no function for this, but contains the routines. They are
used only if they compute the eigenvalues of a test matrix accurately.
"""

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TypeAlias

import numpy as np

# More threads make a full reduction slower, because they synchronize after many short steps.
MAX_THREADS = 4
# The test matrix is a Householder reflection of diag(1, …, n). Tolerances are relative to n.
TEST_SIZE = 70
TEST_TOLERANCES = {np.float64: 1e-11, np.float32: 1e-5}

# Pairs of a minimum number of rows and the half-width of the band for these matrices. A wide band
# speeds up the first stage, which consists of matrix products, but slows down the second stage,
# which uses one thread. In single precision, 64 is at most 10 % slower than the best of 32, 48, 64
# and 96 for 1,536 to 4,096 rows.
BANDWIDTHS = {
    np.float64: ((0, 32), (3000, 48), (8000, 64)),
    np.float32: ((0, 64),),
}
# Routines of LAPACK: reduction to a band matrix, reduction to a tridiagonal matrix, and computation
# of its eigenvalues.
ROUTINES = {
    np.float64: ("dsytrd_sy2sb", "dsytrd_sb2st", "dsterf"),
    np.float32: ("ssytrd_sy2sb", "ssytrd_sb2st", "ssterf"),
}
# Modules that link to LAPACK, patterns of the names of routines, and integer types. NumPy's library
# comes first, because its threads have just computed the matrix products.
_LIBRARIES = (
    ("numpy.linalg._umath_linalg", "scipy_{}_64_", ctypes.c_int64),
    ("scipy.linalg._flapack", "scipy_{}_", ctypes.c_int32),
    ("scipy.linalg._flapack", "{}_", ctypes.c_int32),
)

Float: TypeAlias = type[np.float32] | type[np.float64]
Integer: TypeAlias = type[ctypes.c_int32] | type[ctypes.c_int64]
Routine: TypeAlias = "ctypes._NamedFuncPointer"
EigenvalueFunction = Callable[[np.ndarray], np.ndarray]


def load_eigensolver() -> EigenvalueFunction | None:
    """Return a function that computes the eigenvalues of a symmetric float64 matrix.

    The function overwrites the matrix. None is returned if neither NumPy nor SciPy contains the
    LAPACK routines of the two-stage reduction, or if they are not accurate.
    """
    return _load_eigensolver(_LIBRARIES, np.float64)


def load_single_eigensolver() -> EigenvalueFunction | None:
    """Return a function like that of `load_eigensolver`, for float32 matrices."""
    return _load_eigensolver(_LIBRARIES, np.float32)


@cache
def _load_eigensolver(
    libraries: tuple[tuple[str, str, Integer], ...], dtype: Float
) -> EigenvalueFunction | None:
    """Return a function that computes eigenvalues, from the first accurate library, or None.

    Each of the `libraries` is a tuple of a module that links to LAPACK, a pattern of the names of
    its LAPACK routines, and the integer type of their arguments. `dtype` is the type of the entries
    of matrices and of their eigenvalues.
    """
    for module, name_pattern, integer in libraries:
        try:
            library = ctypes.CDLL(import_module(module).__file__)
            routines = [
                getattr(library, name_pattern.format(routine)) for routine in ROUTINES[dtype]
            ]
        except (AttributeError, ImportError, OSError, TypeError):
            continue  # the library does not exist, or lacks a routine
        compute_eigenvalues = _build_eigensolver(routines, integer, dtype)
        if _is_accurate(compute_eigenvalues, dtype):
            return compute_eigenvalues
    return None


def _build_eigensolver(
    routines: Sequence[Routine], integer: Integer, dtype: Float
) -> EigenvalueFunction:
    """Combine three LAPACK routines into a function that computes the eigenvalues of a matrix.

    The routines reduce the matrix to a band matrix, reduce that to a tridiagonal matrix, and
    compute its eigenvalues. `integer` is the type of their integer arguments, and `dtype` that of
    the matrix.
    """
    reduce_to_band, reduce_to_tridiagonal, compute_values = routines

    def call(routine: Routine, *arguments: object) -> None:
        """Call a LAPACK routine with arguments in their order; raise a LinAlgError on failure."""
        info = integer(0)
        pointers = [_pointer(argument, integer) for argument in arguments]
        strings = [argument for argument in arguments if isinstance(argument, bytes)]
        # Fortran expects the lengths of all strings after the other arguments.
        string_lengths = [ctypes.c_size_t(len(string)) for string in strings]
        routine.restype = None
        routine(*pointers, ctypes.byref(info), *string_lengths)
        if info.value:  # `decompose` turns this into a ValueError that says what to do
            raise np.linalg.LinAlgError(
                f"LAPACK's reduction to tridiagonal form failed with info={info.value}"
            )

    def eigenvalues(A: np.ndarray) -> np.ndarray:
        """Compute the eigenvalues of a symmetric matrix A, which is overwritten."""
        # Options of LAPACK: b"L" lower triangle, b"Y" after the first stage, b"N" no eigenvectors.
        # Each stage is called twice, first to obtain the size of its work array.
        n = len(A)
        bandwidth = max(width for min_n, width in BANDWIDTHS[dtype] if n >= min_n)
        band = np.empty((n, bandwidth + 1), dtype)
        # A call with work size −1 returns the required size.
        work_sizes = (np.empty(1, dtype), np.empty(1, dtype))
        # uplo, n, kd, A, lda, AB, ldab and tau, as LAPACK calls them
        first_stage = (b"L", n, bandwidth, A, n, band, bandwidth + 1, np.empty(n, dtype))
        call(reduce_to_band, *first_stage, work_sizes[0], -1)
        work = np.empty(int(work_sizes[0][0]), dtype)
        call(reduce_to_band, *first_stage, work, len(work))
        values = np.empty(n, dtype)
        off_diagonal = np.empty(n, dtype)
        # stage1, vect, uplo, n, kd, AB, ldab, d and e
        second_stage = (b"Y", b"N", b"L", n, bandwidth, band, bandwidth + 1, values, off_diagonal)
        call(reduce_to_tridiagonal, *second_stage, work_sizes[0], -1, work_sizes[1], -1)
        reflectors, work = (np.empty(int(size[0]), dtype) for size in work_sizes)
        call(reduce_to_tridiagonal, *second_stage, reflectors, len(reflectors), work, len(work))
        call(compute_values, n, values, off_diagonal)
        return values

    return eigenvalues


def _pointer(argument: object, integer: Integer) -> object:
    """Convert an argument of a LAPACK routine to a pointer that ctypes can pass.

    Integers are converted to the type `integer`, arrays to a pointer to their data. Strings, as
    bytes, are returned unchanged.
    """
    if isinstance(argument, int):
        return ctypes.byref(integer(argument))
    return getattr(argument, "ctypes", argument)


def _is_accurate(eigenvalues: EigenvalueFunction, dtype: Float = np.float64) -> bool:
    """Return whether the function `eigenvalues` is accurate for a matrix with known eigenvalues.

    The eigenvalues are 1, …, TEST_SIZE, and the matrix is H diag(1, …, TEST_SIZE) H for a
    Householder reflection H.
    """
    expected = np.arange(1.0, TEST_SIZE + 1)
    v = np.sin(expected)  # an arbitrary vector, so the matrix has no zeros
    v /= np.linalg.norm(v)
    reflection = np.eye(TEST_SIZE) - 2 * np.outer(v, v)
    try:
        values = eigenvalues((reflection * expected @ reflection).astype(dtype))
    except (np.linalg.LinAlgError, ValueError):
        return False
    error = np.abs(values - expected).max()
    return bool(error <= TEST_TOLERANCES[dtype] * TEST_SIZE)
