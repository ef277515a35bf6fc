"""Eigenvalues without vectors by LAPACK's two-stage driver, from the library that NumPy brought.

The usual driver reduces a matrix to tridiagonal form by products with vectors, which wait for
memory; in two stages, by way of a band, nearly all are products of matrices. NumPy and SciPy bring
the driver in their libraries and offer no way to call it, so it is called there by its name. It is
tried once on a matrix with a known spectrum; where it is missing (Accelerate, MKL, other builds)
or gives anything else, the usual driver stays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import numpy.linalg
import scipy.linalg
from threadpoolctl import ThreadpoolController

# From this size on it is faster: a tie at 1,500, one and a half times at 2,500 to 5,000.
LEAST_SIZE = 1536
# More threads than these make a full reduction slower, not faster: its steps are short, and all
# threads wait for each other after each.
MOST_THREADS = 4
# The matrix that it is tried on has the eigenvalues 1 … n of a Householder reflection of diag(1…n).
TRIED_SIZE, TRIED_ERROR = 70, 1e-11

# The names of the driver, with the integers that it takes. Those of 64 bits first: the library is
# NumPy's own, so that its threads are those of the products before.
_NAMES = (
    ("numpy.linalg._umath_linalg", "scipy_dsyevd_2stage_64_", ctypes.c_int64),
    ("scipy.linalg._flapack", "scipy_dsyevd_2stage_", ctypes.c_int32),
    ("scipy.linalg._flapack", "dsyevd_2stage_", ctypes.c_int32),
)

Driver = Callable[[np.ndarray], np.ndarray]


def driver() -> Driver | None:
    """What finds all eigenvalues of a symmetric float64 matrix, ascending, or None.

    It destroys the matrix, which is contiguous, in either order. A LinAlgError is raised where it
    does not converge.
    """
    return _found(_NAMES)


@cache
def _found(names: tuple[tuple[str, str, Any], ...]) -> Driver | None:
    modules = {module.__name__: module for module in _libraries()}
    for library, name, integer in names:
        try:
            function = getattr(ctypes.CDLL(modules[library].__file__), name)
        except (AttributeError, KeyError, OSError, TypeError):
            continue
        found = _calling(function, integer)
        if _is_right(found):
            return found
    return None


def _libraries() -> list[Any]:
    return [
        getattr(package, name)
        for package, name in ((np.linalg, "_umath_linalg"), (scipy.linalg, "_flapack"))
        if hasattr(package, name)
    ]


def _calling(function: Any, integer: Any) -> Driver:
    """The driver as a function of a matrix."""
    function.restype = None

    def eigenvalues(A: np.ndarray) -> np.ndarray:
        n, values, info = len(A), np.empty(len(A)), integer(0)

        def call(work: np.ndarray, whole: np.ndarray, sizes: tuple[int, int]) -> None:
            function(
                ctypes.c_char_p(b"N"),
                ctypes.c_char_p(b"L"),
                ctypes.byref(integer(n)),
                A.ctypes.data_as(ctypes.c_void_p),
                ctypes.byref(integer(max(1, n))),
                values.ctypes.data_as(ctypes.c_void_p),
                work.ctypes.data_as(ctypes.c_void_p),
                ctypes.byref(integer(sizes[0])),
                whole.ctypes.data_as(ctypes.c_void_p),
                ctypes.byref(integer(sizes[1])),
                ctypes.byref(info),
                ctypes.c_size_t(1),  # the lengths of the two strings, which Fortran hides
                ctypes.c_size_t(1),
            )
            if info.value:
                raise np.linalg.LinAlgError(f"LAPACK's two-stage driver returned {info.value}")

        work, whole = np.empty(1), np.zeros(1, dtype=np.dtype(integer))
        call(work, whole, (-1, -1))
        sizes = max(1, int(work[0])), max(1, int(whole[0]))
        call(np.empty(sizes[0]), np.empty(sizes[1], dtype=whole.dtype), sizes)
        return values

    return eigenvalues


def _is_right(eigenvalues: Driver) -> bool:
    """Whether it finds the eigenvalues of a matrix whose eigenvalues are known."""
    known = np.arange(1.0, TRIED_SIZE + 1)
    v = np.sin(known) / np.linalg.norm(np.sin(known))
    reflection = np.eye(TRIED_SIZE) - 2 * np.outer(v, v)
    try:
        found = eigenvalues(reflection * known @ reflection)
    except np.linalg.LinAlgError:
        return False
    return bool(np.abs(found - known).max() <= TRIED_ERROR * TRIED_SIZE)


@contextmanager
def few_threads() -> Iterator[None]:
    """No more threads of linear algebra than a full reduction has a use for."""
    controller = _controller()
    blas = controller.select(user_api="blas")
    if all(library["num_threads"] <= MOST_THREADS for library in blas.info()):
        yield
        return
    with controller.limit(limits=MOST_THREADS, user_api="blas"):
        yield


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
