"""A reward of verl for being right, times what a solution adds to those for its prompt.

    custom_reward_function.path=verl_reward.py reward_model.reward_manager=batch …

The batch reward manager passes all solutions of a batch. Solutions for one prompt share
`extra_info["index"]`, as in verl's own data sets; one that is alone with its prompt, as in
validation, has its quality. A blank solution adds 0.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from vendiscore import group_rewards


def quality(data_source: str, solution_str: str, ground_truth: str, extra_info: Any) -> float:
    """Stand in for the score of one solution, as verl asks for it."""
    return float(ground_truth in solution_str)


def compute_score(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[str],
    extra_infos: Sequence[Mapping[str, Any]],
    **others: object,
) -> list[dict[str, float]]:
    """Return "score", "quality" and "diversity" of each solution, which verl logs."""
    columns = (data_sources, solution_strs, ground_truths, extra_infos)
    right = [quality(*row) for row in zip(*columns, strict=True)]
    pairs = zip(data_sources, extra_infos, strict=True)
    asked = [(str(source), info.get("split"), info["index"]) for source, info in pairs]
    texts = list(solution_strs)
    # With prompts=[info["question"] …] and given_prompt=True, prompts are taken out, too.
    options = {"groups": asked, "match_length": True}
    rewards = group_rewards(texts, right, **options)
    added = group_rewards(texts, **options)
    rows = zip(rewards.tolist(), right, added.tolist(), strict=True)
    return [{"score": a, "quality": b, "diversity": c} for a, b, c in rows]
