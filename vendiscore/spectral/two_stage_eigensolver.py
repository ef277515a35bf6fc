"""Eigenvalues by LAPACK's dsyevd_2stage in NumPy's library, where a first try of it is right."""

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TypeAlias

import numpy as np

# More threads than these make a full reduction slower: its steps are short, and all threads wait
# for each other after each.
MAX_THREADS = 4
# The matrix that it is tried on has the eigenvalues 1 … n of a Householder reflection of diag(1…n).
TEST_SIZE = 70
TEST_TOLERANCE = 1e-11

# Half-widths of the band, from so many rows on: a wide one makes products of matrices out of the
# first stage, and more work for the second, which has one thread.
BANDWIDTHS = ((0, 32), (3000, 48), (8000, 64))
# To a band, from there to three diagonals, and their eigenvalues.
ROUTINES = ("dsytrd_sy2sb", "dsytrd_sb2st", "dsterf")
# Modules of their libraries, patterns of names, and the integers that they take. The first has 64
# bits: its library is NumPy's own, so that its threads are the ones that had the products before.
_LIBRARIES = (
    ("numpy.linalg._umath_linalg", "scipy_{}_64_", ctypes.c_int64),
    ("scipy.linalg._flapack", "scipy_{}_", ctypes.c_int32),
    ("scipy.linalg._flapack", "{}_", ctypes.c_int32),
)

Integer: TypeAlias = type[ctypes.c_int32] | type[ctypes.c_int64]
Routine: TypeAlias = "ctypes._NamedFuncPointer"
Driver = Callable[[np.ndarray], np.ndarray]


def load_driver() -> Driver | None:
    """Return a function for the eigenvalues of a float64 matrix, which it destroys, or None."""
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
    """Return the routines as one function of a matrix."""
    to_band, to_three, values_of = routines

    def call(routine: Routine, *arguments: object) -> None:
        info = integer(0)
        pointers = [_pointer(argument, integer) for argument in arguments]
        words = [a for a in arguments if isinstance(a, bytes)]
        hidden = [ctypes.c_size_t(len(word)) for word in words]  # by Fortran
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
    """Return what ctypes passes as a pointer: an array's, a word, or that to an integer."""
    if isinstance(argument, int):
        return ctypes.byref(integer(argument))
    return getattr(argument, "ctypes", argument)


def _is_accurate(eigenvalues: Driver) -> bool:
    """Return whether it finds the eigenvalues of a matrix whose eigenvalues are known."""
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
