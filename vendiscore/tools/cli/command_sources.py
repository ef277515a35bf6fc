"""`vendiscore sources`: estimate the effective number of models, annotators or generators."""

from argparse import Namespace
from collections.abc import Iterator

from ...similarity.concatenation import concatenate_samples
from ...support.errors import SampleError
from ...support.summary import truncate
from ..analysis.source_scores import check_sources_options
from ..analysis.sources import sources
from ..analysis.sources_result import Sources
from ..reading.paths import FOLDER_COLUMN
from ..reports import report
from ..reports.source_report import iter_tables
from . import output
from .command_options import as_usage_error, parse_command_options, read_sets, report_file_locations
from .files import report_unusable_in_files

_MAX_CELL_WIDTH = 60  # of names and prompts in text tables
_MAX_SOURCE_ROWS = 20  # of the table of sources


def run_sources(args: Namespace) -> str:
    """Return the output of `vendiscore sources`: the effective number of sources.

    A source is a file, or all samples with the same label in a column, such as one model.
    """
    command_options = parse_command_options(args, ("psd",))
    with as_usage_error():
        # Before files are read, which can take long. "check" is the default of the keyword psd,
        # which is checked later.
        check_sources_options(command_options.order, args.level, "check", args.given_prompt)
    files = read_sets(args, command_options)
    with report_file_locations({file.name: file for file in files}):
        has_prompts = bool(args.prompts or files[0].groups)
        is_table = len(files) == 1 and args.by != FOLDER_COLUMN
        if is_table and not has_prompts:
            args.notes.add_note(
                "the samples have no prompts, so each source is compared as a whole; to compare "
                "answers to the same prompt, pass --prompt COLUMN"
            )
        keywords = command_options.keywords_for(files[0]) | {
            "level": args.level,
            "q": command_options.order,
        }
        if len(files) == 1:
            labels = files[0].sets
        else:
            # Each file is a source: its name is the label of all its samples.
            labels = [file.name for file in files for _ in range(len(file))]
        # Detected groups of samples are prompts.
        prompts_by_file = [file.prompts or file.groups for file in files]
        prompts = [prompt for file_prompts in prompts_by_file for prompt in file_prompts] or None
        values = concatenate_samples([file.values for file in files])
        try:
            result = sources(values, prompts, by=labels, given_prompt=args.given_prompt, **keywords)
        except SampleError as error:
            report_unusable_in_files(files, error.problems, skip=False)
            raise
    report_unusable_in_files(files, result.dropped, skip=True)
    for note in result.notes:
        args.notes.add_note(note, minor=True)
    return _format_sources(args, result)


def _format_sources(args: Namespace, result: Sources) -> str:
    """Format the result of `vendiscore sources` as text, Markdown, JSON, CSV or an HTML report.

    A source is a file, or all samples with the same label in a column. CSV has one row per source.
    """
    if args.format == "html":
        return f"{report(result).html().rstrip()}\n"
    rows = list(result.rows("sources"))
    short_tables = _iter_short_tables(result)
    return output.format_result(
        args, result.to_dict, result.sentence, rows, short_tables, result.signature
    )


def _iter_short_tables(result: Sources) -> Iterator[output.Table]:
    """Yield the title and rows of each table of a result, with truncated names and prompts."""
    for _, title, rows, n_more in iter_tables(
        result, _MAX_SOURCE_ROWS, pairs_per_end=5, prompts_per_end=3
    ):
        for row in rows:
            for name, value in row.items():
                if isinstance(value, str):
                    row[name] = truncate(value, _MAX_CELL_WIDTH)
        suffix = f" ({n_more:,} more: -f csv and -f json list all)" if n_more else ""
        yield f"{title}{suffix}", rows
