"""A comparison claims a difference where there is one, and none where chance makes as much."""

import math

import numpy as np
import pytest
from decompositions import counted
from sources import SOURCES, pooled, sentences

from vendiscore.scoring import compute
from vendiscore.similarity.features import FeatureSimilarity
from vendiscore.similarity.matrix import MatrixSimilarity
from vendiscore.uncertainty import FEW, LESS, MORE, SAME, Comparison, compare
from vendiscore.uncertainty.comparison import comparing

LABELS = {"k": "ngram_overlap", "ns": [1]}


def compared(sets: list, q: float = 1, draws: int = 5, **options) -> Comparison:
    return compare(*pooled(sets, **options), q, draws)


@pytest.mark.parametrize("sizes", [(40, 40), (40, 42), (40, 80)])
@pytest.mark.parametrize("name", SOURCES)
def test_two_sets_of_one_source_are_not_told_apart(name, sizes):
    """benchmarks/compare_null.py says at most 1 of 60 (by the rule before, 60, 51 and 14)."""
    if name.startswith("molecules"):
        pytest.importorskip("rdkit")
    source, options = SOURCES[name]
    verdicts = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        sets = [source(rng, size) for size in sizes]
        result = compared(sets, **options)
        assert result.error(0) > 0
        assert result.error(1) > 0
        verdicts.append(result.verdict(0, 1))
    assert verdicts.count(SAME) >= 14


@pytest.mark.parametrize("sizes", [(40, 40), (40, 80), (80, 40)])
def test_a_narrow_source_is_told_from_a_wide_one(sizes):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        sets = [sentences(rng, sizes[0]), sentences(rng, sizes[1], narrow=0.7)]
        result = compared(sets, k="ngram_overlap")
        assert (result.verdict(0, 1), result.verdict(1, 0)) == (MORE, LESS)


def test_a_set_full_of_copies_is_less_diverse():
    copies = ["a b", "c d", "a b", "a b"] * 5
    assert compared([copies, [f"x{i}" for i in range(20)]], **LABELS).verdict(0, 1) == LESS


def test_halves_are_drawn_without_a_common_sample():
    rng = np.random.default_rng(0)
    sets = [rng.normal(size=(60, 2)), rng.normal(scale=0.1, size=(21, 2))]
    result = compared(sets, k="rbf", sigma=1.0)
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
    results = [compared(each, k="ngram_overlap") for each in sets]
    found = np.sqrt(np.mean([result.deviation(i) ** 2 for result in results for i in (0, 1)]))
    assert found == pytest.approx(np.std(scores, ddof=1), rel=0.2)


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, math.inf])
def test_a_set_does_not_differ_from_itself(q):
    texts = sentences(np.random.default_rng(0), 30)
    for other in (texts, texts[::-1], texts * 2):
        assert compared([texts, other], q=q, k="ngram_overlap").verdict(0, 1) == SAME


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_sets_get_no_verdict(n):
    few, many = [f"x{i}" for i in range(n)], ["same"] * 20
    result = compared([few, many], **LABELS)
    assert result.verdict(0, 1) == FEW
    assert result.whole[0] == pytest.approx(n)
    assert compared([["x1", "x2", "x3", "x4"], many], **LABELS).verdict(0, 1) == MORE


def test_each_set_and_each_draw_is_decomposed_once():
    X = np.random.default_rng(0).normal(size=(50, 60))
    together = FeatureSimilarity(X).normalized()
    with counted() as seen:
        result = compare(together, [30, 20], draws=3, orders=[0, 0.5, 1, 2, math.inf])
    assert [shape for _, shape in seen] == [(n, n) for n in (30, *[10] * 6, 20, *[10] * 6)]
    assert np.array_equal(result.profiles[0][:, :, 2], result.draws[0])


def test_a_profile_has_the_scores_of_its_orders_with_their_errors():
    together, sizes = pooled([sentences(np.random.default_rng(0), n) for n in (30, 40)], **LABELS)
    orders = [0, 1, 2, math.inf]
    result = compare(together, sizes, draws=5, orders=orders)
    for i in (0, 1):
        means, errors = result.profile(i)
        alone = [compare(together, sizes, q, 5) for q in orders]
        assert means == pytest.approx([each.mean(i) for each in alone])
        assert errors == pytest.approx([each.error(i) for each in alone])
        assert not alone[0].profile(i)[0].size


def test_a_comparison_says_how_far_it_is():
    together, sizes = pooled([["a", "b", "c"], ["a", "b", "d", "e"]], **LABELS)
    assert list(comparing(together, sizes, draws=3)) == list(range(7))


def test_another_seed_draws_other_halves():
    together, sizes = pooled([sentences(np.random.default_rng(0), 20)] * 2, **LABELS)
    first, second, both = (
        compare(together, sizes, draws=draws, seed=seed).draws[0]
        for seed, draws in ((0, 1), (1, 1), (0, 2))
    )
    assert not np.array_equal(first, second)
    assert np.array_equal(np.concatenate([first, second]), both)


def test_negative_eigenvalues_are_clipped_if_that_is_asked_for():
    K = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    together = MatrixSimilarity(np.kron(np.eye(2), K))
    with pytest.raises(ValueError, match="positive semidefinite"):
        compare(together, [3, 3])
    assert compare(together, [3, 3], psd="clip").whole == pytest.approx(
        [compute(K, score_K=True, psd="clip")["VS"]] * 2
    )


def test_tensors_are_compared_as_arrays_are():
    torch = pytest.importorskip("torch")
    X = np.random.default_rng(0).normal(size=(20, 30))
    K = FeatureSimilarity(X).normalized().dense()
    arrays, tensors = (
        compare(MatrixSimilarity(each), [8, 12], draws=2, orders=[0.5])
        for each in (K, torch.asarray(K))
    )
    assert tensors.whole == pytest.approx(arrays.whole, rel=1e-12)
    for i in (0, 1):
        assert tensors.draws[i] == pytest.approx(arrays.draws[i], rel=1e-12)
        assert tensors.profiles[i] == pytest.approx(arrays.profiles[i], rel=1e-12)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sizes": [5]}, "`sizes` must be those of two sets or more, got [5]; add another set"),
        ({"sizes": [2, 2]}, "`sizes` must add up to the 5 samples of `similarity`, got [2, 2]"),
        ({"sizes": [5, 0]}, "`sizes` must be an integer of at least 1, got 0; leave out sets"),
        ({"sizes": 5}, "`sizes` must be a list of two integers or more, got 5"),
        ({"sizes": [2.5, 2.5]}, "`sizes` must be an integer of at least 1, got 2.5"),
        ({"draws": 0}, "`draws` must be an integer of at least 1, got 0; 10 is usual"),
        ({"seed": -1}, "`seed` must be an integer of at least 0, got -1"),
        ({"q": -1}, "`q` must be a number in [0, inf] or 'inf', got -1"),
        ({"orders": [-1]}, "`q` must be a number in [0, inf] or 'inf', got -1"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_words(change, said):
    arguments = {"similarity": MatrixSimilarity(np.eye(5)), "sizes": [2, 3]} | change
    with pytest.raises((TypeError, ValueError)) as caught:
        compare(**arguments)
    assert said in str(caught.value)
