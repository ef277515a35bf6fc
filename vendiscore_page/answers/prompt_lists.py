"""Prompts of a visitor's samples as lists: of one for all, or of one for each sample."""

from collections.abc import Mapping, Sequence

from vendiscore.resolve.sample_labels import GroupLabels

from ..aliases import Record
from ..quotas import MAX_TEXT, RefusedError, check_texts
from .group_lists import taken_apart


def read_prompts(
    prompts: object, n: int, groups: GroupLabels | None, longest: int = MAX_TEXT
) -> list[object]:
    """Return one prompt for all of n samples, or a prompt for each; [] without prompts."""
    alone = [prompts] if isinstance(prompts, str) and prompts.strip() else []
    every = alone if isinstance(prompts, str) else prompts or []
    if not isinstance(every, list):
        raise RefusedError(f"`prompts` must be text or a list, got {type(every).__name__}.")
    if any(isinstance(prompt, str) for prompt in every):
        strings = all(isinstance(prompt, str) for prompt in every)
        check_texts(list(dict.fromkeys(every)) if strings else every, longest, "prompt")
    if groups is not None and 1 < len(every) == len(groups) < n:
        every = [every[code] for code in groups.codes]
    return every


def given_prompts(prompts: Sequence[object]) -> Record:
    """Return the keywords of `compute` that take prompts out of similarities, if there are any."""
    return {"prompts": prompts, "given_prompt": True} if prompts else {}


def pooled_prompts(sets: Mapping[str, tuple[list[object], int]]) -> list[object]:
    """Return one prompt for all sets, or one for each sample of all; sets have prompts and n."""
    lists = [prompts for prompts, _ in sets.values()]
    if len(lists[0]) < 2 and all(prompts == lists[0] for prompts in lists):
        return lists[0]
    for name, (prompts, _) in sets.items():
        if not prompts:
            raise RefusedError(
                f"Set {name:.60} has no prompts, but other sets do; pass prompts for all sets or "
                f"none."
            )
    return [
        prompt
        for prompts, n in sets.values()
        for prompt in (prompts * n if len(prompts) == 1 else prompts)
    ]


def written(prompts: Sequence[object], groups: GroupLabels | None = None) -> str:
    """Write prompts in Python: one alone, one a group, or all in the order of the groups."""
    parts = taken_apart(prompts, groups) if groups is not None and len(prompts) > 1 else [prompts]
    alike = all(prompt == part[0] for part in parts for prompt in part)
    said = [prompt for part in parts for prompt in (part[:1] if alike else part)]
    return repr(said[0] if len(said) == 1 and isinstance(said[0], str) else said)
