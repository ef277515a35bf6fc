"""An OpenRLHF reward: quality of an answer, times its contribution to diversity.

    python -m openrlhf.cli.train_ppo_ray --train.agent_func_path openrlhf_agent.py …

OpenRLHF calls `reward_func` for one answer at a time, but diversity is a property of several
answers. All answers to a prompt are generated in the same actor. So each answer waits, without
blocking a thread, until all answers to this prompt are generated. Then they are scored together.
"""

import asyncio
from dataclasses import dataclass, field

from openrlhf.utils.agent import SingleTurnAgentExecutor

from vendiscore import group_rewards


def quality(prompt: str, answer: str, label: str) -> float:
    """Return 1 if the answer contains the label, else 0. Replace this with your own quality."""
    return float(label in answer)


@dataclass
class Group:
    """The answers to one prompt that are already generated, and their pending rewards."""

    generating: int = 0
    answers: list[str] = field(default_factory=list)
    right: list[float] = field(default_factory=list)
    rewards: list["asyncio.Future[float]"] = field(default_factory=list)


class AgentExecutor(SingleTurnAgentExecutor):
    """Generate answers one at a time, and compute the rewards of a prompt together."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: dict[str, Group] = {}

    async def execute(self, prompt, label, sampling_params, max_length, hf_tokenizer, **others):
        """Return the result of the single-turn executor, with a reward."""
        group = self.groups.setdefault(prompt, Group())
        group.generating += 1  # all answers to a prompt start before the first one ends
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
            reward = group.rewards[-1]
        finally:
            group.generating -= 1
            if not group.generating:
                self.set_rewards(self.groups.pop(prompt))
        # Dynamic filtering uses "scores".
        return {**output, "reward": await reward, "scores": right}

    def set_rewards(self, group: Group) -> None:
        """Set the rewards of all answers to a prompt whose generation succeeded."""
        if group.answers:
            rewards = group_rewards(group.answers, group.right, match_length=True)
            for future, reward in zip(group.rewards, rewards.tolist(), strict=True):
                future.set_result(reward)
