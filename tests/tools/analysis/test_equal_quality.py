"""Diversity at equal quality: `compare(..., correct=...)`."""

import itertools
import json
import math
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from vendiscore import compare
from vendiscore.core.hill import hill_number
from vendiscore.scoring.subsampling import bounded_mean_interval
from vendiscore.tools.analysis.equal_quality import MAX_SUBSETS, expected_log_score

PARTS = ("total", "among_correct", "from_failures")


def quick_compare(*sets, **options):
    return compare(*sets, **{"permutations": 59, "k": "labels", **options})


def draw_answers(seed, accuracy, prompts=6, answers=7):
    """Return answers to each prompt, and whether each is correct; failures start with x."""
    rng = np.random.default_rng(seed)
    is_correct = rng.random((prompts, answers)) < accuracy
    texts = np.where(
        is_correct,
        np.char.add("c", rng.integers(4, size=is_correct.shape).astype(str)),
        np.char.add("x", rng.integers(9, size=is_correct.shape).astype(str)),
    )
    return texts.tolist(), is_correct.tolist()


NEW, NEW_CORRECT = draw_answers(0, 0.9)
OLD, OLD_CORRECT = draw_answers(1, 0.7)
CORRECT = [NEW_CORRECT, OLD_CORRECT]


def naive_log_score(samples, size, q):
    """Return the mean of log VS_q of all subsets of `size` samples; NaN for fewer samples."""
    if len(samples) < size:
        return math.nan
    scores = []
    for subset in itertools.combinations(samples, size):
        proportions = np.array([*Counter(subset).values()]) / size
        scores.append(hill_number(proportions, q))
    return np.mean(np.log(scores))


def naive_changes(size, q):
    """Return changes of each prompt that enters, shape (prompts, 3), new minus old."""
    rows = []
    for answers in zip(NEW, NEW_CORRECT, OLD, OLD_CORRECT, strict=True):
        new, new_correct, old, old_correct = answers
        scores = [
            naive_log_score(samples, size, q)
            for samples in (
                new,
                list(itertools.compress(new, new_correct)),
                old,
                list(itertools.compress(old, old_correct)),
            )
        ]
        all_new, correct_new, all_old, correct_old = scores
        failures = (all_new - correct_new) - (all_old - correct_old)
        rows.append([all_new - all_old, correct_new - correct_old, failures])
    rows = np.array(rows)
    return rows[np.isfinite(rows).all(axis=1)]


@pytest.mark.parametrize("q", [0, 1, 2, math.inf])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_parts_equal_loop_over_all_subsets(size, q):
    parts = quick_compare(NEW, OLD, correct=CORRECT, size=size, q=q).quality_parts[0]
    changes = naive_changes(size, q)
    assert parts.size == size
    assert (parts.prompts, parts.all_prompts) == (len(changes), 6)
    assert parts.proportion == len(changes) / 6
    for name, values in zip(PARTS, changes.T, strict=True):
        limit = max(math.log(size), np.abs(values).max())
        _, _, low, high = bounded_mean_interval(values, 0.95, -limit, limit)
        student = ttest_1samp(values, 0).confidence_interval(0.95)
        assert low <= values.mean() <= high
        assert high - low >= 0.9 * (student.high - student.low)
        assert getattr(parts, name) == pytest.approx(values.mean(), abs=1e-9)
        assert getattr(parts, f"{name}_low") == pytest.approx(low, abs=1e-9)
        assert getattr(parts, f"{name}_high") == pytest.approx(high, abs=1e-9)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 1, 2]), st.sampled_from([9, 14]))
def test_parts_add_up_to_the_total(seed, q, answers):
    (new, new_correct), (old, old_correct) = (
        draw_answers(seed + i, 0.8, answers=answers) for i in range(2)
    )
    result = quick_compare(new, old, correct=[new_correct, old_correct], q=q, size=3)
    parts = result.quality_parts[0]
    assert parts.total == pytest.approx(parts.among_correct + parts.from_failures, abs=1e-12)


def test_all_forms_of_correct_are_equivalent():
    expected = quick_compare(NEW, OLD, correct=CORRECT).quality_parts
    flat = [list(itertools.chain(*answers)) for answers in (NEW, OLD)]
    flat_correct = [list(itertools.chain(*values)) for values in CORRECT]
    prompts = [[i for i, answers in enumerate(NEW) for _ in answers]] * 2
    forms = [
        quick_compare(NEW, OLD, correct=flat_correct),
        quick_compare(NEW, OLD, correct={"B": OLD_CORRECT, "A": NEW_CORRECT}),
        quick_compare(*flat, groups=prompts, correct=flat_correct),
        quick_compare(*flat, prompts=prompts, correct=np.array(flat_correct, dtype=int)),
        quick_compare({"A": flat[0], "B": flat[1]}, groups=prompts, correct=flat_correct),
    ]
    n = len(flat[0])
    forms.append(
        quick_compare(
            flat[0] + flat[1],
            by=["A"] * n + ["B"] * n,
            groups=prompts[0] * 2,
            correct=np.concatenate(flat_correct),
        )
    )
    assert [result.quality_parts for result in forms] == [expected] * len(forms)


def test_comparison_of_all_answers_does_not_depend_on_correct():
    with_correct = quick_compare(NEW, OLD, correct=CORRECT).to_dict()
    without = quick_compare(NEW, OLD).to_dict()
    assert with_correct.pop("quality_parts")
    assert without.pop("quality_parts") == []
    assert with_correct.pop("sentence").startswith(without.pop("sentence"))
    assert with_correct == without


def test_failures_contribute_nothing_if_all_answers_are_correct():
    parts = quick_compare(NEW, OLD, correct=[[[True] * 7] * 6] * 2).quality_parts[0]
    assert parts.total == parts.among_correct != 0
    assert parts.from_failures == parts.from_failures_low == parts.from_failures_high == 0


def test_swapping_the_sets_changes_signs():
    a = quick_compare(NEW, OLD, correct=CORRECT).quality_parts[0]
    b = quick_compare(OLD, NEW, correct=CORRECT[::-1]).quality_parts[0]
    for name in PARTS:
        assert getattr(a, name) == pytest.approx(-getattr(b, name))
        assert getattr(a, f"{name}_low") == pytest.approx(-getattr(b, f"{name}_high"))


@pytest.mark.parametrize(("accuracies", "size"), [((1, 1), 4), ((0.5, 0.5), 3), ((0.3, 0.3), 2)])
def test_default_size_lets_half_of_the_prompts_enter(accuracies, size):
    sets = [draw_answers(i, accuracy, prompts=40) for i, accuracy in enumerate(accuracies)]
    result = quick_compare(*(x for x, _ in sets), correct=[correct for _, correct in sets])
    parts = result.quality_parts[0]
    assert parts.size == size
    counts = np.array([np.sum(correct, axis=1) for _, correct in sets]).min(axis=0)
    assert parts.prompts == np.count_nonzero(counts >= size)
    assert size == 2 or np.mean(counts >= size) >= 0.5
    assert size == 4 or np.mean(counts >= size + 1) < 0.5


def test_each_pair_has_parts_with_the_prompts_of_that_pair():
    other, other_correct = draw_answers(2, 0.8)
    result = quick_compare(NEW, OLD, other, correct=[*CORRECT, other_correct], size=3)
    assert [(row.a, row.b) for row in result.quality_parts] == [("A", "B"), ("A", "C"), ("B", "C")]
    two = quick_compare(NEW, OLD, correct=CORRECT, size=3).quality_parts[0]
    first = result.quality_parts[0]
    assert [getattr(first, name) for name in PARTS] == [getattr(two, name) for name in PARTS]
    assert first.prompts == two.prompts
    assert first.level == pytest.approx(1 - 0.05 / 3)
    assert first.total_low < two.total_low


def test_random_subsets_estimate_the_mean_of_all_subsets():
    rng = np.random.default_rng(0)
    labels = rng.integers(6, size=14)
    K = (labels[:, None] == labels).astype(float)
    assert math.comb(14, 4) > MAX_SUBSETS
    assert expected_log_score(K, 4) == expected_log_score(K, 4)
    assert expected_log_score(K, 4) == pytest.approx(naive_log_score(labels, 4, 1), abs=0.03)
    seeds = [expected_log_score(K, 4, rng=np.random.default_rng(seed)) for seed in range(40)]
    assert np.mean(seeds) == pytest.approx(naive_log_score(labels, 4, 1), abs=0.005)


@pytest.mark.filterwarnings("ignore:Kernel 'ngram_overlap' represents")
def test_unusable_samples_are_dropped_with_their_values():
    new = [[*answers, ""] for answers in NEW]
    new_correct = [[*correct, True] for correct in NEW_CORRECT]
    options = {"k": "ngram_overlap", "size": 3}
    with pytest.warns(UserWarning, match="dropped 6 of 90 samples"):
        result = quick_compare(
            new, OLD, correct=[new_correct, OLD_CORRECT], on_error="skip", **options
        )
    expected = quick_compare(NEW, OLD, correct=CORRECT, **options)
    assert result.quality_parts == expected.quality_parts


@pytest.mark.parametrize(
    ("sets", "options", "error", "message"),
    [
        (
            ([*"aabb"], [*"aabb"]),
            {"correct": [[1] * 4] * 2},
            TypeError,
            "`correct` requires `groups` or `prompts`",
        ),
        (
            (NEW, OLD),
            {"correct": [NEW_CORRECT]},
            ValueError,
            "`correct` must contain 2 lists of labels, one per set",
        ),
        (
            (NEW, OLD),
            {"correct": [NEW_CORRECT, [True] * 5]},
            ValueError,
            "`correct` must contain one label per sample, got 5 labels for the 42 samples of `B`",
        ),
        (
            (NEW, OLD),
            {"correct": [NEW_CORRECT, [[True] * 6, [True] * 8, *[[True] * 7] * 4]]},
            ValueError,
            "`correct` must be one list in the order of the samples, or nested like the samples",
        ),
        (
            (NEW, OLD),
            {"correct": [["yes"] * 42, ["no"] * 42]},
            TypeError,
            "`correct` must contain True or False for each sample, got 'yes' for sample 0",
        ),
        ((NEW, OLD), {"correct": [[0.7] * 42] * 2}, TypeError, "pass quality >= 0.5"),
        (
            (NEW, OLD),
            {"correct": CORRECT, "size": 1},
            ValueError,
            "`size` must be an integer of at least 2, got 1",
        ),
        (
            (NEW, OLD),
            {"correct": [[False] * 42] * 2},
            ValueError,
            "at least 3 prompts with at least 2 correct answers of both sets, got 0 for 'A' and",
        ),
        ((NEW, OLD), {"correct": CORRECT, "size": 7}, ValueError, "reduce `size` to [3456], or"),
    ],
)
def test_unsuitable_arguments_are_rejected(sets, options, error, message):
    with pytest.raises(error, match=message):
        quick_compare(*sets, **options)


def test_result_has_sentence_tables_and_plot():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    result = quick_compare(NEW, OLD, names=["new", "old"], correct=CORRECT, size=3)
    parts = result.quality_parts[0]
    assert parts.sentence in result.sentence
    assert f"{parts.prompts} of 6 prompts have at least 3 correct answers" in parts.sentence
    assert repr(parts).startswith("QualityParts(a='new', b='old', size=3, total=")
    assert json.loads(json.dumps(result.to_dict()))["quality_parts"][0]["total"] == parts.total
    assert result.to_frame("quality")["among_correct"].tolist() == [parts.among_correct]
    assert pickle.loads(pickle.dumps(result)).quality_parts == result.quality_parts
    assert "from_failures" in result._repr_html_()
    ax = parts.plot(figure.add_subplot())
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "total",
        "among correct answers",
        "from failures",
    ]
    with pytest.raises(ValueError, match="pass `correct` to compare"):
        quick_compare(NEW, OLD).to_frame("quality")


def test_sentence_states_the_direction_among_correct_answers():
    wide = [[f"c{i}" for i in range(6)] + ["x"] for _ in range(6)]
    narrow = [["c0"] * (4 - i % 2) + ["c1"] * (2 + i % 2) + ["x"] for i in range(6)]
    correct = [[[True] * 6 + [False]] * 6] * 2
    options = {"names": ["wide", "narrow"], "correct": correct}
    assert "Among correct answers, wide is more diverse than narrow: +" in str(
        quick_compare(wide, narrow, **options)
    )
    options["names"] = ["narrow", "wide"]
    assert "Among correct answers, narrow is less diverse than wide: -" in str(
        quick_compare(narrow, wide, **options)
    )
    same = str(quick_compare(NEW, NEW[1:] + NEW[:1], correct=[[[True] * 7] * 6] * 2))
    assert "No difference in diversity shown between correct answers of A and B: " in same
