"""A verl reward: quality of a solution, times its contribution to diversity.

    custom_reward_function.path=verl_reward.py reward_model.reward_manager=batch …

The batch reward manager passes all solutions of a batch. Solutions to the same prompt must have the
same `extra_info["index"]`, as in the data sets that verl's own scripts prepare. If a prompt has
only one solution, as in validation, its reward is its quality. A blank solution contributes 0.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from vendiscore import group_rewards


def quality(data_source: str, solution_str: str, ground_truth: str, extra_info: Any) -> float:
    """Return 1 if the solution contains the ground truth, else 0. Replace this with your own."""
    return float(ground_truth in solution_str)


def prompt_id(extra_info: Mapping[str, Any] | None) -> tuple[Any, Any]:
    """Return the split and the index that identify the prompt of a solution."""
    info = extra_info or {}
    if "index" not in info:
        raise ValueError(
            f"`extra_info` must contain the key 'index', which identifies the prompt of a "
            f"solution; got the keys {sorted(info)}. Add it to the data set: "
            f'{{"extra_info": {{"split": "train", "index": i}}}} for row i'
        )
    return info.get("split"), info["index"]


def compute_score(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[str],
    extra_infos: Sequence[Mapping[str, Any]],
    **others: object,
) -> list[dict[str, float]]:
    """Return "score", "quality" and "diversity" of each solution; verl logs them."""
    columns = (data_sources, solution_strs, ground_truths, extra_infos)
    right = [quality(*row) for row in zip(*columns, strict=True)]
    pairs = zip(data_sources, extra_infos, strict=True)
    groups = [(str(source), *prompt_id(info)) for source, info in pairs]
    texts = list(solution_strs)
    # To condition on the prompt, add prompts=[info["question"] …] and given_prompt=True.
    options = {"groups": groups, "match_length": True}
    rewards = group_rewards(texts, right, **options)
    diversity = group_rewards(texts, **options)
    rows = zip(rewards.tolist(), right, diversity.tolist(), strict=True)
    return [{"score": a, "quality": b, "diversity": c} for a, b, c in rows]
