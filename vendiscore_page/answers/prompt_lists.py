"""Prompts of a visitor's samples as lists: of one for all, or of one for each sample."""

from collections.abc import Mapping, Sequence

from vendiscore.resolve.sample_labels import GroupLabels

from ..aliases import Record
from ..quotas import MAX_TEXT, RefusedError, check_texts
from .group_lists import split_by_group


def read_prompts(
    prompts: object, n: int, groups: GroupLabels | None, max_length: int = MAX_TEXT
) -> list[object]:
    """Return one prompt for all of n samples, or a prompt for each; [] without prompts."""
    single = [prompts] if isinstance(prompts, str) and prompts.strip() else []
    all_prompts = single if isinstance(prompts, str) else prompts or []
    if not isinstance(all_prompts, list):
        raise RefusedError(f"`prompts` must be text or a list, got {type(all_prompts).__name__}.")
    if any(isinstance(prompt, str) for prompt in all_prompts):
        strings = all(isinstance(prompt, str) for prompt in all_prompts)
        check_texts(
            list(dict.fromkeys(all_prompts)) if strings else all_prompts, max_length, "prompt"
        )
    if groups is not None and 1 < len(all_prompts) == len(groups) < n:
        all_prompts = [all_prompts[code] for code in groups.codes]
    return all_prompts


def conditioning_keywords(prompts: Sequence[object]) -> Record:
    """Return the keywords of `compute` that take prompts out of similarities, if there are any."""
    return {"prompts": prompts, "given_prompt": True} if prompts else {}


def merge_prompts(sets: Mapping[str, tuple[list[object], int]]) -> list[object]:
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


def format_prompts(prompts: Sequence[object], groups: GroupLabels | None = None) -> str:
    """Write prompts in Python: one alone, one a group, or all in the order of the groups."""
    parts = (
        split_by_group(prompts, groups) if groups is not None and len(prompts) > 1 else [prompts]
    )
    have_same_prompt = all(prompt == part[0] for part in parts for prompt in part)
    shown = [prompt for part in parts for prompt in (part[:1] if have_same_prompt else part)]
    return repr(shown[0] if len(shown) == 1 and isinstance(shown[0], str) else shown)
