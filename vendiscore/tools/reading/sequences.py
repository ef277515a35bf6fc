"""Files of names with what they stand for: sequences of letters (FASTA, FASTQ, A3M), vectors."""

from collections.abc import Iterator
from itertools import islice

from .encodings import LINE_BREAK
from .limits import RefusedError, Wanted
from .tables import Table

_GAPS = str.maketrans("", "", "-. ")  # of alignments

# The place of a line, and what is in it.
Line = tuple[int, str]
# The place of a name, the name, and what it stands for.
Named = tuple[int, str, str]


def sequences(text: str, wanted: Wanted) -> Table:
    """Read sequences as a table of their names and letters, without gaps, each with its line."""
    lines = _filled_lines(text)
    is_fastq = bool(lines) and lines[0][1].startswith("@")
    return _table("sequence", _fastq(lines) if is_fastq else _fasta(lines), wanted)


def word_vectors(text: str, wanted: Wanted) -> Table:
    """Read lines of a word and its numbers; a first line may state how many there are."""
    lines = _filled_lines(text)
    if lines and len(lines[0][1].split()) == 2:
        lines = lines[1:]
    return _table("vector", _words(lines), wanted)


def _filled_lines(text: str) -> list[Line]:
    lines = enumerate(LINE_BREAK.split(text), 1)
    return [(place, line.strip()) for place, line in lines if line.strip()]


def _table(name: str, named: Iterator[Named], wanted: Wanted) -> Table:
    """Make a table of names, and of what they stand for."""
    most = wanted.limits.samples
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


def _fasta(lines: list[Line]) -> Iterator[Named]:
    """Yield the line, the name and the joined letters of each sequence."""
    place, name = 0, ""
    letters = ""
    for at, line in lines:
        if line.startswith((">", ";")):
            if place:
                yield place, name, letters
            place, name, letters = at, line[1:].strip(), ""
        elif place:
            letters += line.translate(_GAPS)
        elif not line.startswith("#"):
            raise RefusedError("sequences begin with a line “>name”", f"line {at}")
    if place:
        yield place, name, letters


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
