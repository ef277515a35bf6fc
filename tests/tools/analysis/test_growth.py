"""`growth` matches mean scores of subsets, and approximates scores of larger sets."""

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

# Most sets here are small; explicit tests below cover the warning.
pytestmark = pytest.mark.filterwarnings("ignore:.* are too few to predict the score")


def random_rows(seed: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 5)) + 0.5


def test_psd_clip_clips_negative_eigenvalues_at_orders_1_and_2():
    K = np.eye(5)
    K[:3, :3] = [[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]
    for q in (1, 2):
        result = growth(K, [2, 5], q=q, psd="clip", score_K=True)
        expected = compute(K, q=q, psd="clip", score_K=True)[key_at(q)]
        assert result.scores[-1] == pytest.approx(expected)


def test_order_2_growth_matches_mean_purity_of_all_subsets():
    X = random_rows(0, 7)
    K = as_similarity(X, k="cosine").dense()
    result = growth(X, range(1, 8), q=2, k="cosine")
    for m, score in zip(result.sizes, result.scores, strict=True):
        purity = [
            (K[np.ix_(indices, indices)] ** 2).sum() / m**2
            for indices in itertools.combinations(range(7), m)
        ]
        assert 1 / score == pytest.approx(np.mean(purity), rel=1e-12)
    assert result.scores[-1] == pytest.approx(compute(X, k="cosine", q=2)["VS_q2"])
    assert result.scores[0] == 1


def test_order_2_extrapolation_matches_larger_sets():
    def purity(seed, n, *sizes):
        options = {"q": 2, "k": "rbf", "sigma": 2.0}
        return 1 / growth(draw_vectors(np.random.default_rng(seed), n), sizes, **options).scores[0]

    doubled = np.array([purity(seed, 30, 60) for seed in range(150)])
    fresh = np.array([purity(1000 + seed, 60, 60) for seed in range(150)])
    error = math.sqrt((doubled.var() + fresh.var()) / 150)
    assert abs(doubled.mean() - fresh.mean()) < 3 * error


@pytest.mark.parametrize("q", [0.5, 1, 3, math.inf])
def test_growth_at_other_orders_matches_mean_log_over_subsets(q):
    X = random_rows(0, 12)
    result = growth(X, [3, 12], q=q, k="cosine")
    subsets = itertools.combinations(range(12), 3)
    logs = [math.log(compute(X[list(indices)], q=q, k="cosine")[key_at(q)]) for indices in subsets]
    assert math.log(result.scores[0]) == pytest.approx(np.mean(logs), abs=1e-3)
    assert result.scores[1] == pytest.approx(compute(X, q=q, k="cosine")[key_at(q)])


@pytest.mark.parametrize("q", [0.05, 0.5, 1, 2, 3, math.inf])
@pytest.mark.parametrize("allow_repeats", [True, False])
@pytest.mark.parametrize(
    ("samples", "kernel_options"),
    [
        (random_rows(0, 30), {"k": "cosine"}),
        (random_rows(1, 9), {"k": "rbf", "sigma": 1.0}),
        (list("aaabbcdefgh"), {"k": "labels"}),
        (list("abcdefgh"), {"k": "labels"}),
        (["a cat", "a cat", "the dog", "a bird", "the cat sat"], {}),
    ],
    ids=["vectors", "narrow", "labels", "all differ", "texts"],
)
def test_interval_at_n_equals_interval_of_compute(samples, kernel_options, allow_repeats, q):
    n = len(samples)
    options = {**kernel_options, "q": q, "allow_repeats": allow_repeats}
    with warnings.catch_warnings(action="ignore"):
        scores = compute(samples, ci=0.9, **options)
        curve = growth(samples, [n // 2, n], level=0.9, **options)
    key = key_at(q)
    expected = [scores[key], scores[f"{key}_low"], scores[f"{key}_high"]]
    result = [curve.scores[1], curve.low[1], curve.high[1]]
    assert result == pytest.approx(expected, rel=1e-7)
    assert curve.low[0] <= curve.low[1] * (1 + 1e-9)  # fewer samples do not score higher
    assert curve.high[0] <= curve.high[1] * (1 + 1e-9)


def test_too_few_samples_warn_and_are_undecided():
    """Growth is undecided if the interval at 2n contains the score of n and twice that score."""
    rng = np.random.default_rng(0)
    few_labels, many_labels = rng.integers(0, 10, 16).tolist(), rng.integers(0, 10, 200).tolist()
    with pytest.warns(
        UserWarning, match="16 samples are too few to predict the score of more samples"
    ):
        result = growth(few_labels, [32], k="labels")
    (current_score,) = growth(few_labels, [16], k="labels").scores  # sizes up to n do not warn
    assert result.undecided is result.to_dict()["undecided"] is True
    assert result.low[0] <= current_score
    assert result.high[0] >= 2 * current_score
    with warnings.catch_warnings(action="error"):
        result = growth(many_labels, [250, 400], k="labels")
        assert growth(few_labels, [6, 16], k="labels").undecided is None  # no size beyond n
    (current_score,) = growth(many_labels, [200], k="labels").scores
    assert result.undecided is result.to_dict()["undecided"] is False
    assert result.caution == ""
    assert result.high[1] < 2 * current_score


def test_growth_within_prompts_ends_at_n_and_is_undecided():
    result = growth(list("abcdefgh") * 3, prompts=[0] * 8 + [1] * 8 + [2] * 8, k="labels")
    assert result.undecided is json.loads(json.dumps(result.to_dict()))["undecided"] is None
    assert result.caution == ""


def test_caution_concerns_twice_the_samples_for_any_sizes():
    labels = np.random.default_rng(0).integers(0, 10, 16).tolist()
    for sizes in ([17], [6, 20], [32]):
        with pytest.warns(
            UserWarning, match="at 32 samples contains both the score of 16 samples and twice"
        ):
            growth(labels, sizes, k="labels")


def power_mean(scores: list[float], q: float) -> float:
    """Return the power mean with exponent 1 − q: the geometric mean at 1, the minimum at ∞."""
    if q == 1:
        return math.exp(np.mean(np.log(scores)))
    return min(scores) if q == math.inf else np.mean(np.power(scores, 1 - q)) ** (1 / (1 - q))


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, 3, math.inf])
@pytest.mark.parametrize("source", ["labels", "vectors", "unlike halves"])
def test_twice_the_samples_score_at_most_twice(q, source):
    """The score lies between the power mean of both halves and twice that mean."""
    rng = np.random.default_rng(4)
    samples, k = {
        "labels": (rng.integers(0, 6, 40), "labels"),
        "vectors": (rng.normal(size=(40, 5)), "cosine"),
        "unlike halves": (np.r_[np.zeros(20, int), np.arange(1, 21)], "labels"),
    }[source]
    score = compute(samples, q=q, k=k)[key_at(q)]
    halves = [compute(half, q=q, k=k)[key_at(q)] for half in (samples[:20], samples[20:])]
    mean = power_mean(halves, q)
    assert mean * (1 - 1e-9) <= score <= 2 * mean * (1 + 1e-9)
    geometric = math.sqrt(math.prod(halves))
    if q >= 1:
        assert score <= 2 * geometric * (1 + 1e-9)
    if q <= 1:
        assert score >= geometric * (1 - 1e-9)


def test_geometric_mean_bounds_hold_only_on_one_side_of_order_1():
    halves = [0] * 20, range(1, 21)
    for q, above_twice, below in ((0, True, False), (1, False, False), (2, False, True)):
        score = compute([*halves[0], *halves[1]], q=q, k="labels")[key_at(q)]
        geometric = math.sqrt(
            math.prod(compute(list(half), q=q, k="labels")[key_at(q)] for half in halves)
        )
        assert (score > 2 * geometric * (1 + 1e-9)) == above_twice
        assert (score < geometric) == below


@pytest.mark.parametrize("k", ["cosine", "rbf"])
def test_extrapolation_to_twice_the_samples_covers_the_true_mean(k):
    """benchmarks/growth.py tests six sources with more sets: 90 to 100 % coverage."""
    options = {"k": k} | ({"sigma": 2.0} if k == "rbf" else {})
    fresh = [
        math.log(compute(draw_vectors(np.random.default_rng(1000 + s), 120), **options)["VS"])
        for s in range(30)
    ]
    truth, inside, errors = np.mean(fresh), 0, []
    for seed in range(30):
        result = growth(draw_vectors(np.random.default_rng(seed), 60), [120], **options)
        inside += result.low[0] <= math.exp(truth) <= result.high[0]
        errors.append(math.log(result.scores[0]) - truth)
    assert inside >= 25
    assert abs(np.mean(errors)) < 0.04


def test_labels_with_all_classes_observed_stop_growing():
    """All eight classes occur in the samples."""
    X = np.eye(8)[np.arange(80) % 8]
    result = growth(X, [40, 80, 160], score_X=True)
    assert result.scores[1] == pytest.approx(8)
    assert result.scores[2] == pytest.approx(8, rel=0.05)
    assert result.extrapolated == (False, False, True)


def test_default_sizes_range_from_n_over_16_to_2n():
    result = growth(random_rows(0, 64), k="cosine", q=2)
    assert (result.sizes[0], result.sizes[-1], result.n) == (4, 128, 64)
    assert 64 in result.sizes
    assert growth(random_rows(0, 8), k="cosine").sizes[-1] == 8  # too few samples to extrapolate
    assert growth(random_rows(0, 8), k="cosine", q=2).sizes[-1] == 16


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, 3, math.inf])
def test_scores_increase_and_lie_within_their_intervals(q):
    result = growth(random_rows(0, 40), [1, 2, 5, 10, 20, 40, 80], q=q, k="rbf", sigma=1.0)
    assert (np.diff(result.scores) > -1e-9).all()
    for m, low, score, high in zip(
        result.sizes, result.low, result.scores, result.high, strict=True
    ):
        assert 1 <= low <= score * (1 + 1e-12)
        assert score <= high * (1 + 1e-12)
        assert high <= m
    assert result.scores[0] == result.low[0] == result.high[0] == 1


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, math.inf])
def test_copies_do_not_grow_but_interval_allows_unseen_labels(q):
    """All 20 samples are equal, but 2.3 of another 20 may differ (Jeffreys interval)."""
    result = growth(["a"] * 20, q=q, k="labels")
    assert result.scores == pytest.approx([1.0] * len(result.sizes))
    assert result.low == pytest.approx([1.0] * len(result.sizes))
    assert result.asymptote is None
    unseen = 20 * scipy.stats.beta.ppf(0.975, 0.5, 20.5)
    if q == 2:
        score = 20**2 / ((20 - unseen) ** 2 + 2 + (unseen - 2) ** 2)
        assert dict(zip(result.sizes, result.high, strict=True))[20] == pytest.approx(score)
    assert (np.diff(result.high) >= 0).all()


@pytest.mark.parametrize("q", [0.5, 1, 2, math.inf])
def test_distinct_samples_grow_linearly_but_interval_allows_repeats(q):
    """All 40 samples differ, but a fraction of another set may recur (Jeffreys interval)."""
    result = growth(FeatureSimilarity(np.eye(40)), [20, 40, 80], q=q)
    assert result.scores == pytest.approx([20, 40, 80])
    assert result.high == pytest.approx([20, 40, 80])
    assert result.asymptote is None
    if q == 2:
        recurring = 40 * scipy.stats.beta.ppf(0.975, 1.5, 39.5)
        distinct = math.floor(40 - recurring)
        squares = recurring**2 + distinct + (40 - recurring - distinct) ** 2
        kappa = (squares / 40 - 1) / 39
        assert result.low[-1] == pytest.approx(1 / (1 / 80 + (1 - 1 / 80) * kappa))
    assert (result.low < np.array(result.scores)).all()


def test_asymptote_is_identified_only_at_order_2_and_for_labels():
    X = draw_vectors(np.random.default_rng(0), 60)
    rbf_result = growth(X, [120], k="rbf", sigma=2.0)
    assert rbf_result.asymptote is None
    assert "not identified for infinitely many" in rbf_result.sentence
    K = as_similarity(X, k="rbf", sigma=2.0).dense()
    kappa = ((K**2).sum() - 60) / (60 * 59)
    order_2_result = growth(K, [60], q=2, score_K=True)
    assert order_2_result.asymptote[0] == pytest.approx(1 / kappa)
    assert "; about " in order_2_result.sentence
    labels = growth(np.arange(40) // 2, [40], k="labels")
    assert "; at least about " in labels.sentence


def test_growth_converts_to_frame_json_html_and_pickle():
    result = growth(random_rows(0, 20), [10, 20, 40], k="cosine", q=math.inf)
    table = result.to_frame()
    assert list(table) == ["size", "score", "low", "high", "extrapolated"]
    assert table["extrapolated"].tolist() == [False, False, True]
    record = json.loads(json.dumps(result.to_dict()))
    assert record["q"] == "inf"
    assert record["asymptote"] is None
    order_2_result = growth(random_rows(0, 20), k="cosine", q=2)
    assert order_2_result.to_dict()["asymptote"] == list(order_2_result.asymptote)
    assert result._repr_html_().count("<tr>") == 4
    assert pickle.loads(pickle.dumps(result)) == result
    with pytest.raises(AttributeError):
        result.n = 3


def test_options_change_the_result():
    X = random_rows(0, 30)
    default = growth(X, [10, 30], k="cosine")
    assert growth(X, [30, 10], k="cosine") == default
    for change in ({"q": 2}, {"level": 0.9}, {"k": "rbf"}):
        assert growth(X, [10, 30], **{"k": "cosine", **change}) != default, change


@pytest.mark.parametrize("q", [1, 2])
def test_sizes_can_be_an_iterator(q):
    assert growth(random_rows(0, 20), iter([4, 16]), q=q, k="cosine").sizes == (4, 16)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"samples": random_rows(0, 3)},
            "`samples` must contain at least 4 samples, got 3; add samples",
        ),
        ({"sizes": [41]}, "`sizes` must be an integer from 1 to 40, got 41; sizes above 40"),
        ({"sizes": [0]}, "`sizes` must be an integer from 1 to 40, got 0"),
        (
            {"samples": random_rows(0, 10), "sizes": [11]},
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
def test_invalid_arguments_raise(changes, message):
    arguments = {"samples": random_rows(0, 20), "k": "cosine"} | changes
    with pytest.raises((TypeError, ValueError)) as caught:
        growth(**arguments)
    assert message.lower() in str(caught.value).lower()
