"""Recipes for selections from partitions, and for near-duplicates."""

import itertools
import runpy
from pathlib import Path

import numpy as np
import pytest

from vendiscore import compute, select

ROOT = Path(__file__).resolve().parents[3]
GREEDI = runpy.run_path(str(ROOT / "examples" / "recipes" / "greedi.py"))

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # engines warn about versions of other packages
    pytest.mark.slow,
]


def draw_clusters(n, d, count, seed=0):
    rng = np.random.default_rng(seed)
    sizes = 1 / np.arange(1, count + 1) ** 1.5
    centres = rng.standard_normal((count, d))
    noise = 0.2 * rng.standard_normal((n, d))
    return centres[rng.choice(count, n, p=sizes / sizes.sum())] + noise


def apply_to_parts(parts):
    return lambda f, *more: [f(part, *more) for part in parts]


def test_greedi_selection_is_nearly_as_good_as_select():
    rows = draw_clusters(3000, 12, 40)
    parts = np.array_split(rows, 4)
    apply = apply_to_parts(parts)
    result = GREEDI["greedi"](apply, 10)
    centralized = select(rows, 10, k="cosine")
    assert len(result["rows"]) == 10
    assert result["VS"] == pytest.approx(compute(result["rows"], k="cosine")["VS"])
    assert result["VS"] > 0.97 * centralized.scores[-1]
    assert result["bound"] >= max(result["VS"], centralized.scores[-1])


@pytest.mark.parametrize("seed", range(5))
def test_greedi_bound_exceeds_all_selections(seed):
    rows = draw_clusters(9, 4, 5, seed)
    result = GREEDI["greedi"](apply_to_parts(np.array_split(rows, 2)), 3)
    maximum = max(
        compute(rows[[*indices]], k="cosine")["VS"]
        for indices in itertools.combinations(range(9), 3)
    )
    assert maximum <= result["bound"] * (1 + 1e-12)


def test_near_duplicate_recipe_counts_duplicates(capsys):
    pytest.importorskip("faiss")
    runpy.run_path(str(ROOT / "examples" / "recipes" / "near_duplicates.py"))
    assert capsys.readouterr().out == "18000\n"
