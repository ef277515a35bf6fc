"""Files and pasted tables: the library's one reader takes the samples, this page what it shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vendiscore.report import (
    FORMATS,
    AskError,
    Columns,
    ReadOptions,
    RefusedError,
    Table,
    join_names,
    read_data,
    role_of,
    samples_of,
)
from vendiscore.report import Samples as ReadSamples
from vendiscore.tools.reading.numpy_files import NumpyArchive

from ..quotas import INPUT, MAX_UNPACKED, check_lines
from .file_code import FileCode
from .parts import fit
from .pictures import pictures
from .roles import answer_columns, are_answers, kinds_of, melted, roles_of
from .submission import COUNTS, LINE, Asked, Kind
from .visitor_samples import Samples
from .western_text import encoding_of

BOX = "the text box"  # what notes call what was pasted
_LINES = (
    "csv",
    "tsv",
    "jsonl",
    "txt",
    "smi",
    "fasta",
    "vec",
)  # formats of a sample a line, or less
_WIDE = 100  # columns of a table that come back with its samples
_FIRST = replace(INPUT, samples=200)  # rows that tell what the others are
# Fields of the reader's choices under the names that they have here.
_FIELDS = {"group_by": "by", "by": "sets", "split": "separator"}


def of_file(name: str, data: bytes, form: str | None, asked: Asked) -> Samples:
    """Return the samples of a file, or of a pasted table; `form` is None for an unknown format."""
    if form in _LINES:
        check_lines(data.count(b"\n") + data.count(b"\r"))
    said = asked.type if form == "txt" else form  # lines of text can be rows of numbers
    read_options = _read_options(asked, said, None if form == "parquet" else encoding_of(data))
    limits = INPUT if form == "json" else _FIRST
    numeric = "vectors" if asked.kind == "vectors" else ""  # which spaces can part
    head = parsed(data, form, replace(read_options, limits=limits, kind=numeric))
    if isinstance(head, NumpyArchive):
        return _of_array(head, name, read_options, asked)
    kinds: list[Kind] = []
    wide: list[str] = []
    if isinstance(head, Columns):
        kinds = kinds_of(head.head(), asked)
    elif isinstance(head, Table) and head.rows:
        kinds, wide = kinds_of(head, asked), answer_columns(head)
    if asked.kind in (*kinds, COUNTS):
        read_options = replace(read_options, kind=str(asked.kind))
    joined = len(wide) > 1 and (asked.wide or asked.answers)
    try:
        if joined:
            read = melted(parsed(data, form, read_options), wide, asked.wide)
            found = samples_of(read, replace(read_options, column=read_options.column or "answer"))
        else:
            found = read_data(name, data, read_options)
    except AskError as error:
        raise asked_here(error, wide) from None
    if form == "txt" and found.kind == "texts":
        return Samples.of(found)  # which are split anew, with what else could separate them
    samples = _of_samples(found, name, read_options, asked, kinds)
    if joined:
        samples = replace(samples, python=None)  # the library takes one column
    if samples.kind == "texts" and (asked.answers or are_answers(wide)) and not asked.wide:
        samples = replace(samples, wide=tuple(wide))
    return samples


def _of_samples(
    found: ReadSamples,
    name: str,
    read_options: ReadOptions,
    asked: Asked,
    kinds: Sequence[Kind] = (),
) -> Samples:
    """Return as many of the samples that the reader took as fit, with what this page says of them.

    Other columns tell what they are, such as which prompts they answer.
    """
    if found.kind == "images":
        return _images(found, name, asked)
    source, read = found.source, found.table or Table([], [], [], header=[], typed=True)
    roles: dict[str, tuple[str, list[str]]] = {}
    if isinstance(source, (Table, Columns)):
        rows = found.rows or range(len(found))
        every = roles_of(source, {found.column, *found.features}, asked)
        if found.unit == "individual":  # of a table of counts: it has no row of its own
            every = {}
        roles = {role: (column, [each[i] for i in rows]) for role, (column, each) in every.items()}
    file = name if name != BOX else "samples.csv"
    kind = "texts" if found.kind == "sequences" else found.kind
    min_quality = math.inf if asked.min_quality is None else asked.min_quality
    again = FileCode(file, replace(read_options, type=asked.type), strings=kind != "vectors")
    column, prompts = roles.get("prompt", ("", [])) if kind != "vectors" else ("", [])
    offered = asked.prompts or (column if role_of(column) != "id" else "")
    columns = dict.fromkeys(filter(None, [*read.names, found.column, *found.grouping.values()]))
    if len(columns) < 2 or (kind == "vectors" and read.header is None and not found.groups):
        columns = {}
    how = [f"split by {read.signs}"] if read.delimiter and len(read.names) > 1 else []
    how += ["decimal commas"] if read.comma else []
    more = [f"Only the first {len(found):,} rows were read."] if read.more else []
    whole = replace(
        Samples.of(replace(found, kind=kind)),
        name=f"{name} › {found.column}" if found.column else name,
        column=found.column or None,
        letters=found.kind == "sequences",
        python=again if kind != "labels" and not read.more else None,
        by=found.grouping.get("groups") or None,
        sets_by=found.grouping.get("sets") or None,
        correct=found.correct or [quality >= min_quality for quality in found.quality],
        correct_by=asked.correct or None,
        min_quality=asked.min_quality,
        columns=tuple(columns),
        roles=roles,
        all_roles=roles,
        asked=found.prompts or prompts,
        prompt_column=offered if kind == "texts" and offered != found.column else "",
        kinds=tuple(kinds),
        how="; ".join(how),
        sentence=f"{found.taken}.",
        notes=(_note(found, read, name, how), *more),
        source=None,
        table=None,
    )
    # Samples of columns of counts have no row of their own.
    if columns and isinstance(source, Table) and max(rows, default=0) < len(source.rows):
        names = source.names if len(source.names) <= _WIDE else []
        own = {name: i for i, name in enumerate(names) if name not in found.features}
        whole = replace(whole, cells={k: [source.rows[j][i] for j in rows] for k, i in own.items()})
    return fit(whole, asked.draw)


def _read_options(asked: Asked, form: str | None, encoding: str | None = None) -> ReadOptions:
    prompts = asked.prompts if asked.kind in (None, "texts") else None
    return ReadOptions(
        column=asked.column or None,
        by=asked.sets if asked.sets != asked.by else None,
        group_by=asked.by or None,
        quality=None if asked.min_quality is None else asked.correct or None,
        correct=asked.correct or None if asked.min_quality is None else None,
        prompts=prompts if prompts != asked.column else None,
        type=form,
        encoding=encoding,
        header=asked.header,
        index=asked.index,
        # A visitor who names groups or prompts alone means one set; a name of sets keeps prompts.
        pool=asked.pool or bool(asked.by or prompts),
        matrix=asked.matrix,
        distances=asked.distances,
        transpose=asked.transpose,
        limits=INPUT,
    )


def parsed(data: bytes, form: str | None, read_options: ReadOptions) -> Any:
    parse = FORMATS[form].parse if form else None
    return parse(data, read_options) if parse else None


def asked_here(error: AskError, wide: Sequence[str]) -> AskError:
    """Return a question of the reader with the choices in fields of this page."""
    choices: list[tuple[str, dict[str, object]]] = []
    for label, options in error.choices:
        # This page does not weight samples, and compares no other labels than those of species.
        if {"normalize", "weights"} & options.keys() or options.get("kind") == "values":
            continue
        if "distances" in options:  # which are read as a matrix of similarities
            options = {**options, "matrix": True}
        fields = {_FIELDS.get(key, key): LINE if x == "row" else x for key, x in options.items()}
        choices.append((label, fields))
    if len(wide) > 1 and any("column" in options for _, options in choices):
        names, many = join_names(wide), f"{len(wide)} answers of one model"
        choices = [
            (f"Each of {names} contains the answers of one model", {"wide": True, "kind": "texts"}),
            (f"Each row contains {many}, in {names}", {"answers": True, "kind": "texts"}),
            *choices,
        ]
    return AskError(error.question, choices)


def _of_array(arrays: NumpyArchive, name: str, read_options: ReadOptions, asked: Asked) -> Samples:
    """Return the rows of an array of numbers, judged by its header before it is unpacked."""
    column = None if arrays.single else asked.column
    header = arrays.headers[arrays.choose_array(column, "vectors")]
    if (promised := math.prod(header.shape) * header.dtype.itemsize) > MAX_UNPACKED:
        raise RefusedError(
            f"The array has {promised / 1e6:,.0f} MB; this page accepts up to "
            f"{MAX_UNPACKED // 10**6} MB. Save it as float16, or save a random subset of its rows."
        )
    read_options = replace(read_options, column=column, by=None, group_by=None, prompts=None)
    try:
        found = samples_of(
            arrays, replace(read_options, kind="vectors" if asked.kind == "vectors" else "")
        )
    except AskError as error:
        raise asked_here(error, []) from None
    if found.kind != "vectors":
        raise RefusedError(f"Expected rows of numbers (n, d), got shape {header.shape}.")
    samples = _of_samples(found, name, replace(read_options, kind="vectors"), asked)
    return replace(samples, columns=tuple(arrays.headers) if len(arrays.headers) > 1 else ())


def _images(found: ReadSamples, name: str, asked: Asked) -> Samples:
    """Return the images in a column of a dataset, of which each has its bytes."""
    if not all(isinstance(image, bytes) for image in found.values):
        raise RefusedError(
            f"{name:.60} contains names of images, not images; send the image files."
        )
    names = [f"{found.unit} {place}" for place in found.places]
    samples = pictures(list(zip(names, found.values, strict=True)), name, asked.draw)
    return replace(samples, sentence=f"{found.taken}.")


def _note(found: ReadSamples, read: Table, name: str, how: Sequence[str]) -> str:
    """Say how they were read: `Read 3 rows of a.csv (the first row names …; split by tabs).`"""
    facts = [*how]
    if not read.typed:
        named = f"the first row contains the column names {join_names(read.names):.90}"
        facts.insert(0, named if read.header is not None else "no header row")
    if read.encoding == "cp1252":
        facts.append("read as Windows-1252 because it is not UTF-8")
    what = f" of {found.values.shape[1]:,} numbers" if found and found.kind == "vectors" else ""
    said = f" ({'; '.join(facts)})" if facts else ""
    return f"Read {len(found):,} {found.unit}s{what} from {name:.60}{said}."
