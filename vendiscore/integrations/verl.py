"""Diversity as a reward of verl: what each solution adds to those for its prompt."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.types import Options
from ..resolve.prompt_groups import groups_of
from ..scoring.rewards import credits_of, fused, read_fusion
from .prompts import filled


class VendiReward:
    """A reward function of verl for all solutions of a batch: quality, fused with diversity.

    In a file of your own, `compute_score = VendiReward(quality)`, for
    ``custom_reward_function.path=FILE reward_model.reward_manager=batch``. A solution that is alone
    with its prompt, as in validation, has its quality. Blank ones add 0. Time O(n³) a group.

    Parameters
    ----------
    quality : callable
        The score of one solution, as verl asks for it: a number, or a dict with "score".
    by : str
        What `extra_info` calls the prompt of a solution; "index" in verl's own data sets.
    given_prompt : str, optional
        What `extra_info` calls the text of the prompt, such as "question", to take it out of the
        similarity.
    **options : keywords of `vendiscore.group_rewards`, such as `fuse`, but for groups
        `match_length` is True unless given.

    Examples
    --------
    >>> compute_score = VendiReward(lambda data_source, solution_str, ground_truth, extra_info: 1)
    >>> told = compute_score(
    ...     data_sources=["gsm8k"] * 3,
    ...     solution_strs=["a cat sat", "a cat sat", "the dog ran"],
    ...     ground_truths=["?"] * 3,
    ...     extra_infos=[{"index": 0}] * 3,
    ... )
    >>> [round(each["score"], 3) for each in told]
    [0.369, 0.369, 1.0]
    """

    def __init__(
        self,
        quality: Callable[..., float | Options],
        *,
        by: str = "index",
        given_prompt: str | None = None,
        **options: Any,
    ) -> None:
        self.quality = quality
        self.by = by
        self.given_prompt = given_prompt
        self.options = {"match_length": True} | options
        fuse = self.options.pop("fuse", "x")
        weight = self.options.pop("weight", 1.0)
        self.fuse, self.weight = read_fusion(fuse, weight)
        credits_of([], groups_of([]), **self.options)  # which are read

    def __call__(
        self,
        data_sources: Sequence[str],
        solution_strs: Sequence[str],
        ground_truths: Sequence[object],
        extra_infos: Sequence[Any],
        **others: Any,
    ) -> list[dict[str, float]]:
        """Return "score", "quality" and "diversity" of each solution."""
        prompts = []
        key = self.given_prompt
        for i, (source, info) in enumerate(zip(data_sources, extra_infos, strict=True)):
            for name in filter(None, (self.by, key)):
                if not isinstance(info, Mapping) or name not in info:
                    raise ValueError(
                        f"`extra_infos` must hold the prompt of each solution under {name!r}, "
                        f"which solution {i} lacks; write it into the data, or pass `by=`"
                    )
            prompts.append((str(source), info.get("split"), info[self.by]))
        columns = zip(data_sources, solution_strs, ground_truths, extra_infos, strict=True)
        names = ("data_source", "solution_str", "ground_truth", "extra_info")
        told = [self.quality(**dict(zip(names, row, strict=True)), **others) for row in columns]
        known = np.array([t["score"] if isinstance(t, Mapping) else t for t in told], dtype=float)
        taken = filled([info[key] for info in extra_infos]) if key else None
        groups = groups_of(prompts)
        texts = list(solution_strs)
        found = credits_of(texts, groups, prompts=taken, **self.options).credits
        rewards = fused(found, known, self.fuse, self.weight)
        added = np.nan_to_num(found)
        rows = zip(rewards.tolist(), known.tolist(), added.tolist(), strict=True)
        return [{"score": a, "quality": b, "diversity": c} for a, b, c in rows]
