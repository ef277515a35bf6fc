"""Python that gives the numbers of a comparison, from the visitor's own files where it can."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vendiscore import Similarity
from vendiscore.tools.analysis.comparison import Comparison

from ..aliases import Options, Record
from ..inputs.file_code import IMPORTS, FileCode
from ..inputs.visitor_samples import Samples
from .jobs import READ_DOWNLOAD, Job, keywords
from .page_code import INLINE

_POOLED = """\
samples = [sample for part in parts.values() for sample in part]
sets = [name for name, part in parts.items() for _ in part]"""


class Compared(NamedTuple):
    comparison: Comparison  # the most diverse set first
    arguments: Record  # of `compute`, for the same whole scores
    together: Similarity  # of all samples, one set after the other
    settings: Options  # for the signature
    notes: Sequence[str] = ()  # on groups that were not used, and on missing cells
    quality_problem: str = ""  # why correct answers were not compared


def comparison_code(
    found: Compared,
    jobs: Mapping[str, Job],
    whole: Sequence[Samples],
    lists: Mapping[str, list[Any]],
    sources: bool,
) -> Record:
    """Return the code, and as `saved` the samples that it reads from the download, if it does.

    `whole` are the samples of each set, or of a table of all sets if all were compared; `lists` are
    the "groups" and "prompts" of all samples, if there are any, and with a comparison of correct
    answers also "correct"; `sources` tells whether these were counted.
    """
    first, saved = next(iter(jobs.values())), None
    files = [each.python for each in whole if each.python]
    if first.pictures:
        folders = f"{{name: sorted(glob.glob(name + '/*')) for name in {list(jobs)}}}"
        head = ["import glob, vendiscore", f"parts = {folders}  # of images", _POOLED]
    elif len(files) == len(whole) == 1:
        head = [f"import vendiscore, {IMPORTS}", *_of_table(whole[0], files[0])]
        if "correct" in lists:
            head.append(_correct_of_table(whole[0]))
    elif len(files) == len(jobs) and not any(lists["prompts"]):
        pairs = zip(jobs, files, strict=True)
        read = ", ".join(f"{name!r}: {x.values(x.read())}" for name, x in pairs)
        head = [f"import vendiscore, {IMPORTS}", f"parts = {{{read}}}", _POOLED]
    else:
        parts = {name: np.array(job.samples).tolist() for name, job in jobs.items()}
        data = {"parts": parts, **lists}
        head = ["import vendiscore", *(f"{name} = {x!r}" for name, x in data.items()), _POOLED]
        if sum(map(len, head)) > INLINE:
            saved = data
            loaded = f'{READ_DOWNLOAD}["saved"]  # “Everything (JSON)”, saved from the page'
            head = ["import json, pathlib, vendiscore", f"saved = {loaded}"]
            head += [*(f'{name} = saved["{name}"]' for name in saved), _POOLED]
    arguments = dict(found.arguments)
    prompts, psd = arguments.pop("prompts", []), arguments.pop("psd", None)
    if len(prompts) == 1:
        head.append(f"prompts = {prompts!r}")
    how = "".join(f", {name}={x!r}" for name, x in arguments.items())
    how += ", prompts=prompts" if prompts else ""
    options = keywords({"psd": psd} if psd else {}, found.comparison.q)
    repeats = "" if found.comparison.allow_repeats in (None, True) else ", allow_repeats=False"
    matched = ", prompts=groups"
    rows = ""
    if "correct" in lists:
        matched += ", correct=correct"
        rows = ", *found.quality_parts"
    if not found.comparison.groups:
        matched = f", size={found.settings['size']}"
    head += [
        f"similarity = vendiscore.as_similarity(samples{how})",
        f"found = vendiscore.compare(similarity, by=sets{matched}, {options}{repeats})",
        f'print(*found.sets, *found.pairs{rows}, sep="\\n")',
    ]
    if sources:
        asked = "prompts, " if any(lists["prompts"]) else ""
        head.append(f"print(vendiscore.sources(similarity, {asked}by=sets, {options}))")
    return {"code": "\n".join(head), "saved": saved}


def _correct_of_table(whole: Samples) -> str:
    """Write whether the samples of a table are correct."""
    if whole.min_quality is None:
        return "correct = data.correct"
    return f"correct = [quality >= {whole.min_quality!r} for quality in data.quality]"


def _of_table(whole: Samples, python: FileCode) -> list[str]:
    """Write the samples, sets and groups of a table, and the prompts where it has them."""
    column = whole.prompt_column or whole.roles.get("prompt", ("",))[0]
    lines = [
        f"data = {python.read(prompts=column if column != whole.by else None)}",
        f"samples, groups = {python.values()}, data.groups",
        "sets = data.sets or groups",
    ]
    if column:
        lines.append(f"prompts = {'groups' if column == whole.by else 'data.prompts'}")
    return lines
