"""Sets so large that a product with its own transpose can end Python: a number, never a signal.

The size is one from which bare NumPy has been seen to fail (numpy/numpy#19685). All go through one
product, which is what is tried here.
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
os.environ.pop("OMP_NUM_THREADS", None)  # it is the threaded product that fails
import numpy as np
from vendiscore.support.namespace import gram
X = np.random.default_rng(0).standard_normal((16_500, 384))
K = gram(X)
i, j = np.random.default_rng(1).integers(0, len(X), (2, 10_000))
np.testing.assert_allclose(K[i, j], (X[i] * X[j]).sum(axis=1), rtol=0, atol=1e-10)
"""


@pytest.mark.skipif(psutil.virtual_memory().available < 6e9, reason="needs 6 GB of memory")
def test_a_large_product_ends_in_numbers():
    subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, check=True)


def test_there_is_one_product_with_the_own_transpose():
    own = re.compile(r"\b(\w+(?:\[[^]]*\])?) @ \1\.(?:T|mT)\b")
    result = [
        (path.name, line.strip())
        for path in sorted((ROOT / "vendiscore").rglob("*.py"), key=lambda path: path.name)
        for line in path.read_text(encoding="utf-8").splitlines()
        if own.search(line)
    ]
    assert result == [
        ("namespace.py", "return A @ A.T"),  # torch
        ("namespace.py", "out[block, block] = A[block] @ A[block].T"),  # a block
    ]
