"""The recipe for verl, called as its batch reward manager calls a function."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from vendiscore import group_rewards

RECIPE = Path(__file__).resolve().parents[2] / "examples" / "recipes" / "verl_reward.py"
TEXTS = ["a cat sat", "a cat sat", "the dog ran", "it rained", "red", "green"]
ASKED = ["cat", "dog", "dog", "it", "red", "blue"]
RIGHT = [1.0, 0.0, 1.0, 1.0, 1.0, 0.0]


@pytest.fixture(scope="module")
def scored():
    """Return rewards of what verl 0.7 hands on: arrays of objects, and lists."""
    compute_score = runpy.run_path(str(RECIPE))["compute_score"]

    def rewards(places):
        infos = [{"split": "train", "index": i, "rollout_reward_scores": {}} for i in places]
        return compute_score(
            data_sources=np.array(["gsm8k"] * 6, dtype=object),
            solution_strs=TEXTS,
            ground_truths=ASKED,
            extra_infos=np.array(infos, dtype=object),
            reward_router_address=None,
        )

    return rewards


def test_solutions_for_a_prompt_are_a_group(scored):
    result = scored([7, 7, 7, 7, 3, 3])
    groups = [0] * 4 + [1] * 2
    credits = group_rewards(TEXTS, groups=groups, match_length=True)
    expected = group_rewards(TEXTS, RIGHT, groups=groups, match_length=True)
    assert [each["score"] for each in result] == pytest.approx(expected)
    assert [each["quality"] for each in result] == RIGHT
    assert [each["diversity"] for each in result] == pytest.approx(credits)


def test_a_solution_that_is_alone_has_its_quality(scored):
    result = scored(range(6))
    assert [each["score"] for each in result] == RIGHT
    assert {each["diversity"] for each in result} == {0}


def test_a_missing_index_raises_an_error_that_names_it():
    compute_score = runpy.run_path(str(RECIPE))["compute_score"]
    with pytest.raises(
        ValueError, match=r"must contain the key 'index', .*; got the keys \['id'\]"
    ):
        compute_score(["gsm8k"], ["a cat"], ["cat"], [{"id": 3}])
