"""Files of names with what they stand for: sequences of letters (FASTA, FASTQ, A3M), vectors."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from .encodings import LINE_BREAK
from .limits import ReadOptions, RefusedError
from .names import join_names
from .tables import Table

_GAPS = str.maketrans("", "", "-. ")  # of alignments
# A key of a header, as in ">design 1, T=0.1, sample=2": the value ends before the next one.
_KEY = re.compile(r"(?:^|[\s,;|])([^\W\d]\w*)=")
_MOST_KEYS = 100  # different ones that become columns

# The place of a line, and what is in it.
Line = tuple[int, str]
# The place of a name, the name, and what it stands for.
Named = tuple[int, str, str]


def sequences(text: str, read_options: ReadOptions) -> Table:
    """Read sequences as a table of their names and letters, without gaps, each with its line."""
    lines = _filled_lines(text)
    is_fastq = bool(lines) and lines[0][1].startswith("@")
    read = _table("sequence", _fastq(lines) if is_fastq else _fasta(lines), read_options)
    return _with_keys(read)


def word_vectors(text: str, read_options: ReadOptions) -> Table:
    """Read lines of a word and its numbers; a first line may state how many there are."""
    lines = _filled_lines(text)
    if lines and len(lines[0][1].split()) == 2:
        lines = lines[1:]
    return _table("vector", _words(lines), read_options)


def _filled_lines(text: str) -> list[Line]:
    lines = enumerate(LINE_BREAK.split(text), 1)
    return [(place, line.strip()) for place, line in lines if line.strip()]


def _table(name: str, named: Iterator[Named], read_options: ReadOptions) -> Table:
    """Make a table of names, and of what they stand for."""
    most = read_options.limits.samples
    every = list(islice(named, most + 1))
    kept = every[:most]
    return Table(
        ["name", name],
        [[word, value] for _, word, value in kept],
        [place for place, _, _ in kept],
        "line",
        header=["name", name],
        more=len(every) > most,
    )


def _with_keys(read: Table) -> Table:
    """Return the table with a column for each key=value in the names.

    A first sequence is left out if it has keys that no other one has, and lacks some that all the
    others have: it is what a tool designed the others for.
    """
    split = [_split_name(name) for name, _ in read.rows]
    keys = list(islice(dict.fromkeys(chain.from_iterable(found for _, found in split)), _MOST_KEYS))
    if not keys:
        return read
    names = ["name", *(key for key in keys if key not in ("name", "sequence")), "sequence"]
    rows = [
        [word, *(found.get(key, "") for key in names[1:-1]), letters]
        for (word, found), (_, letters) in zip(split, read.rows, strict=True)
    ]
    read = replace(read, names=names, header=names, rows=rows)
    return _without_native(read, [found.keys() for _, found in split])


def _split_name(name: str) -> tuple[str, dict[str, str]]:
    """Return the part of a name before its keys, and the value of each key."""
    first, *rest = _KEY.split(name)
    values = [value.strip(" \t,;|") for value in rest[1::2]]
    return first.strip(" \t,;|"), dict(zip(rest[::2], values, strict=True))


def _without_native(read: Table, keys: Sequence[Collection[str]]) -> Table:
    first, *others = keys
    if len(others) < 2 or not first:
        return read
    missing = set(others[0]).intersection(*others[1:]).difference(first)
    if not missing or not set(first).difference(*others):
        return read
    line = read.places[0]
    note = f"the sequence of line {line} is left out, as it has no {join_names(sorted(missing))}"
    return replace(read, rows=read.rows[1:], places=read.places[1:], above=[*read.above, note])


def _fasta(lines: list[Line]) -> Iterator[Named]:
    """Yield the line, the name and the joined letters of each sequence."""
    place, name = 0, ""
    letters: list[str] = []
    for at, line in lines:
        if line.startswith((">", ";")):
            if place:
                yield place, name, "".join(letters)
            place, name, letters = at, line[1:].strip(), []
        elif place:
            letters.append(line.translate(_GAPS))
        elif not line.startswith("#"):
            raise RefusedError("sequences begin with a line “>name”", f"line {at}")
    if place:
        yield place, name, "".join(letters)


def _fastq(lines: list[Line]) -> Iterator[Named]:
    """Yield sequences of four lines each: @name, letters, +, qualities."""
    for i in range(0, len(lines) - 3, 4):
        (place, name), (_, letters), (_, sign), _ = lines[i : i + 4]
        if not name.startswith("@") or not sign.startswith("+"):
            expected = "a sequence of FASTQ has four lines: @name, letters, +, qualities"
            raise RefusedError(expected, f"line {place}")
        yield place, name[1:].strip(), letters.translate(_GAPS)


def _words(lines: list[Line]) -> Iterator[Named]:
    """Yield each word with its numbers as a list of JSON."""
    for place, line in lines:
        word, *numbers = line.split()
        yield place, word, f"[{','.join(numbers)}]"
