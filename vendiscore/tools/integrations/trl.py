"""A reward function of TRL for the diversity of the completions for each prompt."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.eigenvalues import PSD
from ...resolve.sample_labels import group_equal_prompts
from ...resolve.similarity_spec import KernelArgument, similarity_spec_from_keywords
from ...result import key_at
from ...support.arguments import DEFAULT_ORDER, check_bool
from ...support.errors import short_repr, warn
from ...support.text_detection import fill_blanks
from ...support.types import Record
from ..rewards import Credit, Fuse, check_fusion, combine_with_quality, compute_credits
from ..streams.monitor import Monitor

SINGLE_COMPLETION_WARNING = (
    "some prompts have only one completion on this process, for which VendiReward returns None; "
    "choose a batch size per process that is divisible by `num_generations`"
)


class VendiReward:
    """A reward function of TRL: the contribution of each completion to the diversity of its group.

    The completions for one prompt form a group, as in `group_rewards`; if it is split over
    processes, each process scores its own completions. Diversity by itself also rewards nonsense,
    so add a reward for quality, or pass `quality`. The only completion for a prompt has reward
    None, with a warning, unless `quality` is passed. Blank completions have credit 0. TRL logs the
    score of the completions as "VS", or for q=2 "VS_q2".

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
    monitor : Monitor, optional
        A monitor with a `size`, usually `num_generations`, which detects a decrease of diversity.
        Each group of this size is one update, with the score of the group as logged, and TRL logs
        the evidence as "VS_evidence". Evaluation batches of TRL do not update it. If the baseline
        has a score for each prompt, each prompt is used once, and prompts without a baseline are
        ignored. A warning is emitted at an alarm. Each process updates its own copy.
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
        monitor: Monitor | None = None,
        **options: object,
    ) -> None:
        self.__name__ = "vendi_reward"  # in logs
        self.quality = quality
        self.fuse, self.weight = check_fusion(fuse, weight)
        self.options: Record = {"credit": credit, "q": q, "match_length": match_length, "psd": psd}
        # Parsed again by each call, because a parsed specification may contain functions, which
        # cannot be pickled.
        self.similarity_keywords: Record = {"k": k, **options}
        compute_credits(
            [],
            group_equal_prompts([]),
            similarity_spec_from_keywords(self.similarity_keywords),
            **self.options,
        )
        self.given_prompt: bool = check_bool("given_prompt", given_prompt)
        self._metric_name: str = key_at(q)  # of the mean score in logs
        self.monitor: Monitor | None = None if monitor is None else _check_monitor(monitor)

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
                f"`prompts` must have one prompt for each of the {len(completions)} completions, "
                f"got {len(prompts)}; repeat each prompt for each of its completions"
            )
        groups = group_equal_prompts(prompts)
        texts = [_extract_text(completion) for completion in completions]
        similarity_keywords = {**self.similarity_keywords, "given_prompt": self.given_prompt}
        if self.given_prompt:
            similarity_keywords["prompts"] = fill_blanks(
                [_extract_text(prompt, "user") for prompt in prompts]
            )
        credits, scores = compute_credits(
            texts, groups, similarity_spec_from_keywords(similarity_keywords), **self.options
        )
        if np.isnan(credits).any():
            warn(SINGLE_COMPLETION_WARNING)
        if log_metric is not None and not np.isnan(scores).all():
            log_metric(self._metric_name, float(np.nanmean(scores)))
        if self.monitor is not None and not _is_evaluation(log_metric):
            _, first_indices, sizes = np.unique(groups.codes, return_index=True, return_counts=True)
            group_prompts = [prompts[i] for i in first_indices]
            self._update_monitor(self.monitor, group_prompts, sizes, scores)
            if log_metric is not None and not math.isnan(self.monitor.evidence):
                log_metric(f"{self._metric_name}_evidence", self.monitor.evidence)
        if log_extra is not None:
            log_extra(self._metric_name, _to_list(scores[groups.codes]))
        if self.quality is None:
            return _to_list(self.weight * credits)
        rewards = self.quality(prompts=prompts, completions=completions, **columns)
        quality = np.array([math.nan if x is None else x for x in rewards], dtype=float)
        return _to_list(combine_with_quality(credits, quality, self.fuse, self.weight))

    def _update_monitor(
        self,
        monitor: Monitor,
        prompts: Sequence[object],
        sizes: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        """Add the score of each whole group to the monitor; warn if this causes an alarm.

        A monitor whose baseline has a score for each prompt accepts each of these prompts once; its
        `remaining_prompts` are those without a new score.
        """
        was_alarm = monitor.alarm
        for prompt, size, score in zip(prompts, sizes, scores, strict=True):
            if size != monitor.size:
                continue
            remaining_prompts = monitor.remaining_prompts
            if remaining_prompts is None:
                monitor.update(score)
            elif (text := _extract_text(prompt, "user")) in remaining_prompts:
                monitor.update(score, text)
        if monitor.alarm and not was_alarm:
            warn(f"completions have become less diverse. {monitor}")


def _is_evaluation(log_metric: object) -> bool:
    """Return whether a trainer of TRL, which is recognized by its method, is evaluating.

    TRL passes neither the model nor the mode to reward functions. Its trainers use the same test.
    """
    trainer = getattr(log_metric, "__self__", None)
    return not getattr(getattr(trainer, "model", None), "training", True)


def _check_monitor(monitor: object) -> Monitor:
    """Return a monitor for scores of groups; raise if it would score answers in another way."""
    if not isinstance(monitor, Monitor):
        raise TypeError(f"`monitor` must be a Monitor, got {short_repr(monitor)}")
    if monitor.size is None:
        raise ValueError("`monitor` must have a `size`, such as the number of completions")
    if monitor.score_options != {"q": DEFAULT_ORDER}:
        raise ValueError(
            "`monitor` is updated with scores of this reward; pass `k`, `q` and options of the "
            "kernel to VendiReward only"
        )
    return monitor


def _to_list(values: np.ndarray) -> list[float | None]:
    """Convert an array to a list, with None instead of NaN."""
    return [None if math.isnan(value) else value for value in values.tolist()]


def _extract_text(completion: Any, role: str = "assistant") -> str:
    """Return the text of a completion or prompt: a string, a message, or a list of these.

    Only messages with the given role are used.
    """
    if completion is None or isinstance(completion, str):
        return completion or ""
    if isinstance(completion, dict):
        if completion.get("role", role) != role:
            return ""
        return _extract_text(completion.get("content", completion.get("text")), role)
    return "\n".join(_extract_text(message, role) for message in completion)
