"""Recipes for selections from partitions, and for near-duplicates."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from vendiscore import select

RECIPES = Path(__file__).resolve().parents[3] / "examples" / "recipes"


@pytest.mark.filterwarnings("ignore")  # Dask warns about versions of other packages
def test_greedi_recipe_selects_from_a_folder(tmp_path):
    pytest.importorskip("dask.dataframe")
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    X = np.random.default_rng(0).standard_normal((300, 5))
    for i, rows in enumerate(np.array_split(X, 3)):
        pq.write_table(pa.table({"x": rows.tolist()}), tmp_path / f"{i}.parquet")
    select_rows = runpy.run_path(str(RECIPES / "greedi.py"))["select_rows"]
    result = select_rows(tmp_path, "x", 4)
    assert result.rows["x"].to_pylist() == X[result.places].tolist()
    assert result.scores[-1] > 0.95 * select(X, 4, k="cosine").scores[-1]


@pytest.mark.slow
def test_near_duplicate_recipe_counts_duplicates(capsys):
    pytest.importorskip("faiss")
    runpy.run_path(str(RECIPES / "near_duplicates.py"))
    assert capsys.readouterr().out == "18000\n"
