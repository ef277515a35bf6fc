"""A reward of OpenRLHF for being right, times what an answer adds to those for its prompt.

    python -m openrlhf.cli.train_ppo_ray --train.agent_func_path openrlhf_agent.py …

OpenRLHF asks its `reward_func` for one answer at a time, and diversity is of several. It generates
all answers to a prompt in one actor, though: here each waits for the others of its prompt, without
holding a thread, and all of them are scored at once.
"""

import asyncio
from dataclasses import dataclass, field

from openrlhf.utils.agent import SingleTurnAgentExecutor

from vendiscore import group_rewards


def quality(prompt: str, answer: str, label: str) -> float:
    """Return stand in for whether an answer is right."""
    return float(label in answer)


@dataclass
class Group:
    """Hold the answers to a prompt that wait for those that are being generated."""

    generating: int = 0
    answers: list[str] = field(default_factory=list)
    right: list[float] = field(default_factory=list)
    rewards: list["asyncio.Future[float]"] = field(default_factory=list)


class AgentExecutor(SingleTurnAgentExecutor):
    """Generate one answer at a time, and reward those for one prompt together."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: dict[str, Group] = {}

    async def execute(self, prompt, label, sampling_params, max_length, hf_tokenizer, **others):
        """Return what the executor of one turn does, with a reward."""
        group = self.groups.setdefault(prompt, Group())
        group.generating += 1  # all answers to a prompt begin before the first is done
        try:
            output = await super().execute(
                prompt, label, sampling_params, max_length, hf_tokenizer, **others
            )
            start, end = output["action_ranges"][0]
            answer = hf_tokenizer.decode(output["observation_tokens"][start:end])
            right = quality(prompt, answer, label)
            group.answers.append(answer)
            group.right.append(right)
            group.rewards.append(asyncio.get_running_loop().create_future())
            own = group.rewards[-1]
        finally:
            group.generating -= 1
            if not group.generating:
                self.finish(self.groups.pop(prompt))
        # Dynamic filtering goes by scores.
        return {**output, "reward": await own, "scores": right}

    def finish(self, group: Group) -> None:
        """Reward all answers to a prompt, but for those whose generation failed."""
        if group.answers:
            found = group_rewards(group.answers, group.right, match_length=True)
            for future, reward in zip(group.rewards, found.tolist(), strict=True):
                future.set_result(reward)
