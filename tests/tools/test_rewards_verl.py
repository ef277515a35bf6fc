"""The recipe for verl, called as by the batch reward manager of verl."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from vendiscore import group_rewards

RECIPE = Path(__file__).resolve().parents[2] / "examples" / "recipes" / "verl_reward.py"
TEXTS = ["a cat sat", "a cat sat", "the dog ran", "it rained", "red", "green"]
GROUND_TRUTHS = ["cat", "dog", "dog", "it", "red", "blue"]
QUALITY = [1.0, 0.0, 1.0, 1.0, 1.0, 0.0]


@pytest.fixture(scope="module")
def reward_function():
    """Return a function that computes rewards of arguments as passed by verl 0.7."""
    compute_score = runpy.run_path(str(RECIPE))["compute_score"]

    def compute_rewards(prompt_indices):
        infos = [
            {"split": "train", "index": i, "rollout_reward_scores": {}} for i in prompt_indices
        ]
        return compute_score(
            data_sources=np.array(["gsm8k"] * 6, dtype=object),
            solution_strs=TEXTS,
            ground_truths=GROUND_TRUTHS,
            extra_infos=np.array(infos, dtype=object),
            reward_router_address=None,
        )

    return compute_rewards


def test_solutions_for_the_same_prompt_are_a_group(reward_function):
    result = reward_function([7, 7, 7, 7, 3, 3])
    groups = [0] * 4 + [1] * 2
    credits = group_rewards(TEXTS, groups=groups, match_length=True)
    expected = group_rewards(TEXTS, QUALITY, groups=groups, match_length=True)
    assert [reward["score"] for reward in result] == pytest.approx(expected)
    assert [reward["quality"] for reward in result] == QUALITY
    assert [reward["diversity"] for reward in result] == pytest.approx(credits)


def test_single_solution_is_rewarded_only_by_quality(reward_function):
    result = reward_function(range(6))
    assert [reward["score"] for reward in result] == QUALITY
    assert {reward["diversity"] for reward in result} == {0}


def test_missing_prompt_index_raises():
    compute_score = runpy.run_path(str(RECIPE))["compute_score"]
    with pytest.raises(
        ValueError, match=r"must contain the key 'index', .*; got the keys \['id'\]"
    ):
        compute_score(["gsm8k"], ["a cat"], ["cat"], [{"id": 3}])
