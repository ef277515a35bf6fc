"""The recipe for OpenRLHF, tested with a mock executor because OpenRLHF requires CUDA."""

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


class WordTokenizer:
    """A tokenizer whose tokens are words."""

    def decode(self, tokens):
        return " ".join(tokens)


class Executor:
    """Mock of `SingleTurnAgentExecutor` of OpenRLHF 0.11 with predefined answers."""

    def __init__(self, remote_rm_url=None):
        self.remaining = {prompt: list(answers) for prompt, answers in ANSWERS.items()}

    async def execute(
        self, prompt, label, sampling_params, max_length, hf_tokenizer, llm_engine, images=None
    ):
        answer = self.remaining[prompt].pop(0)
        await asyncio.sleep(0.001 * len(self.remaining[prompt]))  # the last answers arrive first
        tokens = prompt.split() + answer.split()
        ranges = [(len(prompt.split()), len(tokens))]
        return {"observation_tokens": tokens, "action_ranges": ranges, "reward": None}


def run_in_thread(coroutine):
    """Run a coroutine in a thread, because another test may have left an event loop running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, asyncio.wait_for(coroutine, 20)).result()


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


def test_answers_to_the_same_prompt_are_rewarded_together(recipe):
    executor = recipe.AgentExecutor()

    async def generate_all():
        return await asyncio.gather(
            *(
                executor.execute(prompt, "a", {}, 64, WordTokenizer(), llm_engine=None)
                for prompt, answers in ANSWERS.items()
                for _ in answers
            )
        )

    result = run_in_thread(generate_all())
    for start, answers in zip((0, 4), ANSWERS.values(), strict=True):
        rewards = result[start : start + 4]
        quality = [float("a" in answer) for answer in answers]
        assert [reward["scores"] for reward in rewards] == quality
        expected = group_rewards(answers, quality, match_length=True)
        assert [reward["reward"] for reward in rewards] == pytest.approx(expected)
    assert not executor.groups


def test_failed_and_single_answers_block_no_other_call(recipe):
    executor = recipe.AgentExecutor()
    executor.remaining["name a pet"][0] = None  # causes an error
    calls = [
        executor.execute("name a pet", "a", {}, 64, WordTokenizer(), llm_engine=None) for _ in "abc"
    ]
    calls.append(executor.execute("name a color", "red", {}, 64, WordTokenizer(), llm_engine=None))

    async def generate_all():
        return await asyncio.gather(*calls, return_exceptions=True)

    error, *answered, single = run_in_thread(generate_all())
    assert isinstance(error, AttributeError)
    expected = group_rewards(["a cat", "a dog"], [1.0, 1.0], match_length=True)
    assert [result["reward"] for result in answered] == pytest.approx(expected)
    assert single["reward"] == single["scores"] == 1
    assert not executor.groups
