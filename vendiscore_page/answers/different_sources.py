"""The effective number of different sets: as sources of answers to prompts, or as wholes."""

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

_NOUNS = re.compile(f"({SOURCES})s?")
_MOST = 3  # prompts that tell sources apart most


def asked_of(jobs: Mapping[str, Job], asked: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the prompt of each sample of each set, "" for none; [] if one is taken out of all."""
    found = []
    for job, own in zip(jobs.values(), asked, strict=True):
        n, prompts = len(job.samples), job.prompts
        if prompts and (len(prompts) < n or not isinstance(prompts[0], str)):
            return []
        found.append(prompts or list(own) or [""] * n)
    return found


def share_prompts(asked: Iterable[Iterable[str]]) -> bool:
    """Return whether each two sets answer a prompt in common; "" stands for no prompt."""
    own = [{*prompts} - {""} for prompts in asked]
    return all(a & b for a, b in combinations(own, 2))


def different(
    together: Similarity, names: Sequence[str], asked: Sequence[Sequence[str]], q: float, kind: str
) -> Sources | None:
    """Count sets whose samples follow one another in `together`, `asked` the prompt of each sample.

    Texts without prompts, or of which two sets share none, are not counted; samples of other kinds
    without prompts are compared as whole sets. An empty prompt leaves its sample out.
    """
    if not asked:
        return None
    every = [prompt for own in asked for prompt in own]
    by = [name for name, own in zip(names, asked, strict=True) for _ in own]
    if not any(every):
        return None if kind == "texts" else _counted(together, None, by, q)
    if not share_prompts(asked) or sum(map(len, set(every))) > MAX_CHARACTERS:
        return None
    kept = [i for i, prompt in enumerate(every) if prompt]
    samples = together if len(kept) == len(every) else together.take(np.array(kept))
    return _counted(samples, [every[i] for i in kept], [by[i] for i in kept], q)


def _counted(
    samples: Similarity, prompts: list[str] | None, by: list[str], q: float
) -> Sources | None:
    try:
        return sources(samples, prompts, by=by, q=q)
    except ValueError:  # of similarities that are negative, or of order 0
        return None


def shown(counted: Sources, names: Sequence[str], by: str | None = None) -> Record:
    """Return what the page shows of it, in the order of names; `by` is the column of the sets."""
    values = counted.to_dict()
    values["sources"].sort(key=lambda row: names.index(row["name"]))
    tell = sorted(values["prompts"], key=lambda row: -row[key_at(counted.q)])
    noun = _NOUNS.fullmatch((by or "").strip().lower())
    what = f"{noun[1]}s" if noun else "sets"
    return {**values, "what": what, "sentence": counted.sentence, "most": tell[:_MOST]}
