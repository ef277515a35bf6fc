"""The lm-eval metric, run by lm-eval on the example task."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from vendiscore import compute

pytest.importorskip("lm_eval")

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from vendiscore.integrations.lm_eval import vendi_score

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "harnesses" / "lm_eval_task"
ANSWERS = [
    ["the sea rose", "the sea rose", "the sea fell", "no light"],
    ["an umbrella", "a book", "an umbrella and a book", "a child"],
    ["Loaf", "Loaf", " ", ""],
]
GROUPS = [*ANSWERS[:2], ["Loaf", "Loaf", "∅", "∅"]]  # blank answers count as an additional text
TAKE_FIRST_4 = "      - function: take_first_k\n        k: 4\n"
FUNCTION = "!function vendiscore.integrations.lm_eval.vendi_score"


class PredefinedModel(LM):
    """A model with predefined answers."""

    def __init__(self, answers=ANSWERS):
        super().__init__()
        self.answers = answers

    def generate_until(self, requests, disable_tqdm=False):
        answers = [iter(texts) for texts in self.answers]
        return [next(answers[request.doc_id]) for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


@pytest.fixture
def run(tmp_path):
    """Return a function that runs the example with replaced text and returns its metrics."""

    def run(changes=(), model="dummy"):
        text = (EXAMPLE / "diversity.yaml").read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        for name in ("prompts.py", "prompts.jsonl"):
            shutil.copy(EXAMPLE / name, tmp_path)
        (tmp_path / "diversity.yaml").write_text(text, encoding="utf-8")
        manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
        result = simple_evaluate(model, tasks=["diversity"], task_manager=manager)
        return result["results"]["diversity"]

    return run


def test_metric_is_the_mean_over_prompts_with_standard_error(run):
    result = run(model=PredefinedModel())
    expected = compute(GROUPS, ns=(1, 2))
    assert result["VS,all"] == pytest.approx(expected["VS"], rel=1e-12)
    assert result["VS_stderr,all"] == pytest.approx(expected["VS_se"], rel=1e-12)


def test_example_runs_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    manager = TaskManager(include_path=str(EXAMPLE), include_defaults=False)
    result = simple_evaluate(PredefinedModel(), tasks=["diversity"], task_manager=manager)
    assert result["results"]["diversity"]["VS,all"] == pytest.approx(
        compute(GROUPS, ns=(1, 2))["VS"]
    )


def test_options_are_read_from_the_yaml(run):
    changes = [("ns: [1, 2]", "q: [1, inf]\n    measures: [VS, IntDiv]\n    analyzer: char")]
    result = run(changes, PredefinedModel())
    expected = compute(GROUPS, q=[1, np.inf], measures=["VS", "IntDiv"], analyzer="char")
    for name in ("VS_q1", "VS_qinf", "IntDiv"):
        assert result[f"{name},all"] == pytest.approx(expected[name], rel=1e-12)
        assert result[f"{name}_stderr,all"] == pytest.approx(expected[f"{name}_se"], rel=1e-12)


def test_constant_generations_score_1(run):
    assert run()["VS,all"] == pytest.approx(1)


@pytest.mark.parametrize(
    "changes",
    [
        [(TAKE_FIRST_4, "      - function: take_first\n")],
        # without a filter, lm-eval uses take_first
        [("filter_list:\n  - name: all\n    filter:\n" + TAKE_FIRST_4, "")],
        [("k: 4", "k: 1")],
    ],
)
def test_filter_that_drops_repeats_raises(run, changes):
    with pytest.raises(
        ValueError, match=r"at least 2 generations, got 1; .* `take_first`, keeps only"
    ):
        run(changes, PredefinedModel())


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("ns: 0", "`ns` must be an integer of at least 1"),
        ("nss: [1]", "unknown keyword 'nss'"),
        ("details: true", "`details` is not supported in an evaluation"),
    ],
)
def test_invalid_options_raise(run, option, message):
    with pytest.raises(ValueError, match=message):
        run([("ns: [1, 2]", option)], PredefinedModel())


def test_evaluate_metric_works_in_lm_eval(run):
    path = ROOT / "vendiscore" / "scripts" / "vendiscore.py"
    result = run([(FUNCTION, f"{path}\n    hf_evaluate: true")], PredefinedModel(GROUPS))
    assert result["VS,all"] == pytest.approx(compute(GROUPS, ns=(1, 2))["VS"], rel=1e-12)


def test_targets_do_not_change_the_score():
    texts = ["a cat", "a cat", "the dog"]
    result = vendi_score(predictions=[texts], references=[["a", "b"]])
    assert result == compute(texts)
    with pytest.raises(TypeError, match="positional"):
        vendi_score([["a"], texts])


def test_several_targets_raise(run):
    """lm-eval replaces the value for each target by 1.0 if it is above 0."""
    with pytest.raises(KeyError, match="vendi_score"):
        run([('doc_to_target: ""', "doc_to_target: [a, b]")], PredefinedModel())


def test_prompt_without_generations_raises():
    with pytest.raises(
        ValueError, match=r"must have at least 2 generations, got 0; set for example `repeats: 4`"
    ):
        vendi_score(predictions=[[]])


def test_given_prompt_uses_the_target_as_prompt():
    result = vendi_score(
        predictions=[ANSWERS[0]], references=["what of the sea?"], given_prompt=True
    )
    assert result == compute(ANSWERS[0], prompts="what of the sea?", given_prompt=True)
    blank = vendi_score(predictions=[ANSWERS[0]], references=[" "], given_prompt=True)
    assert blank["VS"] == pytest.approx(compute(ANSWERS[0])["VS"])
    with pytest.raises(ValueError, match="`prompts` is not supported in an evaluation"):
        vendi_score(predictions=[ANSWERS[0]], prompts="what?")


def test_keys_contain_the_order_of_the_yaml(run):
    result = run([("ns: [1, 2]", "q: 2")], PredefinedModel())
    expected = compute(GROUPS, q=2)
    assert "VS,all" not in result
    assert result["VS_q2,all"] == pytest.approx(expected["VS_q2"], rel=1e-12)
    assert result["VS_q2_stderr,all"] == pytest.approx(expected["VS_q2_se"], rel=1e-12)
    assert vendi_score(predictions=[["a", "b"]], q="inf") == {"VS_qinf": pytest.approx(2)}
