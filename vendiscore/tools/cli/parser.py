"""Definition of the commands and their options for argparse."""

import argparse
import re
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from ... import __version__
from ...support.arguments import DEFAULT_ORDER, DEFAULT_THRESHOLD
from ...support.suggestions import (
    closest_name,
    describe_candidates,
    first_sentence,
    replacement_hint,
)
from ...support.types import Record
from ..reading.formats import TYPES
from .exit_codes import PROGRAM, USAGE
from .unknown_flags import find_long_flag_with_one_dash, find_unknown_flag, suggest_flag

_MAX_HELP_WIDTH = 95

# Matches keywords in messages of the library: `name`, or name=value after a verb such as "pass".
_KEYWORD_PATTERN = re.compile(
    r"`(\w+(?:=(?:'[^']*'|False))?)`|"
    r"(?<![\w-])(pass|with|or|and|by|add|use|try|take|mean|set|requires?) (\w+)="
    r"('[^']*'|\[[^]]*\]|\([\d, ]+\)|float\('inf'\)|[\w.+-]*\w)"
)
_LIST_FUNCTION_PATTERN = re.compile(r"vendiscore\.list_(\w+)\(\)")
# Keywords and functions with other names on the command line; `size` of images has no flag.
_FLAG_NAMES = {
    "compute": "score",
    "groups": "group_by",
    "p": "weights",
    "score_K": "matrix",
    "size": "",
}
# Keywords with a value that are flags without a value on the command line.
_VALUELESS_FLAGS = {
    "allow_repeats=False": "--no-repeats",
    "pool_repeats=False": "--no-pool-repeats",
    "ci=0.95": "--ci",
    "subfolders=False": "--no-subfolders",
}


class _Parser(argparse.ArgumentParser):
    """An argument parser of a command that suggests options for unknown ones.

    `command` is the name of the command. `arguments` are all of its arguments, in which the value
    of an unknown option is looked up.
    """

    command = ""
    arguments: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        """Exit with an error message and a hint for the first unknown option."""
        _, unknown, options = message.partition("unrecognized arguments: ")
        hint = ""
        if unknown and options.startswith("-"):
            unknown_flag = find_unknown_flag(options.split()[0], self.arguments)
            message = f"there is no option {unknown_flag.word}"
            hint = suggest_flag(self, self.command, unknown_flag, _describe_other_flags)
            hint = self.replace_keywords_by_flags(hint)
        # A hint of one line names the right option. Without a hint, or after a list of candidates,
        # the user may need the list of all options.
        if not hint or "\n" in hint:
            hint += f"\n`{self.prog} --help` lists all options."
        self.exit(USAGE, f"{self.prog}: error: {message}. {hint.lstrip()}\n")

    def parse_arguments(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse the arguments of the command; files and options may have any order."""
        self.arguments = arguments
        if wrong := find_long_flag_with_one_dash(self, arguments):
            self.error(f"unrecognized arguments: {wrong}")
        return self.parse_intermixed_args(arguments)

    @property
    def flags(self) -> dict[str, str]:
        """The long flag of each option, by each of its short and long names without dashes."""
        # Of several names, the long flag starts with two dashes.
        return {
            name.lstrip("-"): next(flag for flag in action.option_strings if flag[1] == "-")
            for name, action in self._option_string_actions.items()
        }

    def replace_keywords_by_flags(self, message: str) -> str:
        """Return a message of the library with keywords replaced by the flags of the command.

        >>> build_parser("compare").replace_keywords_by_flags("`q` is 7; pass psd='clip'")
        '-q is 7; pass -o psd=clip'
        """
        options = self._option_string_actions

        def replace_keyword(match: re.Match[str]) -> str:
            # Replace one Python keyword in a message by a flag: "`q`" becomes "-q", and
            # "pass psd='clip'" becomes "pass -o psd=clip". The pattern matches either a keyword in
            # backticks, `quoted`, or a verb such as "pass" with a keyword and its value.
            quoted, verb, name, value = match.groups()
            flag = _VALUELESS_FLAGS.get(quoted or f"{name}={value}", "")
            if flag in options:
                return flag if quoted else f"{verb} {flag}"
            keyword, _, quoted_value = (quoted or name).partition("=")
            flag_name = _FLAG_NAMES.get(keyword, keyword)
            option = options.get(f"--{flag_name.replace('_', '-')}") or options.get(f"-{flag_name}")
            flag = option.option_strings[0] if option else ""
            if flag_name in COMMANDS and not option:
                return f"`{PROGRAM} {flag_name}`"
            if quoted:
                return f"{flag} {quoted_value}".strip() if flag else match[0]
            # Python syntax becomes a value of a flag: float('inf') → inf, [1, 2] → 1,2.
            value = value.removeprefix("float(").strip("[]()'").replace(", ", ",")
            if option and option.nargs != 0:
                return f"{verb} {flag} {value}"
            if option and value == "True":  # a flag without a value
                return f"{verb} {flag}"
            return f"{verb} -o {name}={value}"  # keywords without a flag

        message = _LIST_FUNCTION_PATTERN.sub(rf"{PROGRAM} \1", message)
        return _KEYWORD_PATTERN.sub(replace_keyword, message)


def _describe_other_flags(own_flags: Iterable[str]) -> dict[str, str]:
    """Describe flags and output formats of other commands, and names of all commands, for messages.

    The keys of the dict are what users may have typed; its values state what that is and how to
    type it correctly. `own_flags`, the flags of the current command, are omitted.
    """
    commands_by_flag: dict[str, list[str]] = {}
    commands_by_format: dict[str, list[str]] = {}
    for command, definition in COMMANDS.items():
        # Each flag once: `flags` contains it for each of its names.
        for flag in {*build_parser(command).flags.values()} - {*own_flags}:
            commands_by_flag.setdefault(flag, []).append(f"`{PROGRAM} {command}`")
        for name in definition.formats:
            commands_by_format.setdefault(name, []).append(f"`{PROGRAM} {command} -f {name}`")
    descriptions = {
        name: f"a format of another command: {', '.join(commands)}"
        for name, commands in commands_by_format.items()
    }
    descriptions |= {name: f"a command: `{PROGRAM} {name}`" for name in COMMANDS}
    return descriptions | {
        flag: f"an option of {', '.join(commands)}" for flag, commands in commands_by_flag.items()
    }


def describe_unknown_command(word: str, files: Iterable[str]) -> str:
    """Return the message about a first argument that is neither a command nor a file.

    `files` are the files in the current folder. The message suggests the closest command or file,
    or lists the most similar commands.
    """
    close_command = closest_name(word, COMMANDS, "command")
    hint = replacement_hint(word, "command")
    if close_command:
        hint = f"Did you mean `{PROGRAM} {close_command}`?"
    elif not hint and (file := closest_name(word, files)):
        hint = f"Did you mean `{PROGRAM} {file}`?"
    if not hint:
        descriptions = {
            name: first_sentence(command.description) for name, command in COMMANDS.items()
        }
        hint = describe_candidates(word, descriptions, "command", quote="")
    separator = "\n" if "\n" in hint else " "
    names = ", ".join(COMMANDS)
    return f"no such file or command: {word}. {hint}{separator}The commands are {names}."


def _parse_count(text: str) -> int:
    """Parse the value of an option of type COUNT: an integer of at least 0."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text!r}")
    return int(text)


# The options of all commands by group of the help: a name for `Command.options`, flags, metavar,
# default in parentheses, and description. An option without metavar has no value. Three dots after
# the metavar mark an option that can be repeated. Options for reading files are attributes of
# `ReadOptions`.
_OPTION_PATTERN = re.compile(r"(\w+): (-.*?)(?: ([^\s-]\S*?)(\.\.\.)?(?: \((\S+)\))?)?  +(.+)")
_TYPES = {"COUNT": _parse_count, "NUMBER": float}
_GROUPED_OPTIONS = {
    "selection": """
chosen: -n, --size COUNT  number of samples to select
objective: --objective vendi|represent (vendi)  what to maximize: the Vendi Score ('vendi', the \
default), or the similarity of all samples to the selected ones ('represent')
quality: --quality COLUMN  column with the quality of each sample, a number of at least 0
""",
    "server": """
port: --port COUNT (0)  port of the web app (default: the first free one from 7860)
gradio: --gradio  also answer clients of gradio, which takes longer to start
""",
    "scoring": f"""
kernel: -k, --kernel KERNEL[:OPTION=VALUE…]  how samples are compared, for example rbf:sigma=2; \
`{PROGRAM} kernels` lists all (default: ngram_overlap for text, cosine for vectors, morgan for \
molecules, pixels for images)
kernels: -k, --kernel KERNEL[:OPTION=VALUE…]...  how samples are compared, for example \
rbf:sigma=2; pass -k several times for one column per kernel (default: ngram_overlap for text, \
cosine for vectors, morgan for molecules, pixels for images)
order: -q, --order ORDER ({DEFAULT_ORDER})  order of the score, from 0 to inf \
(default: {DEFAULT_ORDER})
orders: -q, --order ORDER ({DEFAULT_ORDER})  order of the score, from 0 to inf, or several orders: \
0,1,inf (default: {DEFAULT_ORDER})
measures: -m, --measures MEASURES...  measures instead of VS, for example VS,IntDiv or \
MagArea:n_scales=20; `{PROGRAM} measures` lists all
option: -o, --option OPTION=VALUE...  any other option of the kernel, of the measures or of \
vendiscore.compute; can be repeated
references: --references FILE  second set, for measures that compare two sets
matrix: --matrix  FILE is a similarity matrix
distances: --distances  FILE is a matrix of distances; similarities are exp(−distance)
ci: --ci  add 95 %% confidence intervals (-o ci=0.9 for 90 %%)
baseline: --baseline FILE|NUMBER  earlier answers to compare with, or the expected score
alpha: --alpha NUMBER (0.05)  maximum probability of a false alarm (default: 0.05)
level: --level NUMBER (0.95)  confidence level of the intervals (default: 0.95)
permutations: --permutations COUNT (999)  maximum number of permutations of a test (default: 999)
matched: --size COUNT  common sample size (default: the size of the smallest set)
seed: --seed COUNT (0)  seed of the permutations and of random subsets (default: 0)
repeats: --no-repeats  treat samples as continuous measurements: intervals assume that no sample \
recurs
own_repeats: --no-pool-repeats  for the interval of each group, estimate how often samples recur \
from the samples of this group only
sizes: --sizes SIZES  numbers of samples, for example 10,20,50 (default: up to twice the number in \
FILE)
threshold: --threshold NUMBER ({DEFAULT_THRESHOLD})  minimum similarity of near-duplicates \
(default: {DEFAULT_THRESHOLD})
""",
    "grouping": """
by: --by, --source COLUMN  column that assigns each row to a set, for example the model; 'folder' \
makes each subfolder a set
group_by: --group-by COLUMN  score the samples of each value of COLUMN separately, and report the \
mean; 'folder' uses the subfolders of a folder
compare_within: --group-by COLUMN  compare sets only within the samples of each value of COLUMN; \
'folder' uses the subfolders of a folder
prompt: --prompt, --prompts COLUMN  column with the prompt of each sample; only samples with the \
same prompt are compared
weights: --weights COLUMN  column with the weight of each sample, for example how often it occurred
given_prompt: --given-prompt  also condition similarities on the prompt
correct: --correct COLUMN  column that states whether each answer is correct (true or false, yes \
or no, 1 or 0); also compare --size correct answers to each prompt (default: 4)
min_quality: --min-quality COLUMN=NUMBER  same as --correct for a column of numbers: answers with \
at least NUMBER are correct
pool: --pool  ignore detected columns of prompts and models, and read all rows as one set; columns \
that you name are kept
""",
    "reading files": """
column: --column NAME  column of a table, or array of an .npz file, with the samples
counts: --counts  the table contains counts of species per site
transpose: --transpose  rows of a table of --counts are species, and its columns are sites
encoding: --encoding CODEC  text encoding, if not UTF-8 or UTF-16 with a byte order mark
split: --split row|blank|SEPARATOR  separator of texts: newline, blank lines, or lines equal to \
SEPARATOR, for example --split=---
skip: --skip-rows COUNT (0)  number of rows above the header (default: 0)
""",
    "output": """
worst: --worst COUNT  list the COUNT groups or prompts with the lowest score, for each set
brief: -b, --brief  print only the values, with all digits
shown: -n, --size COUNT (10)  maximum number of rows per table (default: 10)
rows: --rows  print only line or row numbers in the file, from 1, or the names of files
indices: --indices  print only the indices of the samples, from 0
output: --output FILE  write the samples to FILE, for example rows of an array to .npy
plot: --plot PICTURE  also draw the table to a .png, .pdf or .svg file
signature: --signature  add one line with all settings, for citation
quiet: --quiet  print warnings and errors, but no notes
verbose: --verbose  print all notes and warnings in full
""",
}
# For each option, the group and the fields of `_OPTION_PATTERN`.
_OPTIONS = {
    name: (group, *option)
    for group, options in _GROUPED_OPTIONS.items()
    for name, *option in _OPTION_PATTERN.findall(options)
}
_BOOLEAN_FLAGS = {
    "--header": "whether the first row contains the column names (default: detect)",
    "--index": "whether the first column only numbers the rows (default: detect)",
    "--comments": "whether lines of a .txt file that begin with '# ' are comments (default: ask)",
    "--subfolders": "whether to read files in the subfolders of a folder, as one set",
}
# Usage of commands whose arguments are not files.
_USAGES = {
    "completion": "{bash,zsh,fish}",
    "kernels": "[NAME]",
    "measures": "[NAME]",
    "model": "download [NAME]",
}
_SINGLE_FILE_COMMANDS = ("select", "dedup", "explain", "growth", "report", "check")
_READING_OPTIONS = "column pool counts transpose split encoding skip"
_COMPARISON_OPTIONS = "option matrix distances prompt given_prompt"
_FILES_HELP = (
    "text (.txt, or no ending: one sample per line), or "
    + ", ".join(name for name in TYPES if name != "txt")
    + ", each optionally with .gz; a folder of images or .txt files; '-' for standard input "
    "(default)"
)


class Command(NamedTuple):
    """Definition of a command; the function `run_COMMAND` of its module executes it."""

    module: str
    summary: str  # in the list of commands
    description: str
    examples: str
    options: str = ""  # names in `_GROUPED_OPTIONS`, separated by spaces
    formats: tuple[str, ...] = ()  # of the output; empty for commands that do not read samples


_TABLE_FORMATS = ("text", "json", "csv", "md")
COMMANDS = {
    "score": Command(
        "command_score",
        "compute diversity scores of files (default)",
        "Measure the diversity of the samples in each FILE. The Vendi Score is the effective "
        "number of different samples, from 1 (all identical) to n (all different).",
        """
  vendiscore a.txt
  vendiscore a.txt b.txt -k ngram_overlap:ns=1,2 -q 1,2 --ci
  vendiscore answers.csv --column answer -f csv > scores.csv
  vendiscore answers.csv --worst 3
  vendiscore K.csv --matrix""",
        "kernel orders measures references by group_by weights ci repeats own_repeats brief worst "
        "signature",
        (*_TABLE_FORMATS, "html"),
    ),
    "compare": Command(
        "command_compare",
        "test which of several sets is more diverse",
        "Test which of several sets is more diverse: at the same sample size, with confidence "
        "intervals and p-values. Pass one FILE per set, or one table with a column of sets.",
        """
  vendiscore compare a.txt b.txt
  vendiscore compare answers.csv --by model --prompt prompt""",
        "kernel order by compare_within correct min_quality level permutations matched seed "
        "repeats own_repeats signature",
        _TABLE_FORMATS,
    ),
    "check": Command(
        "command_check",
        "test whether answers are less diverse than a baseline; for automated tests",
        "Test whether the answers in FILE are less diverse than those of an earlier run, or than "
        "an expected score. Prompts that are in both files are compared with each other. The exit "
        "status is 1 if diversity has decreased.",
        """
  vendiscore check new.csv --baseline earlier.csv
  vendiscore check new.csv --baseline 3.2 --prompt prompt""",
        "kernel order baseline alpha matched seed",
        ("text", "json"),
    ),
    "table": Command(
        "command_table",
        "make a publication table: sets x kernels, with intervals and significance",
        "Make a publication table with one row per set and one column per kernel. Each cell shows "
        "the score at the same sample size, its confidence interval, and letters; two sets without "
        "a common letter differ significantly.",
        """
  vendiscore table answers.csv --by model --prompt prompt -k ngram_overlap -k word_overlap
  vendiscore table a.txt b.txt -f latex --plot table.pdf > table.tex""",
        "kernels order by compare_within level permutations matched seed repeats plot signature",
        ("text", "csv", "md", "latex"),
    ),
    "sources": Command(
        "command_sources",
        "estimate the effective number of models, annotators or generators",
        "Estimate the effective number of different models, annotators or generators. Pass one "
        "FILE per source, or one table with a column of sources.",
        """
  vendiscore sources answers.csv --source model --prompt prompt
  vendiscore sources a.txt b.txt -f html > sources.html""",
        "kernel order by level signature",
        (*_TABLE_FORMATS, "html"),
    ),
    "select": Command(
        "command_samples",
        "select a diverse or representative subset",
        "Select the most diverse subset of the samples of FILE, or the subset that represents all "
        "samples best.",
        """
  vendiscore select a.txt -n 3 > chosen.txt
  vendiscore select answers.csv --pool -n 3 --objective represent
  vendiscore select vectors.npy -n 3 --indices > indices.txt""",
        "chosen objective quality kernel order rows indices output",
        ("text", "json"),
    ),
    "dedup": Command(
        "command_samples",
        "remove near-duplicates",
        "Print the samples of FILE without near-duplicates. Every removed sample is a "
        "near-duplicate of a printed one.",
        """
  vendiscore dedup a.txt > kept.txt
  vendiscore dedup answers.csv --pool --threshold 0.8 > kept.csv""",
        "threshold kernel order rows indices output",
        ("text", "json"),
    ),
    "explain": Command(
        "command_samples",
        "show the contribution of each sample and list near-duplicates",
        "Show which samples of FILE contribute most to the score, and list near-duplicates and "
        "groups of similar samples.",
        """
  vendiscore explain a.txt -n 5
  vendiscore explain answers.csv --pool -f csv > samples.csv""",
        "threshold kernel order shown signature",
        _TABLE_FORMATS,
    ),
    "phrases": Command(
        "command_phrases",
        "list the phrases that make texts repetitive",
        "List the repeated phrases that lower the score of the texts in FILE most. With two FILEs, "
        "or one table with a column of two sets, list phrases that cost the first set more than "
        "the second one, with p-values.",
        """
  vendiscore phrases a.txt
  vendiscore phrases a.txt b.txt
  vendiscore phrases answers.csv --by model -f csv > phrases.csv""",
        "kernel order by permutations seed shown signature",
        _TABLE_FORMATS,
    ),
    "growth": Command(
        "command_samples",
        "estimate the score for smaller and larger numbers of samples",
        "Estimate the score for smaller and larger numbers of samples, up to twice the number in "
        "FILE.",
        """
  vendiscore growth a.txt
  vendiscore growth vectors.csv --sizes 4,8 -f csv > growth.csv""",
        "sizes kernel order level repeats signature",
        _TABLE_FORMATS,
    ),
    "report": Command(
        "command_score",
        "write an HTML report on one set",
        "Print an HTML report on the samples of FILE: the score, its interval, near-duplicates, "
        "and the contribution of each sample.",
        """
  vendiscore report a.txt > report.html
  vendiscore report answers.csv --pool > report.html""",
        "kernel orders measures references group_by ci repeats own_repeats",
        ("html",),
    ),
    "kernels": Command(
        "command_list",
        "list kernels, or describe one",
        "List all kernels, or describe the kernel NAME.",
        """
  vendiscore kernels
  vendiscore kernels rbf""",
    ),
    "measures": Command(
        "command_list",
        "list measures, or describe one",
        "List all measures, or describe the measure NAME.",
        """
  vendiscore measures
  vendiscore measures IntDiv""",
    ),
    "model": Command(
        "command_model",
        "download an embedding model",
        "Download an embedding model from the Hugging Face Hub, for use without a network.",
        """
  vendiscore model download
  vendiscore model download BAAI/bge-small-en-v1.5""",
    ),
    "page": Command(
        "command_page",
        "start the web app on this machine",
        "Start the web app on this machine and print its address. Stop it with Ctrl+C.",
        """
  vendiscore page --port 8000""",
        "port gradio",
    ),
    "completion": Command(
        "completion",
        "print a completion script for bash, zsh or fish",
        "Print a script that completes commands and options in bash, zsh or fish.",
        """
  eval "$(vendiscore completion bash)"
  vendiscore completion fish > ~/.config/fish/completions/vendiscore.fish""",
    ),
}
_COMMAND_LIST = "\n\ncommands:\n" + "".join(
    f"  {name:<12} {command.summary}\n" for name, command in COMMANDS.items()
)
_COMMAND_LIST += f"\nRun '{PROGRAM} COMMAND --help' for the options of a command."
_EXIT_CODES = (
    "Notes, warnings and errors go to standard error. Exit status: 0 on success, 1 if samples "
    "cannot be read or used, 2 for an invalid command or an ambiguous file (the message lists "
    "flags that resolve it). `check`: 1 if diversity has decreased, 3 if samples cannot be read "
    "or used."
)


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Format options as "-k, --kernel KERNEL", in a column of fixed width."""

    def __init__(self, prog: str, **keywords: Any) -> None:
        super().__init__(prog, **{"max_help_position": 25, "width": _help_width(), **keywords})

    def _format_action_invocation(self, action: argparse.Action) -> str:
        # argparse repeats the metavar after each flag: "-k KERNEL, --kernel KERNEL".
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        metavar = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {metavar}"


def _help_width() -> int:
    """Return the number of characters per line of the help."""
    return min(shutil.get_terminal_size().columns - 2, _MAX_HELP_WIDTH)


def build_parser(command: str) -> _Parser:
    """Build the argument parser of a command, with its help."""
    definition = COMMANDS[command]
    is_score = command == "score"
    prog = PROGRAM if is_score else f"{PROGRAM} {command}"
    # Strings multiplied by `is_score` appear only in the help of the default command, `vendiscore
    # --help`.
    description = textwrap.fill(definition.description, _help_width())
    exit_codes = f"\n\n{textwrap.fill(_EXIT_CODES, _help_width())}" * is_score
    # Abbreviations of flags are not allowed, because a new flag could make them ambiguous. The flag
    # -h is added at the end, to the group "output".
    parser = _Parser(
        prog=prog,
        usage=_format_usage(prog, command),
        description=description + _COMMAND_LIST * is_score,
        epilog=f"examples:{definition.examples}{exit_codes}",
        formatter_class=_HelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    parser.command = command
    parser.set_defaults(command=command)
    groups = {name: parser.add_argument_group(name) for name in ("arguments", *_GROUPED_OPTIONS)}
    _add_positional_arguments(groups["arguments"], command)
    names = definition.options.split()
    if definition.formats:
        names += f"{_COMPARISON_OPTIONS} {_READING_OPTIONS} quiet verbose".split()
    _add_options(groups, [name for name in _OPTIONS if name in names])
    if command == "dedup":  # -q is not in the help, but its error states why it has no effect
        parser._option_string_actions["-q"].help = argparse.SUPPRESS
    if definition.formats:
        _add_reading_options(groups["reading files"])
        _add_format_options(groups["output"], definition.formats)
    groups["output"].add_argument("-h", "--help", action="help", help="print this help and exit")
    return parser


def _format_usage(prog: str, command: str) -> str:
    """Return the usage of a command for its help."""
    if command in _USAGES:
        return f"{prog} {_USAGES[command]}"
    if not COMMANDS[command].formats:
        return f"{prog} [OPTIONS]"
    files = "[FILE]" if command in _SINGLE_FILE_COMMANDS else "[FILE ...]"
    usage = f"{prog} [OPTIONS] {files}"
    return f"{usage}\n       {PROGRAM} COMMAND [OPTIONS] ..." if command == "score" else usage


def _add_positional_arguments(group: argparse._ArgumentGroup, command: str) -> None:
    """Add the positional arguments of a command.

    They are files for a command that reads samples. Other commands have a name, an action, a shell
    or nothing.
    """
    if COMMANDS[command].formats:
        group.add_argument("files", nargs="*", default=["-"], metavar="FILE", help=_FILES_HELP)
    elif command == "completion":
        group.add_argument("shell", choices=("bash", "zsh", "fish"), help="name of the shell")
    elif command == "model":
        group.add_argument(
            "action", metavar="download", choices=("download",), help="the only action"
        )
        group.add_argument(
            "name",
            nargs="?",
            default="semantic",
            metavar="NAME",
            help="OWNER/NAME of a model on the Hub (default: the model of -k semantic)",
        )
    elif command in ("kernels", "measures"):
        group.add_argument(
            "name",
            nargs="?",
            metavar="NAME",
            help=f"name of a {command.removesuffix('s')} (default: list all)",
        )


def _add_options(groups: Mapping[str, argparse._ArgumentGroup], names: Iterable[str]) -> None:
    """Add the options with these names, keys of `_OPTIONS`, each to its section of the help.

    `groups` maps the titles of these sections to groups of argparse.
    """
    for name in names:
        group, flags, metavar, repeated, default, description = _OPTIONS[name]
        keywords: Record = {"action": "store_true"}  # a flag without a value
        if metavar:
            keywords = {
                "action": "append" if repeated else "store",
                "metavar": metavar,
                "type": _TYPES.get(metavar, str),
                "default": default or None,
            }
        if name == "prompt":  # --prompt, whose attribute has the name of the library's keyword
            keywords["dest"] = "prompts"
        groups[group].add_argument(*flags.split(", "), help=description, **keywords)


def _add_reading_options(group: argparse._ArgumentGroup) -> None:
    """Add the options for reading files that have a fixed set of values."""
    for flag, description in _BOOLEAN_FLAGS.items():
        group.add_argument(flag, action=argparse.BooleanOptionalAction, help=description)
    group.add_argument(
        "--type", choices=TYPES, metavar="TYPE", help="file type (default: from the file name)"
    )
    group.add_argument(
        "--on-error",
        choices=("raise", "skip"),
        default="raise",
        metavar="raise|skip",
        help="fail on unusable samples (default), or drop and list them",
    )


def _add_format_options(group: argparse._ArgumentGroup, formats: Sequence[str]) -> None:
    """Add the options -f and --version.

    `formats` are the output formats of the command, the first of which is the default of -f.
    """
    default, *other_formats = formats
    descriptions = [f"{default} (default)" if other_formats else default, *other_formats]
    *first, last = descriptions
    group.add_argument(
        "-f",
        "--format",
        choices=formats,
        default=default,
        metavar="FORMAT",
        help=f"{', '.join(first)} or {last}" if first else last,
    )
    group.add_argument(
        "--version",
        action="version",
        version=f"{PROGRAM} {__version__}",
        help="print the version and exit",
    )
