"""Python code that reproduces a comparison, from the user's files if possible."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vendiscore import Similarity
from vendiscore.tools.analysis.comparison import Comparison

from ..aliases import Options, Record
from ..inputs.file_code import IMPORTS, FileCode
from ..inputs.visitor_samples import Samples
from .jobs import READ_DOWNLOAD, Job, format_keywords
from .page_code import INLINE

_POOLING_CODE = """\
samples = [sample for part in parts.values() for sample in part]
sets = [name for name, part in parts.items() for _ in part]"""


class ComparedSets(NamedTuple):
    comparison: Comparison  # the most diverse set first
    arguments: Record  # of `compute`, for the same whole scores
    together: Similarity  # of all samples, one set after the other
    settings: Options  # for the signature
    notes: Sequence[str] = ()  # on groups that were not used, and on missing cells
    quality_problem: str = ""  # why correct answers were not compared


def build_comparison_code(
    compared: ComparedSets,
    jobs: Mapping[str, Job],
    sets_as_read: Sequence[Samples],
    lists: Mapping[str, list[Any]],
    has_sources: bool,
) -> Record:
    """Return the code, and as `saved` the samples that it reads from the download, if it does.

    `sets_as_read` are the samples of each set, or of a table of all sets if all were compared.
    `lists` are the "groups" and "prompts" of all samples, if there are any, and with a comparison
    of correct answers also "correct". `has_sources` states whether the effective number of sources
    was computed.
    """
    first, saved = next(iter(jobs.values())), None
    files = [samples.python for samples in sets_as_read if samples.python]
    if first.pictures:
        folders = f"{{name: sorted(glob.glob(name + '/*')) for name in {list(jobs)}}}"
        code_lines = ["import glob, vendiscore", f"parts = {folders}  # of images", _POOLING_CODE]
    elif len(files) == len(sets_as_read) == 1:
        code_lines = [
            f"import vendiscore, {IMPORTS}",
            *_format_table_samples(sets_as_read[0], files[0]),
        ]
        if "correct" in lists:
            code_lines.append(_format_table_correct(sets_as_read[0]))
    elif len(files) == len(jobs) and not any(lists["prompts"]):
        pairs = zip(jobs, files, strict=True)
        reading_code = ", ".join(f"{name!r}: {x.values(x.read())}" for name, x in pairs)
        code_lines = [f"import vendiscore, {IMPORTS}", f"parts = {{{reading_code}}}", _POOLING_CODE]
    else:
        parts = {name: np.array(job.samples).tolist() for name, job in jobs.items()}
        data = {"parts": parts, **lists}
        code_lines = [
            "import vendiscore",
            *(f"{name} = {x!r}" for name, x in data.items()),
            _POOLING_CODE,
        ]
        if sum(map(len, code_lines)) > INLINE:
            saved = data
            loaded = f'{READ_DOWNLOAD}["saved"]  # “Everything (JSON)”, saved from the page'
            code_lines = ["import json, pathlib, vendiscore", f"saved = {loaded}"]
            code_lines += [*(f'{name} = saved["{name}"]' for name in saved), _POOLING_CODE]
    arguments = dict(compared.arguments)
    prompts, psd = arguments.pop("prompts", []), arguments.pop("psd", None)
    if len(prompts) == 1:
        code_lines.append(f"prompts = {prompts!r}")
    option_text = "".join(f", {name}={x!r}" for name, x in arguments.items())
    option_text += ", prompts=prompts" if prompts else ""
    options = format_keywords({"psd": psd} if psd else {}, compared.comparison.q)
    repeats = "" if compared.comparison.allow_repeats in (None, True) else ", allow_repeats=False"
    matched = ", prompts=groups"
    rows = ""
    if "correct" in lists:
        matched += ", correct=correct"
        rows = ", *result.quality_parts"
    if not compared.comparison.groups:
        matched = f", size={compared.settings['size']}"
    code_lines += [
        f"similarity = vendiscore.as_similarity(samples{option_text})",
        f"result = vendiscore.compare(similarity, by=sets{matched}, {options}{repeats})",
        f'print(*result.sets, *result.pairs{rows}, sep="\\n")',
    ]
    if has_sources:
        prompt_argument = "prompts, " if any(lists["prompts"]) else ""
        code_lines.append(
            f"print(vendiscore.sources(similarity, {prompt_argument}by=sets, {options}))"
        )
    return {"code": "\n".join(code_lines), "saved": saved}


def _format_table_correct(table: Samples) -> str:
    """Write whether the samples of a table are correct."""
    if table.min_quality is None:
        return "correct = data.correct"
    return f"correct = [quality >= {table.min_quality!r} for quality in data.quality]"


def _format_table_samples(table: Samples, python: FileCode) -> list[str]:
    """Write the samples, sets and groups of a table, and the prompts where it has them."""
    column = table.prompt_column or table.roles.get("prompt", ("",))[0]
    lines = [
        f"data = {python.read(prompts=column if column != table.by else None)}",
        f"samples, groups = {python.values()}, data.groups",
        "sets = data.sets or groups",
    ]
    if column:
        lines.append(f"prompts = {'groups' if column == table.by else 'data.prompts'}")
    return lines
