"""The metric of lm-eval, run by lm-eval itself on the task of the examples."""

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
GROUPS = [*ANSWERS[:2], ["Loaf", "Loaf", "∅", "∅"]]  # blank ones are one more text
WHOLE = "      - function: take_first_k\n        k: 4\n"
FUNCTION = "!function vendiscore.integrations.lm_eval.vendi_score"


class Parrot(LM):
    """A model that has its answers ready."""

    def __init__(self, answers=ANSWERS):
        super().__init__()
        self.answers = answers

    def generate_until(self, requests, disable_tqdm=False):
        answers = [iter(own) for own in self.answers]
        return [next(answers[request.doc_id]) for request in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


@pytest.fixture
def run(tmp_path):
    """Run the example with some of its text replaced; the numbers of the task."""

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


def test_lm_eval_finds_the_mean_over_prompts_and_its_error(run):
    result = run(model=Parrot())
    expected = compute(GROUPS, ns=(1, 2))
    assert result["VS,all"] == pytest.approx(expected["VS"], rel=1e-12)
    assert result["VS_stderr,all"] == pytest.approx(expected["VS_se"], rel=1e-12)


def test_the_example_runs_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    manager = TaskManager(include_path=str(EXAMPLE), include_defaults=False)
    result = simple_evaluate(Parrot(), tasks=["diversity"], task_manager=manager)
    assert result["results"]["diversity"]["VS,all"] == pytest.approx(
        compute(GROUPS, ns=(1, 2))["VS"]
    )


def test_options_stand_in_the_yaml(run):
    changes = [("ns: [1, 2]", "q: [1, inf]\n    measures: [VS, IntDiv]\n    analyzer: char")]
    result = run(changes, Parrot())
    expected = compute(GROUPS, q=[1, np.inf], measures=["VS", "IntDiv"], analyzer="char")
    for name in ("VS_q1", "VS_qinf", "IntDiv"):
        assert result[f"{name},all"] == pytest.approx(expected[name], rel=1e-12)
        assert result[f"{name}_stderr,all"] == pytest.approx(expected[f"{name}_se"], rel=1e-12)


def test_a_model_that_says_one_thing_is_one_effective_answer(run):
    assert run()["VS,all"] == pytest.approx(1)


@pytest.mark.parametrize(
    "changes",
    [
        [(WHOLE, "      - function: take_first\n")],
        [("filter_list:\n  - name: all\n    filter:\n" + WHOLE, "")],  # lm-eval's own, take_first
        [("k: 4", "k: 1")],
    ],
)
def test_repeats_that_a_filter_throws_away_are_an_error_that_names_it(run, changes):
    with pytest.raises(
        ValueError, match=r"at least 2 generations, got 1; .* `take_first`, keeps only"
    ):
        run(changes, Parrot())


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("ns: 0", "`ns` must be an integer of at least 1"),
        ("nss: [1]", "unknown keyword 'nss'"),
        ("details: true", "`details` is not supported in an evaluation"),
    ],
)
def test_options_that_are_refused_are_told_of(run, option, message):
    with pytest.raises(ValueError, match=message):
        run([("ns: [1, 2]", option)], Parrot())


def test_the_metric_of_evaluate_is_one_of_lm_eval_too(run):
    path = ROOT / "vendiscore" / "scripts" / "vendiscore.py"
    result = run([(FUNCTION, f"{path}\n    hf_evaluate: true")], Parrot(GROUPS))
    assert result["VS,all"] == pytest.approx(compute(GROUPS, ns=(1, 2))["VS"], rel=1e-12)


def test_targets_do_not_change_the_number():
    texts = ["a cat", "a cat", "the dog"]
    result = vendi_score(predictions=[texts], references=[["a", "b"]])
    assert result == compute(texts)
    with pytest.raises(TypeError, match="positional"):
        vendi_score([["a"], texts])


def test_several_targets_of_which_any_would_do_are_an_error(run):
    """lm-eval makes 1.0 of the number for every target that is above 0."""
    with pytest.raises(KeyError, match="vendi_score"):
        run([('doc_to_target: ""', "doc_to_target: [a, b]")], Parrot())


def test_a_prompt_without_generations_is_said_to_have_none():
    with pytest.raises(
        ValueError, match=r"must have at least 2 generations, got 0; set for example `repeats: 4`"
    ):
        vendi_score(predictions=[[]])


def test_the_target_may_be_the_prompt_that_is_taken_out():
    result = vendi_score(
        predictions=[ANSWERS[0]], references=["what of the sea?"], given_prompt=True
    )
    assert result == compute(ANSWERS[0], prompts="what of the sea?", given_prompt=True)
    blank = vendi_score(predictions=[ANSWERS[0]], references=[" "], given_prompt=True)
    assert blank["VS"] == pytest.approx(compute(ANSWERS[0])["VS"])
    with pytest.raises(ValueError, match="`prompts` is not supported in an evaluation"):
        vendi_score(predictions=[ANSWERS[0]], prompts="what?")


def test_an_order_in_the_yaml_is_part_of_the_keys(run):
    result = run([("ns: [1, 2]", "q: 2")], Parrot())
    expected = compute(GROUPS, q=2)
    assert "VS,all" not in result
    assert result["VS_q2,all"] == pytest.approx(expected["VS_q2"], rel=1e-12)
    assert result["VS_q2_stderr,all"] == pytest.approx(expected["VS_q2_se"], rel=1e-12)
    assert vendi_score(predictions=[["a", "b"]], q="inf") == {"VS_qinf": pytest.approx(2)}
