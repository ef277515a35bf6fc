"""A comparison claims a difference where there is one, and none where chance makes as much."""

import math
import re

import numpy as np
import pytest
from sources import SOURCES, sentences

pytest.importorskip("matplotlib")
pytest.importorskip("rdkit")
from vendiscore.app import handlers, shows
from vendiscore.app.comparing import compare
from vendiscore.scoring import compute
from vendiscore.uncertainty.comparison import FEW, LESS, MORE, SAME

LABELS = {"k": "ngram_overlap", "ns": [1]}


def shown(*boxes: str, kind: str = "texts", kernel: str = "ngram_overlap", q: object = 1) -> str:
    *_, (page, _) = shows.show_comparison(
        kind, kernel, *boxes, *[""] * (3 - len(boxes)), None, None, None, q, 5
    )
    return re.sub(r"<[^>]+>", " ", page)


@pytest.mark.parametrize("sizes", [(40, 40), (40, 42), (40, 80)])
@pytest.mark.parametrize("name", SOURCES)
def test_two_sets_of_one_source_are_not_told_apart(name, sizes):
    """benchmarks/compare_null.py says at most 1 of 60 (by the rule before, 60, 51 and 14)."""
    source, options = SOURCES[name]
    verdicts = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        sets = [source(rng, size) for size in sizes]
        result = compare(sets, draws=5, **options)
        assert result.error(0) > 0
        assert result.error(1) > 0
        verdicts.append(result.verdict(0, 1))
    assert verdicts.count(SAME) >= 14


@pytest.mark.parametrize("sizes", [(40, 40), (40, 80), (80, 40)])
def test_a_narrow_source_is_told_from_a_wide_one(sizes):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        sets = [sentences(rng, sizes[0]), sentences(rng, sizes[1], narrow=0.7)]
        result = compare(sets, draws=5, k="ngram_overlap")
        assert (result.verdict(0, 1), result.verdict(1, 0)) == (MORE, LESS)


def test_a_set_full_of_copies_is_less_diverse():
    copies = ["a b", "c d", "a b", "a b"] * 5
    assert compare([copies, [f"x{i}" for i in range(20)]], **LABELS).verdict(0, 1) == LESS


def test_halves_are_drawn_without_a_common_sample():
    rng = np.random.default_rng(0)
    sets = [rng.normal(size=(60, 2)), rng.normal(scale=0.1, size=(21, 2))]
    result = compare(sets, draws=5, k="rbf", sigma=1.0)
    assert (result.sizes, result.matched) == ([60, 21], 10)
    for i, samples in enumerate(sets):
        pairs = []
        for seed in range(5):
            order = np.random.default_rng(seed).permutation(len(samples))
            halves = order[:10], order[-10:]
            assert not set(halves[0]) & set(halves[1])
            pairs.append([compute(samples[half], k="rbf", sigma=1.0)["VS"] for half in halves])
        assert result.draws[i] == pytest.approx(np.array(pairs))
        assert result.mean(i) == pytest.approx(np.mean(pairs))
        variance = np.mean([np.var(pair, ddof=1) for pair in pairs])
        assert result.deviation(i) == pytest.approx(np.sqrt(variance))
        assert result.whole[i] == pytest.approx(compute(samples, k="rbf", sigma=1.0)["VS"])
    gap, error = result.difference(0, 1)
    assert gap == pytest.approx(result.mean(0) - result.mean(1))
    assert error == pytest.approx(math.hypot(result.error(0), result.error(1)))


def test_the_deviation_is_that_of_fresh_samples_of_matched_size():
    rng = np.random.default_rng(0)
    scores = [compute(sentences(rng, 20), k="ngram_overlap")["VS"] for _ in range(100)]
    sets = [[sentences(rng, 40), sentences(rng, 40)] for _ in range(15)]
    results = [compare(each, draws=5, k="ngram_overlap") for each in sets]
    found = np.sqrt(np.mean([result.deviation(i) ** 2 for result in results for i in (0, 1)]))
    assert found == pytest.approx(np.std(scores, ddof=1), rel=0.2)


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, math.inf])
def test_a_set_does_not_differ_from_itself(q):
    texts = sentences(np.random.default_rng(0), 30)
    for other in (texts, texts[::-1], texts * 2):
        assert compare([texts, other], q=q, draws=5, k="ngram_overlap").verdict(0, 1) == SAME
    page = shown("\n".join(texts), "\n".join(texts), q=q)
    assert "A and B cannot be told apart" in page


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_sets_get_no_verdict(n):
    few, many = [f"x{i}" for i in range(n)], ["same"] * 20
    result = compare([few, many], **LABELS)
    assert result.verdict(0, 1) == FEW
    assert result.whole[0] == pytest.approx(n)
    assert "too few to tell apart: a comparison needs at least 4 texts" in " ".join(
        shown("\n".join(few), "\n".join(many)).split()
    )
    assert compare([["x1", "x2", "x3", "x4"], many], **LABELS).verdict(0, 1) == MORE


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
    sigma = compare([a, b], k="rbf").arguments["sigma"]
    both = compute(np.concatenate([a, b]), k="rbf", details=True)["details"]
    assert sigma == both["options"]["sigma"]
