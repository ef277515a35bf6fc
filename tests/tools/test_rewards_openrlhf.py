"""The recipe for OpenRLHF, which needs CUDA: here on an executor with its documented interface."""

import asyncio
import importlib.util
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from vendiscore import group_rewards

RECIPE = Path(__file__).resolve().parents[2] / "examples" / "recipes" / "openrlhf_agent.py"
ANSWERS = {
    "name a pet": ["a cat", "a cat", "a dog", "red"],
    "name a color": ["red", "blue", "red", "green"],
}


class Words:
    """Join tokens that are words."""

    def decode(self, tokens):
        return " ".join(tokens)


class Executor:
    """Take and return what `SingleTurnAgentExecutor` of OpenRLHF 0.11 does, with given answers."""

    def __init__(self, remote_rm_url=None):
        self.left = {prompt: list(answers) for prompt, answers in ANSWERS.items()}

    async def execute(
        self, prompt, label, sampling_params, max_length, hf_tokenizer, llm_engine, images=None
    ):
        answer = self.left[prompt].pop(0)
        await asyncio.sleep(0.001 * len(self.left[prompt]))  # the last come first
        tokens = prompt.split() + answer.split()
        ranges = [(len(prompt.split()), len(tokens))]
        return {"observation_tokens": tokens, "action_ranges": ranges, "reward": None}


def run(work):
    """Run it in a thread: here another test may have left a loop running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, asyncio.wait_for(work, 20)).result()


@pytest.fixture
def recipe(monkeypatch):
    agent = types.ModuleType("openrlhf.utils.agent")
    agent.SingleTurnAgentExecutor = Executor
    for name in ("openrlhf", "openrlhf.utils"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, agent.__name__, agent)
    spec = importlib.util.spec_from_file_location("recipe", RECIPE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_answers_to_one_prompt_are_rewarded_together(recipe):
    executor = recipe.AgentExecutor()

    async def generated():
        return await asyncio.gather(
            *(
                executor.execute(prompt, "a", {}, 64, Words(), llm_engine=None)
                for prompt, answers in ANSWERS.items()
                for _ in answers
            )
        )

    result = run(generated())
    for start, answers in zip((0, 4), ANSWERS.values(), strict=True):
        own = result[start : start + 4]
        right = [float("a" in answer) for answer in answers]
        assert [each["scores"] for each in own] == right
        expected = group_rewards(answers, right, match_length=True)
        assert [each["reward"] for each in own] == pytest.approx(expected)
    assert not executor.groups


def test_one_that_fails_and_one_that_is_alone_keep_nobody_waiting(recipe):
    executor = recipe.AgentExecutor()
    executor.left["name a pet"][0] = None  # no answer: an error
    calls = [executor.execute("name a pet", "a", {}, 64, Words(), llm_engine=None) for _ in "abc"]
    calls.append(executor.execute("name a color", "red", {}, 64, Words(), llm_engine=None))

    async def generated():
        return await asyncio.gather(*calls, return_exceptions=True)

    error, *some, alone = run(generated())
    assert isinstance(error, AttributeError)
    expected = group_rewards(["a cat", "a dog"], [1.0, 1.0], match_length=True)
    assert [each["reward"] for each in some] == pytest.approx(expected)
    assert alone["reward"] == alone["scores"] == 1
    assert not executor.groups
