"""Notes and warnings of a command: a few lines on stderr, or all of them with --verbose."""

import re
from collections.abc import Callable

from ..reading.names import join_names
from .exit_codes import print_message

# Parts in which similar texts about several sets differ: lists of further samples, and numbers.
_VARIABLE_PART = re.compile(r" \(also [^)]*\)|\d[\d.,]*")
# Number of lines to which notes are limited, together with warnings and the lines printed before.
_MAX_LINES = 3


class Notes:
    """Notes and warnings of one command, which are collected and printed before its results.

    Texts about several sets that differ only in numbers are merged into one line. `use_flags` is a
    function that replaces keywords of the library in a text by the flags of the command.
    """

    def __init__(
        self, use_flags: Callable[[str], str], quiet: bool = False, verbose: bool = False
    ) -> None:
        self.verbose = verbose
        self._use_flags = use_flags
        self._quiet = quiet
        self._printed: list[str] = []
        # lists of (set, text), by the text without its variable parts
        self._warnings: dict[str, list[tuple[str, str]]] = {}
        self._notes: dict[str, list[tuple[str, str]]] = {}
        self._minor_notes: dict[str, list[tuple[str, str]]] = {}

    def print_line(self, text: str) -> None:
        """Print a line immediately, unless --quiet was passed or the line was printed before."""
        if not self._quiet and text not in self._printed:
            self._print(text)

    def add_warning(self, text: str, name: str = "") -> None:
        """Add a warning about a set; `name` is "" for all sets."""
        _add_text(self._warnings, name, text)

    def add_note(self, text: str, name: str = "", *, minor: bool = False) -> None:
        """Add a note about a set; `name` is "" for all sets. Minor notes are printed last."""
        _add_text(self._minor_notes if minor else self._notes, name, text)

    def print_all(self) -> None:
        """Print all warnings that were not printed yet, and as many notes as fit in a few lines.

        With --verbose, all notes are printed. With --quiet, no notes are printed.
        """
        notes = self._notes | self._minor_notes
        named_warnings = self._warnings
        self._warnings, self._notes, self._minor_notes = {}, {}, {}
        for key, named_texts in named_warnings.items():
            if not self.verbose:  # merges a note that equals a warning for another set
                named_texts = named_texts + notes.pop(key, [])
            for line in _format_lines(named_texts, self.verbose):
                self._print(f"warning: {line}")
        if self._quiet:
            return
        lines = [line for texts in notes.values() for line in _format_lines(texts, self.verbose)]
        # Lines that remain for notes. If there are more, the last one says how many are not
        # printed.
        available = max(_MAX_LINES - len(self._printed), 0)
        if not self.verbose and len(lines) > available:
            hidden = lines[max(available - 1, 0) :]
            lines = lines[: len(lines) - len(hidden)]
            count = f"{len(hidden)} further note{'s' * (len(hidden) > 1)}"
            lines.append(f"{count}: pass --verbose to print {'them' if hidden[1:] else 'it'}")
        for line in lines:
            self.print_line(line)

    def _print(self, text: str) -> None:
        self._printed.append(text)
        print_message(self._use_flags(text))


def _add_text(collected: dict[str, list[tuple[str, str]]], name: str, text: str) -> None:
    """Collect a note about the set `name`, so that similar notes of sets are printed only once.

    Notes are similar if they differ only in numbers, and in lists such as " (also sample 1, sample
    2)". The keys of `collected` are notes in which each number is replaced by "#" and each such
    list is removed. The values are pairs of the name of a set and its full note.
    """
    # _VARIABLE_PART matches numbers and lists; only lists start with a space.
    key = _VARIABLE_PART.sub(lambda match: "" if match[0][0] == " " else "#", text).rstrip(".")
    named_texts = collected.setdefault(key, [])
    if (name, text) not in named_texts:
        named_texts.append((name, text))


def _format_lines(named_texts: list[tuple[str, str]], verbose: bool) -> list[str]:
    """Return the lines to print for similar texts about several sets.

    `named_texts` are pairs of a set and a text. If `verbose`, there is one line per set; otherwise
    a single line with the text about the first set and the names of the other sets. Sets of a file
    are named "FILE › SET"; the name of the file of the first set is not repeated.
    """
    if verbose:
        return [_format_line(name, text) for name, text in named_texts]
    name, text = named_texts[0]
    file, _, _ = name.rpartition(" › ")
    other_names = [other.removeprefix(f"{file} › ") for other, _ in named_texts[1:]]
    # Each other set once; "" is the name of notes about all sets.
    other_names = [other for other in dict.fromkeys(other_names) if other and other != name]
    if not other_names:
        return [_format_line(name, text)]
    return [_format_line(name, f"{text.rstrip('.')} (similarly for {join_names(other_names)})")]


def _format_line(name: str, text: str) -> str:
    return f"{name}: {text}" if name else text
