"""`vendiscore sources`: find how many models, annotators or generators effectively differ."""

from argparse import Namespace
from collections.abc import Mapping, Sequence

from ..analysis.between_sources import Sources
from ..analysis.source_scores import read_plan
from ..analysis.sources import sources
from ..core.errors import SampleError
from ..reading.samples import Samples
from ..report import report
from ..report.source_report import tables
from ..similarity.pools import pooled
from ..summary import shortened
from . import output
from .exit_codes import DataError, UsageError
from .files import BY_FOLDER, check
from .kernel_options import read_how, read_sets, usage

_LETTERS = 60  # of a name or a prompt in a table of text


def run_sources(args: Namespace) -> str:
    how = read_how(args, ("psd",))
    with usage():
        read_plan(how.order, args.level, "check", args.given_prompt)
    try:
        files = read_sets(args, how)
        if not (args.prompts or files[0].groups) and len(files) == 1 and args.by != BY_FOLDER:
            how.note("sources are compared as whole sets; for answers to prompts, pass --prompt")
        asked = how.of(files[0]) | {"level": args.level, "q": how.order}
        if len(files) == 1:
            labels = files[0].sets
        else:
            labels = [file.name for file in files for _ in range(len(file))]
        asked_by = [file.prompts or file.groups for file in files]
        prompts = [prompt for each in asked_by for prompt in each] or None
        values = pooled([file.values for file in files])
        found = sources(values, prompts, by=labels, given_prompt=args.given_prompt, **asked)
    except SampleError as error:
        _name(files, error.problems, skip=False)
        raise
    except UsageError:
        raise
    except (TypeError, ValueError, MemoryError) as error:
        raise DataError(_in_words(args, str(error))) from error
    _name(files, found.dropped, skip=True)
    for note in found.notes:
        how.note(note)
    return _printed(args, found)


def _name(files: Sequence[Samples], problems: Mapping[int, str], skip: bool) -> None:
    """Name the files and lines of samples that cannot be used, as an error or in notes."""
    start = 0
    for file in files:
        some = {i: problems[start + i] for i in range(len(file)) if start + i in problems}
        if some:
            check(file, {file.place(i): why for i, why in some.items()}, skip)
        start += len(file)


def _in_words(args: Namespace, said: str) -> str:
    """Return a message of the library or of a reader with the words of this command."""
    words = {
        "by `compute`": "by `vendiscore FILE`",
        "--by, --group-by and --quality": "--source and --prompt",
        "--group-by folder and ": "",
        "--by": "--source",
        "has no set": "has no source",
    }
    for word, flag in words.items():
        said = said.replace(word, flag)
    name = "" if len(args.files) > 1 or said.startswith(args.files[0]) else f"{args.files[0]}: "
    return name + said


def _printed(args: Namespace, found: Sources) -> str:
    if args.format == "json":
        return output.as_json(found.to_dict(), args.width)
    if args.format == "csv":
        return output.comma_separated(list(found.rows("sources")), args.width)
    if args.format == "html":
        return f"{report(found).html().rstrip()}\n"
    heading = "### {}\n\n" if args.format == "md" else "{}:\n"
    parts = [f"{found.sentence}\n"]
    for _, title, rows, more in tables(found, 20, pairs=5, prompts=3):
        for row in rows:
            for name, value in row.items():
                if isinstance(value, str):
                    row[name] = shortened(value, _LETTERS)
        made = output.FORMATS[args.format](rows, args.width)
        rest = f"\nAnd {more:,} more sources; -f csv and -f json list all.\n" if more else ""
        parts.append(heading.format(title) + made + rest)
    parts.append(f"{found.signature}\n")
    return "\n".join(parts)
