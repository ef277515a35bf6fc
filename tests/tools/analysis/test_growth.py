"""Growth is the mean score of subsets, and comes near the score of larger sets."""

import itertools
import json
import math
import pickle
import warnings

import numpy as np
import pytest
import scipy
from populations import draw_vectors

from vendiscore import FeatureSimilarity, as_similarity, compute, growth
from vendiscore.result import key_at

# Most sets of these tests are small; those below test when there is a warning.
pytestmark = pytest.mark.filterwarnings("ignore:.* are too few to predict the score")


def rows(seed: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 5)) + 0.5


def test_negative_eigenvalues_that_are_clipped_are_so_at_order_2_too():
    K = np.eye(5)
    K[:3, :3] = [[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]
    for q in (1, 2):
        result = growth(K, [2, 5], q=q, psd="clip", score_K=True)
        whole = compute(K, q=q, psd="clip", score_K=True)[key_at(q)]
        assert result.scores[-1] == pytest.approx(whole)


def test_at_order_2_it_is_the_mean_purity_of_all_subsets():
    X = rows(0, 7)
    K = as_similarity(X, k="cosine").dense()
    result = growth(X, range(1, 8), q=2, k="cosine")
    for m, score in zip(result.sizes, result.scores, strict=True):
        purity = [
            (K[np.ix_(at, at)] ** 2).sum() / m**2 for at in itertools.combinations(range(7), m)
        ]
        assert 1 / score == pytest.approx(np.mean(purity), rel=1e-12)
    assert result.scores[-1] == pytest.approx(compute(X, k="cosine", q=2)["VS_q2"])
    assert result.scores[0] == 1


def test_at_order_2_it_is_that_of_larger_sets_of_the_source():
    def purity(seed, n, *sizes):
        options = {"q": 2, "k": "rbf", "sigma": 2.0}
        return 1 / growth(draw_vectors(np.random.default_rng(seed), n), sizes, **options).scores[0]

    doubled = np.array([purity(seed, 30, 60) for seed in range(150)])
    fresh = np.array([purity(1000 + seed, 60, 60) for seed in range(150)])
    error = math.sqrt((doubled.var() + fresh.var()) / 150)
    assert abs(doubled.mean() - fresh.mean()) < 3 * error


@pytest.mark.parametrize("q", [0.5, 1, 3, math.inf])
def test_elsewhere_it_is_a_mean_over_subsets_drawn_without_replacement(q):
    X = rows(0, 12)
    result = growth(X, [3, 12], q=q, k="cosine")
    subsets = itertools.combinations(range(12), 3)
    logs = [math.log(compute(X[list(at)], q=q, k="cosine")[key_at(q)]) for at in subsets]
    assert math.log(result.scores[0]) == pytest.approx(np.mean(logs), abs=1e-3)
    assert result.scores[1] == pytest.approx(compute(X, q=q, k="cosine")[key_at(q)])


@pytest.mark.parametrize("q", [0.05, 0.5, 1, 2, 3, math.inf])
@pytest.mark.parametrize("allow_repeats", [True, False])
@pytest.mark.parametrize(
    ("samples", "how"),
    [
        (rows(0, 30), {"k": "cosine"}),
        (rows(1, 9), {"k": "rbf", "sigma": 1.0}),
        (list("aaabbcdefgh"), {"k": "labels"}),
        (list("abcdefgh"), {"k": "labels"}),
        (["a cat", "a cat", "the dog", "a bird", "the cat sat"], {}),
    ],
    ids=["vectors", "narrow", "labels", "all differ", "texts"],
)
def test_at_n_the_interval_is_that_of_compute(samples, how, allow_repeats, q):
    n = len(samples)
    options = {**how, "q": q, "allow_repeats": allow_repeats}
    with warnings.catch_warnings(action="ignore"):
        whole = compute(samples, ci=0.9, **options)
        curve = growth(samples, [n // 2, n], level=0.9, **options)
    key = key_at(q)
    expected = [whole[key], whole[f"{key}_low"], whole[f"{key}_high"]]
    result = [curve.scores[1], curve.low[1], curve.high[1]]
    assert result == pytest.approx(expected, rel=1e-7)
    assert curve.low[0] <= curve.low[1] * (1 + 1e-9)  # as fewer samples score no more
    assert curve.high[0] <= curve.high[1] * (1 + 1e-9)


def test_few_samples_do_not_tell_what_more_would_add():
    """The interval at 2n holds the score of n and twice that score, or it excludes one of them."""
    rng = np.random.default_rng(0)
    few, many = rng.integers(0, 10, 16).tolist(), rng.integers(0, 10, 200).tolist()
    with pytest.warns(
        UserWarning, match="16 samples are too few to predict the score of more samples"
    ):
        result = growth(few, [32], k="labels")
    (now,) = growth(few, [16], k="labels").scores  # sizes up to n say nothing of more
    assert result.undecided is result.to_dict()["undecided"] is True
    assert result.low[0] <= now
    assert result.high[0] >= 2 * now
    with warnings.catch_warnings(action="error"):
        result = growth(many, [250, 400], k="labels")
        assert growth(few, [6, 16], k="labels").undecided is None  # no size beyond n
    (now,) = growth(many, [200], k="labels").scores
    assert result.undecided is result.to_dict()["undecided"] is False
    assert result.caution == ""
    assert result.high[1] < 2 * now


def test_curves_within_prompts_end_at_n_and_leave_open_what_more_would_add():
    result = growth(list("abcdefgh") * 3, prompts=[0] * 8 + [1] * 8 + [2] * 8, k="labels")
    assert result.undecided is json.loads(json.dumps(result.to_dict()))["undecided"] is None
    assert result.caution == ""


def test_the_caution_is_of_twice_the_samples_whatever_the_sizes():
    few = np.random.default_rng(0).integers(0, 10, 16).tolist()
    for sizes in ([17], [6, 20], [32]):
        with pytest.warns(
            UserWarning, match="at 32 samples contains both the score of 16 samples and twice"
        ):
            growth(few, sizes, k="labels")


def power_mean(scores: list[float], q: float) -> float:
    """Return the power mean with exponent 1 − q: the geometric mean at 1, the minimum at ∞."""
    if q == 1:
        return math.exp(np.mean(np.log(scores)))
    return min(scores) if q == math.inf else np.mean(np.power(scores, 1 - q)) ** (1 / (1 - q))


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, 3, math.inf])
@pytest.mark.parametrize("source", ["labels", "vectors", "unlike halves"])
def test_twice_the_samples_score_at_most_twice(q, source):
    """Both bounds of the power mean that the caution rests on, for two halves of a set."""
    rng = np.random.default_rng(4)
    samples, k = {
        "labels": (rng.integers(0, 6, 40), "labels"),
        "vectors": (rng.normal(size=(40, 5)), "cosine"),
        "unlike halves": (np.r_[np.zeros(20, int), np.arange(1, 21)], "labels"),
    }[source]
    whole = compute(samples, q=q, k=k)[key_at(q)]
    halves = [compute(half, q=q, k=k)[key_at(q)] for half in (samples[:20], samples[20:])]
    mean = power_mean(halves, q)
    assert mean * (1 - 1e-9) <= whole <= 2 * mean * (1 + 1e-9)
    geometric = math.sqrt(math.prod(halves))
    if q >= 1:
        assert whole <= 2 * geometric * (1 + 1e-9)
    if q <= 1:
        assert whole >= geometric * (1 - 1e-9)


def test_the_bounds_of_the_mean_logarithm_hold_on_one_side_of_order_1_only():
    halves = [0] * 20, range(1, 21)
    for q, above_twice, below in ((0, True, False), (1, False, False), (2, False, True)):
        whole = compute([*halves[0], *halves[1]], q=q, k="labels")[key_at(q)]
        geometric = math.sqrt(
            math.prod(compute(list(half), q=q, k="labels")[key_at(q)] for half in halves)
        )
        assert (whole > 2 * geometric * (1 + 1e-9)) == above_twice
        assert (whole < geometric) == below


@pytest.mark.parametrize("k", ["cosine", "rbf"])
def test_twice_the_samples_score_about_what_it_says(k):
    """benchmarks/growth.py has more sets of six sources: 90 to 100 of 100."""
    options = {"k": k} | ({"sigma": 2.0} if k == "rbf" else {})
    fresh = [
        math.log(compute(draw_vectors(np.random.default_rng(1000 + s), 120), **options)["VS"])
        for s in range(30)
    ]
    truth, inside, off = np.mean(fresh), 0, []
    for seed in range(30):
        result = growth(draw_vectors(np.random.default_rng(seed), 60), [120], **options)
        inside += result.low[0] <= math.exp(truth) <= result.high[0]
        off.append(math.log(result.scores[0]) - truth)
    assert inside >= 25
    assert abs(np.mean(off)) < 0.04


def test_a_source_of_labels_is_seen_whole():
    """Eight classes, all met: growth ends."""
    X = np.eye(8)[np.arange(80) % 8]
    result = growth(X, [40, 80, 160], score_X=True)
    assert result.scores[1] == pytest.approx(8)
    assert result.scores[2] == pytest.approx(8, rel=0.05)
    assert result.extrapolated == (False, False, True)


def test_usual_sizes_go_from_a_sixteenth_to_twice():
    result = growth(rows(0, 64), k="cosine", q=2)
    assert (result.sizes[0], result.sizes[-1], result.n) == (4, 128, 64)
    assert 64 in result.sizes
    assert growth(rows(0, 8), k="cosine").sizes[-1] == 8  # of so few, nothing can be told beyond
    assert growth(rows(0, 8), k="cosine", q=2).sizes[-1] == 16


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, 3, math.inf])
def test_scores_rise_and_lie_in_their_intervals(q):
    result = growth(rows(0, 40), [1, 2, 5, 10, 20, 40, 80], q=q, k="rbf", sigma=1.0)
    assert (np.diff(result.scores) > -1e-9).all()
    for m, low, score, high in zip(
        result.sizes, result.low, result.scores, result.high, strict=True
    ):
        assert 1 <= low <= score * (1 + 1e-12)
        assert score <= high * (1 + 1e-12)
        assert high <= m
    assert result.scores[0] == result.low[0] == result.high[0] == 1


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, math.inf])
def test_a_set_of_copies_does_not_grow_but_others_may_be_unseen(q):
    """None of 20 samples is of another kind: of other sets 2.3 may be (Jeffreys)."""
    result = growth(["a"] * 20, q=q, k="labels")
    assert result.scores == pytest.approx([1.0] * len(result.sizes))
    assert result.low == pytest.approx([1.0] * len(result.sizes))
    assert result.asymptote is None
    others = 20 * scipy.stats.beta.ppf(0.975, 0.5, 20.5)
    if q == 2:
        score = 20**2 / ((20 - others) ** 2 + 2 + (others - 2) ** 2)
        assert dict(zip(result.sizes, result.high, strict=True))[20] == pytest.approx(score)
    assert (np.diff(result.high) >= 0).all()


@pytest.mark.parametrize("q", [0.5, 1, 2, math.inf])
def test_samples_that_all_differ_grow_without_end_but_some_may_be_alike(q):
    """No two of 40 samples are alike: of other sets a share may be (Jeffreys)."""
    result = growth(FeatureSimilarity(np.eye(40)), [20, 40, 80], q=q)
    assert result.scores == pytest.approx([20, 40, 80])
    assert result.high == pytest.approx([20, 40, 80])
    assert result.asymptote is None
    if q == 2:
        alike = 40 * scipy.stats.beta.ppf(0.975, 1.5, 39.5)
        others = math.floor(40 - alike)
        squares = alike**2 + others + (40 - alike - others) ** 2
        kappa = (squares / 40 - 1) / 39
        assert result.low[-1] == pytest.approx(1 / (1 / 80 + (1 - 1 / 80) * kappa))
    assert (result.low < np.array(result.scores)).all()


def test_a_narrow_kernel_does_not_identify_its_limit_but_order_2_does():
    X = draw_vectors(np.random.default_rng(0), 60)
    narrow = growth(X, [120], k="rbf", sigma=2.0)
    assert narrow.asymptote is None
    assert "not identified for infinitely many" in narrow.sentence
    K = as_similarity(X, k="rbf", sigma=2.0).dense()
    kappa = ((K**2).sum() - 60) / (60 * 59)
    pairs = growth(K, [60], q=2, score_K=True)
    assert pairs.asymptote[0] == pytest.approx(1 / kappa)
    assert "; about " in pairs.sentence
    labels = growth(np.arange(40) // 2, [40], k="labels")
    assert "; at least about " in labels.sentence


def test_it_can_be_written_and_shown():
    result = growth(rows(0, 20), [10, 20, 40], k="cosine", q=math.inf)
    table = result.to_frame()
    assert list(table) == ["size", "score", "low", "high", "extrapolated"]
    assert table["extrapolated"].tolist() == [False, False, True]
    written = json.loads(json.dumps(result.to_dict()))
    assert written["q"] == "inf"
    assert written["asymptote"] is None
    pairs = growth(rows(0, 20), k="cosine", q=2)
    assert pairs.to_dict()["asymptote"] == list(pairs.asymptote)
    assert result._repr_html_().count("<tr>") == 4
    assert pickle.loads(pickle.dumps(result)) == result
    with pytest.raises(AttributeError):
        result.n = 3


def test_keywords_change_something():
    X = rows(0, 30)
    usual = growth(X, [10, 30], k="cosine")
    assert growth(X, [30, 10], k="cosine") == usual
    for change in ({"q": 2}, {"level": 0.9}, {"k": "rbf"}):
        assert growth(X, [10, 30], **{"k": "cosine", **change}) != usual, change


@pytest.mark.parametrize("q", [1, 2])
def test_sizes_may_come_from_an_iterator(q):
    assert growth(rows(0, 20), iter([4, 16]), q=q, k="cosine").sizes == (4, 16)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"samples": rows(0, 3)}, "`samples` must contain at least 4 samples, got 3; add samples"),
        ({"sizes": [41]}, "`sizes` must be an integer from 1 to 40, got 41; sizes above 40"),
        ({"sizes": [0]}, "`sizes` must be an integer from 1 to 40, got 0"),
        (
            {"samples": rows(0, 10), "sizes": [11]},
            "`sizes` must be an integer from 1 to 10, got 11; sizes above 10 require one set",
        ),
        ({"sizes": []}, "`sizes` must be a list of integers, got []; use for example [20]"),
        ({"sizes": 10}, "`sizes` must be a list of integers, got 10"),
        ({"level": 2}, "`level` must be a confidence level from 0.5 to below 1, got 2"),
        ({"q": -1}, "`q` must be a number in [0, inf] or 'inf', got -1"),
        ({"psd": 1}, "`psd` must be 'check' or 'clip', got 1"),
        ({"clusters": range(20)}, "pass one sample per cluster"),
        ({"p": [1] * 20}, "is not supported by magnitude"),
        ({"siezs": [3]}, "did you mean `sizes`"),
    ],
)
def test_what_cannot_grow_is_refused_in_words(change, said):
    arguments = {"samples": rows(0, 20), "k": "cosine"} | change
    with pytest.raises((TypeError, ValueError)) as caught:
        growth(**arguments)
    assert said.lower() in str(caught.value).lower()
