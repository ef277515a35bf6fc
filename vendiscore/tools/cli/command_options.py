"""Conversion of command-line options to keywords: samples, kernels, orders and measures."""

import json
import shlex
from argparse import Namespace
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace

from ...measures.measure import Measure, unused_kernel_keywords
from ...resolve.kernel import check_kernel_options, parse_kernel_name
from ...resolve.similarity_builder import as_similarity
from ...resolve.similarity_spec import similarity_spec_from_keywords
from ...scoring.score_request import ScoreRequest, parse_request
from ...similarity.base import Similarity
from ...support.arguments import DEFAULT_ORDER, check_order
from ...support.errors import SampleError, short_repr
from ...support.types import Options, Record
from ..reading.default_kernels import DEFAULT_KERNELS, default_keywords, detect_sample_type
from ..reading.limits import ReadOptions
from ..reading.samples import INDIVIDUAL, Samples, distinct_labels
from .exit_codes import DataError, UsageError
from .files import read_samples, report_unusable_samples
from .notes import Notes

_JSON_STARTS = ("[", "{", '"')  # first characters of JSON values other than numbers
_LITERALS: Record = {"true": True, "false": False, "none": None, "null": None}
# Keywords of the library that have flags of their own, so that -o does not accept them.
_OWN_FLAGS = {
    "samples": "FILE",
    "references": "--references",
    "k": "-k",
    "q": "-q",
    "measures": "-m",
    "groups": "--group-by",
    "counts": "--counts",
    "p": "--weights",
    "details": "-f json",
    "on_error": "--on-error",
    "quality": "--quality",
    "score_K": "--matrix",
}
# Keywords whose values cannot be written on a command line.
_PYTHON_ONLY_OPTIONS = ("clusters", "model", "transform")
DEFAULT_TABLE_ROWS = 10  # rows per table of `explain`
_MAX_FILE_LINES = 2  # with more files, one line describes the samples of all
_NUMBER_INPUT_KEYWORDS = ("score_K", "score_X", "score_dual")


@dataclass(frozen=True)
class CommandOptions:
    """Parsed flags of a command, and the keywords of the library that correspond to them."""

    args: Namespace
    sample_type: str  # that the kernel compares; "" for any
    keywords: Options  # of the similarity and of the analysis, except q
    order: float  # q of commands with a single order

    @property
    def has_comparison(self) -> bool:
        """True if the user chose a kernel or a metric."""
        return any(self.keywords.get(name) for name in ("k", "metric", *_NUMBER_INPUT_KEYWORDS))

    def keywords_for(
        self, source: Samples, needs_kernel: bool = True, measures: Sequence[Measure] = ()
    ) -> Record:
        """Return the keywords to pass to a function of the library with the samples of a file.

        If the user chose no kernel or metric, the default kernel for the type of the samples is
        added, and a note says so. Pass `needs_kernel=False` if all measures use distances, for
        which vectors need no kernel. If `measures` are passed, and none of them uses similarities,
        only keywords that affect them are added.
        """
        keywords = dict(self.keywords)
        if self.has_comparison:
            return keywords
        if source.kind == "vectors" and not needs_kernel:
            keywords.pop("on_error", None)  # an option of kernels
            return keywords
        # Text files can contain biological sequences, for which word n-grams are unsuitable.
        sample_type = detect_sample_type(source.kind, source.values)
        if sample_type not in DEFAULT_KERNELS:  # the library has a default, as for texts
            return keywords
        kernel, description = DEFAULT_KERNELS[sample_type]
        defaults = default_keywords(sample_type)
        if measures and "on_error" not in keywords:  # "skip" drops samples that the kernel rejects
            options = [name for name in defaults if name != "k"]
            unused = unused_kernel_keywords(kernel, options, measures)
            defaults = {name: value for name, value in defaults.items() if name not in unused}
            if unused and defaults.keys() <= {"k"}:
                return keywords  # the measures use neither the kernel nor its options
        # Sets of a file are named "FILE › SET"; the note is about all sets of the file.
        file = source.name.partition(" › ")[0]
        self.args.notes.add_note(f"{sample_type} are compared by {description} (-k {kernel})", file)
        # Options of the user (`keywords`) replace those for sequences.
        return {**defaults, **keywords}


def parse_command_options(
    args: Namespace, extra_names: Collection[str] | None = None
) -> CommandOptions:
    """Parse the flags that several commands have: those that define the similarity, -q and others.

    `extra_names` are keywords that the analysis of the command accepts in addition to those of the
    similarity. If they are passed, all keywords and the order q are checked here, before files are
    read. The command `score` omits them, because it checks its keywords later, together with those
    of the measures.
    """
    check_conflicting_flags(args)
    sample_type = ""
    keywords = {}
    order = float(DEFAULT_ORDER)
    with as_usage_error():
        if args.kernel is not None:  # KERNEL[:OPTION=VALUE…]
            name, *option_pairs = args.kernel.split(":")
            kernel, _ = parse_kernel_name(name)
            options = parse_option_flags(option_pairs)
            check_kernel_options(kernel, options)
            # Kernels that plugins register may declare no content: any samples are read for these.
            sample_type = next(iter(kernel.content), "")
            keywords = {"k": name, **options}
        keywords |= parse_option_flags(args.option or [])
        if "given_prompt" in keywords and "prompts" not in keywords:
            # Only the flag uses the column of prompts.
            raise UsageError(
                "-o given_prompt requires -o prompts=PROMPT, one prompt for all samples; if each "
                "sample has a prompt, pass --given-prompt instead"
            )
        if args.matrix or args.distances:
            keywords["score_K"] = True
        if extra_names is not None:
            # Other keywords raise an error here, with `extra_names` among the suggestions.
            kernel_keywords = {
                name: value for name, value in keywords.items() if name not in extra_names
            }
            similarity_spec_from_keywords(kernel_keywords, extra_names=extra_names, allow_fit=True)
            order = check_order(parse_value(args.order), "-q")
    if not sample_type and any(keywords.get(name) for name in _NUMBER_INPUT_KEYWORDS):
        sample_type = "vectors"
    if args.on_error == "skip":
        keywords["on_error"] = "skip"
    if getattr(args, "no_repeats", False):
        keywords["allow_repeats"] = False
    if getattr(args, "no_pool_repeats", False):
        keywords["pool_repeats"] = False
    return CommandOptions(args, sample_type, keywords, order)


def check_conflicting_flags(args: Namespace) -> None:
    """Raise a UsageError for flags that exclude each other or have no effect with another flag."""
    passed_flags = {name for name, value in vars(args).items() if value not in (None, False)}
    output_format = getattr(args, "format", "text")
    if {"quiet", "verbose"} <= passed_flags:
        raise UsageError("--quiet and --verbose are mutually exclusive; remove one of them")
    if {"ci", "weights"} <= passed_flags:
        raise UsageError(
            "--ci assumes identically distributed samples and is not supported with --weights; "
            "remove one of them"
        )
    if {"counts", "weights"} <= passed_flags:
        raise UsageError("--counts and --weights are mutually exclusive; remove one of them")
    if "transpose" in passed_flags and "counts" not in passed_flags:
        raise UsageError("--transpose requires --counts; add --counts, or remove --transpose")
    matrix_flags = [
        f"--{name}" for name in ("counts", "matrix", "distances") if name in passed_flags
    ]
    if len(matrix_flags) > 1:
        raise UsageError(f"{' and '.join(matrix_flags)} are mutually exclusive; remove one of them")
    if "brief" in passed_flags:
        other_flags = [f"--{name}" for name in ("ci", "signature") if name in passed_flags]
        if output_format != "text":
            other_flags.append(f"-f {output_format}")
        if other_flags:
            raise UsageError(f"-b prints only values; remove -b or {', '.join(other_flags)}")
    is_csv_table = args.command == "table" and output_format == "csv"
    if "signature" in passed_flags and (output_format == "html" or is_csv_table):
        raise UsageError(
            f"--signature is not supported with -f {output_format}; remove one of them"
        )
    # `dedup` accepts -q only to explain that it has no effect.
    if args.command == "dedup" and parse_value(args.order) != DEFAULT_ORDER:
        raise UsageError("-q has no effect on near-duplicates; remove it")
    if (
        args.command == "explain"
        and args.size != DEFAULT_TABLE_ROWS
        and output_format in ("json", "csv")
    ):
        raise UsageError(
            f"-n has no effect with -f {output_format}, which contains all rows; remove it"
        )


def parse_score_options(
    args: Namespace, command_options: CommandOptions
) -> tuple[Record, ScoreRequest]:
    """Return the keywords that only the command `score` has, and the parsed request.

    The keywords are q, measures and ci. The request consists of all validated arguments of
    `compute`, without samples.
    """
    score_keywords = {"q": parse_value(args.order)}
    if args.measures:
        score_keywords["measures"] = parse_measure_flags(args.measures)
    # --ci has no value: the level is 0.95, unless -o ci=LEVEL was passed.
    if args.ci and "ci" not in command_options.keywords:
        score_keywords["ci"] = 0.95
    keywords = {**command_options.keywords, **score_keywords}
    if args.format == "html" and "ci" not in keywords:
        # A report has an interval without --ci, but a request would reject its options.
        for name in ("allow_repeats", "pool_repeats"):
            keywords.pop(name, None)
    with as_usage_error():
        request = parse_request({**keywords, "details": True})  # as for the scores
    names = ", ".join(configured.measure.name for configured in request.measures)
    if request.two_sample_measures and args.references is None:
        raise UsageError(f"measures of two sets ({names}) require --references FILE")
    if args.references is not None and not request.two_sample_measures:
        raise UsageError(
            "--references requires a measure of two sets, for example -m MMD; "
            f"{names} uses only one set"
        )
    return score_keywords, request


@contextmanager
def as_usage_error() -> Iterator[None]:
    """Convert errors of the library about arguments into a UsageError, which has exit code 2."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None


@contextmanager
def report_file_locations(sources: Mapping[str, Samples]) -> Iterator[None]:
    """Convert errors of the library about samples into errors that name file, line and column.

    Messages of the library refer to a set of samples by an argument or the name of a set. `sources`
    maps this name to the samples as read from a file.
    """
    try:
        yield
    except SampleError as error:
        # Without the name of a set, as in "of `references` is empty", the first set is meant.
        named_sets = [name for name in sources if error.problem.startswith(f"of `{name}` ")]
        source = sources[[*named_sets, *sources][0]]
        # The library adds a note about on_error='skip' if the samples can be dropped.
        can_skip = "on_error" in "".join(getattr(error, "__notes__", ()))
        report_unusable_samples(source, error.problems, skip=False, suggest_skip=can_skip)
    except (TypeError, ValueError, MemoryError) as error:
        files = {source.name for source in sources.values()}
        # DataErrors already name the file; with several files, the cause can be any of them.
        if isinstance(error, DataError) or len(files) > 1:
            raise
        raise DataError(f"{files.pop()}: {error}") from error


def drop_samples(source: Samples, dropped: Mapping[int, str]) -> Samples:
    """Return the samples that remain without the unusable ones, and print a note about these.

    `dropped` maps the index of each unusable sample to what is wrong with it.
    """
    if not dropped:
        return source
    report_unusable_samples(source, dropped, skip=True)
    return source.subset([i for i in range(len(source)) if i not in dropped])


def build_similarity(
    source: Samples, keywords: Record, given_prompt: bool
) -> tuple[Samples, Similarity]:
    """Return the samples of `source` that the kernel can use, and their similarity.

    `keywords` define the kernel. With `given_prompt`, similarities are conditioned on the prompts
    of the samples.
    """
    prompts = prompt_keywords([source], given_prompt) if given_prompt else {}
    with report_file_locations({"samples": source}):
        similarity = as_similarity(source.values, **prompts, **keywords)
    return drop_samples(source, similarity.dropped), similarity


def read_files(
    paths: Sequence[str],
    command_options: CommandOptions,
    references: str | None = None,
    prepare: Callable[[Samples], Samples] | None = None,
) -> list[Samples]:
    """Read files of the same sample type, and print a line about the samples of each.

    The samples of the file `references`, if it is passed, are the last item of the result.
    `prepare` transforms the samples of each file before the lines are printed.
    """
    if [*paths, references].count("-") > 1:
        raise UsageError("standard input (-) can be read only once; pass a file instead of one -")
    args = command_options.args
    # Flags for reading files have the names of the fields of ReadOptions.
    option_names = {field.name for field in fields(ReadOptions)}
    options: Record = {
        name: value
        for name, value in vars(args).items()
        if name in option_names and value is not None
    }
    options["kind"] = "counts" if args.counts else command_options.sample_type
    # A kernel or a metric determines whether the numbers are similarities. Without them, None means
    # that a symmetric table is ambiguous.
    options["matrix"] = args.matrix if command_options.has_comparison else None
    read_options = ReadOptions(**options)
    sources = [read_samples(path, read_options, args) for path in paths]
    if references is not None:  # references are one set, even if the samples are several
        sources.append(read_samples(references, replace(read_options, by=None, weights=None), args))
    if prepare:
        sources = [prepare(source) for source in sources]
    _print_read_samples(args.notes, sources)
    if args.given_prompt:
        # Detected groups are prompts, but groups of --group-by need not be.
        are_groups_detected = not getattr(args, "group_by", None)
        sources = [
            _add_prompts(source, prompts=source.groups if are_groups_detected else ())
            for source in sources
        ]
    for source in sources[1:]:
        if source.kind != sources[0].kind:
            raise DataError(
                f"all files must contain the same type of samples: {sources[0].name} contains "
                f"{sources[0].kind}, {source.name} contains {source.kind}"
            )
    return sources


def _print_read_samples(notes: Notes, sources: Sequence[Samples]) -> None:
    """Print which samples were read: one line per file, or a single line for three or more files.

    With --verbose, there is always one line per file.
    """
    lines = [f"{source.name}: {source.taken}" for source in sources]
    if len(lines) > _MAX_FILE_LINES and not notes.verbose:
        other_sources = sources[1:]
        count = sum(map(len, other_sources))
        description = f"{len(other_sources):,} further files: {count:,} {other_sources[0].kind}"
        lines = [f"{lines[0]}; {description}"]
    for line in lines:
        notes.print_line(line)


def read_sets(args: Namespace, command_options: CommandOptions) -> list[Samples]:
    """Read several files as one set each, or one file with a column of set labels."""
    n_files = len(args.files)
    if args.by and n_files > 1:
        raise UsageError(
            f"--by requires a single file, got {n_files} files, each of which is a set; remove --by"
        )

    def prepare(source: Samples) -> Samples:
        """Return the samples of a file with sites as sets, and without prompts if in groups.

        Detected prompts are removed if the user named a column of groups by --group-by.
        """
        if source.unit == INDIVIDUAL and n_files == 1:
            source = _sites_as_sets(source)
        if getattr(args, "group_by", None) and not (args.prompts or args.given_prompt):
            # Sets are compared within groups or within prompts, not both. Groups that the user
            # names replace detected prompts.
            grouping = {**source.grouping, "prompts": ""}
            return replace(source, prompts=(), grouping=grouping)
        return source

    sources = read_files(args.files, command_options, prepare=prepare)
    # The same file twice, or one file without a column of sets.
    if len({*args.files}) < n_files or (n_files == 1 and not sources[0].sets):
        hint = _suggest_set_flags(args, sources[0]) if n_files == 1 else ""
        raise UsageError(
            f"{args.command} requires two or more different files, or one table with a column that "
            f"assigns rows to sets{hint}"
        )
    return sources


def _sites_as_sets(source: Samples) -> Samples:
    """Return the samples of a table of counts, with one set per site, for comparing sites.

    In a table of counts of species by site, each sample is an individual of a species. If a column
    already assigns individuals to sets, the samples are returned unchanged: these sets are compared
    site by site.
    """
    if not source.sets:
        site_column = source.grouping.get("groups", "")
        return replace(
            source, sets=source.groups, groups=(), grouping={"sets": site_column, "groups": ""}
        )
    n_sites = len({*source.groups})
    n_set_site_pairs = len({*zip(source.sets, source.groups, strict=False)})
    if n_set_site_pairs == n_sites > 0:  # no site is in two sets
        raise UsageError(
            f"{source.name}: each site belongs to only one set of column "
            f"{short_repr(source.grouping['sets'])}, so sets cannot be compared site by site; "
            f"pass --pool to pool the sites of each set"
        )
    return source


def _suggest_set_flags(args: Namespace, source: Samples) -> str:
    """Return flags that define the sets of a table by one of its columns, to append to a message.

    Return "" if no column is suitable.
    """
    if source.unit == INDIVIDUAL:
        return "; without --pool, each site is a set"
    from ..reading.columns import find_set_columns  # slow import that plain text does not need
    from ..reading.tables import Table

    columns = find_set_columns(source.source) if isinstance(source.source, Table) else []
    # The columns of samples and prompts cannot define sets.
    used_columns = (source.column, source.grouping.get("prompts"))
    columns = [name for name in columns if name not in used_columns]
    if not columns:
        return ""
    flags = f", for example --by {shlex.quote(columns[0])}"
    if getattr(args, "group_by", None) == columns[0]:
        return f"{flags} instead of --group-by"
    # Without sets, the column of prompts is the one that groups the samples.
    prompt_column = source.grouping.get("groups")
    if prompt_column and not args.prompts:
        flags += f" --prompt {shlex.quote(prompt_column)}"
    return flags


def _add_prompts(source: Samples, prompts: Sequence[Hashable]) -> Samples:
    """Return the samples with `prompts`, or unchanged if they have prompts from --prompt.

    Raise a UsageError if there are no prompts at all, because --given-prompt requires them.
    """
    texts = source.prompts or list(map(str, prompts))
    if not texts:
        raise UsageError("--given-prompt requires a column of prompts; pass --prompt COLUMN")
    return replace(source, prompts=texts)


def check_one_set(source: Samples, allow_prompts: bool) -> None:
    """Raise a UsageError if columns of the file divide the samples into groups or sets.

    `allow_prompts` says whether the command has the flag --prompt, with which it compares only
    samples with the same prompt. The message then also suggests this flag.
    """
    for name, labels in (("groups", source.groups), ("sets", source.sets)):
        if labels:
            column = source.grouping.get(name)
            of_column = f" by column {short_repr(column)}" if column else ""
            raise UsageError(
                f"{source.name}: expected one set, but the samples are in "
                f"{len(distinct_labels(labels)):,} {name}{of_column}; pass --pool to use all "
                f"samples as one set"
                f"{_suggest_prompt_flags(source) if allow_prompts else ''}"
            )


def _suggest_prompt_flags(source: Samples) -> str:
    """Return flags for comparing samples within prompts, to append to a message."""
    prompt_column = source.grouping.get("groups")
    # Groups without a column, and sites of a table of counts, are no prompts.
    if not prompt_column or source.unit == INDIVIDUAL:
        return ""
    flags = f"--prompt {shlex.quote(prompt_column)}"
    if source.sets:  # also ignore the detected column of models
        flags += " --pool"
    return f", or {flags} to compare only answers to the same prompt"


def prompt_keywords(sources: Sequence[Samples], given_prompt: bool) -> Record:
    """Return the keywords `prompts` and `given_prompt` for functions of the library, as a dict.

    It is empty if the samples have no prompts. For several sets, the value of `prompts` is a list
    with one list of prompts per set.
    """
    prompt_lists = [list(source.prompts) for source in sources]
    if not prompt_lists[0]:
        return {}
    return {
        "prompts": prompt_lists if len(prompt_lists) > 1 else prompt_lists[0],
        "given_prompt": given_prompt,
    }


def parse_value(text: str) -> object:
    """Parse a number, true, false, none, JSON, or comma-separated numbers; else return the text."""
    if "," in text and text[0] not in _JSON_STARTS:
        # Several numbers, as in "0,1,inf"; other texts with commas remain texts.
        items = [parse_value(item) for item in text.split(",")]
        return items if all(isinstance(item, (int, float)) for item in items) else text
    if text.lower() in _LITERALS:
        return _LITERALS[text.lower()]
    for parse in (json.loads, float):  # float parses inf and .5
        with suppress(ValueError):
            return parse(text)
    return text


def parse_option_flags(pairs: Iterable[str]) -> Record:
    """Parse texts of the form OPTION=VALUE into a dict of keywords.

    They are values of -o, or follow the name of a kernel or measure, as in "rbf:sigma=2".
    """
    options = {}
    for pair in pairs:
        name, separator, text = pair.partition("=")
        # Names of keywords contain underscores, those of flags dashes; both are accepted.
        name = name.strip().replace("-", "_")
        if not separator or not name:
            raise UsageError(
                f"-o must be OPTION=VALUE, got {pair!r}; to write results to a file, use > FILE"
            )
        if name in _OWN_FLAGS:
            raise UsageError(f"-o {name} is not supported; use {_OWN_FLAGS[name]} instead")
        if name in _PYTHON_ONLY_OPTIONS:
            raise UsageError(
                f"-o {name} requires a Python object; call vendiscore.compute in Python"
            )
        options[name] = parse_value(text)
    return options


def parse_measure_flags(texts: Iterable[str]) -> list[str] | dict[str, Record]:
    """Parse the values of -m: presets or MEASURE[:OPTION=VALUE…], separated by commas.

    Return a list of names, or a dict from names to options if any measure has options.
    """
    measures: dict[str, Record] = {}
    for text in (item.strip() for flag in texts for item in flag.split(",")):
        name, *option_pairs = text.split(":")
        # A measure may be named several times, each time with other options.
        measures[name] = measures.get(name, {}) | parse_option_flags(option_pairs)
    return measures if any(measures.values()) else list(measures)
