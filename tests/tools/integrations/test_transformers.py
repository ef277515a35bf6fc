"""`DiversityCallback` for Trainer, in runs of a tiny model and on given answers."""

import itertools
import json
import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from vendiscore import Monitor, compute

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

import tiny_model  # noqa: E402
import watch_training  # noqa: E402
from diversity_callback import DiversityCallback  # noqa: E402

from vendiscore.tools.integrations.transformers import generate_answers  # noqa: E402

POOL = [f"prompt {i}" for i in range(60)]
VARIED = ["a cat sat", "the dog ran", "it rained", "no"]
REPETITIVE = ["a cat sat"] * 4
ROWS = [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]]
OPTIONS = {"n": 4, "ns": 1}


@pytest.fixture
def train(tmp_path):
    """Return a function that trains the tiny example model and returns the trainer."""

    def train(callback=None, resume=None, **options):
        defaults = {"output_dir": str(tmp_path), "max_steps": 20}
        trainer = watch_training.trainer(**defaults | options)
        if callback is not None:
            is_factory = not isinstance(callback, transformers.TrainerCallback)
            trainer.add_callback(callback(trainer) if is_factory else callback)
        trainer.train(resume_from_checkpoint=resume)
        return trainer

    return train


class Run:
    """Evaluations of a callback without a trainer; `answers` maps a prompt to its answers."""

    def __init__(self, prompts=POOL, answers=lambda prompt, step: VARIED, **options):
        self.prompts_by_step = []
        self.answers = answers
        self.state = transformers.TrainerState(is_world_process_zero=True)
        self.control = transformers.TrainerControl()
        self.callback = DiversityCallback(prompts, generate=self.generate, **OPTIONS | options)

    def generate(self, model, processing_class, prompts):
        self.prompts_by_step.append(prompts)
        return [self.answers(prompt, self.state.global_step) for prompt in prompts]

    def evaluate(self, *steps):
        for step in steps:
            self.state.global_step = step
            self.callback.on_evaluate(None, self.state, self.control)
        return self.state.log_history[-1]


def logged_values(trainer, key="eval_VS"):
    return [entry[key] for entry in trainer.state.log_history if key in entry]


def test_collapsing_model_causes_an_alarm_that_stops_the_training(capsys):
    with pytest.warns(UserWarning, match=r"less diverse by step \d+. Diversity decreased, from"):
        trainer = watch_training.main()
    values, evidence = logged_values(trainer), logged_values(trainer, "eval_evidence")
    assert values[0] > 4 > 3 > values[-1]
    assert evidence[0] == 1
    assert evidence[-2] < 20 <= evidence[-1]
    assert trainer.state.global_step < trainer.state.max_steps
    assert f"step 0: {values[0]:.2f} of 6" in capsys.readouterr().out


def test_model_that_does_not_train_causes_no_alarm(train):
    callback = DiversityCallback(watch_training.PROMPTS, max_new_tokens=3, **OPTIONS)
    trainer = train(callback, learning_rate=0.0, eval_steps=2)
    assert callback.monitor.n == 80
    assert not callback.monitor.alarm
    assert len(logged_values(trainer, "eval_evidence")) == 11


def test_generation_does_not_change_the_training(train):
    callback = DiversityCallback(
        watch_training.PROMPTS[:20], max_new_tokens=3, alpha=1e-9, **OPTIONS
    )
    trainer = train(callback, logging_steps=10)
    assert logged_values(train(logging_steps=10), "loss") == logged_values(trainer, "loss")
    assert trainer.model.training is False  # as after any evaluation of Trainer


def test_resumed_training_continues_the_test(train):
    def resume(*options, **keywords):
        callback = DiversityCallback(
            watch_training.PROMPTS[:20], max_new_tokens=3, prompts_per_evaluation=4, **OPTIONS
        )
        return callback, train(callback, *options, eval_steps=5, learning_rate=0.0, **keywords)

    options = {"save_strategy": "steps", "save_steps": 10}
    callback, trainer = resume(**options)
    checkpoint = f"{trainer.args.output_dir}/checkpoint-10"
    resumed_callback, resumed_trainer = resume(checkpoint, **options)
    assert resumed_callback.monitor.state_dict() == callback.monitor.state_dict()
    assert logged_values(resumed_trainer) == logged_values(trainer)
    assert len(logged_values(trainer)) == 5  # the baseline and four evaluations
    callback = DiversityCallback(watch_training.PROMPTS[:3], max_new_tokens=3, **OPTIONS)
    with pytest.raises(ValueError, match="has the baseline of other prompts; pass the same"):
        train(callback, checkpoint)


def test_scores_reach_trackers_and_select_the_best_model(train):
    reported_logs = []

    class Reporter(transformers.TrainerCallback):
        def on_log(self, args, state, control, logs, **arguments):
            reported_logs.append(dict(logs))

    def make_callback(trainer):
        trainer.add_callback(Reporter())
        return DiversityCallback(generate=lambda *_: ROWS, k="cosine", log=trainer.log)

    trainer = train(make_callback, metric_for_best_model="VS", greater_is_better=True)
    expected = compute(ROWS, k="cosine")
    result = [logs for logs in reported_logs if "eval_VS" in logs]
    assert [logs["eval_VS"] for logs in result] == [pytest.approx(expected["VS"])] * 2
    assert result[0]["eval_VS_se"] == pytest.approx(expected["VS_se"])
    assert "eval_evidence" not in result[0]
    assert len(logged_values(trainer)) == 2
    assert trainer.state.best_metric == pytest.approx(expected["VS"])


def test_baseline_contains_all_prompts_and_later_evaluations_use_each_prompt_once():
    run = Run(POOL[:10], prompts_per_evaluation=4)
    run.evaluate(0, 1, 2)
    assert run.prompts_by_step[0] == POOL[:10]
    first, second = run.prompts_by_step[1:]
    assert len({*first, *second}) == 8
    assert first + second != POOL[:8]  # shuffled
    assert run.callback.monitor.prompts == first + second
    with pytest.warns(UserWarning, match="all 10 prompts were used, .* no longer tested from step"):
        run.evaluate(3, 4)
    assert len(run.prompts_by_step[3]) == 4  # two unused prompts and two others
    assert run.callback.monitor.n == 10
    assert "eval_evidence" in run.state.log_history[3]
    assert "eval_evidence" not in run.evaluate(5)  # and no second warning
    assert run.evaluate(5)["eval_VS"] == pytest.approx(compute(VARIED, ns=1)["VS"])


def test_logs_contain_scores_and_the_evidence_of_a_paired_monitor():
    rng = np.random.default_rng(0)
    drawn = {}

    def draw(prompt, step):
        return drawn.setdefault((prompt, step), rng.choice(VARIED, 4).tolist())

    run = Run(answers=draw, prompts_per_evaluation=5, q=2)
    run.evaluate(0, 10, 20)
    baseline = {prompt: compute(drawn[prompt, 0], q=2, ns=1)["VS_q2"] for prompt in POOL}
    monitor = Monitor(baseline, size=4)
    for step, prompts in zip((10, 20), run.prompts_by_step[1:], strict=True):
        answers = [drawn[prompt, step] for prompt in prompts]
        expected = compute(answers, q=2, ns=1)
        for prompt, texts in zip(prompts, answers, strict=True):
            monitor.update(compute(texts, q=2, ns=1)["VS_q2"], prompt)
        entry = run.state.log_history[step // 10]
        assert entry["eval_VS_q2"] == pytest.approx(expected["VS_q2"])
        assert entry["eval_VS_q2_se"] == pytest.approx(expected["VS_q2_se"])
        assert entry["eval_evidence"] == pytest.approx(monitor.evidence)
        assert entry["step"] == step


def test_alarm_is_reported_once_and_stops_only_if_requested():
    def collapse(prompt, step):
        return REPETITIVE if step > 2 else VARIED

    for stop_on_alarm in (False, True):
        run = Run(answers=collapse, stop_on_alarm=stop_on_alarm)
        run.evaluate(0, 1, 2)
        assert not run.callback.monitor.alarm
        with pytest.warns(UserWarning, match="by step 3. Diversity decreased, from about"):
            run.evaluate(3, 4)
        assert run.control.should_training_stop == stop_on_alarm
        run.evaluate(5)  # no second warning


def test_noise_of_the_baseline_causes_no_false_alarms():
    """Scores of few answers; the same prompts in each evaluation would cause false alarms."""
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(8)]
    n_alarms = 0
    for seed in range(20):
        run = Run(answers=lambda prompt, step: rng.choice(words, 4).tolist(), seed=seed)
        run.evaluate(*range(8))
        n_alarms += run.callback.monitor.alarm
    assert n_alarms <= 2


def test_repeated_evaluations_at_the_same_step_generate_once():
    state = transformers.TrainerState(global_step=3)
    calls = []
    callback = DiversityCallback(generate=lambda *_: calls.append(1) or ["a", "b"])
    for name in ("one", "other"):
        metrics = {f"eval_{name}_loss": 1.0}
        callback.on_evaluate(None, state, None, metrics=metrics)
        assert metrics["eval_VS"] == pytest.approx(2)
    assert len(calls) == len(state.log_history) == 1


def test_blank_generations_count_as_an_additional_text():
    state = transformers.TrainerState(global_step=1)
    callback = DiversityCallback(generate=lambda *_: [["", " "], ["a", ""]])
    callback.on_evaluate(None, state, None)
    assert state.log_history[0]["eval_VS"] == pytest.approx(1.5)


@pytest.mark.filterwarnings("error")
def test_only_the_main_process_warns():
    run = Run(answers=lambda prompt, step: REPETITIVE if step else VARIED)
    run.state.is_world_process_zero = False
    run.evaluate(*range(12))
    assert run.callback.monitor.alarm


# Each process generates other answers; only those of the main process become repetitive.
DISTRIBUTED_SCRIPT = """
import json
import sys
import warnings
from pathlib import Path

import torch.distributed
import watch_training

from vendiscore.integrations.transformers import DiversityCallback

warnings.simplefilter("ignore")
folder = Path(sys.argv[1])
trainer = watch_training.trainer(
    output_dir=str(folder), eval_steps=1, max_steps=12, ddp_backend="gloo"
)
rank = torch.distributed.get_rank()


def generate(model, processing_class, prompts):
    step = trainer.state.global_step
    if rank == 0 and step == int(sys.argv[2]):
        return [[1.0] * 4] * len(prompts)  # invalid
    words = "same" if rank == 0 and step else f"a{rank} b c d"
    return [(words.split() * 4)[:4]] * len(prompts)


pool = [f"prompt {i}" for i in range(96)]
callback = DiversityCallback(pool, n=4, ns=1, stop_on_alarm=True, generate=generate)
trainer.add_callback(callback)
try:
    trainer.train()
    error = ""
except Exception as exception:
    error = repr(exception)
result = {
    "error": error,
    "n_processes": torch.distributed.get_world_size(),
    "step": trainer.state.global_step,
    "scores": [entry["eval_VS"] for entry in trainer.state.log_history if "eval_VS" in entry],
    "alarm": callback.monitor.alarm,
    "values": callback.monitor.values,
}
(folder / f"{rank}.json").write_text(json.dumps(result))
torch.distributed.destroy_process_group()
"""


def run_two_processes(folder, step_of_error=-1):
    """Train in two processes that communicate with gloo; return the result of each."""
    if not (torch.distributed.is_available() and torch.distributed.is_gloo_available()):
        pytest.skip("requires torch.distributed with gloo")
    (script := folder / "script.py").write_text(DISTRIBUTED_SCRIPT)
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", script, folder]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    process = subprocess.run(
        [sys.executable, *command, str(step_of_error)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


def test_main_process_decides_when_all_processes_stop(tmp_path):
    main, other = run_two_processes(tmp_path)
    assert main == other
    assert main["n_processes"] == 2
    assert main["error"] == ""
    assert main["alarm"]
    assert 1 <= main["step"] < 12
    assert main["scores"] == pytest.approx([4.0] + [1.0] * main["step"])


@pytest.mark.long
def test_errors_of_the_main_process_are_raised_in_all_processes(tmp_path):
    main, other = run_two_processes(tmp_path, step_of_error=1)
    assert main["error"] == other["error"] != ""


def test_own_monitor_replaces_the_baseline_and_the_options():
    earlier = Monitor(size=4, q=2, ns=1)
    for prompt in POOL:
        earlier.update(VARIED, prompt)
    monitor = Monitor(earlier, q=2, ns=1)
    callback = DiversityCallback(
        POOL[:30], generate=lambda model, _, prompts: [VARIED] * len(prompts), monitor=monitor
    )
    state = transformers.TrainerState()
    callback.on_evaluate(None, state, None)
    assert monitor.n == 8
    assert state.log_history[0]["eval_VS_q2"] == pytest.approx(earlier.values[0])
    callback.on_evaluate(None, transformers.TrainerState(global_step=1), None)
    progress = json.loads(json.dumps(state.stateful_callbacks))
    # A new process has the same monitor without values.
    restored_monitor = Monitor(earlier, q=2, ns=1)
    restored = DiversityCallback(POOL[:30], generate=callback.generate, monitor=restored_monitor)
    resumed_state = transformers.TrainerState(global_step=2)
    resumed_state.stateful_callbacks = progress
    restored.on_train_begin(transformers.TrainingArguments(use_cpu=True), resumed_state, None)
    assert restored_monitor.state_dict()["prompts"] == monitor.prompts[:8]


def test_samples_without_prompts_are_tested_against_a_known_baseline():
    monitor = Monitor(3.5, size=4)
    groups = itertools.chain([[VARIED, VARIED]], itertools.repeat([REPETITIVE, VARIED]))
    callback = DiversityCallback(generate=lambda *_: next(groups), monitor=monitor)
    for step in range(5):
        callback.on_evaluate(None, transformers.TrainerState(global_step=step), None)
    vs = compute(VARIED)["VS"]
    assert monitor.values == pytest.approx([vs] + [math.sqrt(vs)] * 4)
    monitor = Monitor(3.0, size=4)
    callback = DiversityCallback(generate=lambda *_: VARIED, monitor=monitor)
    callback.on_evaluate(None, transformers.TrainerState(), None)
    assert monitor.values == pytest.approx([vs])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, TypeError, r"`prompts` must be a list of str, got .*a function `gene"),
        ({"prompts": "a cat"}, TypeError, r"`prompts` must be a list of str, got 'a cat'"),
        ({"prompts": ["a", "b", "a"]}, ValueError, "must be distinct, got 'a' twice"),
        ({"prompts": ["a"], "n": 1}, ValueError, "`n` must be"),
        ({"prompts": ["a"], "alpha": 2}, ValueError, "`alpha` must be a probability"),
        ({"prompts": ["a"], "q": -1}, ValueError, "`q`"),
        ({"prompts": ["a"], "nss": 1}, TypeError, "unknown keyword 'nss'"),
        ({"prompts": ["a"], "prompts_per_evaluation": 0}, ValueError, "prompts_per_evaluation"),
        ({"generate": print, "given_prompt": True}, TypeError, "`given_prompt` requires `prompts`"),
        ({"prompts": ["a"], "monitor": 3.0}, TypeError, "`monitor` must be a Monitor, got 3.0"),
        (
            {"prompts": ["a"], "monitor": Monitor(0.5, bounds=(0, 1))},
            ValueError,
            "`monitor` must have a `size`",
        ),
        (
            {"prompts": ["a"], "monitor": Monitor(3.0, size=4), "n": 5},
            ValueError,
            "`n` is 5, but the monitor has size=4; remove `n`",
        ),
        (
            {"prompts": ["a"], "monitor": Monitor(3.0, size=4), "q": 2},
            TypeError,
            "options of the kernel to the Monitor instead",
        ),
        (
            {"prompts": ["a", "b"], "monitor": Monitor({"a": 2.0}, size=4)},
            ValueError,
            "1 of 2 prompts are not in the baseline of `monitor`, .* such as 'b'; remove them",
        ),
        (
            {"generate": print, "monitor": Monitor({"a": 2.0}, size=4)},
            TypeError,
            "the baseline of `monitor` has a score for each prompt; pass `prompts`",
        ),
    ],
)
def test_invalid_arguments_raise(arguments, error, message):
    with pytest.raises(error, match=message):
        DiversityCallback(**arguments)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([VARIED], "answers to each of 2 prompts, got 1 lists"),
        ([VARIED, ["a"]], "4 answers to each pr"),
    ],
)
def test_generated_answers_must_have_the_requested_size(answers, message):
    callback = DiversityCallback(["a", "b"], generate=lambda *_: answers, **OPTIONS)
    with pytest.raises(ValueError, match=message):
        callback.on_evaluate(None, transformers.TrainerState(), None)


def test_callback_is_picklable():
    callback = pickle.loads(pickle.dumps(DiversityCallback(POOL, ns=(1, 2), alpha=0.01)))
    assert callback.alpha == 0.01


@pytest.mark.parametrize("model_type", ["decoder", "encoder-decoder"])
def test_generations_exclude_the_prompt_and_depend_on_the_seed(model_type):
    tokenizer, model = tiny_model.word_tokenizer(), tiny_model.llama()
    if model_type == "encoder-decoder":
        config = transformers.T5Config(
            vocab_size=len(tiny_model.NAMES), d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2
        )
        config.decoder_start_token_id = tiny_model.PAD
        torch.manual_seed(0)
        model = transformers.T5ForConditionalGeneration(config)
    tokenizer.pad_token = None
    model.train()
    rng_state = torch.get_rng_state()
    prompts = ["a cat", "the dog ran under"]
    result = generate_answers(model, tokenizer, prompts, 3, 4, seed=1)
    assert (torch.get_rng_state() == rng_state).all()
    assert model.training
    assert [len(texts) for texts in result] == [3, 3]
    assert all(len(text.split()) <= 4 for texts in result for text in texts)
    assert result == generate_answers(model, tokenizer, prompts, 3, 4, seed=1)
    assert result != generate_answers(model, tokenizer, prompts, 3, 4, seed=2)


def test_evaluations_have_independent_answers():
    """With equal random numbers, the same chance decrease would be counted several times."""
    texts = []
    model, tokenizer = tiny_model.llama(), tiny_model.word_tokenizer()
    callback = DiversityCallback(["a cat"], max_new_tokens=4, log=texts.append, **OPTIONS)
    for step in range(2):
        state = transformers.TrainerState(global_step=step)
        callback.on_evaluate(None, state, None, model=model, processing_class=tokenizer)
    assert texts[0]["eval_VS"] != texts[1]["eval_VS"]


def test_given_prompt_conditions_on_the_prompts():
    texts = {"the cat?": ["the cat sat", "a dog ran"], "so what of rain?": ["it rained", "so what"]}
    prompts = list(texts)
    for given_prompt, options in ((True, {"prompts": prompts, "given_prompt": True}), (False, {})):
        callback = DiversityCallback(
            prompts,
            n=2,
            generate=lambda model, _, prompts: [texts[prompt] for prompt in prompts],
            given_prompt=given_prompt,
        )
        state = transformers.TrainerState(is_world_process_zero=True)
        callback.on_evaluate(None, state, None, metrics=(metrics := {}))
        assert metrics["eval_VS"] == pytest.approx(compute([*texts.values()], **options)["VS"])
