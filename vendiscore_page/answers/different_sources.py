"""The effective number of different sets: as sources of answers to prompts, or as wholes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from vendiscore import MissingPackageError, Similarity, sources
from vendiscore.analysis.between_sources import Sources
from vendiscore.report import source_pictures

from ..aliases import Options, Record
from ..inputs.roles import SOURCES
from ..quotas import MAX_CHARACTERS
from .jobs import Job, keywords
from .set_pictures import captioned

_NOUNS = re.compile(f"({SOURCES})s?")
_ENDS = 3  # prompts that tell sources apart most, and least


def asked_of(jobs: Mapping[str, Job], asked: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the prompt of each sample of each set, "" for none; [] if one is taken out of all."""
    found = []
    for name, job in jobs.items():
        n, prompts = len(job.samples), job.prompts
        if prompts and (len(prompts) < n or not isinstance(prompts[0], str)):
            return []
        found.append(prompts or list(asked[name]) or [""] * n)
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


def shown(counted: Sources, by: str | None = None) -> Record:
    """Return what the page shows of it, as plain values; `by` is the column of the sets."""
    values = counted.to_dict()
    tell = sorted(values["prompts"], key=lambda row: -row["VS"])
    noun = _NOUNS.fullmatch((by or "").strip().lower())
    few = max(0, min(_ENDS, len(tell) - _ENDS))
    return {
        **values,
        "what": f"{noun[1]}s" if noun else "sets",
        "sentence": counted.sentence,
        "nearest": _pair(counted.pairs(1)[0]),
        "farthest": _pair(counted.pairs(1, farthest=True)[0]),
        "most": tell[:_ENDS],
        "least": tell[::-1][:few],
    }


def drawn(counted: Sources) -> list[dict[str, str]]:
    """Draw the similarities of more than two sources."""
    if len(counted.names) < 3:
        return []
    try:
        return [captioned(source_pictures(counted)[-1])]
    except MissingPackageError:
        return []


def code(head: str, names: Sequence[str], prompts: str, arguments: Options, q: float) -> str:
    """Write Python that counts `sets`, which `head` reads; `prompts` are in Python, too."""
    apart = ("prompts", "given_prompt", "q")
    options = keywords({name: x for name, x in arguments.items() if name not in apart}, q)
    given = ", given_prompt=True" if arguments.get("prompts") else ""
    lines = [head, f"names = {list(names)!r}"]
    if not prompts:
        call = f"dict(zip(names, sets)), aligned=False, {options}"
        return "\n".join([*lines, f"print(vendiscore.sources({call}))"])
    rows = "zip(names, sets, prompts) for x, p in zip(xs, ps) if p"
    return "\n".join(
        [
            *lines,
            f"prompts = {prompts}",
            f"rows = [(m, p, x) for m, xs, ps in {rows}]",
            "models, prompts, answers = map(list, zip(*rows))",
            f"print(vendiscore.sources(answers, prompts, by=models, {options}{given}))",
        ]
    )


def _pair(pair: tuple[str, str, float]) -> Record:
    return dict(zip(("a", "b", "similarity"), pair, strict=True))
