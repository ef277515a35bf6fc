"""The effective number of sets: of sources that answer the same prompts, or of whole sets."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from vendiscore import Similarity, sources
from vendiscore.report import key_at
from vendiscore.tools.analysis.sources_result import Sources

from ..aliases import Record
from ..inputs.roles import SOURCES
from ..quotas import MAX_CHARACTERS
from .jobs import Job

_SOURCE_NOUN = re.compile(f"({SOURCES})s?")
_MAX_PROMPTS = 3  # prompts that tell sources apart most


def collect_prompts(
    jobs: Mapping[str, Job], prompt_lists: Sequence[Sequence[str]]
) -> list[list[str]]:
    """Return the prompt of each sample of each set, "" for none; [] if all have the same prompt."""
    result = []
    for job, set_prompts in zip(jobs.values(), prompt_lists, strict=True):
        n, prompts = len(job.samples), job.prompts
        if prompts and (len(prompts) < n or not isinstance(prompts[0], str)):
            return []
        result.append(prompts or list(set_prompts) or [""] * n)
    return result


def have_common_prompts(prompt_lists: Iterable[Iterable[str]]) -> bool:
    """Return whether every two sets have a prompt in common; "" means no prompt."""
    prompt_sets = [{*prompts} - {""} for prompts in prompt_lists]
    return all(a & b for a, b in combinations(prompt_sets, 2))


def compute_different_sources(
    pooled: Similarity,
    names: Sequence[str],
    prompt_lists: Sequence[Sequence[str]],
    q: float,
    kind: str,
) -> Sources | None:
    """Compute the effective number of the sets whose samples follow one another in `pooled`.

    `prompt_lists` contains the prompt of each sample, by set. Samples with an empty prompt are not
    used. The result is None for texts without prompts, and if two sets have no prompt in common.
    Samples of other types without prompts are compared as whole sets.
    """
    if not prompt_lists:
        return None
    all_prompts = [prompt for set_prompts in prompt_lists for prompt in set_prompts]
    by = [name for name, set_prompts in zip(names, prompt_lists, strict=True) for _ in set_prompts]
    if not any(all_prompts):
        return None if kind == "texts" else _compute_sources(pooled, None, by, q)
    if not have_common_prompts(prompt_lists) or sum(map(len, set(all_prompts))) > MAX_CHARACTERS:
        return None
    indices = [i for i, prompt in enumerate(all_prompts) if prompt]
    samples = pooled if len(indices) == len(all_prompts) else pooled.take(np.array(indices))
    return _compute_sources(samples, [all_prompts[i] for i in indices], [by[i] for i in indices], q)


def _compute_sources(
    samples: Similarity, prompts: list[str] | None, by: list[str], q: float
) -> Sources | None:
    try:
        return sources(samples, prompts, by=by, q=q)
    except ValueError:  # of similarities that are negative, or of order 0
        return None


def describe_sources(result: Sources, names: Sequence[str], by: str | None = None) -> Record:
    """Return what the page shows of it, in the order of names; `by` is the column of the sets."""
    values = result.to_dict()
    values["sources"].sort(key=lambda row: names.index(row["name"]))
    ranked_prompts = sorted(values["prompts"], key=lambda row: -row[key_at(result.q)])
    match = _SOURCE_NOUN.fullmatch((by or "").strip().lower())
    plural = f"{match[1]}s" if match else "sets"
    return {
        **values,
        "what": plural,
        "sentence": result.sentence,
        "most": ranked_prompts[:_MAX_PROMPTS],
    }
