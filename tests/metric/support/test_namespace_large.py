"""Products of large matrices with their transpose must not crash Python.

NumPy can crash at this size (numpy/numpy#19685). The package uses one function for such products.
"""

import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[3]

CODE = """
import os
os.environ.pop("OMP_NUM_THREADS", None)  # only threaded products can crash
import numpy as np
from vendiscore.support.namespace import gram
X = np.random.default_rng(0).standard_normal((16_500, 384))
K = gram(X)
i, j = np.random.default_rng(1).integers(0, len(X), (2, 10_000))
np.testing.assert_allclose(K[i, j], (X[i] * X[j]).sum(axis=1), rtol=0, atol=1e-10)
"""


@pytest.mark.long
@pytest.mark.skipif(psutil.virtual_memory().available < 6e9, reason="needs 6 GB of memory")
def test_gram_of_many_rows_does_not_crash():
    subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, check=True)


def test_package_multiplies_by_the_transpose_only_in_gram():
    self_product = re.compile(r"\b(\w+(?:\[[^]]*\])?) @ \1\.(?:T|mT)\b")
    result = [
        (path.name, line.strip())
        for path in sorted((ROOT / "vendiscore").rglob("*.py"), key=lambda path: path.name)
        for line in path.read_text(encoding="utf-8").splitlines()
        if self_product.search(line)
    ]
    assert result == [
        ("namespace.py", "return A @ A.T"),  # torch
        ("namespace.py", "out[block, block] = A[block] @ A[block].T"),  # a block
    ]
