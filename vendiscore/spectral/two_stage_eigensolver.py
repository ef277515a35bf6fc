"""Compute eigenvalues by the two-stage reduction of LAPACK (dsyevd_2stage), called by ctypes.

It is used only if it computes the eigenvalues of a test matrix accurately.
"""

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TypeAlias

import numpy as np

# More threads make a full reduction slower, because they synchronize after many short steps.
MAX_THREADS = 4
# The test matrix is a Householder reflection of diag(1, …, n).
TEST_SIZE = 70
TEST_TOLERANCE = 1e-11

# (minimum number of rows, half-width of the band). A wide band speeds up the first stage, which
# consists of matrix products, but slows down the second stage, which uses one thread.
BANDWIDTHS = ((0, 32), (3000, 48), (8000, 64))
# Reduction to a band, reduction to a tridiagonal matrix, and its eigenvalues.
ROUTINES = ("dsytrd_sy2sb", "dsytrd_sb2st", "dsterf")
# Modules that link to LAPACK, name patterns of routines, and integer types. NumPy's library comes
# first, because its threads have just computed the matrix products.
_LIBRARIES = (
    ("numpy.linalg._umath_linalg", "scipy_{}_64_", ctypes.c_int64),
    ("scipy.linalg._flapack", "scipy_{}_", ctypes.c_int32),
    ("scipy.linalg._flapack", "{}_", ctypes.c_int32),
)

Integer: TypeAlias = type[ctypes.c_int32] | type[ctypes.c_int64]
Routine: TypeAlias = "ctypes._NamedFuncPointer"
Driver = Callable[[np.ndarray], np.ndarray]


def load_driver() -> Driver | None:
    """Return a function that computes eigenvalues of a float64 matrix in place, or None."""
    return _load_driver(_LIBRARIES)


@cache
def _load_driver(libraries: tuple[tuple[str, str, Integer], ...]) -> Driver | None:
    for module, name, integer in libraries:
        try:
            library = ctypes.CDLL(import_module(module).__file__)
            routines = [getattr(library, name.format(routine)) for routine in ROUTINES]
        except (AttributeError, ImportError, OSError, TypeError):
            continue
        driver = _build_driver(routines, integer)
        if _is_accurate(driver):
            return driver
    return None


def _build_driver(routines: Sequence[Routine], integer: Integer) -> Driver:
    """Combine the routines into one function of a matrix."""
    to_band, to_three, values_of = routines

    def call(routine: Routine, *arguments: object) -> None:
        info = integer(0)
        pointers = [_pointer(argument, integer) for argument in arguments]
        words = [a for a in arguments if isinstance(a, bytes)]
        hidden = [ctypes.c_size_t(len(word)) for word in words]  # string lengths of Fortran
        routine.restype = None
        routine(*pointers, ctypes.byref(info), *hidden)
        if info.value:
            raise np.linalg.LinAlgError(f"LAPACK's reduction in two stages returned {info.value}")

    def eigenvalues(A: np.ndarray) -> np.ndarray:
        n = len(A)
        band = max(width for least, width in BANDWIDTHS if n >= least)
        rows = np.empty((n, band + 1))
        asked = (np.empty(1), np.empty(1))
        first = (b"L", n, band, A, n, rows, band + 1, np.empty(n))
        call(to_band, *first, asked[0], -1)
        work = np.empty(int(asked[0][0]))
        call(to_band, *first, work, len(work))
        values = np.empty(n)
        beside = np.empty(n)
        second = (b"Y", b"N", b"L", n, band, rows, band + 1, values, beside)
        call(to_three, *second, asked[0], -1, asked[1], -1)
        turns, work = (np.empty(int(size[0])) for size in asked)
        call(to_three, *second, turns, len(turns), work, len(work))
        call(values_of, n, values, beside)
        return values

    return eigenvalues


def _pointer(argument: object, integer: Integer) -> object:
    """Convert an array, a string or an integer to a pointer that ctypes can pass."""
    if isinstance(argument, int):
        return ctypes.byref(integer(argument))
    return getattr(argument, "ctypes", argument)


def _is_accurate(eigenvalues: Driver) -> bool:
    """Return whether `eigenvalues` computes the known eigenvalues of the test matrix."""
    known = np.arange(1.0, TEST_SIZE + 1)
    v = np.sin(known)
    v /= np.linalg.norm(v)
    reflection = np.eye(TEST_SIZE) - 2 * np.outer(v, v)
    try:
        values = eigenvalues(reflection * known @ reflection)
    except (np.linalg.LinAlgError, ValueError):
        return False
    error = np.abs(values - known).max()
    return bool(error <= TEST_TOLERANCE * TEST_SIZE)
