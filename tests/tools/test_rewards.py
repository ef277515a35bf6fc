"""`group_rewards` matches brute force, is bounded, and rejects invalid input."""

import math

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import SampleError, compute, group_rewards, score_K

TEXTS = [
    "a cat sat on the mat",
    "a cat sat on the mat",
    "a dog ran off",
    "it rained all day in the town",
]
RNG = np.random.default_rng(0)


def cosine_matrix(rows):
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit @ unit.T


def naive_surprises(K, q):
    """Compute −xᵀ log(A) x (or its analogue at order q) from the covariance matrix A."""
    n = len(K)
    values, U = np.linalg.eigh(K)
    X = U * np.sqrt(np.clip(values, 0, None))  # K = X Xᵀ
    A = X.T @ X / n + 1e-14 * np.eye(n)
    if q == 1:
        return -np.einsum("id,de,ie->i", X, scipy.linalg.logm(A), X)
    A_power = scipy.linalg.fractional_matrix_power(A, q - 1)
    return np.log(np.einsum("id,de,ie->i", X, A_power, X)) / (1 - q)


def brute_force_rewards(rows, codes, credit, q):
    result = np.zeros(len(rows))
    for code in set(codes):
        indices = np.flatnonzero(codes == code)
        K, n = cosine_matrix(rows[indices]), len(indices)
        if n == 1:
            continue
        if credit == "surprise":
            result[indices] = naive_surprises(K, q) / math.log(n)
        else:
            for i, index in enumerate(indices):
                remaining = np.delete(np.arange(n), i)
                result[index] = score_K(K, q) - score_K(K[np.ix_(remaining, remaining)], q)
    return result


@pytest.mark.parametrize("q", [0.5, 1, 1.7, 2])
@pytest.mark.parametrize("credit", ["surprise", "leave_one_out"])
def test_rewards_match_brute_force(credit, q):
    sizes = [1, 2, 3, 8, 8, 17, 1, 70]  # stacked and separate groups
    codes = np.repeat(np.arange(len(sizes)), sizes)
    rows = RNG.standard_normal((len(codes), 80)) + 1
    order = RNG.permutation(len(codes))
    rows, codes = rows[order], codes[order]
    result = group_rewards(rows, groups=codes, k="cosine", credit=credit, q=q)
    expected = brute_force_rewards(rows, codes, credit, q)
    tolerance = 1e-9 if credit == "leave_one_out" else 1e-10  # leave-one-out scores use quadrature
    assert result == pytest.approx(expected, abs=tolerance)


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(1, 20), min_size=1, max_size=5),
    seed=st.integers(0, 10**6),
    q=st.sampled_from([0.3, 1, 2, 5, math.inf]),
    d=st.integers(1, 12),
)
def test_rewards_are_bounded_and_equal_for_copies(sizes, seed, q, d):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    rows = rng.standard_normal((len(codes), d))
    rows[rng.integers(len(rows))] = rows[0]
    for credit, lower_bound in (("surprise", 0), ("leave_one_out", -math.inf)):
        if credit == "surprise" and q == math.inf:  # not supported
            continue
        result = group_rewards(rows, groups=codes, k="cosine", credit=credit, q=q)
        assert ((result >= lower_bound - 1e-9) & (result <= 1 + 1e-9)).all()
        assert (result[np.bincount(codes)[codes] == 1] == 0).all()
        first = [i for i in np.flatnonzero(codes == 0) if (rows[i] == rows[0]).all()]
        assert result[first] == pytest.approx(result[0], abs=1e-7)


@pytest.mark.parametrize("credit", ["surprise", "leave_one_out"])
def test_distinct_texts_earn_1_and_copies_0_at_any_group_size(credit):
    groups = [[f"word{i} " * 3 for i in range(n)] for n in (2, 3, 8, 30, 90)]
    assert group_rewards(groups, credit=credit) == pytest.approx(1, abs=1e-9)
    copies = [["a cat sat"] * n for n in (2, 3, 8, 30, 90)]
    assert group_rewards(copies, credit=credit) == pytest.approx(0, abs=1e-9)


def test_mean_surprise_is_the_normalized_log_score():
    result = group_rewards(TEXTS, k="ngram_overlap")
    assert result.mean() * math.log(4) == pytest.approx(math.log(compute(TEXTS)["VS"]), rel=1e-12)


def test_surprise_is_the_derivative_of_log_score_by_sample_weight():
    """To first order, this is the leave-one-out drop of log VS."""
    X = RNG.standard_normal((5, 6))
    result = group_rewards(X, k="cosine") * math.log(5)
    step = 1e-6
    for i in range(5):
        p_up, p_down = ((1 - e) / 5 + e * (np.arange(5) == i) for e in (step, -step))
        logs = [math.log(score_K(cosine_matrix(X), p=p)) for p in (p_up, p_down)]
        slope = (logs[0] - logs[1]) / (2 * step)
        assert slope == pytest.approx(result[i] - result.mean(), abs=1e-6)


def test_groups_prompts_and_nested_lists_give_equal_rewards():
    answers, prompts = [*TEXTS, "red", "green", "red"], ["a"] * 4 + ["b"] * 3
    expected = group_rewards([TEXTS, answers[4:]])
    messages = [[{"role": "user", "content": prompt}] for prompt in prompts]
    for options in ({"groups": prompts}, {"prompts": prompts}, {"prompts": messages}):
        assert (group_rewards(answers, **options) == expected).all()
    assert (group_rewards(TEXTS) == expected[:4]).all()  # one group
    arrays = RNG.standard_normal((2, 3, 4))
    stacked = group_rewards(arrays, np.full((2, 3), 2.0), k="cosine")
    flat = group_rewards(arrays.reshape(6, 4), groups=[0] * 3 + [1] * 3, k="cosine")
    assert (stacked == 2 * flat).all()
    nested = group_rewards([TEXTS, answers[4:]], [[1, 0, 1, 0], [2, 2, 0]])
    assert nested == pytest.approx(expected * [1, 0, 1, 0, 2, 2, 0])


def test_quality_is_multiplied_or_added():
    credits, quality = group_rewards(TEXTS), np.array([1.0, 0.5, 1.0, 0.0])
    assert (group_rewards(TEXTS, quality) == quality * credits).all()
    blended = group_rewards(TEXTS, quality, weight=0.25)
    assert blended == pytest.approx(quality * (0.75 + 0.25 * credits))
    assert (group_rewards(TEXTS, -quality, fuse="+", weight=3) == -quality + 3 * credits).all()
    assert (group_rewards(TEXTS, weight=0.5) == 0.5 * credits).all()
    leave_one_out = group_rewards(TEXTS, credit="leave_one_out")
    assert leave_one_out[0] < 0
    assert group_rewards(TEXTS, quality, credit="leave_one_out")[0] == 0


def test_single_answer_is_rewarded_only_by_quality():
    answers, groups = [*TEXTS, "alone"], [0] * 4 + [1]
    assert group_rewards(answers, groups=groups)[4] == 0
    for fuse in ("x", "+"):
        assert group_rewards(answers, [0.7] * 5, groups=groups, fuse=fuse)[4] == 0.7


def test_blank_texts_earn_nothing_and_are_ignored():
    rewards = group_rewards(["a cat", "", "a dog", " \n"])
    assert rewards[[1, 3]].tolist() == [0, 0]
    assert rewards[[0, 2]] == pytest.approx(group_rewards(["a cat", "a dog"]))
    assert group_rewards(["", " "]).tolist() == [0, 0]
    assert group_rewards(["", "a", " ", "a"], credit="leave_one_out").tolist() == [0, 0, 0, 0]


def test_surprise_at_order_infinity_raises():
    with pytest.raises(
        ValueError, match=r"finite `q`, got inf; pass a finite `q`, or pass credit='leave_one"
    ):
        group_rewards(TEXTS, q=math.inf)
    leave_one_out = group_rewards(TEXTS, q=math.inf, credit="leave_one_out")
    assert leave_one_out[0] < leave_one_out[2]


def test_match_length_ignores_extra_length():
    long_texts = [TEXTS[0] + " well" * 40, *TEXTS[1:]]
    expected = group_rewards(TEXTS, match_length=True)
    assert group_rewards(long_texts) != pytest.approx(group_rewards(TEXTS), abs=0.05)
    assert group_rewards(long_texts, match_length=True) == pytest.approx(expected, abs=0.05)


def test_tensors_give_the_rewards_of_arrays():
    torch = pytest.importorskip("torch")
    X, quality = RNG.standard_normal((16, 5)), np.arange(16.0)
    codes = np.repeat([0, 1], 8)
    expected = group_rewards(X, quality, groups=codes, k="cosine")
    result = group_rewards(
        torch.tensor(X), torch.tensor(quality), groups=torch.tensor(codes), k="cosine"
    )
    assert result == pytest.approx(expected, abs=1e-12)


def test_rewards_drop_if_answers_converge_while_sequence_entropy_rises():
    """Permuted words have a high sequence entropy, but the same bag of words."""
    rng = np.random.default_rng(0)
    answers = ["red", "green", "blue", "white"]  # log 4 = 1.4 nats
    words = ["so", "the", "answer", "is", "surely", "red"]  # log 6! = 6.6 nats
    before = [str(rng.choice(answers)) for _ in range(64)]
    after = [" ".join(rng.permutation(words)) for _ in range(64)]

    def sequence_entropy(texts):
        proportions = np.unique(texts, return_counts=True)[1] / len(texts)
        return float(-(proportions * np.log(proportions)).sum())

    assert sequence_entropy(after) > sequence_entropy(before) + 1
    scores = [compute(texts, ns=1)["VS"] for texts in (before, after)]
    assert scores == pytest.approx([4, 1], abs=0.2)
    groups = np.arange(64) // 8
    rewards = [group_rewards(texts, groups=groups, ns=1).mean() for texts in (before, after)]
    assert rewards[0] > 0.5
    assert rewards[1] == pytest.approx(0, abs=1e-9)


ANSWERS = ["a cat", "one dog", "two birds", "red", "green", "blue", "rain", "snow"]
QUALITY = np.array([1.0] * 3 + [0.0] * 5)


def train_policy(reward, seed=0, steps=300):
    """Return probabilities of answers after REINFORCE with a baseline, eight answers a step."""
    rng, logits = np.random.default_rng(seed), np.zeros(len(ANSWERS))
    for _ in range(steps):
        policy = np.exp(logits - logits.max())
        policy /= policy.sum()
        indices = rng.choice(len(ANSWERS), 8, p=policy)
        rewards = reward(indices)
        advantages = rewards - rewards.mean()
        logits += 0.3 * advantages @ (np.eye(len(ANSWERS))[indices] - policy)
    return policy


@pytest.mark.parametrize("fuse", ["x", "+"])
def test_diversity_reward_keeps_several_correct_answers(fuse):
    def plain_reward(indices):
        return QUALITY[indices]

    def diverse_reward(indices):
        return group_rewards([ANSWERS[i] for i in indices], QUALITY[indices], fuse=fuse, weight=0.5)

    for seed in range(2):
        plain_policy, diverse_policy = (
            train_policy(plain_reward, seed),
            train_policy(diverse_reward, seed),
        )
        effective_numbers = [
            np.exp(-(p * np.log(p + 1e-300)).sum()) for p in (plain_policy, diverse_policy)
        ]
        assert plain_policy[:3].sum() > 0.9 < diverse_policy[:3].sum()
        assert effective_numbers[1] > 2.7 > effective_numbers[0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"fuse": "*"}, ValueError, "`fuse` must be 'x' or '\\+', got '\\*'"),
        ({"weight": 1.5}, ValueError, "`weight` must be a number from 0 to 1 with fuse='x'"),
        (
            {"weight": -1, "fuse": "+"},
            ValueError,
            "`weight` must be a number of at least 0, got -1",
        ),
        ({"credit": "shapley"}, ValueError, "`credit` must be 'surprise' or 'leave_one_out', got"),
        ({"q": 0}, ValueError, "`q` must be an order above 0, got 0"),
        ({"on_error": "skip"}, ValueError, "`on_error='skip'` is not supported"),
        ({"quality": [1, 2]}, ValueError, "one number for each of 4 samples, got 2"),
        ({"quality": [1, -2, 0, 0]}, ValueError, "got -2 for sample 1; pass fuse='\\+'"),
        (
            {"quality": [1, math.nan, 0, 0]},
            SampleError,
            "of `quality` must be finite, got nan",
        ),
        (
            {"quality": "good"},
            TypeError,
            "`quality` must be numbers, one for each",
        ),
        ({"groups": [1, 2]}, ValueError, "`groups` must contain one label per sample"),
        ({"prompts": ["?"]}, ValueError, "`prompts` must contain one label per sample"),
        ({"nss": 1}, TypeError, "unknown keyword 'nss'"),
    ],
)
def test_invalid_arguments_raise(arguments, error, message):
    with pytest.raises(error, match=message):
        group_rewards(TEXTS, **arguments)


def test_unusable_samples_are_named_in_the_error():
    rows = RNG.standard_normal((8000, 4))
    rows[713 * 8 + 3] = np.nan
    with pytest.raises(SampleError, match="sample 5707 "):
        group_rewards(rows, groups=np.repeat(np.arange(1000), 8), k="cosine")
    with pytest.raises(TypeError, match="`match_length` is supported only for texts"):
        group_rewards(rows[:4], k="cosine", match_length=True)
    with pytest.raises(ValueError, match="eigenvalue") as caught:
        group_rewards(
            ["a", "b", "c", "d"] * 2,
            groups=[0] * 4 + [1] * 4,
            k=lambda a, b: 1.0 if a == b else -1.0,
        )
    assert "group 0" in "".join(caught.value.__notes__)
