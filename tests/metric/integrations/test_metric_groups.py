"""Groups in the metrics of `evaluate`: nested lists or labels, in one call or in batches."""

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
def loaded_metric():
    return vendiscore.load("vendiscore")


def test_compute_accepts_nested_lists_and_group_labels(metric):
    assert list(EXPECTED) == ["VS", "VS_se"]
    assert metric.compute(predictions=TEXTS) == EXPECTED
    assert metric.compute(samples=FLAT, groups=LABELS) == EXPECTED
    assert metric.compute(predictions=TEXTS, references=["gold"] * 3) == EXPECTED


def test_single_group_with_reference_is_scored(metric):
    for group in TEXTS:
        result = metric.compute(predictions=[group], references=["gold"])
        assert result == pytest.approx(compute(group))
    magnitude = evaluate.load(str(ROOT / "magnitude.py"))
    result = magnitude.compute(predictions=[TEXTS[0]], t=0.5)
    assert result == magnitude.compute(predictions=TEXTS[0], t=0.5)
    with pytest.warns(UserWarning, match="lm-eval: `repeats` and the filter `take_first_k`"):
        assert metric.compute(predictions=[["one"]], references=["gold"]) == {"VS": 1.0}


def test_added_groups_match_single_call(loaded_metric):
    for group in TEXTS:
        loaded_metric.add(prediction=group)
    assert loaded_metric.compute() == EXPECTED
    loaded_metric.add_batch(predictions=TEXTS[:2])
    loaded_metric.add(prediction=TEXTS[2], reference="ignored")
    assert loaded_metric.compute() == EXPECTED
    loaded_metric.add_batch(predictions=TEXTS[:2])
    assert loaded_metric.compute(predictions=TEXTS[2:]) == EXPECTED
    rows = [[[1.0, 2.0], [0.0, 1.0]], [[2.0, 1.0], [1.0, 1.0], [1.0, 0.0]]]
    loaded_metric.add_batch(predictions=rows[:1])
    loaded_metric.add(prediction=list(np.array(rows[1])))
    assert loaded_metric.compute(k="cosine") == compute(rows, k="cosine")


def test_added_groups_are_copied(loaded_metric):
    group = list(TEXTS[0])
    loaded_metric.add(prediction=group)
    group.clear()
    assert loaded_metric.compute() == {"VS": compute(TEXTS[0])["VS"]}


def test_group_labels_can_be_added_or_passed_to_compute(loaded_metric):
    loaded_metric.add_batch(predictions=FLAT[:5], groups=LABELS[:5])
    for text, label in zip(FLAT[5:], LABELS[5:], strict=True):
        loaded_metric.add(prediction=text, group=label)
    assert loaded_metric.compute() == EXPECTED
    loaded_metric.add_batch(predictions=FLAT[:5], groups=np.array(LABELS[:5]))
    assert loaded_metric.compute(samples=FLAT[5:], groups=LABELS[5:]) == EXPECTED
    loaded_metric.add_batch(predictions=FLAT[:5])
    assert loaded_metric.compute(samples=FLAT[5:], groups=LABELS) == EXPECTED
    loaded_metric.add_batch(predictions=FLAT)
    assert loaded_metric.compute(groups=iter(LABELS)) == EXPECTED
    # Groups can be spread over several batches.
    order = np.argsort(np.arange(8) % 3, kind="stable")
    loaded_metric.add_batch(
        predictions=[FLAT[i] for i in order[:4]], groups=[LABELS[i] for i in order[:4]]
    )
    loaded_metric.add_batch(
        predictions=[FLAT[i] for i in order[4:]], groups=[LABELS[i] for i in order[4:]]
    )
    assert loaded_metric.compute() == pytest.approx(EXPECTED)


def test_invalid_group_labels_are_rejected_and_samples_kept(loaded_metric):
    loaded_metric.add_batch(predictions=FLAT[:5], groups=LABELS[:5])
    for options, message in (
        ({"groups": LABELS[:2]}, "one label per sample, got 2 labels for 3 samples"),
        ({}, "for all batches or for none.*this batch was not added"),
    ):
        with pytest.raises(ValueError, match=message):
            loaded_metric.add_batch(predictions=FLAT[5:], **options)
    for options, message in (
        ({"samples": FLAT[5:]}, "`groups` must be passed for all batches or for none, but some"),
        (
            {"samples": FLAT[5:], "groups": LABELS},
            "one label per sample, got 8 labels for 3 samples",
        ),
        ({"groups": LABELS[:5]}, "was already passed when the samples were added; remove"),
    ):
        with pytest.raises(ValueError, match=message):
            loaded_metric.compute(**options)
    assert len(loaded_metric) == 5
    loaded_metric.add_batch(predictions=FLAT[5:], groups=LABELS[5:])
    assert loaded_metric.compute() == EXPECTED


def test_groups_work_with_defaults_and_combined_metrics(loaded_metric):
    metric_with_interval = evaluate.load(str(ROOT / "vendiscore.py"), ci=0.9, q=2)
    assert metric_with_interval.compute(predictions=TEXTS) == compute(TEXTS, ci=0.9, q=2)
    suite = evaluate.combine([loaded_metric, vendiscore.load("magnitude")])
    expected = {
        **EXPECTED,
        **compute(TEXTS, measures={"MagArea": {"t_cut": "t_conv"}, "t_conv": {}}),
    }
    assert suite.compute(predictions=TEXTS) == expected
    assert suite.compute(predictions=FLAT, groups=LABELS) == expected
    suite.add_batch(predictions=TEXTS)
    assert suite.compute() == expected


def test_magnitude_metric_accepts_groups_of_vectors():
    magnitude = vendiscore.load("magnitude")
    groups = [X[:3].tolist(), X[3:5].tolist(), X[5:].tolist()]
    expected = magnitude.compute(samples=X, groups=LABELS, t=[0.5, 2])
    assert list(expected) == [f"Magnitude_t{t}{se}" for t in ("0.5", "2") for se in ("", "_se")]
    assert magnitude.compute(samples=groups, t=[0.5, 2]) == pytest.approx(expected)
    group_magnitudes = [magnitude.compute(samples=group, t=2)["Magnitude"] for group in groups]
    assert expected["Magnitude_t2"] == pytest.approx(np.mean(group_magnitudes))


def test_default_pool_repeats_affects_only_group_intervals():
    groups = [["a b", "c d", "e f", "a b", f"g {i}"] for i in range(7)]
    loaded_metric = vendiscore.load("vendiscore", pool_repeats=False)
    options = {"ci": 0.9, "details": True}
    expected = compute(groups, pool_repeats=False, **options)["details"]
    assert (
        loaded_metric.compute(samples=groups, **options)["details"]["groups"] == expected["groups"]
    )
    assert expected["groups"] != compute(groups, **options)["details"]["groups"]
    # Without intervals and details, it has no effect and is accepted.
    for other_options in ({}, {"ci": 0.9}, {"details": True}):
        result = loaded_metric.compute(samples=groups, **other_options)
        assert result["VS"] == compute(groups)["VS"]
