"""Diversity as a reward of TRL: what each completion adds to those for its prompt."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.eigenvalues import PSD
from ...resolve.sample_labels import group_equal_prompts
from ...resolve.similarity_spec import KernelArgument, similarity_spec_from_keywords
from ...result import key_at
from ...support.arguments import DEFAULT_ORDER, check_bool
from ...support.errors import warn
from ...support.text_detection import fill_blanks
from ...support.types import Record
from ..rewards import Credit, Fuse, credits_of, fused, read_fusion

ALONE = (
    "some completions are alone with their prompt on this process, and have no reward from "
    "VendiReward: let `num_generations` divide the number of completions of each process"
)


class VendiReward:
    """A reward function of TRL: what each completion adds to the others for its prompt.

    It is `group_rewards` with prompts as groups; of a group that is split over processes, each
    part. It sees novelty alone, nonsense too: add a reward of quality, or multiply by one. A
    completion that is alone has None, unless it has a quality, and a warning says so. Blank ones
    add 0 and are compared with nothing. Time O(n³) a group. Arguments that are refused raise a
    TypeError or a ValueError. TRL logs the score of the completions as "VS", or for q=2 "VS_q2".

    Parameters
    ----------
    credit : {"surprise", "leave_one_out"}, as for `group_rewards`
    quality : callable, optional
        Another reward function of TRL, with which this one is fused; None of it stays None.
    fuse, weight : {"x", "+"}, float, as for `group_rewards`
    q : float in (0, ∞], the order
    match_length : bool
        Compare completions by their distinct words, in order, without case and punctuation, and by
        no more of them than half of the group have (characters, in a script without spaces), so
        that no repetition or mere length makes a completion different.
    k : str, callable, dict or list, optional; how completions are compared (default: by n-grams)
    psd : {"check", "clip"}, to raise for negative eigenvalues, or to set them to zero
    given_prompt : bool, whether to take the text of the prompt, or of its user, out as well
    **options : options of the kernel, as for `vendiscore.compute`

    Examples
    --------
    >>> reward = VendiReward()
    >>> texts = ["a cat sat", "a cat sat", "the dog ran"]
    >>> [round(value, 3) for value in reward(prompts=["?"] * 3, completions=texts)]
    [0.369, 0.369, 1.0]
    """

    def __init__(
        self,
        credit: Credit = "surprise",
        *,
        quality: Callable[..., Sequence[float | None]] | None = None,
        fuse: Fuse = "x",
        weight: float = 1.0,
        q: float = DEFAULT_ORDER,
        match_length: bool = True,
        k: KernelArgument | None = None,
        psd: PSD = "check",
        given_prompt: bool = False,
        **options: object,
    ) -> None:
        self.__name__ = "vendi_reward"  # in logs
        self.quality = quality
        self.fuse, self.weight = read_fusion(fuse, weight)
        self.options: Record = {"credit": credit, "q": q, "match_length": match_length, "psd": psd}
        # Read anew by each call: what is read may hold functions, which cannot be sent elsewhere.
        self.compared: Record = {"k": k, **options}
        credits_of(
            [],
            group_equal_prompts([]),
            similarity_spec_from_keywords(self.compared),
            **self.options,
        )
        self.given_prompt: bool = check_bool("given_prompt", given_prompt)
        self._key: str = key_at(q)  # of the mean score, in logs

    def __call__(
        self,
        prompts: Sequence[object],
        completions: Sequence[object],
        log_metric: Callable[[str, float], None] | None = None,
        log_extra: Callable[[str, list[float | None]], None] | None = None,
        **columns: object,
    ) -> list[float | None]:
        """Return a reward for each completion of a batch, as TRL asks for it."""
        if len(prompts) != len(completions):
            raise ValueError(
                f"`prompts` must have one prompt for each of {len(completions)} completions, got "
                f"{len(prompts)}; repeat a prompt for each of its completions"
            )
        groups = group_equal_prompts(prompts)
        texts = [_text_of(completion) for completion in completions]
        compared = {**self.compared, "given_prompt": self.given_prompt}
        if self.given_prompt:
            compared["prompts"] = fill_blanks([_text_of(prompt, "user") for prompt in prompts])
        found, scores = credits_of(
            texts, groups, similarity_spec_from_keywords(compared), **self.options
        )
        if np.isnan(found).any():
            warn(ALONE)
        if log_metric is not None and not np.isnan(scores).all():
            log_metric(self._key, float(np.nanmean(scores)))
        if log_extra is not None:
            log_extra(self._key, _plain(scores[groups.codes]))
        if self.quality is None:
            return _plain(self.weight * found)
        given = self.quality(prompts=prompts, completions=completions, **columns)
        known = np.array([math.nan if value is None else value for value in given], dtype=float)
        return _plain(fused(found, known, self.fuse, self.weight))


def _plain(values: np.ndarray) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _text_of(completion: Any, role: str = "assistant") -> str:
    """Return a text, or the text of the messages of one role, by default the assistant's."""
    if isinstance(completion, dict):
        ours = completion.get("role", role) == role  # and not of tools
        return _text_of(completion.get("content", completion.get("text")), role) if ours else ""
    text = "" if completion is None else completion
    return text if isinstance(text, str) else "\n".join(_text_of(each, role) for each in text)
