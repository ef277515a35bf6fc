"""The page compares as the library does, and says so in words and tables."""

import math
import re

import numpy as np
import pytest
from sources import sentences

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore import compare
from vendiscore.app import handlers, jobs, shows
from vendiscore.app.limits import RefusedError
from vendiscore.progress import finish
from vendiscore.scoring import compute
from vendiscore.uncertainty import LESS, SAME


def shown(*boxes: str, kind: str = "texts", kernel: str = "ngram_overlap", q: object = 1) -> str:
    *_, (page, _) = shows.show_comparison(
        kind, kernel, *boxes, *[""] * (3 - len(boxes)), None, None, None, q, 299
    )
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


@pytest.mark.parametrize("q", [0, 1, math.inf])
def test_a_set_is_not_told_from_itself(q):
    box = "\n".join(sentences(np.random.default_rng(0), 20))
    assert "A and B cannot be told apart" in shown(box, box, q=q)


def test_two_sets_of_one_source_are_rarely_told_apart():
    """An older page said "more diverse" of 60 pairs in 60."""
    told = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        page = shown(*("\n".join(sentences(rng, n)) for n in (20, 30)))
        told += "is more diverse than" in page
    assert told <= 1


@pytest.mark.parametrize("n", [1, 3])
def test_sets_that_are_too_small_are_said_to_be(n):
    box = "\n".join(f"x{i}" for i in range(n))
    with pytest.raises(RefusedError, match=f"Set A has too few samples to be compared: {n}, "):
        shown(box, "\n".join(["same"] * 20))


def test_the_api_says_how_sure_it_is():
    rng = np.random.default_rng(0)
    sets = [sentences(rng, 40), sentences(rng, 50), sentences(rng, 60, narrow=0.8)]
    answer = handlers.compare(sets)
    assert answer["matched_size"] == 40
    assert [found["verdict"] for found in answer["differences_to_first"]] == [SAME, LESS]
    right = compare(*sets, permutations=299, level=0.99)
    assert answer["sentence"] == right.sentence
    for each, row in zip(answer["sets"], right.sets, strict=True):
        assert each["VS_low"] < each["VS"] < each["VS_high"]
        assert (each["VS"], each["matched"], each["matched_se"]) == pytest.approx(
            (row.score, row.matched, row.matched_se)
        )
    for found, row in zip(answer["differences_to_first"], right.pairs, strict=False):
        assert found["difference"] == pytest.approx(-row.difference)
        assert (found["low"], found["high"]) == pytest.approx((-row.high, -row.low))
        assert found["p_adjusted"] == pytest.approx(row.p_adjusted)


def test_large_sets_are_compared_at_100():
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(n, 3)).tolist() for n in (110, 130)]
    assert handlers.compare(rows, "vectors", "cosine")["matched_size"] == 100


def test_the_table_has_an_error_for_every_set():
    rng = np.random.default_rng(0)
    page = shown(*["\n".join(sentences(rng, n)) for n in (20, 20, 30)])
    assert "A and B cannot be told apart" in page or "B and A cannot be told apart" in page
    errors = [float(found) for found in re.findall(r"± (\d+\.\d\d)", page)]
    assert len(errors) == 3
    assert all(errors)
    assert len(re.findall(r"[+-]\d+\.\d\d \(-?\d+\.\d\d to -?\d+\.\d\d\), p = ", page)) == 2


def test_sets_of_vectors_share_one_bandwidth():
    a, b = (np.array([[0.0], [1.0], [2.0], [3.0]]) * times for times in (1, 100))
    sets = [jobs.vector_job(x, "rbf") for x in (a, b)]
    sigma = finish(jobs.comparison(sets, 1)).arguments["sigma"]
    both = compute(np.concatenate([a, b]), k="rbf", details=True)["details"]
    assert sigma == both["options"]["sigma"]


def test_long_work_is_told_percent_by_percent():
    rows = np.random.default_rng(0).normal(size=(60, 80))
    notes = list(jobs.comparison([jobs.vector_job(rows), jobs.vector_job(rows * 2)], 1))
    assert notes[0] == "Comparing: 0 % done."
    assert 2 < len(notes) == len(set(notes)) <= 101
