"""Completions as a reward sees them: which belong together, and how much of each counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..reading.string_patterns import unspaced

_WORD = re.compile(r"\w+")


def groups_of(prompts: Sequence[Any]) -> list[list[int]]:
    """The places of each prompt, which is compared: messages may hold images, without a hash."""
    groups: list[list[int]] = []
    for i, prompt in enumerate(prompts):
        own = next((group for group in reversed(groups) if prompts[group[0]] == prompt), None)
        if own is None:
            groups.append([i])
        else:
            own.append(i)
    return groups


def text_of(completion: Any) -> str:
    """The text of a completion; of messages, that of the assistant's and their parts."""
    if isinstance(completion, str) or completion is None:
        return completion or ""
    if isinstance(completion, dict):
        if completion.get("role", "assistant") != "assistant":
            return ""  # of tools
        return text_of(completion.get("content", completion.get("text")))
    return "\n".join(map(text_of, completion))


def matched(texts: Sequence[str], groups: Sequence[Sequence[int]]) -> list[str]:
    """The distinct words of each text, no more of them than half of its group have."""
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
