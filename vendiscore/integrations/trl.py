"""Diversity as a reward of TRL: the part of each completion in that of all for its prompt."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from ..arguments import DEFAULT_ORDER, flag, one_of
from ..errors import warn
from ..reading.string_patterns import unspaced
from ..resolve.kernel_request import KernelArgument, how_of
from ..resolve.sets import part_of, resolve_sets
from ..spectral.rank_one import adds, check_order, log_score, surprise
from ..spectral.spectrum import PSD, Spectrum, check_psd
from ..spectral.vendi import spectrum_of

Credit = Literal["surprise", "leave_one_out"]
CREDITS: dict[Credit, Callable[[Spectrum, float], Any]] = {
    "surprise": surprise,
    "leave_one_out": adds,
}
_WORD = re.compile(r"\w+")
ALONE = (
    "some completions are alone with their prompt on this process, and have no reward from "
    "VendiReward: let `num_generations` divide the number of completions of each process"
)


class VendiReward:
    """A reward function of TRL: the part of each completion in the diversity of its group.

    A group is the n completions for one prompt; of a group that is split over processes, each part.
    It sees novelty alone, nonsense too: add a reward of quality. Time O(n³) a group. A completion
    that is alone has None, and a warning says so. Blank ones earn 0 and are compared with nothing.
    Arguments that are refused raise a TypeError or a ValueError.

    Parameters
    ----------
    credit : {"surprise", "leave_one_out"}
        −xᵀ log(A) x / log n, A the mean of xxᵀ over the group, from 0 to 1, whose mean at order 1
        is log VS / log n; or (log VS of the group − log VS without the completion) / log n, below 0
        for a repeat, whose policy gradient, before it is scaled, is that of the expected log VS.
    q : float in (0, ∞], the order
    match_length : bool
        Compare completions by their distinct words, in order, without case and punctuation, and by
        no more of them than half of the group have (characters, in a script without spaces), so
        that no repetition or mere length makes a completion different.
    k : str, callable, dict or list, optional; how completions are compared (default: by n-grams)
    psd : {"check", "clip"}, to raise for negative eigenvalues, or to set them to zero
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
        q: float = DEFAULT_ORDER,
        match_length: bool = True,
        k: KernelArgument | None = None,
        psd: PSD = "check",
        **options: Any,
    ) -> None:
        self.__name__ = "vendi_reward"  # in logs
        self.credit = one_of("credit", credit, CREDITS)
        self.q = check_order(q)
        self.match_length = flag("match_length", match_length)
        self.psd = check_psd(psd)
        # Read anew by each call: what is read may hold functions, which cannot be sent elsewhere.
        self.options = {"k": k, **options}
        if how_of(self.options).skip:
            raise ValueError(
                "`on_error='skip'` would leave out completions, and each has a reward; leave it "
                "out: blank ones earn 0"
            )

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        log_metric: Callable[[str, float], None] | None = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Return a reward for each completion of a batch, as TRL asks for it."""
        if len(prompts) != len(completions):
            raise ValueError(
                f"`prompts` must have one prompt for each of {len(completions)} completions, got "
                f"{len(prompts)}; repeat a prompt for each of its completions"
            )
        groups = _groups_of(prompts)
        texts = [_text_of(completion) for completion in completions]
        if self.match_length:
            texts = _matched(texts, groups)
        some = np.flatnonzero([bool(text.strip()) for text in texts])
        pool = None
        if len(some):
            read = [[texts[i] for i in some]]
            pool = resolve_sets(read, how_of(self.options), ["completions"], in_parts=True)[0]
        rewards, scores = np.full((2, len(texts)), np.nan)
        several = [group for group in groups if len(group) > 1]
        for group in several:
            rewards[group], scores[group] = 0.0, 1.0
            places = np.flatnonzero(np.isin(some, group))
            if pool is not None and len(places) > 1:
                spectrum = spectrum_of(part_of(pool, places), psd=self.psd, vectors=True)
                credits = CREDITS[self.credit](spectrum, self.q)
                rewards[some[places]] = credits / math.log(len(group))
                scores[group] = math.exp(log_score(spectrum, self.q))
        if len(several) < len(groups):
            warn(ALONE)
        if log_metric is not None and several:
            log_metric("VS", float(np.mean([scores[group[0]] for group in several])))
        if log_extra is not None:
            log_extra("VS", _plain(scores))
        return _plain(rewards)


def _plain(values: np.ndarray) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _groups_of(prompts: Sequence[Any]) -> list[list[int]]:
    """Return the places of each prompt; messages are compared, since images have no hash."""
    groups: list[list[int]] = []
    for i, prompt in enumerate(prompts):
        own = next((group for group in reversed(groups) if prompts[group[0]] == prompt), [])
        if not own:
            groups.append(own)
        own.append(i)
    return groups


def _text_of(completion: Any) -> str:
    """Return the text of a completion, or of the assistant's messages and their parts."""
    if isinstance(completion, dict):
        ours = completion.get("role", "assistant") == "assistant"  # and not of tools
        return _text_of(completion.get("content", completion.get("text"))) if ours else ""
    text = "" if completion is None else completion
    return text if isinstance(text, str) else "\n".join(map(_text_of, text))


def _matched(texts: Sequence[str], groups: Sequence[Sequence[int]]) -> list[str]:
    """Return the distinct words of each text, no more of them than half of its group have."""
    found = [_WORD.findall(text.casefold()) for text in texts]
    spaces = ["" if unspaced([text]) else " " for text in texts]
    words = [
        list(dict.fromkeys(own if space else "".join(own)))
        for own, space in zip(found, spaces, strict=True)
    ]
    for group in groups:
        counts = sorted(len(words[i]) for i in group if words[i])
        for i in group if counts else ():
            del words[i][counts[(len(counts) - 1) // 2] :]
    return [space.join(own) for space, own in zip(spaces, words, strict=True)]
