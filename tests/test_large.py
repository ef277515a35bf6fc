"""Sets so large that a product with its own transpose can end Python: a number, never a signal.

The sizes are those from which bare NumPy has been seen to fail (numpy/numpy#19685);
benchmarks/large.py goes further.
"""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.skipif(psutil.virtual_memory().available < 10e9, reason="needs 10 GB of memory")
@pytest.mark.parametrize(
    "call",
    [
        "vendiscore.score(X, 'rbf', q=2)",
        "vendiscore.score(X, 'polynomial', q=2)",
        "vendiscore.mag_area(X, n_scales=2)",
    ],
)
def test_a_large_set_ends_in_a_number(call):
    code = (
        "import numpy as np, vendiscore\n"
        "X = np.random.default_rng(0).standard_normal((16_500, 384))\n"
        f"print({call})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 1
