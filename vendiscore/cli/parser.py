"""The commands and their options, as argparse reads them."""

import argparse
import codecs
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, NoReturn

from .. import __version__
from ..core.arguments import DEFAULT_ORDER, DEFAULT_THRESHOLD
from ..hints import GONE, folded, meant, remedy, synonym
from ..reading.formats import TYPES
from .exit_codes import PROGRAM, USAGE

Add = Callable[..., Any]


# Words of other commands, by the option or the command here.
_WORDS = {
    "format": "json output",
    "column": "text field",
    "explain": "dedup dedupe deduplicate duplicates nearduplicates repeats",
    "score": "compute diversity evaluate report run vendi vendiscore",
    "select": "choose sample subset",
}


# Keywords in messages of the library: `name`, or name=value after the word of a remedy.
_NAMED = re.compile(
    r"`(\w+)`|(?<![\w-])(pass|with|or|and|by|add|use|try|take|mean) (\w+)="
    r"('[^']*'|\[[^]]*\]|float\('inf'\)|[\w.+-]*\w)"
)
# Keywords whose options have other names; `size` of images has none.
_KEYWORDS = {"groups": "group_by", "size": ""}


class _Parser(argparse.ArgumentParser):
    """A parser that says which option may have been meant by one that it does not have."""

    def error(self, message: str) -> NoReturn:
        """End the program, with a hint for the first option that is unknown."""
        _, unknown, options = message.partition("unrecognized arguments: ")
        hint = ""
        if unknown and options.startswith("-"):
            word = options.split()[0].partition("=")[0]
            message = f"there is no option {word}"
            hint = self._hint(word.lstrip("-"))
        look = f"`{self.prog} --help` lists all; those of kernels go into -o OPTION=VALUE."
        self.exit(USAGE, f"{self.prog}: error: {message}. {hint or look}\n")

    @property
    def flags(self) -> dict[str, str]:
        """The long flag of each option, by all its names without dashes."""
        return {
            name.lstrip("-"): next(flag for flag in action.option_strings if flag[1] == "-")
            for name, action in self._option_string_actions.items()
        }

    def in_flags(self, said: str) -> str:
        """Return a message of the library with options where it names keywords.

        >>> parser("compare").in_flags("`q` is 7; pass psd='clip'")
        '-q is 7; pass -o psd=clip'
        """
        options = self._option_string_actions

        def spelled(found: re.Match[str]) -> str:
            keyword, word, name, value = found.groups()
            wanted = _KEYWORDS.get(keyword or name, keyword or name)
            option = options.get(f"--{wanted.replace('_', '-')}") or options.get(f"-{wanted}")
            flag = option.option_strings[0] if option else ""
            if keyword:
                return flag or found[0]
            value = value.removeprefix("float(").strip("[]()'")
            if option and option.nargs != 0:
                return f"{word} {flag} {value}"
            return f"{word} {flag}" if flag and value == "True" else f"{word} -o {name}={value}"

        return _NAMED.sub(spelled, said)

    def _hint(self, name: str) -> str:
        """Return the sentence that says what to type instead of an option; "" for no idea."""
        if gone := GONE.get(f"--{name}"):
            return gone
        flags = self.flags
        others = [command for command in COMMANDS if name in parser(command).flags]
        option = name if name in flags else synonym(name, flags) or _meant(name, flags)
        if option:
            return f"Did you mean {flags[option]}?"
        if others:
            return f"--{name} is an option of {', '.join(f'`{PROGRAM} {x}`' for x in others)}."
        return remedy(name, "keyword")


def _meant(word: str, known: Iterable[str]) -> str | None:
    """Return the option or the command that a word stands for; no letter stands for a word."""
    long = [name for name in known if len(name) > 1]
    ours = (name for name in long if folded(word) in _WORDS.get(name, "").split())
    return next(ours, None) or meant(word, long)


def no_command(word: str, files: Iterable[str]) -> str:
    """Say that a word is not a command and not one of the files here, and what it may mean."""
    close = _meant(word, COMMANDS) or meant(word, files)
    hint = f" Did you mean `{PROGRAM} {close}`?" if close else ""
    names = ", ".join(COMMANDS)
    return f"{word} is not a file, and not a command.{hint} The commands are {names}."


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text!r}")
    return int(text)


def _threshold(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        way = GONE["threshold='auto'"]
        expected = f"expected a similarity, got {text!r}; {way}"
        raise argparse.ArgumentTypeError(expected) from None


def _encoding(text: str) -> str:
    try:
        codecs.lookup(text)
        " ".encode(text)  # refuses codecs that are not of text, such as base64
    except (LookupError, UnicodeError) as error:
        raise argparse.ArgumentTypeError(str(error).partition(";")[0]) from None
    return text


def _score(add: Add) -> None:
    add("--version", action="version", version=f"{PROGRAM} {__version__}")
    add("files", nargs="+", metavar="FILE", help="see below; a row each")
    add(
        "-q", "--orders", default=str(DEFAULT_ORDER), help="order of the score, or several: 0,1,inf"
    )
    add(
        "-m",
        "--measures",
        action="append",
        metavar="MEASURES",
        help="measures instead of VS, with commas: VS,IntDiv or MagArea:n_scales=20; "
        f"`{PROGRAM} measures` lists them",
    )
    add("--references", metavar="FILE", help="a second set, for measures that compare with one")
    add(
        "--group-by",
        metavar="COLUMN",
        help="score the samples of each value of a column, or of a folder's folders ('folder'), by "
        "themselves, and give the mean",
    )
    add("--ci", action="store_true", help="add 95 %% intervals (-o ci=0.9 for 90 %%)")
    add("-b", "--brief", action="store_true", help="print only the number")


def _compare(add: Add) -> None:
    add("files", nargs="+", metavar="FILE", help="two or more, or one with --by")
    _order(add)
    add(
        "--by",
        metavar="COLUMN",
        help="compare the sets that a column of one FILE names, such as its models, or a folder's "
        "folders ('folder')",
    )
    add(
        "--group-by",
        metavar="COLUMN",
        help="compare within groups that all sets have, such as prompts",
    )
    add("--level", type=float, default=0.95, help="of the intervals, 0.95")
    add("--permutations", type=int, default=999, help="most permutations, 999")
    add("--size", type=int, help="the matched size, if not the usual one")
    add("--seed", type=int, default=0)


def _sources(add: Add) -> None:
    add("files", nargs="+", metavar="FILE", help="one with --source, or two or more, each a source")
    _order(add)
    add(
        "--source",
        "--by",
        dest="by",
        metavar="COLUMN",
        help="of the model, annotator or generator of each sample, or a folder's folders "
        "('folder')",
    )
    add("--level", type=float, default=0.95, help="of the interval, 0.95")


def _select(add: Add) -> None:
    add("file", metavar="FILE")
    add("-n", "--size", type=_count, required=True, help="how many samples to choose")
    _order(add)
    add(
        "--objective",
        default="vendi",
        metavar="vendi|represent",
        help="what to maximise: diversity, or with 'represent' how well all are represented",
    )
    add("--quality", metavar="COLUMN", help="a number of at least 0 for each sample")
    add("--rows", action="store_true", help="print lines, rows or names only")


def _explain(add: Add) -> None:
    add("file", metavar="FILE")
    _order(add)
    add(
        "--threshold",
        type=_threshold,
        default=DEFAULT_THRESHOLD,
        help=f"similarity of near-duplicates, {DEFAULT_THRESHOLD}",
    )
    add("-n", "--size", type=_count, default=10, help="rows of each table, 10")


def _name(add: Add) -> None:
    add("name", nargs="?", metavar="NAME", help="name whose details to print")


def _model(add: Add) -> None:
    add("action", choices=("download",))
    add("name", nargs="?", default="semantic", metavar="NAME", help="on the Hub, all-MiniLM-L6-v2")


def _page(add: Add) -> None:
    add("--port", type=_count, default=0, help="0 is the first that is free from 7860 on")


def _order(add: Add) -> None:
    add("-q", "--order", default=str(DEFAULT_ORDER), help="order of the score")


class Command(NamedTuple):
    """A command: the module that runs it, its own options, what it is for, and its formats."""

    module: str
    options: Callable[[Add], None]
    about: str
    formats: tuple[str, ...] = ()


_TABLES = ("text", "json", "csv", "md")
COMMANDS = {
    "score": Command(
        "command_score",
        _score,
        "one row of numbers for each file (the command where none is named)",
        (*_TABLES, "html"),
    ),
    "compare": Command(
        "command_compare",
        _compare,
        "which of several sets is more diverse, and whether by chance",
        _TABLES,
    ),
    "sources": Command(
        "command_sources",
        _sources,
        "how many models, annotators or generators effectively differ",
        (*_TABLES, "html"),
    ),
    "select": Command(
        "command_select",
        _select,
        "the samples of a file that differ most, or that stand for all",
        ("text", "json"),
    ),
    "explain": Command(
        "command_select",
        _explain,
        "which samples add to the score, and which repeat others",
        _TABLES,
    ),
    "kernels": Command("catalogue", _name, "the kernels, or what one of them is"),
    "measures": Command("catalogue", _name, "the measures, or what one of them is"),
    "model": Command(
        "command_model", _model, "fetch a model from the Hub once, to use it without a network"
    ),
    "page": Command(
        "command_page",
        _page,
        "the page in a browser, served on this machine: the same without code",
    ),
}
_ABOUT = "How many effectively different samples are here?"
_EPILOG = f"""\
FILE is lines of text (.txt, or without an ending), or of type {", ".join(TYPES)},
each also as .gz; a folder of images or .txt files; or - for standard input.
commands:
""" + "\n".join(f"  {name:<9} {each.about}" for name, each in COMMANDS.items())


def parser(command: str) -> _Parser:
    _, options, about, formats = COMMANDS[command]
    score = command == "score"
    made = _Parser(
        prog=PROGRAM if score else f"{PROGRAM} {command}",
        description=_ABOUT if score else f"{about.capitalize()}.",
        epilog=_EPILOG if score else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    options(made.add_argument)
    made.set_defaults(command=command)
    if not formats:
        return made
    add = made.add_argument_group("how files are read").add_argument
    add("--column", metavar="NAME", help="the column of a table, or array of a .npz, to read")
    add("--pool", action="store_true", help="take all rows as one set, whatever their prompts")
    add(
        "--counts",
        action="store_true",
        help="numbers are counts of species at sites, not features",
    )
    add("--skip-rows", type=_count, default=0, metavar="N", help="rows above the header, N")
    add(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first row names the columns, if it is not plain",
    )
    add(
        "--index",
        action=argparse.BooleanOptionalAction,
        help="whether the first column numbers the rows, if it is not plain",
    )
    add(
        "--split",
        default="",
        metavar="row|blank|SIGN",
        help="what separates texts: a new line, blank lines, or a line, as in --split=---",
    )
    add("--type", choices=TYPES, help="type of FILE, if its name does not say")
    add("--encoding", type=_encoding, help="of text, if not UTF-8 or marked UTF-16")
    add(
        "--on-error",
        choices=("raise", "skip"),
        default="raise",
        help="leave out samples that cannot be used, and say which",
    )
    add = made.add_argument_group("how samples are compared").add_argument
    add(
        "-k",
        "--kernel",
        metavar="KERNEL[:OPTION=VALUE…]",
        help=f"such as rbf:sigma=2; `{PROGRAM} kernels` lists them",
    )
    add(
        "-o",
        "--option",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="of the kernel, of measures, or any other of vendiscore.compute; may be repeated",
    )
    add(
        "--prompt",
        "--prompts",
        dest="prompts",
        metavar="COLUMN",
        help="of each sample's prompt: only samples of one prompt are compared",
    )
    add("--given-prompt", action="store_true", help="take the prompts out of similarities, too")
    add = made.add_argument_group("what is printed").add_argument
    add("-f", "--format", choices=formats, default="text")
    add("-w", "--width", type=_count, metavar="DIGITS", help="decimal places of each number")
    add("--quiet", action="store_true", help="no notes, only warnings and errors")
    return made
