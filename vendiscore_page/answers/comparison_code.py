"""Python that gives the numbers of a comparison, from the visitor's own files where it can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from vendiscore.report import named_format

from ..aliases import Record
from ..inputs.submission import LINE, ROW
from ..inputs.visitor_samples import Samples
from .jobs import READ_DOWNLOAD, Job, keywords
from .page_code import INLINE

if TYPE_CHECKING:
    from .several_sets import Compared

# Reads a file as the page does.
_READ = """\
import pathlib, vendiscore
from vendiscore.report import Wanted, read_data
def read(name, **wanted):
    return read_data(name, pathlib.Path(name).read_bytes(), Wanted(**wanted))"""
_POOLED = """\
samples = [sample for part in parts.values() for sample in part]
sets = [name for name, part in parts.items() for _ in part]"""


def comparison_code(
    found: Compared,
    jobs: Mapping[str, Job],
    whole: Sequence[Samples],
    lists: Mapping[str, Sequence[object]],
    sources: bool,
) -> Record:
    """Return the code, and as `saved` the samples that it reads from the download, if it does.

    `whole` are the samples as they were read, if all were compared; `lists` are the "groups" of all
    samples and their "prompts", if there are any; `sources` tells whether these were counted.
    """
    head, saved = _head(jobs, whole, {name: list(x) for name, x in lists.items() if any(x)})
    if len(given := list(found.arguments.get("prompts", []))) == 1:
        head.append(f"prompts = {given!r}")
    apart = ("prompts", "given_prompt", "psd")
    how = [f"{name}={x!r}" for name, x in found.arguments.items() if name not in apart]
    how += ["prompts=prompts", "given_prompt=True"] if given else []
    psd = {name: x for name, x in found.arguments.items() if name == "psd"}
    options = keywords(psd, found.comparison.q)
    sized = f", size={found.settings['size']}" if "size" in found.settings else ""
    grouped = ", prompts=groups, given_prompt=False" if found.comparison.groups else ""
    head += [
        f"similarity = vendiscore.as_similarity(samples, {', '.join(how)})",
        f"found = vendiscore.compare(similarity, by=sets{grouped}{sized}, {options})",
        'print(*found.sets, *found.pairs, sep="\\n")',
    ]
    if sources:
        asked = "prompts, " if any(lists["prompts"]) else ""
        head.append(f"print(vendiscore.sources(similarity, {asked}by=sets, {options}))")
    return {"code": "\n".join(head), "saved": saved}


def _head(
    jobs: Mapping[str, Job], whole: Sequence[Samples], lists: Mapping[str, list[object]]
) -> tuple[list[str], Record | None]:
    """Return lines that have `samples`, their `sets` and these lists; and what they read."""
    first = next(iter(jobs.values()))
    if first.pictures:
        folders = f"{{name: sorted(glob.glob(name + '/*')) for name in {list(jobs)}}}"
        return ["import glob, vendiscore", f"parts = {folders}  # of images", _POOLED], None
    if whole and all(map(_is_file, whole)):
        return [_READ, *_of_files(whole, list(jobs))], None
    parts = {name: job.samples for name, job in jobs.items()}
    if first.kind == "vectors":
        parts = {name: rows.tolist() for name, rows in parts.items()}
    saved = {"parts": parts, **lists}
    head = [f"{name} = {values!r}" for name, values in saved.items()]
    if len("".join(head)) <= INLINE:
        return ["import vendiscore", *head, _POOLED], None
    if first.kind == "vectors":
        files = ", ".join(f"{name!r}: read({name + '.csv'!r}).values" for name in jobs)
        return [_READ, f"parts = {{{files}}}", _POOLED], None
    loaded = f'saved = {READ_DOWNLOAD[1]}["saved"]  # “Everything (JSON)”, saved from the page'
    taken = [f'{name} = saved["{name}"]' for name in saved]
    return [f"import {READ_DOWNLOAD[0]}, vendiscore", loaded, *taken, _POOLED], saved


def _of_files(whole: Sequence[Samples], names: Sequence[str]) -> list[str]:
    reads = [_read(samples) for samples in whole]
    if len(whole) > 1:
        parts = ", ".join(f"{x!r}: {y}.values" for x, y in zip(names, reads, strict=True))
        return [f"parts = {{{parts}}}", _POOLED]
    (table,) = whole
    lines = [f"data = {reads[0]}", "samples, sets, groups = data.values, data.sets, data.groups"]
    if table.prompt_column:
        own = "groups" if table.sets and table.by == table.prompt_column else "prompts"
        lines.append(f"prompts = data.{own}")
    return lines


def _read(samples: Samples) -> str:
    """Write the call that reads samples from their file: a table of all sets, or one set."""
    wanted = {"column": samples.column, "by": samples.sets_by or samples.by}
    wanted |= {"group_by": samples.by if samples.sets else None}
    wanted |= {"prompts": samples.prompt_column if samples.prompt_column != samples.by else None}
    if samples.kind != "texts":
        wanted["kind"] = samples.kind
    options = "".join(f", {name}={value!r}" for name, value in wanted.items() if value)
    return f"read({_file(samples)!r}{options})"


def _file(samples: Samples) -> str:
    return samples.name.partition(" › ")[0]


def _is_file(samples: Samples) -> bool:
    """Return whether `_read` gives the same samples: all, in the order of a visitor's file."""
    every = len(samples) == samples.total == len({*samples.places})
    plain = samples.separator in (None, LINE, ROW)
    return every and plain and not samples.problems and bool(named_format(_file(samples)))
