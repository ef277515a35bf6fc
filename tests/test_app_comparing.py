"""The page compares as the library does, and says so in words and tables."""

import math
import re

import numpy as np
import pytest
from sources import sentences

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore.app import handlers, jobs, shows
from vendiscore.progress import finish
from vendiscore.scoring import compute
from vendiscore.uncertainty import LESS, SAME


def shown(*boxes: str, kind: str = "texts", kernel: str = "ngram_overlap", q: object = 1) -> str:
    *_, (page, _) = shows.show_comparison(
        kind, kernel, *boxes, *[""] * (3 - len(boxes)), None, None, None, q, 5
    )
    return re.sub(r"<[^>]+>", " ", page)


@pytest.mark.parametrize("q", [0, 1, math.inf])
def test_a_set_is_not_told_from_itself(q):
    box = "\n".join(sentences(np.random.default_rng(0), 30))
    assert "A and B cannot be told apart" in shown(box, box, q=q)


@pytest.mark.parametrize("n", [1, 3])
def test_sets_that_are_too_small_are_said_to_be(n):
    page = " ".join(shown("\n".join(f"x{i}" for i in range(n)), "\n".join(["same"] * 20)).split())
    assert "too few to tell apart: a comparison needs at least 4 texts" in page


def test_the_api_says_how_sure_it_is():
    rng = np.random.default_rng(0)
    sets = [sentences(rng, 40), sentences(rng, 50), sentences(rng, 60, narrow=0.7)]
    answer = handlers.compare(sets, draws=5)
    assert answer["matched_size"] == 20
    assert [found["verdict"] for found in answer["differences_to_first"]] == [SAME, LESS]
    for each in answer["sets"]:
        assert each["matched_sd"] > each["matched_se"] > 0
        assert each["matched_mean"] < each["VS"]
    for found, other in zip(answer["differences_to_first"], answer["sets"][1:], strict=True):
        gap = other["matched_mean"] - answer["sets"][0]["matched_mean"]
        assert found["mean"] == pytest.approx(gap)
        assert found["se"] == pytest.approx(
            math.hypot(other["matched_se"], answer["sets"][0]["matched_se"])
        )


def test_the_table_has_a_spread_for_every_set():
    rng = np.random.default_rng(0)
    page = shown(*["\n".join(sentences(rng, n)) for n in (30, 30, 50)])
    assert "A and B cannot be told apart" in page or "B and A cannot be told apart" in page
    spreads = [float(found) for found in re.findall(r"± (\d+\.\d\d)", page)]
    assert len(spreads) >= 5
    assert all(spreads)


def test_sets_of_vectors_share_one_bandwidth():
    a, b = np.array([[0.0], [1.0]]), np.array([[0.0], [100.0]])
    sets = [jobs.vector_job(x, "rbf") for x in (a, b)]
    sigma = finish(jobs.comparison(sets, 1)).arguments["sigma"]
    both = compute(np.concatenate([a, b]), k="rbf", details=True)["details"]
    assert sigma == both["options"]["sigma"]
