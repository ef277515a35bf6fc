"""scipy.sparse is imported on first use, and its names are available."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

from vendiscore.similarity import sparse


def test_module_provides_the_names_of_scipy_sparse():
    assert sparse.csr_array is scipy.sparse.csr_array
    assert sparse.hstack is scipy.sparse.hstack
    with pytest.raises(AttributeError, match="no_such_name"):
        sparse.no_such_name  # noqa: B018


def test_issparse_recognizes_sparse_arrays():
    assert sparse.issparse(scipy.sparse.csr_array(np.eye(2)))
    assert not sparse.issparse(np.eye(2))


def test_importing_the_module_does_not_import_scipy_sparse():
    code = (
        "import sys; from vendiscore.similarity import sparse;"
        "assert not sparse.issparse([1]); assert 'scipy.sparse' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
