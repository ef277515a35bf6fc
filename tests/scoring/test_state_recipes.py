"""The recipes for other engines, run where these are installed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vendiscore import compute

ROOT = Path(__file__).resolve().parents[2]


def printed(recipe: str) -> str:
    here = {"RAY_USAGE_STATS_ENABLED": "0", "SPARK_LOCAL_IP": "127.0.0.1"}  # nothing leaves it
    environment = os.environ | here | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, str(ROOT / "examples" / "recipes" / recipe)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "recipe"), [("ray.data", "ray_data.py"), ("pyspark", "spark.py")]
)
def test_an_engine_finds_the_score_of_all_rows_at_once(package, recipe):
    pytest.importorskip(package)
    if package == "pyspark" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Spark needs a Java runtime")
    found = re.search(r"20000 rows: VS = ([\d.]+), at once ([\d.]+)", printed(recipe))
    assert found is not None
    parts, whole = map(float, found.groups())
    assert parts == pytest.approx(whole, rel=1e-12)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # __del__ of Ray
@pytest.mark.parametrize(
    ("package", "kind", "gathers"),
    [
        ("pyspark.sql", "DataFrame", "collect"),
        ("pyspark", "RDD", "collect"),
        ("pyspark.pandas", "DataFrame", "to_pandas"),
        ("ray.data", "Dataset", "to_pandas"),
    ],
)
def test_a_collection_of_an_engine_is_not_gathered(package, kind, gathers):
    module = pytest.importorskip(package, exc_type=ImportError)
    collection = object.__new__(getattr(module, kind))  # one with rows needs a cluster
    with pytest.raises(TypeError, match=rf"must be in memory, .*samples\.{gathers}\(\).*State"):
        compute(collection, k="cosine")
