"""The example callback for Trainer, in runs of a tiny model and on synthetic scores."""

import itertools
import pickle

import numpy as np
import pytest

from vendiscore import compute

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

import tiny_model  # noqa: E402
import watch_training  # noqa: E402
from diversity_callback import DiversityCallback, collapses, generations  # noqa: E402

PROMPTS = watch_training.PROMPTS
ROWS = [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]]


@pytest.fixture
def train(tmp_path):
    """Return a function that trains the tiny example model and returns the trainer."""

    def train(callback=None, **options):
        trainer = watch_training.trainer(output_dir=str(tmp_path), max_steps=20, **options)
        if callback is not None:
            trainer.add_callback(callback(trainer) if callable(callback) else callback)
        trainer.train()
        return trainer

    return train


def logged_values(trainer, key="eval_VS"):
    return [entry[key] for entry in trainer.state.log_history if key in entry]


def test_collapsed_model_warns_and_logs_scores(monkeypatch, capsys):
    recorded_texts = []

    def record_generations(*arguments, **options):
        recorded_texts.append(generations(*arguments, **options))
        return recorded_texts[-1]

    monkeypatch.setattr("diversity_callback.generations", record_generations)
    with pytest.warns(UserWarning, match=r"have collapsed: VS is 1\.?\d* at step 20, and was 5"):
        trainer = watch_training.main()
    values = logged_values(trainer)
    assert values == pytest.approx([compute(texts)["VS"] for texts in recorded_texts], rel=1e-12)
    expected_error = compute(recorded_texts[0])["VS_se"]
    assert logged_values(trainer, "eval_VS_se")[0] == pytest.approx(expected_error, rel=1e-9)
    assert values[0] > 4
    assert values[-1] < 1.5
    assert f"step 0: {values[0]:.2f} of 6" in capsys.readouterr().out
    count = len(recorded_texts)
    assert trainer.evaluate()["eval_VS"] == values[-1]
    assert len(recorded_texts) == count  # no new generations at the same step


def test_generation_does_not_change_the_training(train):
    trainer = train(DiversityCallback(PROMPTS, n=2, max_new_tokens=3, patience=9), logging_steps=10)
    assert logged_values(train(logging_steps=10), "loss") == logged_values(trainer, "loss")
    assert trainer.model.training is False  # as after any evaluation of Trainer


def test_scores_reach_trackers_and_select_the_best_model(train):
    reported_logs = []

    class Reporter(transformers.TrainerCallback):
        def on_log(self, args, state, control, logs, **arguments):
            reported_logs.append(dict(logs))

    def make_callback(trainer):
        trainer.add_callback(Reporter())
        return DiversityCallback(generate=lambda *_: ROWS, k="cosine", log=trainer.log)

    trainer = train(
        make_callback, metric_for_best_model="VS", greater_is_better=True, eval_on_start=False
    )
    expected = compute(ROWS, k="cosine")
    result = [logs for logs in reported_logs if "eval_VS" in logs]
    assert [logs["eval_VS"] for logs in result] == [pytest.approx(expected["VS"])] * 2
    assert result[0]["eval_VS_se"] == pytest.approx(expected["VS_se"])
    assert len(logged_values(trainer)) == 2
    assert trainer.state.best_metric == pytest.approx(expected["VS"])


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


def test_resumed_run_uses_the_logged_history():
    history = [{"eval_VS": 5.0, "step": 1}, {"loss": 0.1, "step": 2}, {"eval_VS": 1.5, "step": 2}]
    callback = DiversityCallback(generate=lambda *_: ["a"] * 3)
    state = transformers.TrainerState(global_step=3, log_history=history)
    with pytest.warns(UserWarning, match="VS is 1 at step 3, and was 5 at the first evaluation"):
        callback.on_evaluate(None, state, None)


@pytest.mark.filterwarnings("error")
def test_only_the_main_process_warns():
    state = transformers.TrainerState(is_world_process_zero=False)
    callback = DiversityCallback(generate=lambda *_: ["a", "a"], patience=1)
    callback.on_evaluate(None, state, None)
    assert state.log_history[0]["eval_VS"] == pytest.approx(1)


def noisy_scores(means, noise, seed=0):
    """Return noisy scores; `noise` is the relative standard deviation of VS − 1."""
    noise_values = np.random.default_rng(seed).standard_normal(len(means))
    return (1 + (np.asarray(means, float) - 1) * (1 + noise * noise_values)).tolist()


def collapse_steps(values, collapse=0.5, patience=2):
    return collapses(values, collapse, patience)


def test_noise_is_not_reported_as_collapse():
    for seed in range(5):
        assert collapse_steps([5, *noisy_scores([5] * 2000, 0.15, seed)]) == []


def test_scores_near_the_threshold_are_reported_once():
    values = [5, *noisy_scores([3] * 300, 0.1)]
    crossings = sum(b - 1 <= 2 < a - 1 for a, b in itertools.pairwise(values))
    assert crossings > 50  # number of warnings without hysteresis
    assert len(collapse_steps(values)) == 1


@pytest.mark.parametrize("noise", [0, 0.1])
def test_every_collapse_is_reported_once_and_early(noise):
    means = [6] * 20 + [2] * 20 + [6] * 20 + [1] * 20
    result = collapse_steps([6, *noisy_scores(means, noise)])
    assert len(result) == 2
    assert 22 <= result[0] <= 24
    assert 62 <= result[1] <= 64


@pytest.mark.parametrize(
    ("values", "collapse", "patience", "expected"),
    [
        ([5, 1], 0.5, 1, [1]),
        ([5, 4.5, 2, 1.5, 1.5, 4, 4, 1, 1], 0.5, 2, [3, 8]),
        ([5, 1, 5, 1, 5, 1], 0.5, 2, []),
        ([5, 1, 1, 1, 1], 0.5, 3, [3]),
        ([1, 1, 1], 0.5, 2, [1]),  # collapsed from the start
        ([5, 2.1, 2.1, 1.9, 1.9], 2, 2, [4]),  # absolute threshold
        ([5, 1, 1], 0, 2, [2]),
        ([5, 1.1, 1.1], 0, 2, []),
    ],
)
def test_collapse_steps_follow_threshold_and_patience(values, collapse, patience, expected):
    assert collapse_steps(values, collapse, patience) == expected


@pytest.mark.parametrize("prompts", [(), "a cat"])
def test_prompts_must_be_a_list_of_strings(prompts):
    with pytest.raises(TypeError, match=r"`prompts` must be a list of str, got .*a function `gene"):
        DiversityCallback(prompts)


def test_callback_is_picklable():
    callback = pickle.loads(pickle.dumps(DiversityCallback(PROMPTS, ns=(1, 2), collapse=0.25)))
    assert callback.collapse == 0.25


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
    result = generations(model, tokenizer, ["a cat", "the dog ran under"], 3, 4, seed=1)
    assert (torch.get_rng_state() == rng_state).all()
    assert model.training
    assert [len(texts) for texts in result] == [3, 3]
    assert all(len(text.split()) <= 4 for texts in result for text in texts)
    assert result == generations(model, tokenizer, ["a cat", "the dog ran under"], 3, 4, seed=1)
    assert result != generations(model, tokenizer, ["a cat", "the dog ran under"], 3, 4, seed=2)


def test_given_prompt_conditions_on_the_prompts(monkeypatch):
    texts = [["the cat sat", "a dog ran"], ["it rained", "so what"]]
    monkeypatch.setattr("diversity_callback.generations", lambda *a, **b: texts)
    prompts = ["the cat?", "so what of rain?"]
    for given_prompt, options in ((True, {"prompts": prompts, "given_prompt": True}), (False, {})):
        callback = DiversityCallback(prompts, n=2, given_prompt=given_prompt)
        state = transformers.TrainerState(is_world_process_zero=True)
        callback.on_evaluate(None, state, None, metrics=(metrics := {}))
        assert metrics["eval_VS"] == pytest.approx(compute(texts, **options)["VS"])


def test_keys_contain_an_order_other_than_1(train):
    trainer = train(DiversityCallback(PROMPTS, n=3, max_new_tokens=3, patience=9, q=2))
    assert logged_values(trainer) == []
    assert logged_values(trainer, "eval_VS_q2")
    assert logged_values(trainer, "eval_VS_q2_se")
