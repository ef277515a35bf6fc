"""Python that gives the numbers of a comparison, from the visitor's own files where it can."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from vendiscore import Similarity
from vendiscore.analysis.comparison import Comparison
from vendiscore.report import named_format

from ..aliases import Options, Record
from ..inputs.submission import LINE, ROW
from ..inputs.visitor_samples import Samples
from .jobs import READ_DOWNLOAD, Job, keywords
from .page_code import INLINE

# Reads a file as the page does.
_READ = """\
import pathlib, vendiscore
from vendiscore.report import Wanted, read_data
def read(name, **wanted):
    return read_data(name, pathlib.Path(name).read_bytes(), Wanted(**wanted))"""
_POOLED = """\
samples = [sample for part in parts.values() for sample in part]
sets = [name for name, part in parts.items() for _ in part]"""


class Compared(NamedTuple):
    comparison: Comparison  # the most diverse set first
    arguments: Record  # of `compute`, for the same whole scores
    together: Similarity  # of all samples, one set after the other
    settings: Options  # for the signature


def comparison_code(
    found: Compared,
    jobs: Mapping[str, Job],
    whole: Sequence[Samples],
    lists: Mapping[str, list[str]],
    sources: bool,
) -> Record:
    """Return the code, and as `saved` the samples that it reads from the download, if it does.

    `whole` are the samples as they were read, if all were compared; `lists` are the "groups" and
    "prompts" of all samples, if there are any; `sources` tells whether these were counted.
    """
    first, saved = next(iter(jobs.values())), None
    if first.pictures:
        folders = f"{{name: sorted(glob.glob(name + '/*')) for name in {list(jobs)}}}"
        head = ["import glob, vendiscore", f"parts = {folders}  # of images", _POOLED]
    elif whole and all(map(_is_file, whole)):
        head = [_READ, *_of_files(whole, list(jobs))]
    else:
        parts = {name: np.array(job.samples).tolist() for name, job in jobs.items()}
        data = {"parts": parts, **lists}
        head = ["import vendiscore", *(f"{name} = {x!r}" for name, x in data.items()), _POOLED]
        if sum(map(len, head)) > INLINE:
            saved = data
            loaded = f'{READ_DOWNLOAD[1]}["saved"]  # “Everything (JSON)”, saved from the page'
            head = [f"import {READ_DOWNLOAD[0]}, vendiscore", f"saved = {loaded}"]
            head += [*(f'{name} = saved["{name}"]' for name in saved), _POOLED]
    arguments = dict(found.arguments)
    prompts, psd = arguments.pop("prompts", []), arguments.pop("psd", None)
    if len(prompts) == 1:
        head.append(f"prompts = {prompts!r}")
    how = "".join(f", {name}={x!r}" for name, x in arguments.items())
    how += ", prompts=prompts" if prompts else ""
    options = keywords({"psd": psd} if psd else {}, found.comparison.q)
    matched = ", prompts=groups, given_prompt=False"
    if not found.comparison.groups:
        matched = f", size={found.settings['size']}"
    head += [
        f"similarity = vendiscore.as_similarity(samples{how})",
        f"found = vendiscore.compare(similarity, by=sets{matched}, {options})",
        'print(*found.sets, *found.pairs, sep="\\n")',
    ]
    if sources:
        asked = "prompts, " if any(lists["prompts"]) else ""
        head.append(f"print(vendiscore.sources(similarity, {asked}by=sets, {options}))")
    return {"code": "\n".join(head), "saved": saved}


def _of_files(whole: Sequence[Samples], names: Sequence[str]) -> list[str]:
    reads = [_read(samples) for samples in whole]
    if len(whole) > 1:
        parts = ", ".join(f"{x!r}: {y}.values" for x, y in zip(names, reads, strict=True))
        return [f"parts = {{{parts}}}", _POOLED]
    lines = [f"data = {reads[0]}", "samples, sets, groups = data.values, data.sets, data.groups"]
    if column := _prompts(whole[0]):
        own = "groups" if whole[0].sets and whole[0].by == column else "prompts"
        lines.append(f"prompts = data.{own}")
    return lines


def _read(samples: Samples) -> str:
    """Write the call that reads samples from their file: a table of all sets, or one set."""
    wanted = {"column": samples.column, "by": samples.sets_by or samples.by}
    wanted["group_by"] = samples.by if samples.sets else None
    wanted["prompts"] = column if (column := _prompts(samples)) != samples.by else None
    wanted["kind"] = samples.kind if samples.kind != "texts" else None
    options = "".join(f", {name}={value!r}" for name, value in wanted.items() if value)
    return f"read({_file(samples)!r}{options})"


def _prompts(samples: Samples) -> str:
    return samples.prompt_column or samples.roles.get("prompt", ("",))[0]


def _file(samples: Samples) -> str:
    return samples.name.partition(" › ")[0]


def _is_file(samples: Samples) -> bool:
    """Return whether samples are of a file that a reader of the library reads as they were read."""
    rows = len({*samples.places}) == len(samples) and samples.separator in (None, LINE, ROW)
    return rows and named_format(_file(samples)) is not None
