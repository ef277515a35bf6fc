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
    inside = False

    def spy(name: str, function: Callable) -> Callable:
        @wraps(function)
        def told(matrix, *args, **options):
            nonlocal inside
            if inside:  # one library's function that calls another
                return function(matrix, *args, **options)
            calls.append((name, tuple(matrix.shape)))
            inside = True
            try:
                return function(matrix, *args, **options)
            finally:
                inside = False

        return told

    with pytest.MonkeyPatch.context() as patch:
        for home in LINALG_MODULES:
            module = sys.modules.get(home)
            for name in (*DECOMPOSITION_FUNCTIONS, *extra_names) if module else ():
                if function := getattr(module, name, None):
                    patch.setattr(module, name, spy(name, function))
        yield calls
