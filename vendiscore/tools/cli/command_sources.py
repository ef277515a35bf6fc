"""`vendiscore sources`: find how many models, annotators or generators effectively differ."""

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence

from ...similarity.concatenation import concatenate_samples
from ...support.errors import SampleError
from ...support.summary import truncate
from ..analysis.between_sources import Sources
from ..analysis.source_scores import check_sources_options
from ..analysis.sources import sources
from ..reading.samples import Samples
from ..reports import report
from ..reports.source_report import tables
from . import output
from .files import BY_FOLDER, check
from .kernel_options import placing, read_how, read_sets, usage
from .notes import Notes

_LETTERS = 60  # of a name or a prompt in a table of text


def run_sources(args: Namespace) -> str:
    how = read_how(args, ("psd",))
    with usage():
        check_sources_options(how.order, args.level, "check", args.given_prompt)
    files = read_sets(args, how)
    with placing({file.name: file for file in files}):
        if not (args.prompts or files[0].groups) and len(files) == 1 and args.by != BY_FOLDER:
            how.note("sources are compared as whole sets; for answers to prompts, pass --prompt")
        asked = how.of(files[0]) | {"level": args.level, "q": how.order}
        if len(files) == 1:
            labels = files[0].sets
        else:
            labels = [file.name for file in files for _ in range(len(file))]
        asked_by = [file.prompts or file.groups for file in files]
        prompts = [prompt for each in asked_by for prompt in each] or None
        values = concatenate_samples([file.values for file in files])
        try:
            found = sources(values, prompts, by=labels, given_prompt=args.given_prompt, **asked)
        except SampleError as error:
            _name(files, error.problems, skip=False)
            raise
    _name(files, found.dropped, skip=True)
    notes = Notes(how)
    for note in found.notes:
        notes.note("sources", note)
    notes.tell()
    return _printed(args, found)


def _name(files: Sequence[Samples], problems: Mapping[int, str], skip: bool) -> None:
    """Name the files and lines of samples that cannot be used, as an error or in notes."""
    start = 0
    for file in files:
        some = {i: problems[start + i] for i in range(len(file)) if start + i in problems}
        if some:
            check(file, some, skip)
        start += len(file)


def _printed(args: Namespace, found: Sources) -> str:
    if args.format == "html":
        return f"{report(found).html().rstrip()}\n"
    rows = list(found.rows("sources"))
    shown = _shown(found)
    return output.answer(args, found.to_dict, found.sentence, rows, shown, found.signature)


def _shown(found: Sources) -> Iterator[output.Table]:
    """Yield tables by their titles, with short names and prompts."""
    for _, title, rows, more in tables(found, 20, pairs=5, prompts=3):
        for row in rows:
            for name, value in row.items():
                if isinstance(value, str):
                    row[name] = truncate(value, _LETTERS)
        rest = f" ({more:,} more: -f csv and -f json list all)" if more else ""
        yield f"{title}{rest}", rows
