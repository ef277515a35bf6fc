"""Warnings and notes about several sets: identical ones are merged and notes are shortened."""

import re

from ..reading.names import join_names
from .command_options import CommandOptions
from .exit_codes import print_message

_NUMBER = re.compile(r"\d[\d.,]*")


class Notes:
    """Warnings and notes of a command, each with the name of its set."""

    def __init__(self, command_options: CommandOptions) -> None:
        self._command_options = command_options
        self._warnings: dict[str, list[tuple[str, str]]] = {}  # keyed by the text without numbers
        self._notes: dict[str, list[tuple[str, str]]] = {}

    def warn(self, name: str, text: str) -> None:
        self._add(self._warnings, name, text)

    def note(self, name: str, text: str) -> None:
        self._add(self._notes, name, text)

    def print_all(self) -> None:
        """Print each distinct warning, and all notes in a line; with --verbose, everything in full.

        A note that equals a warning except for numbers is merged with it.
        """
        verbose = self._command_options.args.verbose
        for key, named in self._warnings.items():
            if not verbose:
                named = named + self._notes.pop(key, [])
            for line in _format_lines(named, verbose):
                print_message(f"warning: {self._command_options.args.use_flags(line)}")
        if verbose or len(self._notes) < 2:
            for named in self._notes.values():
                for line in _format_lines(named, verbose):
                    self._command_options.print_note(line)
            return
        heads = [_first_clause(named[0][1]) for named in self._notes.values()]
        self._command_options.print_note(
            f"notes: {'; '.join(heads)} (--verbose prints them in full)"
        )

    def _add(self, collected: dict[str, list[tuple[str, str]]], name: str, text: str) -> None:
        named = collected.setdefault(_NUMBER.sub("#", text).rstrip("."), [])
        if (name, text) not in named:
            named.append((name, text))


def _format_lines(named_texts: list[tuple[str, str]], verbose: bool) -> list[str]:
    """Return one line per set, or a line for the first set with the names of the others."""
    if verbose:
        return [f"{name}: {text}" for name, text in named_texts]
    name, text = named_texts[0]
    file, _, _ = name.rpartition(" › ")
    others = [other.removeprefix(f"{file} › ") for other, _ in named_texts[1:]]
    others = [other for other in dict.fromkeys(others) if other != name]
    if not others:
        return [f"{name}: {text}"]
    return [f"{name}: {text.rstrip('.')} (similarly for {join_names(others)})"]


def _first_clause(text: str) -> str:
    """Return the first clause of a note, up to a semicolon or its end."""
    return text.partition("; ")[0].rstrip(".")
