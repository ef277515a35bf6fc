"""`VendiReward` for TRL: credits, resistance to padding, logging and validation."""

import doctest
import itertools
import math
import pickle
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from vendiscore import Monitor, compute, group_rewards, score
from vendiscore.tools.integrations.trl import SINGLE_COMPLETION_WARNING, VendiReward

PAGE = Path(__file__).resolve().parents[3] / "docs" / "tasks" / "harnesses.md"
TEXTS = [
    "a cat sat on the mat",
    "a cat sat on the mat",
    "a dog ran off",
    "it rained all day in the town",
]
OTHER_TEXTS = ["red", "green and blue", "red", "blue"]
PROMPTS = ["one"] * 4 + ["two"] * 4


def compute_rewards(texts, prompts=None, **options):
    result = VendiReward(**options)(prompts=prompts or ["?"] * len(texts), completions=texts)
    assert len(result) == len(texts)
    return np.array(result, dtype=float)


def leave_one_out_scores(texts, **options):
    """Return VS without each text in turn."""
    sets = [texts[:i] + texts[i + 1 :] for i in range(len(texts))]
    return np.array([score(subset, **options) for subset in sets])


@pytest.mark.parametrize("q", [0.5, 1, 2])
def test_surprise_averages_to_the_score(q):
    result = compute_rewards(TEXTS, q=q, match_length=False)
    vs = score(TEXTS, q=q)
    assert ((result >= 0) & (result <= 1 + 1e-12)).all()
    assert result[0] == pytest.approx(result[1])
    if q == 1:
        assert result.mean() * math.log(4) == pytest.approx(math.log(vs), rel=1e-10)
    else:  # the power mean of exponentials equals the score
        assert np.mean(4 ** (result * (1 - q))) == pytest.approx(vs ** (1 - q), rel=1e-10)


@pytest.mark.parametrize("q", [0.5, 1, 2, math.inf])
def test_leave_one_out_matches_direct_computation(q):
    result = compute_rewards(TEXTS, credit="leave_one_out", q=q, match_length=False)
    assert result == pytest.approx(score(TEXTS, q=q) - leave_one_out_scores(TEXTS, q=q), abs=1e-8)
    assert result[0] < 0 < result[2]


def test_leave_one_out_credit_gives_the_gradient_of_the_expected_score():
    """A policy draws three of three texts; the test sums over all 27 draws."""
    texts = [*TEXTS[1:3], "a cat ran off"]
    policy = np.array([0.5, 0.3, 0.2])
    expected, result = np.zeros(3), np.zeros(3)
    for indices in itertools.product(range(3), repeat=3):
        answers = [texts[i] for i in indices]
        # Gradient of log π with respect to the logits.
        log_gradients = np.eye(3)[list(indices)] - policy
        weight = policy[list(indices)].prod()
        expected += weight * compute(answers)["VS"] * log_gradients.sum(axis=0)
        credits = compute_rewards(answers, credit="leave_one_out", match_length=False)
        result += weight * credits @ log_gradients
    assert result == pytest.approx(expected, abs=1e-9)
    assert np.abs(expected).max() > 0.05


# Four equivalent texts; tests add padding to the first.
EQUIVALENT_TEXTS = [
    "The answer is four, since two and two make four.",
    "The answer is four, because we add two to two.",
    "Two plus two is four, so that is the answer.",
    "We add two and two: the answer is four.",
]


def padding_gain(padding: str, prepend: bool = False, **options) -> float:
    """Return the change in reward of the first text if padding is added."""
    text = f"{padding} {EQUIVALENT_TEXTS[0]}" if prepend else f"{EQUIVALENT_TEXTS[0]} {padding}"
    before = compute_rewards(EQUIVALENT_TEXTS, **options)
    return (compute_rewards([text, *EQUIVALENT_TEXTS[1:]], **options) - before)[0]


@pytest.mark.parametrize("credit", ["surprise", "leave_one_out"])
def test_repetition_does_not_change_rewards(credit):
    expected = compute_rewards(EQUIVALENT_TEXTS, credit=credit)
    for texts in (
        [EQUIVALENT_TEXTS[0] * 3, *EQUIVALENT_TEXTS[1:]],
        [text + " " + text for text in EQUIVALENT_TEXTS],
        [EQUIVALENT_TEXTS[0] + " four" * 50, *EQUIVALENT_TEXTS[1:]],
        [EQUIVALENT_TEXTS[0].upper() + "!!!" * 20, *EQUIVALENT_TEXTS[1:]],
        [" \n\t" * 40 + EQUIVALENT_TEXTS[0], *EQUIVALENT_TEXTS[1:]],
    ):
        assert (compute_rewards(texts, credit=credit) == expected).all()


@pytest.mark.parametrize("prepend", [False, True])
@pytest.mark.parametrize("credit", ["surprise", "leave_one_out"])
def test_repeating_a_filler_word_earns_no_more_than_one_word(credit, prepend):
    single, repeated = (padding_gain("well " * k, prepend, credit=credit) for k in (1, 100))
    assert single == repeated < 0.02
    unmatched = padding_gain("well " * 100, prepend, credit=credit, match_length=False)
    assert unmatched > 3 * max(single, 0.01)  # the gain without length matching


def test_repeating_a_different_filler_word_in_each_text_changes_no_reward():
    words = ["well ", "so ", "hm ", "ok "]
    single, repeated = (
        compute_rewards(
            [f"{text} {word * k}" for text, word in zip(EQUIVALENT_TEXTS, words, strict=True)]
        )
        for k in (1, 60)
    )
    assert (single == repeated).all()


def test_additional_length_earns_nothing():
    extra_words = " ".join(f"w{i}" for i in range(200))
    longer = EQUIVALENT_TEXTS[3] + " Once more, we do so in other words, as ever."
    texts = [*EQUIVALENT_TEXTS[:3], longer]
    assert padding_gain(extra_words) == padding_gain(extra_words[:30])
    assert padding_gain(extra_words) < 0.02 < padding_gain(extra_words, match_length=False)
    expected = compute_rewards(texts)
    assert (compute_rewards([*texts[:3], f"{texts[3]} {extra_words}"]) == expected).all()


def test_novel_answer_earns_most():
    texts = ["A cat sat on the mat and looked out of the window.", *EQUIVALENT_TEXTS[1:]]
    for credit in ("surprise", "leave_one_out"):
        result = compute_rewards(texts, credit=credit)
        assert result.argmax() == 0
        assert result[0] > compute_rewards(EQUIVALENT_TEXTS, credit=credit)[0]


def test_analyzer_char_matches_scripts_without_spaces():
    texts = ["今天下雨了", "今天下雨了" + "了" * 50, "明天有太阳吗", "我不知道啊"]
    expected = compute_rewards([texts[0], texts[0], *texts[2:]], analyzer="char")
    assert (compute_rewards(texts, analyzer="char") == expected).all()
    assert expected[0] < expected[2]


def test_blank_completions_earn_nothing_and_are_ignored():
    result = compute_rewards(["", "a cat", " \n", "the dog"])
    assert result[[0, 2]].tolist() == [0, 0]
    assert result[[1, 3]] == pytest.approx(compute_rewards(["a cat", "the dog"]))
    for texts in (["", ""], ["a cat", ""], ["...", "!"]):
        assert compute_rewards(texts).tolist() == [0, 0]


def test_groups_are_identified_by_prompt_in_any_order():
    order = np.random.default_rng(0).permutation(8)
    texts = TEXTS + OTHER_TEXTS
    shuffled = compute_rewards([texts[i] for i in order], [PROMPTS[i] for i in order])
    expected = np.concatenate([compute_rewards(TEXTS), compute_rewards(OTHER_TEXTS)])
    assert shuffled == pytest.approx(expected[order])


def test_conversations_are_compared_by_their_text():
    prompts = [[{"role": "user", "content": prompt}] for prompt in PROMPTS]
    chats = [[{"role": "assistant", "content": text}] for text in TEXTS + OTHER_TEXTS]
    chats_with_parts = [
        [{"role": "assistant", "content": [{"type": "text", "text": text}]}]
        for text in TEXTS + OTHER_TEXTS
    ]
    tool_call = {"role": "assistant", "content": None, "tool_calls": []}
    chats_with_tools = [
        [tool_call, {"role": "tool", "content": f"{i}"}, *chat] for i, chat in enumerate(chats)
    ]
    expected = compute_rewards(TEXTS + OTHER_TEXTS, PROMPTS)
    for completions in (chats, chats_with_parts, chats_with_tools):
        assert compute_rewards(completions, prompts) == pytest.approx(expected, rel=1e-12)


def test_quality_function_is_combined_with_credits():
    def quality(prompts, completions, label, **columns):
        return [None if value < 0 else float(value) for value in label]

    label = [1, 0, 2, 1, -1, 1, 1, 1]
    credits = compute_rewards(TEXTS + OTHER_TEXTS, PROMPTS)
    for fuse, operation in (("x", np.multiply), ("+", np.add)):
        reward = VendiReward(quality=quality, fuse=fuse)
        result = reward(prompts=PROMPTS, completions=TEXTS + OTHER_TEXTS, label=label)
        assert result.pop(4) is None
        assert result == pytest.approx(np.delete(operation(label, credits), 4))
    with pytest.warns(UserWarning, match="only one completion"):
        assert VendiReward(quality=quality)(["?"], ["a cat"], label=[0.5]) == [0.5]


def test_vs_of_groups_is_logged():
    metrics, columns = {}, {}
    VendiReward(match_length=False)(
        prompts=PROMPTS,
        completions=TEXTS + OTHER_TEXTS,
        completion_ids=[[1]] * 8,
        trainer_state=None,
        label=[0] * 8,
        log_metric=metrics.__setitem__,
        log_extra=columns.__setitem__,
    )
    scores = [compute(group)["VS"] for group in (TEXTS, OTHER_TEXTS)]
    assert metrics == {"VS": pytest.approx(compute([TEXTS, OTHER_TEXTS])["VS"], rel=1e-12)}
    assert np.mean(scores) == pytest.approx(metrics["VS"])
    assert columns["VS"] == pytest.approx(np.repeat(scores, 4), rel=1e-12)


@pytest.mark.parametrize(("q", "key"), [(1, "VS"), (2, "VS_q2"), (0.5, "VS_q0.5")])
def test_logged_key_contains_the_order(q, key):
    reward = pickle.loads(pickle.dumps(VendiReward(q=q, match_length=False)))
    metrics, columns = {}, {}
    log = {"log_metric": metrics.__setitem__, "log_extra": columns.__setitem__}
    reward(prompts=["?"] * 4, completions=TEXTS, **log)
    assert metrics == {key: pytest.approx(score(TEXTS, q=q), rel=1e-9)}
    assert list(columns) == [key]


def test_single_completion_has_no_reward_across_ranks():
    reward = pickle.loads(pickle.dumps(VendiReward()))
    assert reward.__name__ == "vendi_reward"
    texts, prompts = TEXTS[:3] + OTHER_TEXTS[:3], ["one"] * 3 + ["two"] * 3
    expected = reward(prompts=prompts, completions=texts)
    ranks = [slice(0, 3), slice(3, 6)]
    rewards_by_rank = [reward(prompts=prompts[rank], completions=texts[rank]) for rank in ranks]
    assert rewards_by_rank[0] + rewards_by_rank[1] == pytest.approx(expected, rel=1e-12)
    metrics = []
    with pytest.warns(UserWarning, match=SINGLE_COMPLETION_WARNING):
        result = reward(prompts[:4], texts[:4], log_metric=lambda *logged: metrics.append(logged))
    assert result == [*rewards_by_rank[0], None]
    assert len(metrics) == 1
    assert reward(prompts=prompts[4:], completions=texts[4:])[0] is not None
    with pytest.warns(UserWarning, match=SINGLE_COMPLETION_WARNING):
        assert reward(prompts=["a"], completions=["b"], log_metric=metrics.append) == [None]


def test_images_in_prompts_identify_groups():
    image = pytest.importorskip("PIL.Image")
    prompts = [
        [{"role": "user", "content": [{"type": "image", "image": image.new("L", (2, 2), color)}]}]
        for color in (0, 0, 9, 9)
    ]
    assert compute_rewards(TEXTS, prompts) == pytest.approx([0, 0, 1, 1], abs=1e-7)


def test_custom_kernels_are_supported():
    result = compute_rewards(["a b", "a b", "c"], k=lambda a, b: float(a == b))
    assert result == pytest.approx(compute_rewards(["a b", "a b", "c"]))
    texts = ["the cat sat", "a cat sat", "a dog ran off"]
    with pytest.raises(ValueError, match="eigenvalue"):
        compute_rewards(texts, k=lambda a, b: 1.0 if a == b else -1.0)
    assert (compute_rewards(texts, k=lambda a, b: 1.0 if a == b else -1.0, psd="clip") >= 0).all()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"credit": "shapley"}, ValueError, "`credit` must be 'surprise' or 'leave_one_out', got"),
        ({"q": 0}, ValueError, "`q` must be an order above 0, got 0; use a small order"),
        ({"match_length": "no"}, TypeError, "`match_length` must be True or False"),
        ({"k": "ngrams"}, ValueError, "unknown kernel `k='ngrams'`"),
        ({"nss": 1}, TypeError, "unknown keyword 'nss'"),
        ({"on_error": "skip"}, ValueError, "is not supported, because every sample needs a reward"),
        ({"psd": "no"}, ValueError, "`psd` must be 'check' or 'clip'"),
        ({"fuse": "*"}, ValueError, "`fuse` must be 'x' or '\\+', got"),
        ({"weight": 2}, ValueError, "`weight` must be a number from 0 to 1 with fuse='x'"),
    ],
)
def test_invalid_arguments_raise(arguments, error, message):
    with pytest.raises(error, match=message):
        VendiReward(**arguments)


@pytest.mark.parametrize("n", [1, 3])
def test_number_of_prompts_must_match_completions(n):
    with pytest.raises(ValueError, match=f"each of the 2 completions, got {n}; repeat"):
        VendiReward()(prompts=["?"] * n, completions=TEXTS[:2])


TRAINER_OPTIONS = {
    "logging_steps": 1,
    "save_strategy": "no",
    "use_cpu": True,
    "bf16": False,
    "disable_tqdm": True,
}


@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing:FutureWarning")  # warning of TRL
def test_grpo_trains_and_logs_rewards(tmp_path, monkeypatch):
    pytest.importorskip("trl")
    import train_grpo
    from tiny_model import llama, word_tokenizer

    recorded_calls = []

    class RecordingReward(VendiReward):
        def __call__(self, prompts, completions, **columns):
            rewards = super().__call__(prompts, completions, **columns)
            recorded_calls.append((prompts, completions, rewards))
            return rewards

    monkeypatch.setattr(train_grpo, "VendiReward", partial(RecordingReward, match_length=False))
    trainer = train_grpo.trainer(
        llama(),
        word_tokenizer(),
        output_dir=str(tmp_path),
        max_steps=2,
        num_generations=4,
        max_completion_length=6,
        generation_kwargs={"min_new_tokens": 2},  # `compute` rejects empty completions
        **TRAINER_OPTIONS,
    )
    trainer.train()
    history = [entry for entry in trainer.state.log_history if "VS" in entry]
    assert len(history) == len(recorded_calls) == 2
    for entry, (prompts, completions, result) in zip(history, recorded_calls, strict=True):
        groups = [
            [text for text, p in zip(completions, prompts, strict=True) if p == prompt]
            for prompt in dict.fromkeys(prompts)
        ]
        assert entry["VS"] == pytest.approx(compute(groups)["VS"], rel=1e-6)
        assert entry["rewards/vendi_reward/mean"] == pytest.approx(np.mean(result), rel=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing:FutureWarning")  # warning of TRL
def test_grpo_keeps_several_answers_only_with_the_reward(tmp_path):
    """Answers of two words are correct if they contain a noun; 100 steps, ten words."""
    pytest.importorskip("trl")
    import train_grpo
    from tiny_model import llama, word_tokenizer

    def names_a_noun(completions, **columns):
        return [float(bool({"cat", "dog", "sun", "mat"} & {*c.split()})) for c in completions]

    scores, quality_means = [], []
    for weight in (0.0, 0.5):
        trainer = train_grpo.trainer(
            llama(),
            word_tokenizer(),
            names_a_noun,
            weight,
            ["a cat"] * 8,
            output_dir=str(tmp_path),
            max_steps=100,
            max_completion_length=2,
            learning_rate=0.1,
            seed=0,
            **TRAINER_OPTIONS,
        )
        trainer.train()
        history = [entry for entry in trainer.state.log_history if "VS" in entry][-30:]
        scores.append(np.mean([entry["VS"] for entry in history]))
        quality_means.append(np.mean([entry["rewards/vendi_reward/mean"] for entry in history]))
    assert scores[0] < 3.5 < 4.5 < scores[1]  # for 8 completions
    assert quality_means[0] > 0.95  # only quality
    assert quality_means[1] > 0.8  # quality times 0.5 + 0.5 · credit, with a credit of about 0.8


def test_documentation_examples_run():
    doctest_result = doctest.testfile(str(PAGE), False, optionflags=doctest.ELLIPSIS)
    assert doctest_result.failed == 0 < doctest_result.attempted


def test_given_prompt_conditions_on_the_prompt():
    prompts = ["what did the cat do on the mat?"] * 4 + ["which colour?"] * 4
    result = compute_rewards([*TEXTS, *OTHER_TEXTS], prompts, given_prompt=True)
    options = {"prompts": prompts, "match_length": True}
    expected = group_rewards([*TEXTS, *OTHER_TEXTS], given_prompt=True, **options)
    assert result == pytest.approx(expected)
    assert result.tolist() != compute_rewards([*TEXTS, *OTHER_TEXTS], prompts).tolist()
    chats = [
        [{"role": "system", "content": "Be kind."}, {"role": "user", "content": text}]
        for text in prompts
    ]
    chat_result = compute_rewards([*TEXTS, *OTHER_TEXTS], chats, given_prompt=True)
    assert chat_result == pytest.approx(result)
    assert np.isfinite(compute_rewards(TEXTS, [" "] * 4, given_prompt=True)).all()


def test_whole_groups_update_the_monitor_and_log_its_evidence():
    monitor = Monitor(3.0, size=4)
    reward = VendiReward(monitor=monitor, match_length=False)
    metrics = {}
    for _ in range(2):
        reward(
            prompts=[*PROMPTS, "three", "three"],
            completions=[*TEXTS, *OTHER_TEXTS, "a", "b"],
            log_metric=metrics.__setitem__,
        )
    scores = [compute(group)["VS"] for group in (TEXTS, OTHER_TEXTS)]
    assert monitor.values == pytest.approx(scores * 2)
    assert metrics["VS_evidence"] == monitor.evidence
    assert pickle.loads(pickle.dumps(reward)).monitor.values == monitor.values


@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing:FutureWarning")  # warning of TRL
def test_evaluation_batches_do_not_update_the_monitor(tmp_path):
    pytest.importorskip("trl")
    from datasets import Dataset
    from tiny_model import llama, word_tokenizer
    from trl import GRPOConfig, GRPOTrainer

    n_calls = {True: 0, False: 0}  # by the mode of the model

    class CountingReward(VendiReward):
        def __call__(self, prompts, completions, **columns):
            n_calls[trainer.model.training] += 1
            return super().__call__(prompts, completions, **columns)

    reward = CountingReward(monitor=Monitor(3.0, size=4))
    prompts = Dataset.from_dict({"prompt": ["a cat", "the dog"]})
    trainer = GRPOTrainer(
        model=llama(),
        processing_class=word_tokenizer(),
        reward_funcs=reward,
        args=GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=2,
            num_generations=4,
            per_device_train_batch_size=4,
            per_device_eval_batch_size=4,
            max_completion_length=4,
            eval_strategy="steps",
            eval_steps=1,
            report_to=[],
            **TRAINER_OPTIONS,
        ),
        train_dataset=prompts,
        eval_dataset=prompts,
    )
    trainer.train()
    assert n_calls == {True: 2, False: 4}
    assert reward.monitor.n == 2
    keys = {key for entry in trainer.state.log_history for key in entry}
    assert "eval_VS" in keys
    assert "eval_VS_evidence" not in keys


def test_monitor_with_a_baseline_by_prompt_uses_each_prompt_once():
    baseline = {f"question {i}": 4.0 for i in range(40)}
    reward = VendiReward(monitor=Monitor(baseline, size=4))
    prompts = [{"role": "user", "content": prompt} for prompt in (*baseline, "unknown")]
    batch = [[message] for message in prompts for _ in range(4)]
    with pytest.warns(UserWarning, match="completions have become less diverse. Diversity decr"):
        reward(prompts=batch, completions=["a cat"] * len(batch))
    reward(prompts=batch, completions=["a cat"] * len(batch))
    assert reward.monitor.prompts == list(baseline)


@pytest.mark.parametrize(
    ("monitor", "error", "message"),
    [
        (3.0, TypeError, "`monitor` must be a Monitor, got 3.0"),
        (Monitor(0.5, bounds=(0, 1)), ValueError, "`monitor` must have a `size`"),
        (Monitor(3.0, size=4, q=2), ValueError, "scores of this reward; pass `k`, `q` and opt"),
    ],
)
def test_unsuitable_monitors_raise(monitor, error, message):
    with pytest.raises(error, match=message):
        VendiReward(monitor=monitor)
