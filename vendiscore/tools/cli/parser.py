"""Definition of the commands and their options for argparse."""

import argparse
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple, NoReturn

from ... import __version__
from ...support.arguments import DEFAULT_ORDER, DEFAULT_THRESHOLD
from ...support.suggestions import closest_name, normalize_name, replacement_hint, resolve_synonym
from ...support.types import Record
from ..reading.formats import TYPES
from .exit_codes import PROGRAM, USAGE

AddArgument = Callable[..., object]


# Names used by other programs, by the option or command here.
_SYNONYMS = {
    "by": "models sets",
    "column": "text field",
    "kernel": "model encoder embedding metric",
    "matrix": "precomputed similarities similaritymatrix kernelmatrix gram",
    "dedup": "dedupe deduplicate duplicates nearduplicates repeats",
    "score": "compute diversity evaluate run vendi vendiscore",
    "select": "choose sample subset",
    "report": "html",
}
# Names without an equivalent option or command, with a suggestion.
_REPLACEMENT_HINTS = {
    "json": "Did you mean -f json?",
    "csv": "Did you mean -f csv?",
    "output": "Type > FILE at the end of the command.",
    "w": "Tables have four digits; -b, -f csv and -f json have all.",
    "quota": "select(samples, size, groups=labels, quota={label: count}) has quotas, in Python.",
    "within": "compare(a, b, within=0.05) asks whether sets are the same, in Python.",
    "space": "The lines that upload a Space are in docs/tasks/page_api.md. ",
}


# Matches keywords in messages of the library: `name`, or name=value after a verb such as "pass".
_KEYWORD_PATTERN = re.compile(
    r"`(\w+(?:=(?:'[^']*'|False))?)`|"
    r"(?<![\w-])(pass|with|or|and|by|add|use|try|take|mean|set|requires?) (\w+)="
    r"('[^']*'|\[[^]]*\]|float\('inf'\)|[\w.+-]*\w)"
)
_LIST_FUNCTION_PATTERN = re.compile(r"vendiscore\.list_(\w+)\(\)")
# Keywords and functions with other names on the command line; `size` of images has no flag.
_FLAG_NAMES = {
    "compute": "score",
    "groups": "group_by",
    "score_K": "matrix",
    "size": "",
}
# Keywords with a value that are flags without a value on the command line.
_VALUELESS_FLAGS = {
    "allow_repeats=False": "--no-repeats",
    "pool_repeats=False": "--no-pool-repeats",
    "ci=0.95": "--ci",
}


class _Parser(argparse.ArgumentParser):
    """An argument parser that suggests options for unknown ones."""

    def error(self, message: str) -> NoReturn:
        """Exit with an error message and a hint for the first unknown option."""
        _, unknown, options = message.partition("unrecognized arguments: ")
        hint = ""
        name = "OPTION"
        if unknown and options.startswith("-"):
            word = options.split()[0].partition("=")[0]
            message = f"there is no option {word}"
            name = word.lstrip("-")
            hint = self.replace_keywords_by_flags(self._hint(name))
        look = f"`{self.prog} --help` lists all; options of kernels are typed as -o {name}=VALUE."
        self.exit(USAGE, f"{self.prog}: error: {message}. {hint or look}\n")

    @property
    def flags(self) -> dict[str, str]:
        """The long flag of each option, by all of its names without dashes."""
        return {
            name.lstrip("-"): next(flag for flag in action.option_strings if flag[1] == "-")
            for name, action in self._option_string_actions.items()
        }

    def replace_keywords_by_flags(self, message: str) -> str:
        """Replace keywords by flags in a message of the library.

        >>> build_parser("compare").replace_keywords_by_flags("`q` is 7; pass psd='clip'")
        '-q is 7; pass -o psd=clip'
        """
        options = self._option_string_actions

        def replace_keyword(match: re.Match[str]) -> str:
            quoted, word, name, value = match.groups()
            flag = _VALUELESS_FLAGS.get(quoted or f"{name}={value}", "")
            if flag in options:
                return flag if quoted else f"{word} {flag}"
            keyword, _, given = (quoted or name).partition("=")
            wanted = _FLAG_NAMES.get(keyword, keyword)
            option = options.get(f"--{wanted.replace('_', '-')}") or options.get(f"-{wanted}")
            flag = option.option_strings[0] if option else ""
            if wanted in COMMANDS and not option:
                return f"`{PROGRAM} {wanted}`"
            if quoted:
                return f"{flag} {given}".strip() if flag else match[0]
            value = value.removeprefix("float(").strip("[]()'")
            if option and option.nargs != 0:
                return f"{word} {flag} {value}"
            return f"{word} {flag}" if flag and value == "True" else f"{word} -o {name}={value}"

        message = _LIST_FUNCTION_PATTERN.sub(rf"{PROGRAM} \1", message)
        return _KEYWORD_PATTERN.sub(replace_keyword, message)

    def _hint(self, name: str) -> str:
        """Return a sentence that suggests another option; "" if there is none."""
        if name in _REPLACEMENT_HINTS:
            return _REPLACEMENT_HINTS[name]
        flags = self.flags
        others = [command for command in COMMANDS if name in build_parser(command).flags]
        option = (
            name if name in flags else resolve_synonym(name, flags) or _find_closest(name, flags)
        )
        if option:
            return f"Did you mean {flags[option]}?"
        if others:
            return f"--{name} is an option of {', '.join(f'`{PROGRAM} {x}`' for x in others)}."
        return replacement_hint(name, "keyword")


def _find_closest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the option or command closest to a word; words never match single-letter options."""
    long = [name for name in candidates if len(name) > 1]
    ours = (name for name in long if normalize_name(word) in _SYNONYMS.get(name, "").split())
    return next(ours, None) or closest_name(word, long)


def describe_unknown_command(word: str, files: Iterable[str]) -> str:
    """Explain that a word is neither a command nor a file here, and suggest the closest ones."""
    close = _find_closest(word, COMMANDS) or closest_name(word, files)
    hint = f"Did you mean `{PROGRAM} {close}`? " if close else ""
    hint = _REPLACEMENT_HINTS.get(word, hint)
    names = ", ".join(COMMANDS)
    return f"{word} is not a file, and not a command. {hint}The commands are {names}."


def _parse_count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text!r}")
    return int(text)


# Options as shown in help: flags, value, default in parentheses, and description. Three dots mark a
# value that can be repeated. Columns are located by these names in `Wanted`.
_OPTION_PATTERN = re.compile(r"(\w+): (-.*?)(?: ([^\s-]\S*?)(\.\.\.)?(?: \((\S+)\))?)?  +(.+)")
_TYPES = {"COUNT": _parse_count, "NUMBER": float}
_OPTIONS = {
    name: option
    for name, *option in _OPTION_PATTERN.findall(f"""
measures: -m, --measures MEASURES...  measures instead of VS, with commas: VS,IntDiv or \
MagArea:n_scales=20; `{PROGRAM} measures` lists them
references: --references FILE  a second set, for measures that compare with one
group_by: --group-by COLUMN  look at the samples of each value of a column, such as prompts, or of \
a folder's folders ('folder'), by themselves, and take the mean
ci: --ci  add 95 %% intervals (-o ci=0.9 for 90 %%)
repeats: --no-repeats  samples are continuous measurements: intervals do not allow for samples \
that recur
own_repeats: --no-pool-repeats  intervals of each group do not take from all groups how often \
samples repeat
brief: -b, --brief  print only the number
by: --by, --source COLUMN  column that assigns each row to a set, for example the model; 'folder' \
uses the subfolders of a folder
level: --level NUMBER (0.95)  of the intervals, 0.95
permutations: --permutations COUNT (999)  most permutations, 999
matched: --size COUNT  the matched size, if not the usual one
seed: --seed COUNT (0)  of the permutations, 0
plot: --plot PICTURE  draw the table into a .png, .pdf or .svg file, too
chosen: -n, --size COUNT  how many samples to choose
objective: --objective vendi|represent (vendi)  what to maximise: diversity, or with 'represent' \
how well all are represented
quality: --quality COLUMN  a number of at least 0 for each sample
rows: --rows  print only the numbers of lines or rows in the file, from 1, or the names of files
indices: --indices  print only the indices of the samples, from 0
output: --output FILE  write the samples into FILE: rows of an array (.npy) or of a table
threshold: --threshold NUMBER ({DEFAULT_THRESHOLD})  similarity of near-duplicates, \
{DEFAULT_THRESHOLD}
shown: -n, --size COUNT (10)  rows of each table, 10
sizes: --sizes SIZES  numbers of samples, such as 10,20,50
port: --port COUNT (0)  0 is the first that is free from 7860 on
column: --column NAME  the column of a table, or array of a .npz, to read
pool: --pool  ignore columns of prompts and models that were detected, and keep only the columns \
that are named
counts: --counts  numbers are counts of species at sites, not features
skip: --skip-rows COUNT (0)  rows above the header
split: --split row|blank|SIGN  what separates texts: a new line, blank lines, or a line, as in \
--split=---
encoding: --encoding CODEC  of text, if not UTF-8 or marked UTF-16
kernel: -k, --kernel KERNEL[:OPTION=VALUE…]  such as rbf:sigma=2; `{PROGRAM} kernels` lists them
kernels: -k, --kernel KERNEL[:OPTION=VALUE…]...  such as rbf:sigma=2; a column each
option: -o, --option OPTION=VALUE...  of the kernel, of measures, or any other of \
vendiscore.compute; may be repeated
order: -q, --order ORDER ({DEFAULT_ORDER})  of the score; or several: 0,1,inf
given_prompt: --given-prompt  take the prompts out of similarities, too
matrix: --matrix  FILE holds all similarities
signature: --signature  add all settings, in a line to quote
quiet: --quiet  no notes, only warnings and errors
verbose: --verbose  all notes in full, instead of a summary
""")
}


def _add_options(group: argparse._ActionsContainer, names: str) -> AddArgument:
    """Add options by name; return the function that adds further ones."""
    for name in names.split():
        flags, value, repeated, default, about = _OPTIONS[name]
        keywords: Record = {"action": "store_true"}
        if value:
            action = "append" if repeated else "store"
            keywords = {"action": action, "metavar": value, "type": _TYPES.get(value, str)}
            keywords["default"] = default or None
        group.add_argument(*flags.split(", "), help=about, **keywords)
    return group.add_argument


class Command(NamedTuple):
    """A command: its module, purpose, examples, options and formats."""

    module: str
    description: str
    examples: str
    options: str = ""
    formats: tuple[str, ...] = ()


_TABLE_FORMATS = ("text", "json", "csv", "md")
COMMANDS = {
    "score": Command(
        "command_score",
        "how many effectively different samples are in each file (the command if none is named)",
        """
  vendiscore a.txt
  vendiscore a.txt b.txt -k ngram_overlap:ns=1,2 -q 1,2 --ci
  vendiscore answers.csv --column answer -f csv > scores.csv
  vendiscore K.csv --matrix""",
        "measures references by group_by ci repeats own_repeats brief kernel signature",
        (*_TABLE_FORMATS, "html"),
    ),
    "compare": Command(
        "command_compare",
        "which of several sets is more diverse, and whether by chance",
        """
  vendiscore compare a.txt b.txt
  vendiscore compare answers.csv --by model --prompt prompt""",
        "by group_by level repeats own_repeats permutations matched seed kernel signature",
        _TABLE_FORMATS,
    ),
    "table": Command(
        "command_table",
        "a paper's table: sets by kernels, with intervals and letters of significance",
        """
  vendiscore table answers.csv --by model --prompt prompt -k ngram_overlap -k word_overlap
  vendiscore table a.txt b.txt -f latex --plot table.pdf > table.tex""",
        "by group_by level repeats permutations matched seed plot kernels signature",
        ("text", "csv", "md", "latex"),
    ),
    "sources": Command(
        "command_sources",
        "how many models, annotators or generators effectively differ",
        """
  vendiscore sources answers.csv --source model --prompt prompt
  vendiscore sources a.txt b.txt -f html > sources.html""",
        "by level kernel signature",
        (*_TABLE_FORMATS, "html"),
    ),
    "select": Command(
        "command_samples",
        "the samples of a file that differ most, or that stand for all",
        """
  vendiscore select a.txt -n 3 > chosen.txt
  vendiscore select answers.csv --pool -n 3 --objective represent
  vendiscore select vectors.npy -n 3 --indices > indices.txt""",
        "chosen objective quality rows indices output kernel",
        ("text", "json"),
    ),
    "dedup": Command(
        "command_samples",
        "the samples of a file without near-duplicates",
        """
  vendiscore dedup a.txt > kept.txt
  vendiscore dedup answers.csv --pool --threshold 0.8 > kept.csv""",
        "threshold rows indices output kernel",
        ("text", "json"),
    ),
    "explain": Command(
        "command_samples",
        "which samples add to the score, and which repeat others",
        """
  vendiscore explain a.txt -n 5
  vendiscore explain answers.csv --pool -f csv > samples.csv""",
        "threshold shown kernel signature",
        _TABLE_FORMATS,
    ),
    "growth": Command(
        "command_samples",
        "how the score grows with the number of samples",
        """
  vendiscore growth a.txt
  vendiscore growth vectors.csv --sizes 4,8 -f csv > growth.csv""",
        "level repeats sizes kernel signature",
        _TABLE_FORMATS,
    ),
    "report": Command(
        "command_score",
        "one HTML file: the score of a set, and the reasons for it",
        """
  vendiscore report a.txt > report.html""",
        "measures references group_by ci repeats own_repeats kernel",
        ("html",),
    ),
    "kernels": Command(
        "command_list",
        "the kernels, or what one of them is",
        """
  vendiscore kernels
  vendiscore kernels rbf""",
    ),
    "measures": Command(
        "command_list",
        "the measures, or what one of them is",
        """
  vendiscore measures
  vendiscore measures IntDiv""",
    ),
    "model": Command(
        "command_model",
        "fetch a model from the Hub once, to use it without a network",
        """
  vendiscore model download
  vendiscore model download BAAI/bge-small-en-v1.5""",
    ),
    "page": Command(
        "command_page",
        "the page in a browser, served on this machine: the same without code",
        """
  vendiscore page --port 8000""",
        "port",
    ),
    "completion": Command(
        "completion",
        "the words of commands and options, for a shell to complete",
        """
  eval "$(vendiscore completion bash)"
  vendiscore completion fish > ~/.config/fish/completions/vendiscore.fish""",
    ),
}
_EPILOG = f"""

FILE is lines of text (.txt, or without an ending), or of type {", ".join(TYPES)},
each also as .gz; a folder of images or .txt files; or - for standard input.
commands:
""" + "\n".join(f"  {name:<10} {each.description}" for name, each in COMMANDS.items())


_BOOLEAN_FLAGS = {
    "--header": "whether the first row names the columns, if it is not plain",
    "--index": "whether the first column numbers the rows, if it is not plain",
    "--subfolders": "whether files in the subfolders of a folder are samples (default: ask)",
}
_READING_OPTIONS = "column pool counts skip split encoding"
_COMPARISON_OPTIONS = "option order given_prompt matrix"


def build_parser(command: str) -> _Parser:
    _, about, examples, options, formats = COMMANDS[command]
    score = command == "score"
    made = _Parser(
        prog=PROGRAM if score else f"{PROGRAM} {command}",
        description=f"{about.capitalize()}.",
        epilog=f"examples:{examples}{_EPILOG * score}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.set_defaults(command=command)
    if command == "completion":
        made.add_argument("shell", choices=("bash", "zsh", "fish"))
    if command == "model":
        made.add_argument("action", metavar="download", choices=("download",))
    if command in ("kernels", "measures", "model"):
        usual = "semantic" if command == "model" else None
        made.add_argument("name", nargs="?", default=usual, metavar="NAME", help="one of them")
    add = _add_options(made, options)
    if not formats:
        return made
    add("--version", action="version", version=f"{PROGRAM} {__version__}")
    add("files", nargs="*", default=["-"], metavar="FILE", help="- if left out")
    add = _add_options(made.add_argument_group("how files are read"), _READING_OPTIONS)
    for flag, about in _BOOLEAN_FLAGS.items():
        add(flag, action=argparse.BooleanOptionalAction, help=about)
    add("--type", choices=TYPES, help="type of FILE, if its name does not say")
    add(
        "--on-error",
        choices=("raise", "skip"),
        default="raise",
        help="leave out samples that cannot be used, and say which",
    )
    add = _add_options(made.add_argument_group("how samples are compared"), _COMPARISON_OPTIONS)
    add(
        "--prompt",
        "--prompts",
        dest="prompts",
        metavar="COLUMN",
        help="of each sample's prompt: only samples of one prompt are compared",
    )
    add = _add_options(made.add_argument_group("what is printed"), "quiet verbose")
    add("-f", "--format", choices=formats, default=formats[0])
    return made
