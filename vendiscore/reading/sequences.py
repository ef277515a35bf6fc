"""Files of names with what they stand for: sequences of letters (FASTA, FASTQ, A3M), vectors."""

from __future__ import annotations

from collections.abc import Iterator

from .encodings import LINE_BREAK
from .limits import RefusedError, Wanted
from .tables import Table

_GAPS = str.maketrans("", "", "-. ")  # of alignments


def sequences(text: str, wanted: Wanted) -> Table:
    """Read sequences as a table of their names and letters, without gaps, each with its line."""
    lines = [line.rstrip() for line in LINE_BREAK.split(text)]
    start = next((line for line in lines if line), "")
    read = _fastq(lines) if start.startswith("@") else _fasta(lines)
    records = [record for record, _ in zip(read, range(wanted.limits.samples + 1), strict=False)]
    rows = [[name, letters.translate(_GAPS)] for _, name, letters in records]
    most = wanted.limits.samples
    return Table(
        ["name", "sequence"],
        rows[:most],
        [place for place, _, _ in records][:most],
        "line",
        header=["name", "sequence"],
        typed=True,
        more=len(rows) > most,
    )


def _fasta(lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the name and the joined letters of each sequence."""
    at, name = 0, ""
    parts: list[str] = []
    for place, line in enumerate(lines, 1):
        if line.startswith((">", ";")):
            if at:
                yield at, name, "".join(parts)
            at, name, parts = place, line[1:].strip(), []
        elif line and not at and not line.startswith("#"):
            raise RefusedError("sequences begin with a line “>name”", f"line {place}")
        elif at:
            parts.append(line)
    if at:
        yield at, name, "".join(parts)


def _fastq(lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """Yield sequences of four lines each: @name, letters, +, qualities."""
    filled = [(place, line) for place, line in enumerate(lines, 1) if line]
    for (place, name), (_, letters), (_, sign), _ in zip(*[iter(filled)] * 4, strict=False):
        if not name.startswith("@") or not sign.startswith("+"):
            said = "a sequence of FASTQ has four lines: @name, letters, +, qualities"
            raise RefusedError(said, f"line {place}")
        yield place, name[1:].strip(), letters


def word_vectors(text: str, wanted: Wanted) -> Table:
    """Read lines of a word and its numbers; a first line may state how many there are."""
    lines = [(place, line.split()) for place, line in enumerate(LINE_BREAK.split(text), 1)]
    lines = [(place, cells) for place, cells in lines if cells]
    if lines and len(lines[0][1]) == 2:
        lines = lines[1:]
    most = wanted.limits.samples
    rows = [[word, f"[{','.join(numbers)}]"] for _, (word, *numbers) in lines[:most]]
    places = [place for place, _ in lines[:most]]
    names = ["name", "vector"]
    return Table(names, rows, places, "line", header=names, more=len(lines) > most)
