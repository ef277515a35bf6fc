"""Intervals with `ci`, compared with explicit leave-one-out computations."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from measure_cases import ROW_MEASURES
from scipy.special import expit, logit
from scipy.stats import beta
from scipy.stats import t as student

from vendiscore import SampleError, compute
from vendiscore.measures.measure import get_measure
from vendiscore.result import key_at
from vendiscore.scoring import group_scores
from vendiscore.scoring.bayesian_bootstrap import PSEUDO_WEIGHT, estimate_mean_quantile
from vendiscore.spectral import spectrum

X = np.random.default_rng(0).standard_normal((30, 4))
TEXTS = ["a cat sat", "a dog sat", "the cat ran off", "red", "green and red", "no", "no"]
RBF = {"k": "rbf", "sigma": 2.0}


def compute_leaving_one_out(samples, **options):
    """Return the results of the set without each sample in turn."""
    samples = list(samples)
    sets = [[*samples[:i], *samples[i + 1 :]] for i in range(len(samples))]
    return [compute(subset, **options) for subset in sets]


def compute_jackknife_error(values):
    """Return the delete-one jackknife standard error."""
    values = np.asarray(values)
    n = len(values)
    return math.sqrt((n - 1) / n * ((values - values.mean()) ** 2).sum())


def compute_deficit_interval(score, leave_out_scores, n, sizes, level):
    """Return Student's interval of the log deficit, transformed to the score."""
    deficit, leave_out_deficits = (
        math.log(n) - math.log(score),
        np.log(n - sizes) - np.log(leave_out_scores),
    )
    half_width = student.ppf((1 + level) / 2, len(leave_out_scores) - 1) * compute_jackknife_error(
        np.log(leave_out_deficits)
    )
    ends = [math.exp(math.log(n) - deficit * math.exp(sign * half_width)) for sign in (1, -1)]
    return max(1, ends[0]), ends[1]


@pytest.mark.parametrize("q", [0.5, 1, 1.5, 2, 3, "inf"])
@pytest.mark.parametrize(
    ("samples", "options"),
    [(X[:12], RBF), (X, {"k": "cosine"})],
    ids=["rbf", "cosine"],
)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_interval_matches_leaving_samples_out(samples, options, q, level):
    result = compute(samples, q=q, ci=level, allow_repeats=False, **options)
    key = key_at(q)
    score = compute(samples, q=q, **options)[key]
    leave_out_scores = np.array(
        [scores[key] for scores in compute_leaving_one_out(samples, q=q, **options)]
    )
    n, error = len(leave_out_scores), compute_jackknife_error(np.log(leave_out_scores))
    low, high = compute_deficit_interval(score, leave_out_scores, n, 1, level)
    assert result[key] == pytest.approx(score, rel=1e-9)
    assert result[f"{key}_se"] == pytest.approx(score * error, rel=1e-6)
    assert result[f"{key}_low"] == pytest.approx(low, rel=1e-6)
    assert result[f"{key}_high"] == pytest.approx(high, rel=1e-6)


@pytest.mark.parametrize("q", [0.5, 1, 1.5, 2, 3, "inf"])
@pytest.mark.parametrize("options", [RBF, {"k": "cosine"}], ids=["rbf", "cosine"])
def test_interval_with_clusters_matches_leaving_clusters_out(options, q):
    codes = np.random.default_rng(1).permutation(np.arange(30) % 7)
    result = compute(X, q=q, ci=0.95, clusters=codes, **options)
    key = key_at(q)
    score = compute(X, q=q, **options)[key]
    leave_out_scores = np.array([compute(X[codes != c], q=q, **options)[key] for c in range(7)])
    deficit = math.log(30 / score)
    factor = math.exp(
        student.ppf(0.975, 6) * compute_jackknife_error(np.log(leave_out_scores)) / deficit
    )
    assert result[f"{key}_se"] == pytest.approx(
        score * compute_jackknife_error(np.log(leave_out_scores)), rel=1e-6
    )
    assert result[f"{key}_low"] == pytest.approx(max(1, 30 * math.exp(-deficit * factor)), rel=1e-6)
    assert result[f"{key}_high"] == pytest.approx(30 * math.exp(-deficit / factor), rel=1e-6)


def test_clusters_of_single_samples_match_interval_without_clusters():
    """Limits of VS differ slightly: without clusters, the error is that of the log deficit."""
    rows = np.random.default_rng(1).standard_normal((40, 3)) + 3
    options = {
        "k": "cosine",
        "ci": 0.9,
        "measures": ["VS", "IntDiv", "AvgSim", "LC"],
        "q": [0.5, 2],
    }
    clustered = compute(rows, clusters=[f"cluster {i}" for i in range(40)], **options)
    without_clusters = compute(rows, allow_repeats=False, **options)
    width = without_clusters["VS_q2_high"] - without_clusters["VS_q2_low"]
    for key, value in without_clusters.items():
        is_end = key.startswith("VS") and key.endswith(("_low", "_high"))
        expected = pytest.approx(value, abs=0.01 * width) if is_end else pytest.approx(value)
        assert clustered[key] == expected


def test_clusters_accept_an_iterator():
    codes = [i % 7 for i in range(30)]
    options = {"k": "cosine", "ci": 0.9, "details": True}
    listed, iterated = (compute(X, clusters=c, **options) for c in (codes, iter(codes)))
    assert iterated == listed
    assert "|clusters=7@" in listed["details"]["signature"]


@pytest.mark.parametrize("clusters", [15, 30])
def test_few_clusters_are_noted(clusters):
    result = compute(X, k="cosine", ci=0.95, clusters=np.arange(30) % clusters, details=True)
    is_noted = any("With fewer than 20 clusters" in note for note in result["details"]["notes"])
    assert is_noted == (clusters < 20)


@pytest.mark.parametrize("name", ["IntDiv", "AvgSim"])
def test_intervals_of_mean_similarities_match_leaving_clusters_out(name):
    codes = np.random.default_rng(1).permutation(np.arange(30) % 7)
    result = compute(X, measures=name, ci=0.95, k="cosine", clusters=codes)
    leave_out_values = [compute(X[codes != c], measures=name, k="cosine")[name] for c in range(7)]
    if name == "IntDiv":  # rescale the mean over pairs to the full number of samples
        sizes = 30 - np.bincount(codes)
        leave_out_values = (np.array(leave_out_values) * sizes / (sizes - 1)) * 29 / 30
    half_width = student.ppf(0.975, 6) * compute_jackknife_error(leave_out_values)
    assert result[f"{name}_se"] == pytest.approx(
        compute_jackknife_error(leave_out_values), rel=1e-9
    )
    assert result[f"{name}_low"] == pytest.approx(
        max(result[name] - half_width, 0 if name == "IntDiv" else -1)
    )
    assert result[f"{name}_high"] == pytest.approx(min(result[name] + half_width, 1))


def test_clusters_of_near_duplicates_count_once():
    centres = np.random.default_rng(2).standard_normal((12, 4))
    near_duplicates = np.repeat(centres, 5, axis=0) + 0.01 * np.random.default_rng(
        3
    ).standard_normal((60, 4))
    without_clusters = compute(near_duplicates, ci=0.95, k="cosine")
    with_clusters = compute(near_duplicates, ci=0.95, k="cosine", clusters=np.arange(60) // 5)
    of_centres = compute(centres, ci=0.95, k="cosine")
    assert with_clusters["VS_se"] == pytest.approx(of_centres["VS_se"], rel=0.05)
    assert without_clusters["VS_se"] < 0.6 * with_clusters["VS_se"]


@pytest.mark.parametrize("name", ["IntDiv", "AvgSim"])
@pytest.mark.parametrize("kernel", [RBF, {"k": "cosine"}], ids=["rbf", "cosine"])
def test_intervals_of_mean_similarities_match_leaving_samples_out(name, kernel):
    """The interval uses the log scale if no two samples have a negative similarity."""
    result = compute(X, measures=name, ci=0.95, allow_repeats=False, **kernel)
    mean_similarity = compute(X, measures="AvgSim", **kernel)["AvgSim"]
    leave_out_values = np.array(
        [scores["AvgSim"] for scores in compute_leaving_one_out(X, measures="AvgSim", **kernel)]
    )
    t_value = student.ppf(0.975, 29)
    if kernel is RBF:
        factor = math.exp(t_value * compute_jackknife_error(np.log(leave_out_values)))
        low, high = mean_similarity / factor, mean_similarity * factor
    else:
        low, high = (
            mean_similarity - t_value * compute_jackknife_error(leave_out_values),
            mean_similarity + t_value * compute_jackknife_error(leave_out_values),
        )
    error = compute_jackknife_error(leave_out_values)
    if name == "IntDiv":
        low, high, error = (29 / 30 * (1 - x) for x in (high, low, 1 - error))
    assert result[f"{name}_se"] == pytest.approx(error, rel=1e-9)
    minimum = 0 if name == "IntDiv" else -1
    assert result[f"{name}_low"] == pytest.approx(max(minimum, low), rel=1e-9)
    assert result[f"{name}_high"] == pytest.approx(min(1, high), rel=1e-9)


def test_interval_keys_follow_measures_and_orders():
    result = compute(X, measures=["VS", "LC"], q=[0.5, 2], ci=0.9, **RBF)
    ends = ["", "_se", "_low", "_high"]
    keys = [f"{name}_q{q}{end}" for name in ("VS", "LC") for q in ("0.5", "2") for end in ends]
    assert list(result) == keys
    assert list(compute(X, ci=0.9, **RBF)) == ["VS", "VS_se", "VS_low", "VS_high"]


def test_intervals_of_all_measures_contain_their_values():
    result = compute(X, measures=ROW_MEASURES, ci=0.95, details=True, **RBF)
    for name in ROW_MEASURES:
        assert result[f"{name}_se"] > 0
        assert result[f"{name}_low"] < result[name] < result[f"{name}_high"]
        low, high = get_measure(name).limits(30)
        assert low <= result[f"{name}_low"] <= result[f"{name}_high"] <= high
    methods = result["details"]["interval"]["method"]
    closed = {"VS", "IntDiv", "AvgSim"}
    assert {name for name in ROW_MEASURES if methods[name] == "jackknife"} == closed
    assert result == compute(
        X, measures=ROW_MEASURES, ci=0.95, details=True, **RBF
    )  # reproducible, although half-sampling is random


def test_ci_does_not_change_values():
    without_interval = compute(X, measures=ROW_MEASURES, q=[1, 2, "inf"], **RBF)
    with_interval = compute(X, measures=ROW_MEASURES, q=[1, 2, "inf"], ci=0.95, **RBF)
    assert {key: with_interval[key] for key in without_interval} == pytest.approx(
        without_interval, rel=1e-10
    )


def test_interval_needs_a_single_eigendecomposition(monkeypatch):
    calls = []
    decompose = spectrum.decompose
    monkeypatch.setattr(
        spectrum, "decompose", lambda *a, **o: calls.append(a[0].shape) or decompose(*a, **o)
    )
    compute(X, q=[0.5, 1, 2, 3, "inf"], ci=0.95, **RBF)
    assert calls == [(30, 30)]


def test_details_describe_interval_and_signature_contains_method():
    details = compute(X, ci=0.95, measures=["VS", "LC"], details=True, **RBF)["details"]
    assert details["interval"]["level"] == 0.95
    assert details["interval"]["method"] == {"VS": "jackknife", "LC": "subsample"}
    assert "standard error of the score of n samples" in details["interval"]["meaning"]
    expected = "Independent samples are assumed; pass `clusters` if some are not independent."
    assert details["interval"]["assumes"] == expected
    clustered = compute(X, ci=0.95, clusters=range(len(X)), details=True, **RBF)["details"]
    assert clustered["interval"]["assumes"] == "Independent clusters are assumed."
    assert "|ci=0.95|interval=jackknife,subsample|" in details["signature"]
    without_interval = compute(X, measures=["VS", "LC"], details=True, **RBF)["details"]
    assert "ci=" not in without_interval["signature"]
    assert "interval" not in without_interval
    levels = (None, 0.95, 0.9)
    signatures = {compute(X, details=True, ci=ci, **RBF)["details"]["signature"] for ci in levels}
    assert len(signatures) == 3


def test_dropped_samples_do_not_change_intervals():
    texts = [*TEXTS[:3], "", *TEXTS[3:]]
    with pytest.warns(UserWarning, match="dropped 1 of 8"):
        result = compute(texts, k="ngram_overlap", on_error="skip", ci=0.9, measures=["VS", "LC"])
    assert result == pytest.approx(compute(TEXTS, ci=0.9, measures=["VS", "LC"]))


def test_intervals_of_tensors_match_arrays():
    torch = pytest.importorskip("torch")
    unit_rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    options = {"score_X": True, "ci": 0.9, "measures": ["VS", "IntDiv", "AvgSim"]}
    result = compute(torch.tensor(unit_rows), **options)
    assert {key: float(value) for key, value in result.items()} == pytest.approx(
        compute(unit_rows, **options)
    )
    float32_result = compute(unit_rows.astype(np.float32), **options)
    assert float32_result == pytest.approx(compute(unit_rows, **options), rel=1e-4)


@pytest.mark.parametrize("texts", [["a b"] * 5, ["a", "b", "c", "d", "e"]], ids=["one", "all"])
def test_identical_or_distinct_samples_have_intervals_of_positive_width(texts):
    result = compute(texts, ns=[1], ci=0.95, details=True)
    assert result["VS_se"] == pytest.approx(0, abs=1e-9)
    assert 1 <= result["VS_low"] <= result["VS"] <= result["VS_high"] <= 5
    assert result["VS_high"] - result["VS_low"] > 1.5
    assert any(
        "VS_se is 0: every sample changes the score equally" in note
        for note in result["details"]["notes"]
    )
    other_notes = compute(["a", "a", "b", "c"], ns=[1], ci=0.95, details=True)["details"]["notes"]
    assert not any("VS_se is 0" in note for note in other_notes)


def test_interval_of_equal_samples_uses_jeffreys_limit_for_other_items():
    """If all of 100 samples are equal, other items are below 2.5 % with 97.5 % confidence."""
    result = compute(["a"] * 100, k="labels", ci=0.95, measures="AvgSim")
    other_count = 100 * beta.ppf(0.975, 0.5, 100.5)
    full_items, remaining = 2, other_count - 2  # two other items, and a part of a third
    mean_similarity = ((100 - other_count) ** 2 + full_items + remaining**2) / 100**2
    assert result["AvgSim_low"] == pytest.approx((100 * mean_similarity - 1) / 99)
    assert result["AvgSim_high"] == 1


def test_interval_of_width_zero_warns():
    K = np.full((6, 6), 0.5) + 0.5 * np.eye(6)
    options = {"score_K": True, "ci": 0.95, "allow_repeats": False, "details": True}
    with pytest.warns(UserWarning, match="The interval of VS has width 0"):
        result = compute(K, **options)
    assert result["VS_low"] == pytest.approx(result["VS_high"])
    assert any("does not cover the scores of other" in note for note in result["details"]["notes"])


def test_small_sets_are_noted():
    notes_of_eight = compute(X[:8], k="rbf", sigma=0.3, ci=0.95, details=True)["details"]["notes"]
    message = "8 samples that are all different cannot rule out that a single item makes up 45 %"
    assert any(message in note for note in notes_of_eight)
    for n_copies, pairs in ((1, "1 equal pair"), (2, "3 equal pairs")):
        samples = np.concatenate([X[:8], X[[0] * n_copies]])
        notes = compute(samples, ci=0.95, details=True, **RBF)["details"]["notes"]
        message = f"{len(samples)} samples with {pairs} cannot rule out"
        assert any(message in note for note in notes), notes
    notes = {
        n: compute(X[:n], measures="LC", ci=0.95, details=True, **RBF)["details"]["notes"]
        for n in (12, 30)
    }
    assert any("not tested for fewer than 30" in note for note in notes[12])
    assert not any("not tested for fewer" in note for note in notes[30])


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_group_limits_are_the_wider_of_logit_and_bootstrap(level):
    groups = [list(rows) for rows in (X[:8], X[8:15], X[15:21], X[21:])]
    result = compute(groups, ci=level, measures=["VS", "IntDiv"], q=[1, 2], details=True, k="rbf")
    table = result["details"]["groups"]
    for key in ("VS_q1", "VS_q2", "IntDiv"):
        values = np.array([row[key] for row in table])
        minimum, maximum = (0, 1) if key == "IntDiv" else (1, 30 / 4)
        proportion = (values.mean() - minimum) / (maximum - minimum)
        leave_out_proportions = [
            (np.delete(values, i).mean() - minimum) / (maximum - minimum) for i in range(4)
        ]
        half_width = student.ppf((1 + level) / 2, 3) * compute_jackknife_error(
            logit(leave_out_proportions)
        )
        ends = minimum + (maximum - minimum) * expit(
            logit(proportion) + np.array([-half_width, half_width])
        )
        assert result[key] == pytest.approx(values.mean())
        assert result[f"{key}_se"] == pytest.approx(values.std(ddof=1) / 2)
        low = estimate_mean_quantile(values, minimum, (1 - level) / 2)
        high = estimate_mean_quantile(values, maximum, (1 + level) / 2)
        expected = min(low, ends[0]), max(high, ends[1])
        assert (result[f"{key}_low"], result[f"{key}_high"]) == pytest.approx(expected)
    assert result["details"]["interval"]["method"] == {"VS": "bootstrap", "IntDiv": "bootstrap"}
    assert "mean over the groups" in result["details"]["interval"]["meaning"]
    assert result["details"]["interval"]["assumes"] == "Independent groups are assumed."


@pytest.mark.filterwarnings("ignore:The interval of the mean over")
@pytest.mark.parametrize(
    ("n_groups", "level", "n_notes"),
    [(3, 0.95, 0), (4, 0.95, 1), (30, 0.95, 1), (31, 0.95, 0), (12, 0.9, 0), (12, 0.99, 0)],
)
def test_coverage_is_noted_only_for_tested_groups_and_levels(n_groups, level, n_notes):
    X = np.random.default_rng(0).normal(size=(2 * n_groups, 3))
    labels = np.arange(2 * n_groups) // 2
    result = compute(X, groups=labels, measures=["VS", "RKE"], k="rbf", ci=level, details=True)
    notes = result["details"]["notes"]
    tested = "In tests on real answers, 95 % intervals of means over 4 to 30 groups"
    assert sum(note.startswith(f"{tested} had a coverage of 92 to") for note in notes) == n_notes
    unbounded = f"{tested} of unbounded measures, such as RKE, had a coverage as low as 63 % "
    assert sum(note.startswith(unbounded) for note in notes) == n_notes
    assert result["details"]["interval"]["method"] == {"VS": "bootstrap", "RKE": "student"}


def test_tested_coverage_constants_match_benchmark_results():
    file = Path(__file__).parents[3] / "benchmarks" / "results" / "prompt_means.json"
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    rows = [row for row in rows if row["part"] == "means" and not row["chosen_on"]]
    lowest, highest = group_scores.TESTED_COVERAGE
    coverages = [100 * row["held"] for row in rows]
    assert (lowest, highest) == (math.floor(min(coverages)), math.ceil(max(coverages)))
    student_coverages = [100 * row["held_student"] for row in rows]
    assert math.floor(min(student_coverages)) == group_scores.TESTED_STUDENT_COVERAGE
    prompts = [row["prompts"] for row in rows]
    assert (min(prompts), max(prompts)) == group_scores.TESTED_GROUPS


def test_interval_of_equal_group_scores_allows_other_scores():
    result = compute([["a", "b"], ["c", "d"], ["e", "f"]], k="labels", ci=0.95)
    assert (result["VS"], result["VS_se"], result["VS_high"]) == (2.0, 0.0, 2.0)
    # The proportion of prompts that score 1 has a beta distribution.
    assert result["VS_low"] == pytest.approx(2 - beta.ppf(0.975, PSEUDO_WEIGHT, 3), abs=1e-6)


def test_interval_of_equal_unbounded_values_has_width_zero_and_warns():
    X = np.array([[0.0], [1.0], [1.0], [2.0], [4.0], [5.0]])
    labels = [0, 0, 1, 1, 2, 2]
    with pytest.warns(
        UserWarning, match="over 3 groups has width 0, because all of them have the same"
    ):
        result = compute(X, groups=labels, measures="RKE", k="rbf", sigma=1.0, ci=0.95)
    assert result["RKE_low"] == result["RKE_high"]


@pytest.mark.parametrize("second", [["c", "d"], ["c", "c"]])
def test_mean_over_two_groups_has_no_interval_and_warns_once(second):
    with pytest.warns(UserWarning, match="The mean over 2 groups has no interval") as caught:
        result = compute(
            [["a", "b"], second], k="labels", ci=0.95, measures=["VS", "IntDiv"], details=True
        )
    assert len(caught) == 1
    assert list(result)[:4] == ["VS", "VS_se", "VS_low", "VS_high"]
    ends = [result[f"{name}_{end}"] for name in ("VS", "IntDiv") for end in ("low", "high")]
    assert np.isnan(ends).all()
    score = 2.0 if second == ["c", "d"] else 1.0
    assert (result["VS"], result["VS_se"]) == pytest.approx((1 + score / 2, 1 - score / 2))
    assert str(caught[0].message) in result["details"]["notes"]


def test_mean_over_two_prompts_has_no_interval():
    prompts = ["x", "x", "y", "y"]
    answers = ["a", "b", "c", "c"]
    with pytest.warns(UserWarning, match="The mean over 2 groups has no interval"):
        result = compute(answers, prompts=prompts, given_prompt=False, k="labels", ci=0.9)
    assert result["VS_se"] == 0.5
    assert np.isnan([result["VS_low"], result["VS_high"]]).all()


TWO_GROUPS = [list(X[:5]), list(X[5:9])]


@pytest.mark.parametrize(
    ("samples", "options", "error", "message"),
    [
        (
            X,
            {"ci": 95},
            ValueError,
            "must be a confidence level from 0.5 to below 1, got 95; pass a level",
        ),
        (X, {"ci": 0.05}, ValueError, "got 0.05; pass a level such as 0.95"),
        (X, {"ci": True}, TypeError, "`ci` must be a confidence level .*, got True"),
        (X, {"ci": 0.9, "q": 0}, ValueError, "`ci` requires orders above 0"),
        (X, {"ci": 0.9, "p": np.full(30, 1 / 30)}, ValueError, "not supported with weights `p`"),
        (X[:1], {"ci": 0.9}, ValueError, "`ci` requires at least 4 samples, got 1"),
        (X[:3], {"ci": 0.9}, ValueError, "`ci` requires at least 4 samples, got 3"),
        (X, {"clusters": np.arange(30)}, TypeError, "`clusters` requires `ci`"),
        (
            X,
            {"clusters": [0] * 9, "ci": 0.9},
            ValueError,
            "`clusters` must contain one label per sample",
        ),
        (
            X,
            {"clusters": np.arange(30) % 3, "ci": 0.9},
            ValueError,
            "`clusters` must contain at least 4 distinct labels",
        ),
        (TWO_GROUPS, {"clusters": [0] * 9, "ci": 0.9}, ValueError, "remove `clusters`"),
        (
            X[:3],
            {"ci": 0.9, "measures": "LC"},
            ValueError,
            "`ci` requires at least 4 samples, got 3",
        ),
        (
            TWO_GROUPS[:1],
            {"ci": 0.9},
            ValueError,
            "requires at least 2 groups for an interval of the mean over groups, got 1",
        ),
        (
            TWO_GROUPS,
            {"ci": 0.9, "measures": "TotalVS"},
            ValueError,
            "but TotalVS is computed from all groups together",
        ),
    ],
)
def test_unsupported_intervals_raise_with_a_hint(samples, options, error, message):
    with pytest.raises(error, match=message):
        compute(samples, k="rbf", **options)


def test_too_few_samples_raise_before_computation():
    with pytest.raises(ValueError, match="`ci` requires at least 4 samples, got 2"):
        compute(["", "a"], k="ngram_overlap", ci=0.9)
    with pytest.raises(SampleError, match="sample 0 has no tokens"):
        compute(["", "a", "b", "c"], k="ngram_overlap", ci=0.9)
