"""Warnings and notes on several sets: equal ones are merged, and notes are summarized."""

import re

from ..reading.names import join_names
from .exit_codes import tell
from .kernel_options import How

_NUMBER = re.compile(r"\d[\d.,]*")


class Notes:
    """Warnings and notes of a command, each with the name of the set that it is about."""

    def __init__(self, how: How) -> None:
        self._how = how
        self._warnings: dict[str, list[tuple[str, str]]] = {}  # by their text without numbers
        self._notes: dict[str, list[tuple[str, str]]] = {}

    def warn(self, name: str, text: str) -> None:
        self._add(self._warnings, name, text)

    def note(self, name: str, text: str) -> None:
        self._add(self._notes, name, text)

    def tell(self) -> None:
        """Print each warning once, and the notes in a line; with --verbose, every one in full.

        A note that differs from a warning by its numbers only belongs to that warning.
        """
        verbose = self._how.args.verbose
        for key, named in self._warnings.items():
            if not verbose:
                named = named + self._notes.pop(key, [])
            for line in _lines(named, verbose):
                tell(f"warning: {self._how.args.spelled(line)}")
        if verbose or len(self._notes) < 2:
            for named in self._notes.values():
                for line in _lines(named, verbose):
                    self._how.note(line)
            return
        heads = [_head(named[0][1]) for named in self._notes.values()]
        self._how.note(f"notes: {'; '.join(heads)} (--verbose prints them in full)")

    def _add(self, kind: dict[str, list[tuple[str, str]]], name: str, text: str) -> None:
        named = kind.setdefault(_NUMBER.sub("#", text).rstrip("."), [])
        if (name, text) not in named:
            named.append((name, text))


def _lines(named: list[tuple[str, str]], verbose: bool) -> list[str]:
    """Return a line for each set, or for the first one with the names of the others."""
    if verbose:
        return [f"{name}: {text}" for name, text in named]
    name, text = named[0]
    file, _, _ = name.rpartition(" › ")
    others = [other.removeprefix(f"{file} › ") for other, _ in named[1:]]
    others = [other for other in dict.fromkeys(others) if other != name]
    if not others:
        return [f"{name}: {text}"]
    return [f"{name}: {text.rstrip('.')} (similarly for {join_names(others)})"]


def _head(text: str) -> str:
    """Return the first part of a note, up to a semicolon or its end."""
    return text.partition("; ")[0].rstrip(".")
