"""`vendiscore compare`: test which of several sets is more diverse."""

from argparse import Namespace

from ...support.signature import format_signature
from ...support.types import Record
from ..analysis.compare_options import CompareOptions
from ..analysis.compare_sets import compare
from ..analysis.comparison import Comparison, format_bounded_p
from ..reading.samples import Samples
from . import output
from .command_options import (
    as_usage_error,
    build_similarity,
    parse_command_options,
    parse_value,
    prompt_keywords,
    read_sets,
    report_file_locations,
)
from .exit_codes import UsageError

_COMPARE_FLAGS = ("size", "level", "permutations", "seed")
# Explanations of the columns of tables, without and with groups.
_SET_COLUMNS = {
    False: "score: of all n samples; matched: geometric mean over random subsets of equal size",
    True: "score: mean over groups; matched: mean over groups, at the common size of each group",
}
_PAIR_COLUMNS = (
    "difference: matched score of a minus that of b, with the interval from low to high; p: "
    "p-value, adjusted for the number of pairs; detectable: difference whose direction would be "
    "detected in about 80 % of cases (fewer for less than 8 groups)"
)


def run_compare(args: Namespace) -> str:
    """Return the output of `vendiscore compare`."""
    return _format_comparison(args, compare_files(args))


def compare_files(args: Namespace) -> Comparison:
    """Compare sets of samples: each file is a set, or a column of one file assigns sets."""
    comparison_options = ("psd", "allow_repeats", "pool_repeats")  # keywords that -o can set
    command_options = parse_command_options(args, comparison_options)
    min_quality = _parse_quality_flags(args)
    needs_correct = getattr(args, "correct", None) is not None or min_quality is not None
    with as_usage_error():
        # Checks the flags before files are read, which can take long. With `correct`, the size is
        # the number of correct answers to a prompt.
        size = None if needs_correct else args.size
        CompareOptions(
            command_options.order, args.level, args.permutations, size, seed=args.seed
        ).checked()
    sources = read_sets(args, command_options)
    keywords = dict(command_options.keywords_for(sources[0]))
    # Drops unusable samples of each file before the comparison, to list them by line. The
    # comparison itself knows only their indices.
    if args.on_error == "skip":
        kernel_keywords = {
            name: value for name, value in keywords.items() if name not in comparison_options
        }
        sources = [
            build_similarity(source, kernel_keywords, args.given_prompt)[0] for source in sources
        ]
        # Unusable samples have been dropped.
        keywords.pop("on_error")
    keywords["q"] = command_options.order
    keywords |= {name: getattr(args, name) for name in _COMPARE_FLAGS}
    # One file: a column (`sets`) assigns samples to sets. Otherwise each file is a set.
    if len(sources) == 1:
        sources_by_name = {"samples": sources[0]}
        values = sources[0].values
        groups: object = sources[0].groups
        keywords["by"] = sources[0].sets
        correct: object = _flag_correct(sources[0], min_quality)
    else:
        sources_by_name = {source.name: source for source in sources}
        values = {source.name: source.values for source in sources}
        groups = {source.name: source.groups for source in sources if source.groups}
        correct = {source.name: _flag_correct(source, min_quality) for source in sources}
    if needs_correct:
        if not (groups or sources[0].prompts):
            raise UsageError(
                "--correct and --min-quality compare answers to the same prompt; pass --prompt "
                "COLUMN"
            )
        keywords["correct"] = correct
    keywords |= {"groups": groups or None} | prompt_keywords(sources, args.given_prompt)
    with report_file_locations(sources_by_name):
        return compare(values, **keywords)


def _parse_quality_flags(args: Namespace) -> float | None:
    """Return the minimum quality of --min-quality, or None; its column becomes `args.quality`."""
    text = getattr(args, "min_quality", None)
    if text is None:
        return None
    if args.correct is not None:
        raise UsageError("--correct and --min-quality are mutually exclusive; remove one of them")
    column, _, number = text.rpartition("=")
    value = parse_value(number) if column and number else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UsageError(f"--min-quality must be COLUMN=NUMBER, such as score=0.5, got {text!r}")
    args.quality = column
    return float(value)


def _flag_correct(source: Samples, min_quality: float | None) -> list[bool]:
    """Return whether each sample is correct, according to --correct or --min-quality."""
    if min_quality is None:
        return list(source.correct)
    return [quality >= min_quality for quality in source.quality]


def format_comparison_signature(args: Namespace, comparison: Comparison) -> str:
    """Return the signature of a comparison: a single line with all its settings."""
    options = {name: getattr(args, name) for name in _COMPARE_FLAGS}
    for name in ("correct", "min_quality"):
        if getattr(args, name, None) is not None:
            options[name] = getattr(args, name)
    if comparison.allow_repeats is not None:
        options["allow_repeats"] = comparison.allow_repeats
    return format_signature(["VS"], {**comparison.settings, "q": comparison.q, **options})


def _format_comparison(args: Namespace, comparison: Comparison) -> str:
    """Format a comparison as a sentence with tables of sets and pairs; CSV has one row per pair."""
    result = comparison.to_dict()
    pair_rows = []
    for pair in result["pairs"]:
        row = {name: pair[name] for name in ("a", "b", "difference", "low", "high")}
        row["p"] = format_bounded_p(pair["p_adjusted"], pair["p_floor"])
        row["detectable"] = pair["detectable_difference"]
        pair_rows.append(row | {"verdict": pair["verdict"]})
    sets = result["sets"]
    if comparison.groups:  # show the largest possible score next to the score
        first_columns = ("name", "n", "n_per_group")
        sets = [{name: row[name] for name in first_columns} | row for row in sets]
    else:
        # Without groups, these columns are empty.
        per_group = {"n_per_group", "size_per_group"}
        sets = [{key: row[key] for key in row if key not in per_group} for row in sets]
    tables = [("sets", sets), ("pairs", pair_rows)]
    pairs = result["pairs"]
    if parts := result["quality_parts"]:
        hidden = ("a", "b", "level")
        columns = [{name: row[name] for name in row if name not in hidden} for row in parts]
        pairs = [pair | row for pair, row in zip(pairs, columns, strict=True)]
        tables.append(("equal quality", [_shorten_parts(row) for row in parts]))
    signature = format_comparison_signature(args, comparison)
    legend = f"Columns: {_SET_COLUMNS[comparison.groups > 0]}; {_PAIR_COLUMNS}."
    return output.format_result(
        args, comparison.to_dict, comparison.sentence, pairs, tables, signature, legend
    )


def _shorten_parts(row: Record) -> Record:
    """Return a row for the table of differences at equal quality.

    `row` is a dict of `quality_parts` in the result of `compare`. The difference and its parts are
    each written with their interval in one cell.
    """
    cells = {name: row[name] for name in ("a", "b", "size", "prompts")}
    for name in ("total", "among_correct", "from_failures"):
        value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
        cells[name] = f"{value:+.3f} [{low:+.3f}, {high:+.3f}]"
    return cells
