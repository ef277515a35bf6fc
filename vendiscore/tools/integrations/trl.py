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
    """A reward function of TRL: what each completion adds to the other completions for its prompt.

    It applies `group_rewards` with prompts as groups; if a group is split over processes, to each
    part. Diversity by itself also rewards nonsense: add a reward for quality, or multiply by one. A
    completion that is the only one for its prompt has reward None, with a warning, unless it has a
    quality. Blank completions have credit 0. TRL logs the score of the completions as "VS", or for
    q=2 "VS_q2".

    Parameters
    ----------
    credit : {"surprise", "leave_one_out"}, default "surprise"
        Credit for diversity, as in `group_rewards`.
    quality : callable, optional
        Another reward function of TRL, to be combined with this one. If it returns None for a
        completion, the reward is None.
    fuse : {"x", "+"}, default "x"
        How quality and credit are combined, as in `group_rewards`.
    weight : float, default 1.0
        Weight of the credit, as in `group_rewards`.
    q : float, default 1
        Order of the score, 0 < q <= infinity.
    match_length : bool, default True
        Compare completions by their distinct words, in order, without case and punctuation,
        truncated to the median number of words in the group (of characters, in scripts without
        spaces). Repetition and length then do not make a completion different.
    k : str, callable, dict or list, optional
        The kernel, as for `compute`; by default "ngram_overlap".
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues beyond rounding: raise a NotPSDError, or set them to
        zero and rescale the others to sum to 1.
    given_prompt : bool, default False
        Whether to also condition similarities on the text of the prompt, or of its user messages.
    **options
        Options of the kernel, as for `vendiscore.compute`.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid.

    See Also
    --------
    vendiscore.group_rewards : The same for any training loop.

    Notes
    -----
    Time is O(n^3) for a group of n completions.

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
        """Compute a reward for each completion of a batch; called by TRL.

        Parameters
        ----------
        prompts : sequence
            The prompt of each completion, as a string or a list of messages.
        completions : sequence
            The completions, as strings or lists of messages.
        log_metric : callable, optional
            Function of TRL that logs a metric.
        log_extra : callable, optional
            Function of TRL that logs a column of the table of completions.
        **columns
            Further columns of the data set, which are passed on to `quality`.

        Returns
        -------
        list of float or None
            The reward of each completion.
        """
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
