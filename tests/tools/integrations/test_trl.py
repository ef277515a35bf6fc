"""The reward of TRL: what it shares out, what it refuses, and what does not pay."""

import doctest
import itertools
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

from vendiscore import compute, group_rewards, score
from vendiscore.tools.integrations.trl import SINGLE_COMPLETION_WARNING, VendiReward

PAGE = Path(__file__).resolve().parents[3] / "docs" / "tasks" / "harnesses.md"
TEXTS = [
    "a cat sat on the mat",
    "a cat sat on the mat",
    "a dog ran off",
    "it rained all day in the town",
]
OTHERS = ["red", "green and blue", "red", "blue"]
PROMPTS = ["one"] * 4 + ["two"] * 4


def rewards(texts, prompts=None, **options):
    result = VendiReward(**options)(prompts=prompts or ["?"] * len(texts), completions=texts)
    assert len(result) == len(texts)
    return np.array(result, dtype=float)


def without(texts, **how):
    """Return VS without each in turn."""
    sets = [texts[:i] + texts[i + 1 :] for i in range(len(texts))]
    return np.array([score(some, **how) for some in sets])


@pytest.mark.parametrize("q", [0.5, 1, 2])
def test_surprise_shares_out_the_score(q):
    result = rewards(TEXTS, q=q, match_length=False)
    vs = score(TEXTS, q=q)
    assert ((result >= 0) & (result <= 1 + 1e-12)).all()
    assert result[0] == pytest.approx(result[1])
    if q == 1:
        assert result.mean() * math.log(4) == pytest.approx(math.log(vs), rel=1e-10)
    else:  # the mean of powers is the power of the score
        assert np.mean(4 ** (result * (1 - q))) == pytest.approx(vs ** (1 - q), rel=1e-10)


@pytest.mark.parametrize("q", [0.5, 1, 2, math.inf])
def test_leaving_one_out_is_done_by_hand(q):
    result = rewards(TEXTS, credit="leave_one_out", q=q, match_length=False)
    assert result == pytest.approx(score(TEXTS, q=q) - without(TEXTS, q=q), abs=1e-8)
    assert result[0] < 0 < result[2]


def test_the_policy_gradient_of_leaving_one_out_is_that_of_the_expected_score():
    """The policy draws three times from three texts, and all 27 draws are summed."""
    texts = [*TEXTS[1:3], "a cat ran off"]
    policy = np.array([0.5, 0.3, 0.2])
    expected, result = np.zeros(3), np.zeros(3)
    for draw in itertools.product(range(3), repeat=3):
        chosen = [texts[i] for i in draw]
        slopes = np.eye(3)[list(draw)] - policy  # of log π, in the logits
        weight = policy[list(draw)].prod()
        expected += weight * compute(chosen)["VS"] * slopes.sum(axis=0)
        credits = rewards(chosen, credit="leave_one_out", match_length=False)
        result += weight * credits @ slopes
    assert result == pytest.approx(expected, abs=1e-9)
    assert np.abs(expected).max() > 0.05


# Four ways to say one thing, of which one is padded.
SAME = [
    "The answer is four, since two and two make four.",
    "The answer is four, because we add two to two.",
    "Two plus two is four, so that is the answer.",
    "We add two and two: the answer is four.",
]


def padded(pad: str, front: bool = False, **options) -> float:
    """Return what the first earns more with that added to it."""
    text = f"{pad} {SAME[0]}" if front else f"{SAME[0]} {pad}"
    return (rewards([text, *SAME[1:]], **options) - rewards(SAME, **options))[0]


@pytest.mark.parametrize("credit", ["surprise", "leave_one_out"])
def test_to_repeat_oneself_changes_nothing(credit):
    plain = rewards(SAME, credit=credit)
    for texts in (
        [SAME[0] * 3, *SAME[1:]],
        [text + " " + text for text in SAME],
        [SAME[0] + " four" * 50, *SAME[1:]],
        [SAME[0].upper() + "!!!" * 20, *SAME[1:]],
        [" \n\t" * 40 + SAME[0], *SAME[1:]],
    ):
        assert (rewards(texts, credit=credit) == plain).all()


@pytest.mark.parametrize("front", [False, True])
@pytest.mark.parametrize("credit", ["surprise", "leave_one_out"])
def test_repeated_padding_pays_no_more_than_one_word(credit, front):
    once, often = (padded("well " * k, front, credit=credit) for k in (1, 100))
    assert once == often < 0.02
    raw = padded("well " * 100, front, credit=credit, match_length=False)
    assert raw > 3 * max(once, 0.01)  # what it would pay


def test_each_with_a_padding_of_its_own_earns_no_more_than_with_a_word():
    words = ["well ", "so ", "hm ", "ok "]
    once, often = (
        rewards([f"{text} {word * k}" for text, word in zip(SAME, words, strict=True)])
        for k in (1, 60)
    )
    assert (once == often).all()


def test_to_go_on_for_longer_than_others_pays_nothing():
    long = " ".join(f"w{i}" for i in range(200))
    short = [*SAME[:3], SAME[3] + " Once more, we do so in other words, as ever."]
    assert padded(long) == padded(long[:30])
    assert padded(long) < 0.02 < padded(long, match_length=False)
    expected = rewards(short)
    assert (rewards([*short[:3], f"{short[3]} {long}"]) == expected).all()


def test_what_is_new_pays():
    new = ["A cat sat on the mat and looked out of the window.", *SAME[1:]]
    for credit in ("surprise", "leave_one_out"):
        result = rewards(new, credit=credit)
        assert result.argmax() == 0
        assert result[0] > rewards(SAME, credit=credit)[0]


def test_scripts_without_spaces_are_matched_by_characters():
    texts = ["今天下雨了", "今天下雨了" + "了" * 50, "明天有太阳吗", "我不知道啊"]
    plain = rewards([texts[0], texts[0], *texts[2:]], analyzer="char")
    assert (rewards(texts, analyzer="char") == plain).all()
    assert plain[0] < plain[2]


def test_blank_completions_earn_nothing_and_are_compared_with_nothing():
    result = rewards(["", "a cat", " \n", "the dog"])
    assert result[[0, 2]].tolist() == [0, 0]
    assert result[[1, 3]] == pytest.approx(rewards(["a cat", "the dog"]))
    for texts in (["", ""], ["a cat", ""], ["...", "!"]):
        assert rewards(texts).tolist() == [0, 0]


def test_groups_are_told_apart_by_their_prompts_wherever_they_stand():
    order = np.random.default_rng(0).permutation(8)
    both = TEXTS + OTHERS
    shuffled = rewards([both[i] for i in order], [PROMPTS[i] for i in order])
    assert shuffled == pytest.approx(np.concatenate([rewards(TEXTS), rewards(OTHERS)])[order])


def test_conversations_are_compared_by_what_is_said():
    prompts = [[{"role": "user", "content": prompt}] for prompt in PROMPTS]
    plain = [[{"role": "assistant", "content": text}] for text in TEXTS + OTHERS]
    parts = [
        [{"role": "assistant", "content": [{"type": "text", "text": text}]}]
        for text in TEXTS + OTHERS
    ]
    call = {"role": "assistant", "content": None, "tool_calls": []}
    tools = [[call, {"role": "tool", "content": f"{i}"}, *own] for i, own in enumerate(plain)]
    expected = rewards(TEXTS + OTHERS, PROMPTS)
    for completions in (plain, parts, tools):
        assert rewards(completions, prompts) == pytest.approx(expected, rel=1e-12)


def test_quality_is_another_reward_function():
    def quality(prompts, completions, label, **columns):
        return [None if own < 0 else float(own) for own in label]

    label = [1, 0, 2, 1, -1, 1, 1, 1]
    credits = rewards(TEXTS + OTHERS, PROMPTS)
    for fuse, join in (("x", np.multiply), ("+", np.add)):
        reward = VendiReward(quality=quality, fuse=fuse)
        result = reward(prompts=PROMPTS, completions=TEXTS + OTHERS, label=label)
        assert result.pop(4) is None
        assert result == pytest.approx(np.delete(join(label, credits), 4))
    with pytest.warns(UserWarning, match="only one completion"):
        assert VendiReward(quality=quality)(["?"], ["a cat"], label=[0.5]) == [0.5]


def test_what_is_logged_is_the_score_of_groups():
    metrics, columns = {}, {}
    VendiReward(match_length=False)(
        prompts=PROMPTS,
        completions=TEXTS + OTHERS,
        completion_ids=[[1]] * 8,
        trainer_state=None,
        label=[0] * 8,
        log_metric=metrics.__setitem__,
        log_extra=columns.__setitem__,
    )
    scores = [compute(group)["VS"] for group in (TEXTS, OTHERS)]
    assert metrics == {"VS": pytest.approx(compute([TEXTS, OTHERS])["VS"], rel=1e-12)}
    assert np.mean(scores) == pytest.approx(metrics["VS"])
    assert columns["VS"] == pytest.approx(np.repeat(scores, 4), rel=1e-12)


@pytest.mark.parametrize(("q", "key"), [(1, "VS"), (2, "VS_q2"), (0.5, "VS_q0.5")])
def test_the_score_is_logged_under_the_key_of_its_order(q, key):
    reward = pickle.loads(pickle.dumps(VendiReward(q=q, match_length=False)))
    metrics, columns = {}, {}
    log = {"log_metric": metrics.__setitem__, "log_extra": columns.__setitem__}
    reward(prompts=["?"] * 4, completions=TEXTS, **log)
    assert metrics == {key: pytest.approx(score(TEXTS, q=q), rel=1e-9)}
    assert list(columns) == [key]


def test_over_two_ranks_a_completion_that_is_alone_has_no_reward():
    reward = pickle.loads(pickle.dumps(VendiReward()))
    assert reward.__name__ == "vendi_reward"
    texts, prompts = TEXTS[:3] + OTHERS[:3], ["one"] * 3 + ["two"] * 3
    whole = reward(prompts=prompts, completions=texts)
    ranks = [slice(0, 3), slice(3, 6)]
    apart = [reward(prompts=prompts[own], completions=texts[own]) for own in ranks]
    assert apart[0] + apart[1] == pytest.approx(whole, rel=1e-12)
    metrics = []
    with pytest.warns(UserWarning, match=SINGLE_COMPLETION_WARNING):
        first = reward(prompts[:4], texts[:4], log_metric=lambda *told: metrics.append(told))
    assert first == [*apart[0], None]
    assert len(metrics) == 1
    assert reward(prompts=prompts[4:], completions=texts[4:])[0] is not None
    with pytest.warns(UserWarning, match=SINGLE_COMPLETION_WARNING):
        assert reward(prompts=["a"], completions=["b"], log_metric=metrics.append) == [None]


def test_an_image_in_a_prompt_is_compared_as_it_is():
    image = pytest.importorskip("PIL.Image")
    prompts = [
        [{"role": "user", "content": [{"type": "image", "image": image.new("L", (2, 2), color)}]}]
        for color in (0, 0, 9, 9)
    ]
    assert rewards(TEXTS, prompts) == pytest.approx([0, 0, 1, 1], abs=1e-7)


def test_any_kernel_compares():
    result = rewards(["a b", "a b", "c"], k=lambda a, b: float(a == b))
    assert result == pytest.approx(rewards(["a b", "a b", "c"]))
    texts = ["the cat sat", "a cat sat", "a dog ran off"]
    with pytest.raises(ValueError, match="eigenvalue"):
        rewards(texts, k=lambda a, b: 1.0 if a == b else -1.0)
    assert (rewards(texts, k=lambda a, b: 1.0 if a == b else -1.0, psd="clip") >= 0).all()


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
def test_arguments_are_read(arguments, error, message):
    with pytest.raises(error, match=message):
        VendiReward(**arguments)


@pytest.mark.parametrize("n", [1, 3])
def test_each_completion_has_a_prompt(n):
    with pytest.raises(ValueError, match=f"each of the 2 completions, got {n}; repeat"):
        VendiReward()(prompts=["?"] * n, completions=TEXTS[:2])


USUAL = {
    "logging_steps": 1,
    "save_strategy": "no",
    "use_cpu": True,
    "bf16": False,
    "disable_tqdm": True,
}


@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing:FutureWarning")  # of TRL
def test_grpo_trains_with_it(tmp_path, monkeypatch):
    pytest.importorskip("trl")
    import train_grpo
    from tiny_model import llama, word_tokenizer

    seen = []

    class Seen(VendiReward):
        def __call__(self, prompts, completions, **others):
            seen.append((prompts, completions, super().__call__(prompts, completions, **others)))
            return seen[-1][2]

    monkeypatch.setattr(train_grpo, "VendiReward", lambda **how: Seen(match_length=False, **how))
    trainer = train_grpo.trainer(
        llama(),
        word_tokenizer(),
        output_dir=str(tmp_path),
        max_steps=2,
        num_generations=4,
        max_completion_length=6,
        **USUAL,
    )
    trainer.train()
    history = [entry for entry in trainer.state.log_history if "VS" in entry]
    assert len(history) == len(seen) == 2
    for entry, (prompts, completions, result) in zip(history, seen, strict=True):
        groups = [
            [text for text, own in zip(completions, prompts, strict=True) if own == prompt]
            for prompt in dict.fromkeys(prompts)
        ]
        assert entry["VS"] == pytest.approx(compute(groups)["VS"], rel=1e-6)
        assert entry["rewards/vendi_reward/mean"] == pytest.approx(np.mean(result), rel=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing:FutureWarning")  # of TRL
def test_grpo_keeps_several_answers_with_it_and_fewer_without(tmp_path):
    """Two words that name a noun are right: 100 steps of a model of ten words."""
    pytest.importorskip("trl")
    import train_grpo
    from tiny_model import llama, word_tokenizer

    def names_a_noun(completions, **columns):
        return [float(bool({"cat", "dog", "sun", "mat"} & {*c.split()})) for c in completions]

    scores, right = [], []
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
            **USUAL,
        )
        trainer.train()
        history = [entry for entry in trainer.state.log_history if "VS" in entry][-30:]
        scores.append(np.mean([entry["VS"] for entry in history]))
        right.append(np.mean([entry["rewards/vendi_reward/mean"] for entry in history]))
    assert scores[0] < 3.5 < 4.5 < scores[1]  # of 8 completions
    assert right[0] > 0.95  # quality alone
    assert right[1] > 0.8  # and as much of it as weight 0.5 of a credit of about 0.8 leaves


def test_the_examples_of_the_page_run():
    tried = doctest.testfile(str(PAGE), False, optionflags=doctest.ELLIPSIS)
    assert tried.failed == 0 < tried.attempted


def test_prompts_may_be_taken_out():
    asked = ["what did the cat do on the mat?"] * 4 + ["which colour?"] * 4
    result = rewards([*TEXTS, *OTHERS], asked, given_prompt=True)
    how = {"prompts": asked, "match_length": True}
    assert result == pytest.approx(group_rewards([*TEXTS, *OTHERS], given_prompt=True, **how))
    assert result.tolist() != rewards([*TEXTS, *OTHERS], asked).tolist()
    chats = [
        [{"role": "system", "content": "Be kind."}, {"role": "user", "content": text}]
        for text in asked
    ]
    assert rewards([*TEXTS, *OTHERS], chats, given_prompt=True) == pytest.approx(result)
    assert np.isfinite(rewards(TEXTS, [" "] * 4, given_prompt=True)).all()
