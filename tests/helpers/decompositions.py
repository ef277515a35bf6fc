"""Record the matrix decompositions of NumPy, SciPy and torch."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps

import pytest

DECOMPOSITION_FUNCTIONS = ("eigh", "eigvalsh", "eig", "eigvals", "svd", "svdvals")
LINALG_MODULES = ("numpy.linalg", "scipy.linalg", "torch.linalg", "array_api_compat.torch.linalg")


@contextmanager
def record_decompositions(*extra_names: str) -> Iterator[list[tuple[str, tuple[int, ...]]]]:
    """Yield the (function, shape) of every decomposition by NumPy, SciPy or torch in the block.

    `extra_names` are names of further functions, such as "cholesky".
    """
    calls: list[tuple[str, tuple[int, ...]]] = []
    is_nested = False

    def spy(name: str, function: Callable) -> Callable:
        """Return a function that records its calls, except those within another recorded call."""

        @wraps(function)
        def wrapper(matrix, *args, **options):
            """Record the call, unless it is made by another recorded function."""
            nonlocal is_nested
            if is_nested:  # a recorded function that calls another one
                return function(matrix, *args, **options)
            calls.append((name, tuple(matrix.shape)))
            is_nested = True
            try:
                return function(matrix, *args, **options)
            finally:
                is_nested = False

        return wrapper

    with pytest.MonkeyPatch.context() as patch:
        for module_name in LINALG_MODULES:
            module = sys.modules.get(module_name)
            for name in (*DECOMPOSITION_FUNCTIONS, *extra_names) if module else ():
                if function := getattr(module, name, None):
                    patch.setattr(module, name, spy(name, function))
        yield calls
