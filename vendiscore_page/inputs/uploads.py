"""From what a visitor sent to samples: of which kind they are is found out, or asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vendiscore.report import (
    AskError,
    ReadOptions,
    RefusedError,
    decode,
    format_of,
    join_names,
)
from vendiscore.support.errors import short_repr
from vendiscore.support.text_detection import are_sequences
from vendiscore.tools.reading.compressed_files import decompress
from vendiscore.tools.reading.names import format_dropped_count
from vendiscore.tools.reading.reader import detect_lines_format
from vendiscore.tools.reading.text_lines import (
    are_molecules,
    blank_comments,
    count_rules,
    detect_separator,
)

from ..quotas import INPUT, MAX_SETS, MAX_UNPACKED, MAX_UPLOAD, check_lines
from . import cells, hub, pictures, separators, zips
from .examples import Example, find_example
from .file_code import FileCode
from .parts import fit
from .pasted_forms import NUMBERS, form_of
from .submission import (
    COUNTS,
    FILES,
    KINDS,
    LINE,
    ONE_SET,
    ONE_TEXT,
    PASTED,
    ROW,
    SETS,
    Asked,
    Given,
)
from .visitor_samples import FILE, Samples
from .western_text import encoding_of

File = tuple[str, bytes]
_AS_FOUND = Asked()
_TABLES = ("csv", "tsv")


def read(given: Given, asked: Asked = _AS_FOUND) -> Samples:
    if asked.kind not in (None, COUNTS, *KINDS):
        raise RefusedError(
            f"Unknown kind {short_repr(asked.kind)}; pick one of {', '.join(KINDS)}."
        )
    if asked.files not in (None, *FILES):
        raise RefusedError(
            f"Unknown files {short_repr(asked.files)}; pick one of {', '.join(FILES)}."
        )
    if asked.draw not in range(2**31):
        raise RefusedError(
            f"`draw` must be an integer of at least 0, got {short_repr(asked.draw)}."
        )
    if asked.dataset:
        found = hub.read(given.dataset or hub.fetch(asked), asked)
    elif asked.example:
        found = _of_example(find_example(asked.example, asked.kind), asked)
    elif given.files:
        found = _of_files([(zips.base(name) or "file", data) for name, data in given.files], asked)
    else:
        found = _of_box(given.text, asked)
    kinds_ = tuple(kind for kind in found.kinds if kind != found.kind)
    letters = found.letters or (found.kind == "texts" and are_sequences(found.values))
    return replace(found, kinds=kinds_, letters=letters)


def _of_example(example: Example, asked: Asked) -> Samples:
    if example.kind == "images":
        return replace(pictures.pictures(example.files, example.name), notes=())
    matrix = example.kernel == "K"
    found = _of_box(example.text, replace(asked, kind=example.kind, matrix=matrix))
    return replace(found, name=example.name, text=example.text, kinds=())


def _of_files(files: Sequence[File], asked: Asked) -> Samples:
    _check_sizes(files)
    every: list[File] = []
    files = [decompress(name, data, MAX_UNPACKED) for name, data in files]
    for name, data in files:
        is_zip = format_of(name, data) == "zip"
        every += zips.samples_in(name, data) if is_zip else [(name, data)]
        if sum(len(data) for _, data in every) > MAX_UNPACKED:
            raise RefusedError(f"The files unpack to more than {MAX_UNPACKED // 10**6} MB.")
    forms = {format_of(name, data) for name, data in every}
    name = files[0][0] if len(files) == 1 else f"{len(files):,} files"
    if forms == {"image"}:
        return pictures.pictures(every, name, asked.draw)
    if len(every) == 1:
        return _of_file(*every[0], asked)
    if forms == {"txt"}:
        texts = {file: decode(data, encoding_of(data))[0] for file, data in every}
        return replace(_of_text_files(texts, asked), name=name)
    names = join_names(name for name, _ in every)
    raise RefusedError(
        f"Several files must all be images or all be .txt files, got {names}; send one file at a "
        f"time, or use the Compare tab."
    )


def _of_text_files(texts: Mapping[str, str], asked: Asked) -> Samples:
    """Read text files as one text each, or their lines as the texts of one set or of a set each."""
    rows = {name: separators.rows_of(text) for name, text in texts.items()}
    files = asked.files
    if files is None and not _is_split(asked):
        if any(sum(map(bool, map(str.strip, lines))) > 1 for lines in rows.values()):
            raise _question_of_files(len(texts))
        files = ONE_TEXT
    note = f"Read {len(texts):,} files."
    if files == ONE_TEXT:
        found = fit(Samples(list(texts.values()), list(texts), "file"), asked.draw)
        return replace(found, notes=(note, *found.notes), files=tuple(texts))
    kind = asked.kind if asked.kind in ("texts", "molecules") else "texts"
    parts = {}
    for name, lines in rows.items():
        separator = asked.separator or _likely_separator(lines)
        how = replace(asked, separator=separator)
        parts[name] = separators.split_texts(lines, name, how, kind)
    every = list(parts.values())
    places = [f"{name}:{place}" for name, part in parts.items() for place in part.places]
    found = Samples(
        [text for part in every for text in part.values],
        places,
        every[0].unit,
        kind=kind,
        kinds=("texts", "molecules"),
        sets=[name for name, part in parts.items() for _ in part.values] if files == SETS else (),
        sets_by=FILE if files == SETS else None,
        separator=every[0].separator,
        splits=every[0].splits if len({part.splits for part in every}) == 1 else (),
        how=every[0].how,
    )
    notes = [note, *(text for part in every for text in part.notes[1:])]
    total = sum(max(part.total, len(part)) for part in every)
    found = fit(found, asked.draw)
    return replace(found, total=total, notes=(*notes, *found.notes), files=tuple(texts))


def _question_of_files(n: int) -> AskError:
    choices = [
        ("Each file is one text", {"files": ONE_TEXT}),
        ("Each file is a set of texts, to be compared", {"files": SETS}),
        ("The texts of all files are one set", {"files": ONE_SET}),
    ]
    if n > MAX_SETS:
        del choices[1]
    return AskError(f"What do these {n:,} text files contain?", choices)


def _likely_separator(lines: Sequence[str]) -> str:
    """Return the separator of the texts in a file; ask if there are several possible ones."""
    try:
        split = detect_separator(lines, count_rules(lines))
    except AskError as error:
        raise cells.asked_here(error, []) from None
    return LINE if split == "row" else split


def _check_sizes(files: Sequence[File]) -> None:
    for name, data in files:
        if len(data) > MAX_UPLOAD:
            raise RefusedError(
                f"{name:.60} has {len(data) / 1e6:.0f} MB; this page accepts up to "
                f"{MAX_UPLOAD // 10**6} MB per file."
            )


def _of_file(name: str, data: bytes, asked: Asked) -> Samples:
    form = asked.type or format_of(name, data)
    if form != "txt" and (form not in _TABLES or not _is_split(asked)):
        return cells.of_file(name, data, form, asked)
    check_lines(data.count(b"\n") + data.count(b"\r"))
    encoding = encoding_of(data)
    text = decode(data, encoding)[0]
    if name == PASTED:
        return _of_box(text, asked)
    if not (_is_split(asked) or asked.type) and detect_lines_format(text) == ("tsv", False):
        return cells.of_file(name, data, "tsv", asked)
    if not _is_split(asked) and asked.kind in (None, "vectors"):
        found = cells.of_file(name, data, form, asked)
        if found.kind != "texts":
            return found
    lines = separators.rows_of(text)
    if not asked.separator:
        asked = replace(asked, separator=_likely_separator(lines))
    read_options = ReadOptions(type="txt", split="row", encoding=encoding, comments=asked.comments)
    python = FileCode(name, read_options)
    return _of_lines(lines, asked, name, python)


def _of_box(text: str, asked: Asked) -> Samples:
    """Read the samples of the box: JSON, a table, rows of numbers, or texts."""
    lines = separators.rows_of(text)
    data = text.encode("utf-8", "replace")
    form = form_of(text, asked.separator is not None)
    if form == "json" and asked.type:  # what the keys of an object name
        form = asked.type
    if asked.kind == "vectors":
        form = form or NUMBERS
    elif form == NUMBERS and asked.kind:
        form = ""
    if not form or _is_split(asked):
        found = _of_lines(lines, asked, "")
        ways = [(ROW, _count(data, form, asked))] if form in _TABLES else []
        return replace(found, splits=(*ways, *found.splits))
    if form == NUMBERS:
        how = replace(asked, kind="vectors", header=bool(asked.header), index=bool(asked.index))
        found = cells.of_file(cells.BOX, data, "csv", how)
        return replace(found, name="pasted", kinds=("vectors", "texts"))
    found = cells.of_file(cells.BOX, data, form, asked)
    if form in _TABLES:
        ways = [(ROW, found.total), (LINE, sum(bool(line.strip()) for line in lines))]
        found = replace(found, separator=ROW, splits=tuple(ways))
    return replace(found, python=None, name=found.name.replace(cells.BOX, "pasted", 1))


def _of_lines(
    lines: Sequence[str], asked: Asked, name: str, python: FileCode | None = None
) -> Samples:
    """Read texts or molecules that stand one below the other."""
    kind = "texts"
    could: tuple[str, ...] = ("texts",)
    try:
        likely = are_molecules(lines, ReadOptions())
    except AskError as error:
        likely = False
        could = ("molecules", "texts")
        if not (name or asked.kind or _is_split(asked)):
            choices = zip(could, (label for label, _ in error.choices), strict=True)
            raise AskError(error.question, [(label, {"kind": x}) for x, label in choices]) from None
    if likely:
        could = ("molecules", "texts")
        kind = "texts" if name or _is_split(asked) else "molecules"
    if asked.kind in ("texts", "molecules"):
        kind = asked.kind
    n_comments = 0
    if kind == "texts":
        try:
            lines, n_comments = blank_comments(lines, asked.comments)
        except AskError as error:
            raise cells.asked_here(error, []) from None
    samples = separators.split_texts(lines, name, asked, kind, python)
    if n_comments:
        note = f"{format_dropped_count(n_comments, 'comment')}."
        samples = replace(samples, notes=(*samples.notes, note))
    return replace(samples, kinds=could)


def _is_split(asked: Asked) -> bool:
    """Return whether the visitor chose the separator of samples, so that nothing has cells."""
    return asked.separator not in (None, ROW)


def _count(data: bytes, form: str, asked: Asked) -> int:
    try:
        return len(cells.parsed(data, form, ReadOptions(header=asked.header, limits=INPUT)).rows)
    except RefusedError:
        return 0
