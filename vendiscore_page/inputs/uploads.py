"""Reading of user input as samples; the sample type is detected, or the user is asked."""

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
from .parts import fit_to_limits
from .pasted_forms import NUMBERS, detect_format
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
    InputSettings,
    UserInput,
)
from .visitor_samples import FILE, Samples
from .western_text import detect_encoding

File = tuple[str, bytes]
_DEFAULT_SETTINGS = InputSettings()
_TABLES = ("csv", "tsv")


def read(user_input: UserInput, settings: InputSettings = _DEFAULT_SETTINGS) -> Samples:
    if settings.kind not in (None, COUNTS, *KINDS):
        raise RefusedError(
            f"Unknown kind {short_repr(settings.kind)}; pick one of {', '.join(KINDS)}."
        )
    if settings.files not in (None, *FILES):
        raise RefusedError(
            f"Unknown files {short_repr(settings.files)}; pick one of {', '.join(FILES)}."
        )
    if settings.draw not in range(2**31):
        raise RefusedError(
            f"`draw` must be an integer of at least 0, got {short_repr(settings.draw)}."
        )
    if settings.dataset:
        samples = hub.read(user_input.dataset or hub.fetch(settings), settings)
    elif settings.example:
        samples = _read_example(find_example(settings.example, settings.kind), settings)
    elif user_input.files:
        samples = _read_files(
            [(zips.base_name(name) or "file", data) for name, data in user_input.files], settings
        )
    else:
        samples = _read_box(user_input.text, settings)
    kinds_ = tuple(kind for kind in samples.kinds if kind != samples.kind)
    are_letters = samples.letters or (samples.kind == "texts" and are_sequences(samples.values))
    return replace(samples, kinds=kinds_, letters=are_letters)


def _read_example(example: Example, settings: InputSettings) -> Samples:
    if example.kind == "images":
        return replace(pictures.read_pictures(example.files, example.name), notes=())
    matrix = example.kernel == "K"
    samples = _read_box(example.text, replace(settings, kind=example.kind, matrix=matrix))
    return replace(samples, name=example.name, text=example.text, kinds=())


def _read_files(files: Sequence[File], settings: InputSettings) -> Samples:
    """Read files and the files in zips, with a note on those that only accompany samples."""
    _check_sizes(files)
    members: list[File] = []
    unread_names: list[str] = []
    files = [decompress(name, data, MAX_UNPACKED) for name, data in files]
    for name, data in files:
        if format_of(name, data) == "zip":
            sample_files, other_names = zips.read_sample_files(name, data)
            members += sample_files
            unread_names += other_names
        else:
            members.append((name, data))
        if sum(len(data) for _, data in members) > MAX_UNPACKED:
            raise RefusedError(f"The files unpack to more than {MAX_UNPACKED // 10**6} MB.")
    if sample_files := [(name, data) for name, data in members if not zips.is_companion(name)]:
        unread_names += [name for name, _ in members if zips.is_companion(name)]
        members = sample_files
    name = files[0][0] if len(files) == 1 else f"{len(files):,} files"
    samples = _read_sample_files(members, name, settings)
    if unread_names:
        note = f"Files that were not read: {join_names(unread_names)}."
        samples = replace(samples, notes=(*samples.notes, note))
    return samples


def _read_sample_files(files: Sequence[File], name: str, settings: InputSettings) -> Samples:
    forms = {format_of(file, data) for file, data in files}
    if forms == {"image"}:
        return pictures.read_pictures(files, name, settings.draw)
    if len(files) == 1:
        return _read_file(*files[0], settings)
    if forms == {"txt"}:
        texts = {file: decode(data, detect_encoding(data))[0] for file, data in files}
        return replace(_read_text_files(texts, settings), name=name)
    names = join_names(file for file, _ in files)
    raise RefusedError(
        f"Several files must all be images or all be .txt files, got {names}; send one file at a "
        f"time, or use the Compare tab."
    )


def _read_text_files(texts: Mapping[str, str], settings: InputSettings) -> Samples:
    """Read text files as one text each, or their lines as the texts of one set or of a set each."""
    rows = {name: separators.split_rows(text) for name, text in texts.items()}
    files = settings.files
    if files is None and not _is_split(settings):
        if any(sum(map(bool, map(str.strip, lines))) > 1 for lines in rows.values()):
            raise _build_files_question(len(texts))
        files = ONE_TEXT
    note = f"Read {len(texts):,} files."
    if files == ONE_TEXT:
        samples = fit_to_limits(Samples(list(texts.values()), list(texts), "file"), settings.draw)
        return replace(samples, notes=(note, *samples.notes), files=tuple(texts))
    kind = settings.kind if settings.kind in ("texts", "molecules") else "texts"
    parts = {}
    for name, lines in rows.items():
        separator = settings.separator or _detect_separator(lines)
        file_settings = replace(settings, separator=separator)
        parts[name] = separators.split_texts(lines, name, file_settings, kind)
    all_parts = list(parts.values())
    places = [f"{name}:{location}" for name, part in parts.items() for location in part.places]
    samples = Samples(
        [text for part in all_parts for text in part.values],
        places,
        all_parts[0].unit,
        kind=kind,
        kinds=("texts", "molecules"),
        sets=[name for name, part in parts.items() for _ in part.values] if files == SETS else (),
        sets_by=FILE if files == SETS else None,
        separator=all_parts[0].separator,
        splits=all_parts[0].splits if len({part.splits for part in all_parts}) == 1 else (),
        how=all_parts[0].how,
    )
    notes = [note, *(text for part in all_parts for text in part.notes[1:])]
    total = sum(max(part.total, len(part)) for part in all_parts)
    samples = fit_to_limits(samples, settings.draw)
    return replace(samples, total=total, notes=(*notes, *samples.notes), files=tuple(texts))


def _build_files_question(n: int) -> AskError:
    choices = [
        ("Each file is one text", {"files": ONE_TEXT}),
        ("Each file is a set of texts, to be compared", {"files": SETS}),
        ("The texts of all files are one set", {"files": ONE_SET}),
    ]
    if n > MAX_SETS:
        del choices[1]
    return AskError(f"What do these {n:,} text files contain?", choices)


def _detect_separator(lines: Sequence[str]) -> str:
    """Return the separator of the texts in a file; ask if there are several possible ones."""
    try:
        split = detect_separator(lines, count_rules(lines))
    except AskError as error:
        raise cells.translate_question(error, []) from None
    return LINE if split == "row" else split


def _check_sizes(files: Sequence[File]) -> None:
    for name, data in files:
        if len(data) > MAX_UPLOAD:
            raise RefusedError(
                f"{name:.60} has {len(data) / 1e6:.0f} MB; this page accepts up to "
                f"{MAX_UPLOAD // 10**6} MB per file."
            )


def _read_file(name: str, data: bytes, settings: InputSettings) -> Samples:
    form = settings.type or format_of(name, data)
    if form != "txt" and (form not in _TABLES or not _is_split(settings)):
        return cells.read_file(name, data, form, settings)
    check_lines(data.count(b"\n") + data.count(b"\r"))
    encoding = detect_encoding(data)
    text = decode(data, encoding)[0]
    if name == PASTED:
        return _read_box(text, settings)
    if not (_is_split(settings) or settings.type) and detect_lines_format(text) == ("tsv", False):
        return cells.read_file(name, data, "tsv", settings)
    if not _is_split(settings) and settings.kind in (None, "vectors"):
        samples = cells.read_file(name, data, form, settings)
        if samples.kind != "texts":
            return samples
    lines = separators.split_rows(text)
    if not settings.separator:
        settings = replace(settings, separator=_detect_separator(lines))
    read_options = ReadOptions(
        type="txt", split="row", encoding=encoding, comments=settings.comments
    )
    python = FileCode(name, read_options)
    return _read_lines(lines, settings, name, python)


def _read_box(text: str, settings: InputSettings) -> Samples:
    """Read the samples of the box: JSON, a table, rows of numbers, or texts."""
    lines = separators.split_rows(text)
    data = text.encode("utf-8", "replace")
    form = detect_format(text, settings.separator is not None)
    if form == "json" and settings.type:  # what the keys of an object name
        form = settings.type
    if settings.kind == "vectors":
        form = form or NUMBERS
    elif form == NUMBERS and settings.kind:
        form = ""
    if not form or _is_split(settings):
        samples = _read_lines(lines, settings, "")
        row_splits = [(ROW, _count_rows(data, form, settings))] if form in _TABLES else []
        return replace(samples, splits=(*row_splits, *samples.splits))
    if form == NUMBERS:
        number_settings = replace(
            settings, kind="vectors", header=bool(settings.header), index=bool(settings.index)
        )
        samples = cells.read_file(cells.BOX, data, "csv", number_settings)
        return replace(samples, name="pasted", kinds=("vectors", "texts"))
    samples = cells.read_file(cells.BOX, data, form, settings)
    if form in _TABLES:
        row_splits = [(ROW, samples.total), (LINE, sum(bool(line.strip()) for line in lines))]
        samples = replace(samples, separator=ROW, splits=tuple(row_splits))
    return replace(samples, python=None, name=samples.name.replace(cells.BOX, "pasted", 1))


def _read_lines(
    lines: Sequence[str], settings: InputSettings, name: str, python: FileCode | None = None
) -> Samples:
    """Read texts or molecules that stand one below the other."""
    kind = "texts"
    kinds: tuple[str, ...] = ("texts",)
    try:
        are_smiles = are_molecules(lines, ReadOptions())
    except AskError as error:
        are_smiles = False
        kinds = ("molecules", "texts")
        if not (name or settings.kind or _is_split(settings)):
            choices = zip(kinds, (label for label, _ in error.choices), strict=True)
            raise AskError(error.question, [(label, {"kind": x}) for x, label in choices]) from None
    if are_smiles:
        kinds = ("molecules", "texts")
        kind = "texts" if name or _is_split(settings) else "molecules"
    if settings.kind in ("texts", "molecules"):
        kind = settings.kind
    n_comments = 0
    if kind == "texts":
        try:
            lines, n_comments = blank_comments(lines, settings.comments)
        except AskError as error:
            raise cells.translate_question(error, []) from None
    samples = separators.split_texts(lines, name, settings, kind, python)
    if n_comments:
        note = f"{format_dropped_count(n_comments, 'comment')}."
        samples = replace(samples, notes=(*samples.notes, note))
    return replace(samples, kinds=kinds)


def _is_split(settings: InputSettings) -> bool:
    """Return whether the visitor chose the separator of samples, so that nothing has cells."""
    return settings.separator not in (None, ROW)


def _count_rows(data: bytes, form: str, settings: InputSettings) -> int:
    try:
        return len(
            cells.parse_file(data, form, ReadOptions(header=settings.header, limits=INPUT)).rows
        )
    except RefusedError:
        return 0
