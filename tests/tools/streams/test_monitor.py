import copy
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vendiscore import Monitor, as_similarity, score
from vendiscore.tools.streams.betting import ChangeTest, ConfidenceSequence

ANSWERS = ["a cat sat", "a cat ran", "the dog", "it rained"]
SCORES = st.lists(st.floats(1, 4), min_size=1, max_size=20)


def add_values(monitor, values, prompts=None):
    for i, value in enumerate(values):
        monitor.update(value, prompts and prompts[i])
    return monitor


@given(SCORES, st.floats(1, 4))
def test_evidence_and_interval_use_normalized_log_scores(scores, baseline):
    monitor = add_values(Monitor(baseline, size=4), scores)
    test = ChangeTest()
    sequence = ConfidenceSequence(0.95)
    for value in scores:
        test.update(math.log(value) / math.log(4), math.log(baseline) / math.log(4))
        sequence.update(math.log(value) / math.log(4))
    assert monitor.evidence == pytest.approx(float(np.exp(test.log_wealth)))
    assert monitor.interval == pytest.approx((4**sequence.low, 4**sequence.high))
    assert monitor.mean == pytest.approx(np.exp(np.mean(np.log(scores))))
    assert monitor.values == scores


def test_answers_are_scored_like_score():
    options = {"q": 2, "ns": [1, 2]}
    monitor = Monitor(3.0, size=4, **options)
    monitor.update(ANSWERS)
    assert monitor.values == pytest.approx([score(ANSWERS, **options)])
    from_similarity = Monitor(3.0, size=4, q=2)
    from_similarity.update(as_similarity(ANSWERS, ns=[1, 2]))
    assert from_similarity.values == pytest.approx(monitor.values)


def test_bounds_are_scaled_linearly():
    values = [0.5, -1.0, 2.0]
    monitor = add_values(Monitor(1.0, bounds=(-1, 3)), values)
    test = ChangeTest()
    for value in values:
        test.update((value + 1) / 4, 0.5)
    assert monitor.evidence == pytest.approx(float(np.exp(test.log_wealth)))
    assert monitor.mean == pytest.approx(0.5)


@given(SCORES)
def test_baseline_by_prompt_is_a_test_of_ratios(scores):
    prompts = [f"prompt {i}" for i in range(len(scores))]
    baseline = dict(zip(prompts, np.linspace(1, 4, len(scores)), strict=True))
    monitor = add_values(Monitor(baseline, size=4), scores, prompts)
    ratios = [value / baseline[prompt] for value, prompt in zip(scores, prompts, strict=True)]
    test = ChangeTest()
    for ratio in ratios:
        test.update((math.log(ratio) / math.log(4) + 1) / 2, 0.5)
    assert monitor.evidence == pytest.approx(float(np.exp(test.log_wealth)))
    assert monitor.mean == pytest.approx(np.exp(np.mean(np.log(ratios))))
    low, high = monitor.interval
    assert 1 / 4 <= low < high <= 4


def test_paired_differences_of_bounded_values():
    monitor = Monitor({"a": 0.5, "b": 0.25}, bounds=(0, 1))
    monitor.update(0.25, "b")
    monitor.update(0.25, "a")
    assert monitor.mean == pytest.approx(-0.125)
    assert monitor.interval == pytest.approx((-1, 1), abs=0.6)


def test_decrease_raises_an_alarm_and_equal_runs_do_not():
    rng = np.random.default_rng(0)
    before, after = rng.uniform(3, 4, 200), rng.uniform(2, 3, 200)
    monitor = add_values(Monitor(3.5, size=4), [*rng.permutation(before), *after])
    assert monitor.alarm
    assert 200 < monitor.alarm_at < 240
    assert 190 < monitor.since <= monitor.alarm_at
    same = add_values(Monitor(float(np.exp(np.log(before).mean())), size=4), before)
    assert not same.alarm
    assert (same.alarm_at, same.since) == (None, None)


def test_alarm_is_returned_and_kept():
    monitor = Monitor(3.0, size=4)
    alarms = [monitor.update(1.0) for _ in range(10)]
    assert alarms == [i >= monitor.alarm_at for i in range(1, 11)]
    for _ in range(2000):
        monitor.update(4.0)
    assert monitor.alarm
    assert monitor.evidence < 1 / monitor.alpha


def test_alpha_is_the_threshold_of_the_evidence():
    strict, lenient = Monitor(3.0, size=4, alpha=0.001), Monitor(3.0, size=4, alpha=0.2)
    for monitor in (strict, lenient):
        while not monitor.update(1.5):
            assert monitor.evidence < 1 / monitor.alpha
        assert monitor.evidence >= 1 / monitor.alpha
    assert lenient.alarm_at < strict.alarm_at


def test_baseline_run_without_prompts_uses_the_lower_end_of_its_interval():
    scores = np.random.default_rng(0).uniform(2, 4, 50)
    baseline = add_values(Monitor(size=4), scores)
    monitor = add_values(Monitor(baseline), scores)
    low, _ = baseline.interval
    known = add_values(Monitor(low, size=4), scores)
    assert monitor.size == 4
    assert monitor.evidence == pytest.approx(known.evidence / 2)


def test_baseline_run_with_prompts_is_compared_prompt_by_prompt(tmp_path):
    prompts = ["a", "b", "c"]
    baseline = add_values(Monitor(size=4), [2.0, 3.0, 4.0], prompts)
    baseline.save(tmp_path / "run.json")
    by_mapping = Monitor(dict(zip(prompts, [2.0, 3.0, 4.0], strict=True)), size=4)
    for other in (by_mapping, Monitor(baseline), Monitor(tmp_path / "run.json")):
        add_values(other, [1.0, 2.0], ["c", "a"])
        assert other.evidence == by_mapping.evidence
        assert other.interval == by_mapping.interval


@pytest.mark.parametrize(
    ("baseline", "prompts"), [(None, None), (3.0, None), ({"a": 3.0, "b": 2.0}, ["b", "a"])]
)
def test_monitor_is_restored_from_state_file_pickle_and_copy(baseline, prompts, tmp_path):
    monitor = add_values(Monitor(baseline, size=4, alpha=0.1, width=0.5), [1.5, 2.5], prompts)
    monitor.save(tmp_path / "monitor.json")
    for restored in (
        Monitor.from_state(json.loads(json.dumps(monitor.state_dict()))),
        Monitor.load(tmp_path / "monitor.json"),
        pickle.loads(pickle.dumps(monitor)),
        copy.deepcopy(monitor),
    ):
        assert restored.sentence == monitor.sentence
        assert restored.state_dict() == monitor.state_dict()
        if prompts is None:
            assert restored.update(1.0) == copy.deepcopy(monitor).update(1.0)
        else:
            with pytest.raises(ValueError, match="prompt 'a' was added before"):
                restored.update(1.0, "a")


def test_run_shuffles_prompts_and_omits_used_ones():
    prompts = [f"prompt {i}" for i in range(30)]
    order = []

    def generate(prompt):
        order.append(prompt)
        return 2.0

    monitor = Monitor(size=4)
    monitor.update(3.0, "prompt 3")
    monitor.run(prompts + prompts, generate)
    assert sorted(order) == sorted(set(prompts) - {"prompt 3"})
    assert order != sorted(order, key=prompts.index)
    assert monitor.prompts == ["prompt 3", *order]


def test_run_stops_at_an_alarm_and_when_the_interval_is_narrow():
    prompts = [f"prompt {i}" for i in range(1000)]
    monitor = Monitor(4.0, size=4).run(prompts, lambda prompt: 1.5)
    assert monitor.n == monitor.alarm_at < 20
    rng = np.random.default_rng(0)
    precise = Monitor(size=4, width=0.5).run(prompts, lambda prompt: rng.uniform(2, 3))
    assert precise.is_precise
    assert precise.n < 300
    low, high = precise.interval
    assert high - low <= 0.5
    assert not Monitor(size=4).is_precise


def test_sentence_states_baseline_interval_and_alarm():
    assert Monitor(size=4).sentence == "No prompts were added."
    monitor = Monitor(3.0, size=4)
    monitor.update(3.0)
    assert str(monitor).startswith("No decrease of diversity was detected. After 1 prompt, the ")
    assert "mean effective number of answers is 3.00 (1.00 to 4.00) (95 %" in monitor.sentence
    assert "the baseline is 3. The evidence is " in monitor.sentence
    while not monitor.update(1.0):
        pass
    assert monitor.sentence == (
        f"Diversity decreased, from about prompt {monitor.since} on (alarm at prompt "
        f"{monitor.alarm_at}): the mean effective number of answers is 1 and was 3 before; the "
        f"baseline is 3."
    )
    assert repr(monitor).startswith(f"Monitor(n={monitor.n}, mean=")
    paired = Monitor({"a": 3.0}, size=4)
    paired.update(2.0, "a")
    assert "the mean ratio to the baseline is 0.67 (" in paired.sentence
    assert "mean value is 0.5" in add_values(Monitor(bounds=(0, 1)), [0.5]).sentence


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, TypeError, "pass either `size`.* or `bounds`"),
        ({"size": 4, "bounds": (0, 1)}, TypeError, "pass either `size`.* or `bounds`"),
        ({"size": 1}, ValueError, "`size` must be"),
        ({"bounds": 1}, TypeError, "`bounds` must be two numbers"),
        ({"bounds": (1, 0)}, ValueError, r"`bounds` must be \(smallest, largest\)"),
        ({"size": 4, "alpha": 0}, ValueError, "`alpha` must be a probability"),
        ({"size": 4, "width": 0}, ValueError, "`width` must be a positive number"),
        ({"bounds": (0, 1), "k": "labels"}, TypeError, "require `size`"),
        ({"size": 4, "baseline": 5}, ValueError, "`baseline` must be a number from 1 to 4"),
        ({"size": 4, "baseline": {}}, ValueError, "`baseline` has no prompts"),
        ({"size": 4, "baseline": {"a": 0.5}}, ValueError, "must be a number from 1 to 4, got 0.5"),
        ({"baseline": Monitor(size=3), "size": 4}, ValueError, "baseline has size=3, but"),
        ({"baseline": Monitor(size=3)}, ValueError, "the baseline is a run without values"),
    ],
)
def test_invalid_arguments_are_rejected(options, error, message):
    with pytest.raises(error, match=message):
        Monitor(**options)


def test_baseline_of_another_kernel_is_rejected():
    baseline = Monitor(size=3, k="labels")
    baseline.update(["a", "b", "c"])
    with pytest.raises(ValueError, match="baseline has k='labels', but this monitor has k=None"):
        Monitor(baseline)
    assert Monitor(baseline, k="labels").size == 3


def test_invalid_updates_are_rejected_and_change_nothing():
    monitor = Monitor({"a": 2.0, "b": 2.0}, size=4)
    for arguments, error, message in [
        ((2.0,), TypeError, "pass `prompt`"),
        ((2.0, "c"), ValueError, "prompt 'c' is not in the baseline"),
        ((5.0, "a"), ValueError, "must be a number from 1 to 4, got 5"),
        ((ANSWERS[:3], "a"), ValueError, "must have 4 answers, as many as `size`, got 3"),
    ]:
        with pytest.raises(error, match=message):
            monitor.update(*arguments)
    assert monitor.n == 0
    monitor.update(2.0, "a")
    with pytest.raises(ValueError, match="'a' was added before; use each prompt once"):
        monitor.update(2.0, "a")
    with pytest.raises(TypeError, match="answers require `size`"):
        Monitor(bounds=(0, 1)).update(ANSWERS)
    mixed = Monitor(size=4)
    mixed.update(2.0)
    with pytest.raises(TypeError, match="pass `prompt` in all updates or in none"):
        mixed.update(2.0, "a")
    with pytest.raises(TypeError, match="`prompts` must be a list"):
        mixed.run("prompt", len)


def test_load_rejects_files_that_save_did_not_write(tmp_path):
    path = tmp_path / "answers.json"
    for text in ("not json", "[1, 2]", '{"values": [1]}'):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"answers\.json was not written by Monitor\.save"):
            Monitor.load(path)


def test_remaining_prompts_and_score_options_describe_the_next_updates():
    monitor = Monitor({"a": 2.0, "b": 3.0}, size=4, q=2, ns=[1])
    monitor.update(2.0, "a")
    assert monitor.remaining_prompts == ["b"]
    assert Monitor(2.0, size=4).remaining_prompts is None
    assert score(ANSWERS, **monitor.score_options) == score(ANSWERS, q=2, ns=[1])


def test_answers_with_gradient_are_rejected():
    torch = pytest.importorskip("torch")
    X = torch.eye(4, dtype=torch.float64, requires_grad=True)
    with pytest.raises(TypeError, match="answers"):
        Monitor(size=4, k="cosine").update(X)
