"""Groups through the metrics of `evaluate`: lists of lists and labels, at once and in batches."""

from pathlib import Path

import evaluate
import numpy as np
import pytest

import vendiscore
from vendiscore import compute

ROOT = Path(__file__).resolve().parents[3]

TEXTS = [["a cat sat", "a dog sat", "the cat ran off"], ["red", "green and red"], ["no", "no", "a"]]
FLAT = [text for group in TEXTS for text in group]
LABELS = ["p", "p", "p", "q", "q", "r", "r", "r"]
X = np.random.default_rng(0).standard_normal((8, 3))
EXPECTED = compute(TEXTS)


@pytest.fixture
def own():
    return vendiscore.load("vendiscore")


def test_compute_takes_lists_of_lists_and_labels(metric):
    assert list(EXPECTED) == ["VS", "VS_se"]
    assert metric.compute(predictions=TEXTS) == EXPECTED
    assert metric.compute(samples=FLAT, groups=LABELS) == EXPECTED
    assert metric.compute(predictions=TEXTS, references=["gold"] * 3) == EXPECTED


def test_a_harness_sends_one_group_with_its_reference_a_call(metric):
    for group in TEXTS:
        result = metric.compute(predictions=[group], references=["gold"])
        assert result == pytest.approx(compute(group))
    magnitude = evaluate.load(str(ROOT / "magnitude.py"))
    result = magnitude.compute(predictions=[TEXTS[0]], t=0.5)
    assert result == magnitude.compute(predictions=TEXTS[0], t=0.5)
    with pytest.warns(UserWarning, match="lm-eval: `repeats` and the filter `take_first_k`"):
        assert metric.compute(predictions=[["one"]], references=["gold"]) == {"VS": 1.0}


def test_lists_are_added_one_by_one_and_in_batches(own):
    for group in TEXTS:
        own.add(prediction=group)
    assert own.compute() == EXPECTED
    own.add_batch(predictions=TEXTS[:2])
    own.add(prediction=TEXTS[2], reference="ignored")
    assert own.compute() == EXPECTED
    own.add_batch(predictions=TEXTS[:2])
    assert own.compute(predictions=TEXTS[2:]) == EXPECTED
    rows = [[[1.0, 2.0], [0.0, 1.0]], [[2.0, 1.0], [1.0, 1.0], [1.0, 0.0]]]
    own.add_batch(predictions=rows[:1])
    own.add(prediction=list(np.array(rows[1])))
    assert own.compute(k="cosine") == compute(rows, k="cosine")


def test_what_was_added_is_a_copy(own):
    group = list(TEXTS[0])
    own.add(prediction=group)
    group.clear()
    assert own.compute() == {"VS": compute(TEXTS[0])["VS"]}


def test_labels_are_added_with_their_samples_or_given_for_all(own):
    own.add_batch(predictions=FLAT[:5], groups=LABELS[:5])
    for text, label in zip(FLAT[5:], LABELS[5:], strict=True):
        own.add(prediction=text, group=label)
    assert own.compute() == EXPECTED
    own.add_batch(predictions=FLAT[:5], groups=np.array(LABELS[:5]))
    assert own.compute(samples=FLAT[5:], groups=LABELS[5:]) == EXPECTED
    own.add_batch(predictions=FLAT[:5])
    assert own.compute(samples=FLAT[5:], groups=LABELS) == EXPECTED
    own.add_batch(predictions=FLAT)
    assert own.compute(groups=iter(LABELS)) == EXPECTED
    # Labels of several batches that are one group.
    order = np.argsort(np.arange(8) % 3, kind="stable")
    own.add_batch(predictions=[FLAT[i] for i in order[:4]], groups=[LABELS[i] for i in order[:4]])
    own.add_batch(predictions=[FLAT[i] for i in order[4:]], groups=[LABELS[i] for i in order[4:]])
    assert own.compute() == pytest.approx(EXPECTED)


def test_labels_that_do_not_fit_are_refused_and_nothing_is_lost(own):
    own.add_batch(predictions=FLAT[:5], groups=LABELS[:5])
    for how, message in (
        ({"groups": LABELS[:2]}, "one label per sample, got 2 labels for 3 samples"),
        ({}, "for all batches or for none.*this batch was not added"),
    ):
        with pytest.raises(ValueError, match=message):
            own.add_batch(predictions=FLAT[5:], **how)
    for how, message in (
        ({"samples": FLAT[5:]}, "`groups` must be passed for all batches or for none, but some"),
        (
            {"samples": FLAT[5:], "groups": LABELS},
            "one label per sample, got 8 labels for 3 samples",
        ),
        ({"groups": LABELS[:5]}, "was already passed when the samples were added; remove"),
    ):
        with pytest.raises(ValueError, match=message):
            own.compute(**how)
    assert len(own) == 5
    own.add_batch(predictions=FLAT[5:], groups=LABELS[5:])
    assert own.compute() == EXPECTED


def test_defaults_suites_and_both_metrics(own):
    intervals = evaluate.load(str(ROOT / "vendiscore.py"), ci=0.9, q=2)
    assert intervals.compute(predictions=TEXTS) == compute(TEXTS, ci=0.9, q=2)
    suite = evaluate.combine([own, vendiscore.load("magnitude")])
    together = {
        **EXPECTED,
        **compute(TEXTS, measures={"MagArea": {"t_cut": "t_conv"}, "t_conv": {}}),
    }
    assert suite.compute(predictions=TEXTS) == together
    assert suite.compute(predictions=FLAT, groups=LABELS) == together
    suite.add_batch(predictions=TEXTS)
    assert suite.compute() == together


def test_magnitude_has_groups_of_vectors_too():
    magnitude = vendiscore.load("magnitude")
    groups = [X[:3].tolist(), X[3:5].tolist(), X[5:].tolist()]
    expected = magnitude.compute(samples=X, groups=LABELS, t=[0.5, 2])
    assert list(expected) == [f"Magnitude_t{t}{se}" for t in ("0.5", "2") for se in ("", "_se")]
    assert magnitude.compute(samples=groups, t=[0.5, 2]) == pytest.approx(expected)
    alone = [magnitude.compute(samples=group, t=2)["Magnitude"] for group in groups]
    assert expected["Magnitude_t2"] == pytest.approx(np.mean(alone))


def test_a_default_of_pooling_has_an_effect_where_groups_have_intervals():
    lists = [["a b", "c d", "e f", "a b", f"g {i}"] for i in range(7)]
    own = vendiscore.load("vendiscore", pool_repeats=False)
    how = {"ci": 0.9, "details": True}
    expected = compute(lists, pool_repeats=False, **how)["details"]
    assert own.compute(samples=lists, **how)["details"]["groups"] == expected["groups"]
    assert expected["groups"] != compute(lists, **how)["details"]["groups"]
    # Elsewhere it has none, and is no error.
    for others in ({}, {"ci": 0.9}, {"details": True}):
        result = own.compute(samples=lists, **others)
        assert result["VS"] == compute(lists)["VS"]
