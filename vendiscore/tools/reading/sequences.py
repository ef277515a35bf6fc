"""Files of named sequences (FASTA, FASTQ, A3M), and of words with their vectors."""

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
_MAX_KEYS = 100  # different ones that become columns

# The number of a line, and its text.
Line = tuple[int, str]
# The line number of a name, the name, and its sequence or vector.
Named = tuple[int, str, str]


def parse_sequences(text: str, read_options: ReadOptions) -> Table:
    """Read sequences as a table of their names and letters, without gaps, each with its line."""
    lines = _list_nonblank_lines(text)
    is_fastq = bool(lines) and lines[0][1].startswith("@")
    table = _build_table(
        "sequence", _iter_fastq(lines) if is_fastq else _iter_fasta(lines), read_options
    )
    return _with_keys(table)


def parse_word_vectors(text: str, read_options: ReadOptions) -> Table:
    """Read lines of a word and its numbers; a first line may state how many there are."""
    lines = _list_nonblank_lines(text)
    if lines and len(lines[0][1].split()) == 2:
        lines = lines[1:]
    return _build_table("vector", _iter_word_vectors(lines), read_options)


def _list_nonblank_lines(text: str) -> list[Line]:
    lines = enumerate(LINE_BREAK.split(text), 1)
    return [(line_number, line.strip()) for line_number, line in lines if line.strip()]


def _build_table(name: str, named: Iterator[Named], read_options: ReadOptions) -> Table:
    """Build a table of names with their sequences or vectors."""
    max_rows = read_options.limits.samples
    entries = list(islice(named, max_rows + 1))
    selected = entries[:max_rows]
    return Table(
        ["name", name],
        [[word, value] for _, word, value in selected],
        [line_number for line_number, _, _ in selected],
        "line",
        header=["name", name],
        more=len(entries) > max_rows,
    )


def _with_keys(table: Table) -> Table:
    """Return the table with a column for each key=value in the names.

    A first sequence is left out if it has keys that no other one has, and lacks some that all the
    others have. It is the native sequence for which a tool designed the others.
    """
    split = [_split_name(name) for name, _ in table.rows]
    keys = list(
        islice(dict.fromkeys(chain.from_iterable(key_values for _, key_values in split)), _MAX_KEYS)
    )
    if not keys:
        return table
    names = ["name", *(key for key in keys if key not in ("name", "sequence")), "sequence"]
    rows = [
        [word, *(key_values.get(key, "") for key in names[1:-1]), letters]
        for (word, key_values), (_, letters) in zip(split, table.rows, strict=True)
    ]
    table = replace(table, names=names, header=names, rows=rows)
    return _drop_native(table, [key_values.keys() for _, key_values in split])


def _split_name(name: str) -> tuple[str, dict[str, str]]:
    """Return the part of a name before its keys, and the value of each key."""
    first, *rest = _KEY.split(name)
    values = [value.strip(" \t,;|") for value in rest[1::2]]
    return first.strip(" \t,;|"), dict(zip(rest[::2], values, strict=True))


def _drop_native(table: Table, keys: Sequence[Collection[str]]) -> Table:
    first, *other_keys = keys
    if len(other_keys) < 2 or not first:
        return table
    missing = set(other_keys[0]).intersection(*other_keys[1:]).difference(first)
    if not missing or not set(first).difference(*other_keys):
        return table
    line = table.places[0]
    note = f"the sequence of line {line} is left out, as it has no {join_names(sorted(missing))}"
    return replace(table, rows=table.rows[1:], places=table.places[1:], above=[*table.above, note])


def _iter_fasta(lines: list[Line]) -> Iterator[Named]:
    """Yield the line, the name and the joined letters of each sequence."""
    name_line, name = 0, ""
    letters: list[str] = []
    for line_number, line in lines:
        if line.startswith((">", ";")):
            if name_line:
                yield name_line, name, "".join(letters)
            name_line, name, letters = line_number, line[1:].strip(), []
        elif name_line:
            letters.append(line.translate(_GAPS))
        elif not line.startswith("#"):
            raise RefusedError("sequences begin with a line “>name”", f"line {line_number}")
    if name_line:
        yield name_line, name, "".join(letters)


def _iter_fastq(lines: list[Line]) -> Iterator[Named]:
    """Yield sequences of four lines each: @name, letters, +, qualities."""
    for i in range(0, len(lines) - 3, 4):
        (line_number, name), (_, letters), (_, sign), _ = lines[i : i + 4]
        if not name.startswith("@") or not sign.startswith("+"):
            expected = "a sequence of FASTQ has four lines: @name, letters, +, qualities"
            raise RefusedError(expected, f"line {line_number}")
        yield line_number, name[1:].strip(), letters.translate(_GAPS)


def _iter_word_vectors(lines: list[Line]) -> Iterator[Named]:
    """Yield each word with its numbers as a list of JSON."""
    for line_number, line in lines:
        word, *numbers = line.split()
        yield line_number, word, f"[{','.join(numbers)}]"
