"""The callback of the examples, in real runs of a tiny model and on series that are made up."""

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
    """Train the tiny model of the example for some steps; the trainer."""

    def train(callback=None, **options):
        trainer = watch_training.trainer(output_dir=str(tmp_path), max_steps=20, **options)
        if callback is not None:
            trainer.add_callback(callback(trainer) if callable(callback) else callback)
        trainer.train()
        return trainer

    return train


def logged(trainer, key="eval_VS"):
    return [entry[key] for entry in trainer.state.log_history if key in entry]


def test_a_model_that_learns_one_sentence_collapses_and_is_warned_of(monkeypatch, capsys):
    seen = []

    def kept(*arguments, **options):
        seen.append(generations(*arguments, **options))
        return seen[-1]

    monkeypatch.setattr("diversity_callback.generations", kept)
    with pytest.warns(UserWarning, match=r"have collapsed: VS is 1\.?\d* at step 20, and was 5"):
        trainer = watch_training.main()
    values = logged(trainer)
    assert values == pytest.approx([compute(texts)["VS"] for texts in seen], rel=1e-12)
    assert logged(trainer, "eval_VS_se")[0] == pytest.approx(compute(seen[0])["VS_se"], rel=1e-9)
    assert values[0] > 4
    assert values[-1] < 1.5
    assert f"step 0: {values[0]:.2f} of 6" in capsys.readouterr().out
    count = len(seen)
    assert trainer.evaluate()["eval_VS"] == values[-1]
    assert len(seen) == count  # at the same step there is nothing new to generate


def test_what_is_generated_changes_nothing_of_the_training(train):
    trainer = train(DiversityCallback(PROMPTS, n=2, max_new_tokens=3, patience=9), logging_steps=10)
    assert logged(train(logging_steps=10), "loss") == logged(trainer, "loss")
    assert trainer.model.training is False  # as after any evaluation


def test_numbers_reach_what_the_trainer_logs_to_and_choose_the_best_model(train):
    told = []

    class Reporter(transformers.TrainerCallback):
        def on_log(self, args, state, control, logs, **others):
            told.append(dict(logs))

    def callback(trainer):
        trainer.add_callback(Reporter())
        return DiversityCallback(generate=lambda *_: ROWS, k="cosine", log=trainer.log)

    trainer = train(
        callback, metric_for_best_model="VS", greater_is_better=True, eval_on_start=False
    )
    expected = compute(ROWS, k="cosine")
    result = [logs for logs in told if "eval_VS" in logs]
    assert [logs["eval_VS"] for logs in result] == [pytest.approx(expected["VS"])] * 2
    assert result[0]["eval_VS_se"] == pytest.approx(expected["VS_se"])
    assert len(logged(trainer)) == 2
    assert trainer.state.best_metric == pytest.approx(expected["VS"])


def test_several_sets_at_one_step_are_one_evaluation():
    state = transformers.TrainerState(global_step=3)
    calls = []
    callback = DiversityCallback(generate=lambda *_: calls.append(1) or ["a", "b"])
    for name in ("one", "other"):
        metrics = {f"eval_{name}_loss": 1.0}
        callback.on_evaluate(None, state, None, metrics=metrics)
        assert metrics["eval_VS"] == pytest.approx(2)
    assert len(calls) == len(state.log_history) == 1


def test_blank_generations_are_one_more_text():
    state = transformers.TrainerState(global_step=1)
    callback = DiversityCallback(generate=lambda *_: [["", " "], ["a", ""]])
    callback.on_evaluate(None, state, None)
    assert state.log_history[0]["eval_VS"] == pytest.approx(1.5)


def test_a_run_that_is_resumed_goes_on_with_its_history():
    past = [{"eval_VS": 5.0, "step": 1}, {"loss": 0.1, "step": 2}, {"eval_VS": 1.5, "step": 2}]
    callback = DiversityCallback(generate=lambda *_: ["a"] * 3)
    with pytest.warns(UserWarning, match="VS is 1 at step 3, and was 5 at the first evaluation"):
        callback.on_evaluate(None, transformers.TrainerState(global_step=3, log_history=past), None)


@pytest.mark.filterwarnings("error")
def test_one_process_warns():
    state = transformers.TrainerState(is_world_process_zero=False)
    callback = DiversityCallback(generate=lambda *_: ["a", "a"], patience=1)
    callback.on_evaluate(None, state, None)
    assert state.log_history[0]["eval_VS"] == pytest.approx(1)


def noisy(means, noise, seed=0):
    """Return scores around some means, with that relative error of VS − 1."""
    drawn = np.random.default_rng(seed).standard_normal(len(means))
    return (1 + (np.asarray(means, float) - 1) * (1 + noise * drawn)).tolist()


def due(values, collapse=0.5, patience=2):
    return collapses(values, collapse, patience)


def test_noise_is_no_collapse():
    for seed in range(5):
        assert due([5, *noisy([5] * 2000, 0.15, seed)]) == []


def test_scores_that_hover_at_the_threshold_are_warned_of_once():
    values = [5, *noisy([3] * 300, 0.1)]
    crossings = sum(b - 1 <= 2 < a - 1 for a, b in itertools.pairwise(values))
    assert crossings > 50  # warnings without hysteresis
    assert len(due(values)) == 1


@pytest.mark.parametrize("noise", [0, 0.1])
def test_each_collapse_is_warned_of_once_and_soon(noise):
    means = [6] * 20 + [2] * 20 + [6] * 20 + [1] * 20
    result = due([6, *noisy(means, noise)])
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
        ([1, 1, 1], 0.5, 2, [1]),  # from the start
        ([5, 2.1, 2.1, 1.9, 1.9], 2, 2, [4]),  # a number
        ([5, 1, 1], 0, 2, [2]),
        ([5, 1.1, 1.1], 0, 2, []),
    ],
)
def test_thresholds_and_patience(values, collapse, patience, expected):
    assert due(values, collapse, patience) == expected


@pytest.mark.parametrize("prompts", [(), "a cat"])
def test_prompts_are_a_list(prompts):
    with pytest.raises(TypeError, match=r"`prompts` must be a list of str, got .*a function `gene"):
        DiversityCallback(prompts)


def test_it_is_pickled():
    callback = pickle.loads(pickle.dumps(DiversityCallback(PROMPTS, ns=(1, 2), collapse=0.25)))
    assert callback.collapse == 0.25


@pytest.mark.parametrize("kind", ["decoder", "encoder-decoder"])
def test_continuations_are_of_each_prompt_without_it_and_the_same_for_one_seed(kind):
    tokenizer, model = tiny_model.word_tokenizer(), tiny_model.llama()
    if kind == "encoder-decoder":
        config = transformers.T5Config(
            vocab_size=len(tiny_model.NAMES), d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2
        )
        config.decoder_start_token_id = tiny_model.PAD
        torch.manual_seed(0)
        model = transformers.T5ForConditionalGeneration(config)
    tokenizer.pad_token = None
    model.train()
    before = torch.get_rng_state()
    result = generations(model, tokenizer, ["a cat", "the dog ran under"], 3, 4, seed=1)
    assert (torch.get_rng_state() == before).all()
    assert model.training
    assert [len(texts) for texts in result] == [3, 3]
    assert all(len(text.split()) <= 4 for texts in result for text in texts)
    assert result == generations(model, tokenizer, ["a cat", "the dog ran under"], 3, 4, seed=1)
    assert result != generations(model, tokenizer, ["a cat", "the dog ran under"], 3, 4, seed=2)


def test_prompts_may_be_taken_out(monkeypatch):
    texts = [["the cat sat", "a dog ran"], ["it rained", "so what"]]
    monkeypatch.setattr("diversity_callback.generations", lambda *a, **b: texts)
    prompts = ["the cat?", "so what of rain?"]
    for given, how in ((True, {"prompts": prompts, "given_prompt": True}), (False, {})):
        callback = DiversityCallback(prompts, n=2, given_prompt=given)
        state = transformers.TrainerState(is_world_process_zero=True)
        callback.on_evaluate(None, state, None, metrics=(metrics := {}))
        assert metrics["eval_VS"] == pytest.approx(compute(texts, **how)["VS"])


def test_an_order_other_than_1_is_part_of_the_keys(train):
    trainer = train(DiversityCallback(PROMPTS, n=3, max_new_tokens=3, patience=9, q=2))
    assert logged(trainer) == []
    assert logged(trainer, "eval_VS_q2")
    assert logged(trainer, "eval_VS_q2_se")
