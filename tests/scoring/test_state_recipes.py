"""The recipes for other engines, run where these are installed."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
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
    ("package", "recipe"),
    [
        ("dask.array", "dask_collection.py"),
        ("ray.data", "ray_data.py"),
        ("pyspark", "spark.py"),
    ],
)
def test_an_engine_finds_the_score_of_all_rows_at_once(package, recipe):
    pytest.importorskip(package)
    if package == "pyspark" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Spark needs a Java runtime")
    found = re.search(r"20000 rows: VS = ([\d.]+), at once ([\d.]+)", printed(recipe))
    assert found is not None
    parts, whole = map(float, found.groups())
    assert parts == pytest.approx(whole, rel=1e-12)


X = np.random.default_rng(0).standard_normal((60, 5))


def partitions(kind: str) -> list[Any]:
    if kind == "delayed":
        dask = pytest.importorskip("dask")
        return [dask.delayed(X[:20]), dask.delayed(X[20:])]
    if kind == "bag":
        bags = pytest.importorskip("dask.bag")
        some = bags.from_sequence(X.tolist(), npartitions=7)
        return bags.concat([some, bags.from_sequence([None]).filter(bool)]).to_delayed()
    if kind == "dataframe":
        frame = pytest.importorskip("pandas").DataFrame(X, columns=list("abcde"))
        return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=4).to_delayed()
    rows = pytest.importorskip("dask.array").from_array(X, chunks=(25, 2))
    return rows.rechunk({1: -1}).to_delayed().ravel().tolist()


@pytest.mark.parametrize("split_every", [2, 3, 8])
@pytest.mark.parametrize("kind", ["array", "dataframe", "bag", "delayed"])
def test_partitions_of_dask_add_up(kind, split_every):
    recipe = runpy.run_path(str(ROOT / "examples" / "recipes" / "dask_collection.py"))
    state = recipe["state_of"](partitions(kind), split_every).compute()
    assert (state.n, state.d) == (60, 5)
    assert state.compute([0.5, 2]) == pytest.approx(compute(X, k="cosine", q=[0.5, 2]), rel=1e-12)


def test_no_partitions_are_no_samples():
    pytest.importorskip("dask")
    recipe = runpy.run_path(str(ROOT / "examples" / "recipes" / "dask_collection.py"))
    assert recipe["state_of"]([]).compute().n == 0


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
