"""The commands and their options, as argparse reads them."""

from __future__ import annotations

import argparse
import codecs
from collections.abc import Callable
from typing import NoReturn

from .. import __version__
from ..arguments import DEFAULT_ORDER
from ..hints import meant, remedy
from .exit_codes import PROGRAM

# What a file can be.
TYPES = ("txt", "csv", "tsv", "jsonl", "json", "smi", "parquet", "npy", "npz")
COMMANDS = {
    "score": "one row of numbers for each file (the command where none is named)",
    "compare": "which of several sets is more diverse, and whether by chance",
    "select": "the samples of a file that differ most, or that stand for all",
    "explain": "which samples add to the score, and which repeat others",
    "kernels": "the kernels, or what one of them is",
    "measures": "the measures, or what one of them is",
}
_EPILOG = """\
FILE is lines of text (any ending), .csv, .tsv, .jsonl, .json, .parquet, .npy, .npz, .smi (SMILES),
each also as .gz; a folder of images or .txt files; or - for standard input.
commands:
"""


class _Parser(argparse.ArgumentParser):
    """A parser that says which option may have been meant by one that it does not have."""

    def error(self, message: str) -> NoReturn:
        """End the program, with a hint for the first option that is unknown."""
        _, unknown, options = message.partition("unrecognized arguments: ")
        word = options.split()[0] if unknown and options else ""
        if word.startswith("-"):
            name = word.lstrip("-").partition("=")[0]
            known = {flag.lstrip("-"): flag for flag in self._option_string_actions}
            option = meant(name, known.keys() - {name})
            told = remedy(name, "keyword")
            hint = f"Did you mean {known[option]}?" if option else told
            message = f"{message}. {hint}" if hint else message
        super().error(message)


def parser(command: str) -> argparse.ArgumentParser:
    """The parser of one command."""
    made = _Parser(
        prog=PROGRAM if command == "score" else f"{PROGRAM} {command}",
        description="How many effectively different samples are here?"
        if command == "score"
        else f"{COMMANDS[command].capitalize()}.",
        epilog=_epilog() if command == "score" else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _ADD[command](made)
    return made


def _epilog() -> str:
    return _EPILOG + "\n".join(f"  {name:<9} {what}" for name, what in COMMANDS.items())


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text!r}")
    return int(text)


def _encoding(text: str) -> str:
    try:
        codecs.lookup(text)
        " ".encode(text)  # refuses what is found there and is none of text, such as base64
    except (LookupError, UnicodeError) as error:
        said = str(error).partition(";")[0]
        raise argparse.ArgumentTypeError(said) from None
    return text


def _score(made: argparse.ArgumentParser) -> None:
    made.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    made.add_argument("files", nargs="+", metavar="FILE", help="see below; a row each")
    _reading(made)
    _comparing(made)
    made.add_argument(
        "-q", "--orders", default=str(DEFAULT_ORDER), help="order of the score, or several: 0,1,inf"
    )
    made.add_argument(
        "-m",
        "--measures",
        action="append",
        metavar="MEASURES",
        help="other measures than VS, with commas: VS,IntDiv or MagArea:n_scales=20; "
        f"`{PROGRAM} measures` lists them",
    )
    made.add_argument(
        "--references", metavar="FILE", help="a second set, for measures that compare with one"
    )
    made.add_argument(
        "--group-by",
        metavar="COLUMN",
        help="score the samples of each value of a column, or of a folder's folders ('folder'), "
        "by themselves, and give the mean",
    )
    made.add_argument(
        "--ci", action="store_true", help="with 95 %% intervals (-o ci=0.9 for others)"
    )
    _printing(made, ("text", "json", "csv", "md", "html"))
    made.add_argument("-b", "--brief", action="store_true", help="print only the number")


def _compare(made: argparse.ArgumentParser) -> None:
    made.add_argument("files", nargs="+", metavar="FILE", help="two or more, or one with --by")
    _reading(made)
    _comparing(made)
    made.add_argument("-q", "--order", default=str(DEFAULT_ORDER), help="order of the score")
    made.add_argument(
        "--by",
        metavar="COLUMN",
        help="compare the sets that a column of one FILE names, such as its models, or a folder's "
        "folders ('folder')",
    )
    made.add_argument(
        "--group-by",
        metavar="COLUMN",
        help="compare within groups that all sets have, such as prompts",
    )
    made.add_argument("--level", type=float, default=0.95, help="of the intervals, 0.95")
    made.add_argument("--permutations", type=int, default=999, help="at most so many, 999")
    made.add_argument("--match", choices=("size", "coverage"), default="size")
    made.add_argument("--size", type=int, help="the matched size, where not the usual one")
    made.add_argument("--seed", type=int, default=0)
    _printing(made, ("text", "json", "csv", "md"))


def _select(made: argparse.ArgumentParser) -> None:
    made.add_argument("file", metavar="FILE")
    made.add_argument("-n", "--size", type=_count, required=True, help="how many samples to choose")
    _reading(made)
    _comparing(made)
    made.add_argument("-q", "--order", default=str(DEFAULT_ORDER), help="order of the score")
    made.add_argument(
        "--objective",
        default="vendi",
        choices=("vendi", "q2", "logdet", "maxmin", "represent"),
        help="what to make large; 'represent' stands for all, the others differ",
    )
    made.add_argument("--quality", metavar="COLUMN", help="a number of at least 0 for each sample")
    made.add_argument("--group-by", metavar="COLUMN", help="groups, with --quota")
    made.add_argument("--quota", metavar="N|GROUP=N,…", help="at most N, or just so many, of each")
    made.add_argument("--rows", action="store_true", help="print lines, rows or names only")
    _printing(made, ("text", "json"))


def _explain(made: argparse.ArgumentParser) -> None:
    made.add_argument("file", metavar="FILE")
    _reading(made)
    _comparing(made)
    made.add_argument("-q", "--order", default=str(DEFAULT_ORDER), help="order of the score")
    made.add_argument(
        "--threshold", type=float, default=0.95, help="similarity of near-duplicates, 0.95"
    )
    made.add_argument("-n", "--size", type=_count, default=10, help="rows of each table, 10")
    _printing(made, ("text", "json", "csv", "md"))


def _kernels(made: argparse.ArgumentParser) -> None:
    made.add_argument("name", nargs="?", metavar="KERNEL", help="of which all is told")


def _measures(made: argparse.ArgumentParser) -> None:
    made.add_argument("name", nargs="?", metavar="MEASURE", help="of which all is told")


_ADD: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "score": _score,
    "compare": _compare,
    "select": _select,
    "explain": _explain,
    "kernels": _kernels,
    "measures": _measures,
}


def _reading(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("how files are read")
    group.add_argument(
        "--column", metavar="NAME", help="which column of a table, or array of a .npz, is meant"
    )
    group.add_argument(
        "--split",
        default="row",
        metavar="row|blank|SIGN",
        help="what stands between texts: a new line, blank lines, or a line such as ---",
    )
    group.add_argument("--type", choices=TYPES, help="what FILE is, where its name does not say")
    group.add_argument("--encoding", type=_encoding, help="of text, if not UTF-8 or marked UTF-16")
    group.add_argument(
        "--on-error",
        choices=("raise", "skip"),
        default="raise",
        help="leave out samples that cannot be used, and say which",
    )


def _comparing(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("how samples are compared")
    group.add_argument(
        "-k",
        "--kernel",
        metavar="KERNEL[:OPTION=VALUE…]",
        help=f"such as rbf:sigma=2; `{PROGRAM} kernels` lists them",
    )
    group.add_argument(
        "-o",
        "--option",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="of the kernel, of measures, or any other of vendiscore.compute; may be repeated",
    )


def _printing(made: argparse.ArgumentParser, formats: tuple[str, ...]) -> None:
    group = made.add_argument_group("what is printed")
    group.add_argument("-f", "--format", choices=formats, default="text")
    group.add_argument(
        "-w",
        "--width",
        type=_count,
        metavar="DIGITS",
        help="digits behind the point of each number",
    )
    group.add_argument(
        "--quiet",
        action="store_true",
        help="no notes, only warnings and errors",
    )
