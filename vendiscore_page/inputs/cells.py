"""Files and pasted tables, read by the library, with the information that the web app shows."""

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
from .parts import fit_to_limits
from .pictures import read_pictures
from .roles import are_answers, detect_kinds, detect_roles, find_answer_columns, melt_answers
from .submission import COUNTS, LINE, InputSettings, Kind
from .visitor_samples import Samples
from .western_text import detect_encoding

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
_MAX_SHOWN_COLUMNS = 100  # columns of a table that come back with its samples
_PREVIEW_LIMITS = replace(INPUT, samples=200)  # rows that tell what the others are
# Fields of the reader's choices under the names that they have here.
_FIELDS = {"group_by": "by", "by": "sets", "split": "separator"}


def read_file(name: str, data: bytes, form: str | None, settings: InputSettings) -> Samples:
    """Return the samples of a file, or of a pasted table; `form` is None for an unknown format."""
    if form in _LINES:
        check_lines(data.count(b"\n") + data.count(b"\r"))
    format_name = settings.type if form == "txt" else form  # lines of text can be rows of numbers
    read_options = _read_options(
        settings, format_name, None if form == "parquet" else detect_encoding(data)
    )
    limits = INPUT if form == "json" else _PREVIEW_LIMITS
    preview_kind = "vectors" if settings.kind == "vectors" else ""  # which spaces can part
    preview = parse_file(data, form, replace(read_options, limits=limits, kind=preview_kind))
    if isinstance(preview, NumpyArchive):
        return _read_array(preview, name, read_options, settings)
    kinds: list[Kind] = []
    wide_columns: list[str] = []
    if isinstance(preview, Columns):
        kinds = detect_kinds(preview.head(), settings)
    elif isinstance(preview, Table) and preview.rows:
        kinds, wide_columns = detect_kinds(preview, settings), find_answer_columns(preview)
    if settings.kind in (*kinds, COUNTS):
        read_options = replace(read_options, kind=str(settings.kind))
    is_joined = len(wide_columns) > 1 and (settings.wide or settings.answers)
    try:
        if is_joined:
            table = melt_answers(parse_file(data, form, read_options), wide_columns, settings.wide)
            result = samples_of(
                table, replace(read_options, column=read_options.column or "answer")
            )
        else:
            result = read_data(name, data, read_options)
    except AskError as error:
        raise translate_question(error, wide_columns) from None
    if form == "txt" and result.kind == "texts":
        return Samples.of(result)  # which are split anew, with what else could separate them
    samples = _build_samples(result, name, read_options, settings, kinds)
    if is_joined:
        samples = replace(samples, python=None)  # the library takes one column
    if (
        samples.kind == "texts"
        and (settings.answers or are_answers(wide_columns))
        and not settings.wide
    ):
        samples = replace(samples, wide=tuple(wide_columns))
    return samples


def _build_samples(
    result: ReadSamples,
    name: str,
    read_options: ReadOptions,
    settings: InputSettings,
    kinds: Sequence[Kind] = (),
) -> Samples:
    """Return the samples within the limits, with the information that the web app shows.

    Other columns have roles, for example the prompts that the samples answer.
    """
    if result.kind == "images":
        return _build_images(result, name, settings)
    source, table = result.source, result.table or Table([], [], [], header=[], typed=True)
    roles: dict[str, tuple[str, list[str]]] = {}
    if isinstance(source, (Table, Columns)):
        rows = result.rows or range(len(result))
        all_roles = detect_roles(source, {result.column, *result.features}, settings)
        if result.unit == "individual":  # of a table of counts: it has no row of its own
            all_roles = {}
        roles = {
            role: (column, [labels[i] for i in rows])
            for role, (column, labels) in all_roles.items()
        }
    file = name if name != BOX else "samples.csv"
    kind = "texts" if result.kind == "sequences" else result.kind
    min_quality = math.inf if settings.min_quality is None else settings.min_quality
    file_code = FileCode(file, replace(read_options, type=settings.type), strings=kind != "vectors")
    column, prompts = roles.get("prompt", ("", [])) if kind != "vectors" else ("", [])
    prompt_column = settings.prompts or (column if role_of(column) != "id" else "")
    columns = dict.fromkeys(filter(None, [*table.names, result.column, *result.grouping.values()]))
    if len(columns) < 2 or (kind == "vectors" and table.header is None and not result.groups):
        columns = {}
    split_descriptions = (
        [f"split by {table.signs}"] if table.delimiter and len(table.names) > 1 else []
    )
    split_descriptions += ["decimal commas"] if table.comma else []
    limit_notes = [f"Only the first {len(result):,} rows were read."] if table.more else []
    samples = replace(
        Samples.of(replace(result, kind=kind)),
        name=f"{name} › {result.column}" if result.column else name,
        column=result.column or None,
        letters=result.kind == "sequences",
        python=file_code if kind != "labels" and not table.more else None,
        by=result.grouping.get("groups") or None,
        sets_by=result.grouping.get("sets") or None,
        correct=result.correct or [quality >= min_quality for quality in result.quality],
        correct_by=settings.correct or None,
        min_quality=settings.min_quality,
        columns=tuple(columns),
        roles=roles,
        all_roles=roles,
        asked=result.prompts or prompts,
        prompt_column=prompt_column if kind == "texts" and prompt_column != result.column else "",
        kinds=tuple(kinds),
        how="; ".join(split_descriptions),
        sentence=f"{result.taken}.",
        notes=(_describe_reading(result, table, name, split_descriptions), *limit_notes),
        source=None,
        table=None,
    )
    # Samples of columns of counts have no row of their own.
    if columns and isinstance(source, Table) and max(rows, default=0) < len(source.rows):
        names = source.names if len(source.names) <= _MAX_SHOWN_COLUMNS else []
        cell_columns = {name: i for i, name in enumerate(names) if name not in result.features}
        samples = replace(
            samples, cells={k: [source.rows[j][i] for j in rows] for k, i in cell_columns.items()}
        )
    return fit_to_limits(samples, settings.draw)


def _read_options(
    settings: InputSettings, form: str | None, encoding: str | None = None
) -> ReadOptions:
    prompts = settings.prompts if settings.kind in (None, "texts") else None
    return ReadOptions(
        column=settings.column or None,
        by=settings.sets if settings.sets != settings.by else None,
        group_by=settings.by or None,
        quality=None if settings.min_quality is None else settings.correct or None,
        correct=settings.correct or None if settings.min_quality is None else None,
        prompts=prompts if prompts != settings.column else None,
        type=form,
        encoding=encoding,
        header=settings.header,
        index=settings.index,
        # A visitor who names groups or prompts alone means one set; a name of sets keeps prompts.
        pool=settings.pool or bool(settings.by or prompts),
        matrix=settings.matrix,
        distances=settings.distances,
        transpose=settings.transpose,
        limits=INPUT,
    )


def parse_file(data: bytes, form: str | None, read_options: ReadOptions) -> Any:
    parse = FORMATS[form].parse if form else None
    return parse(data, read_options) if parse else None


def translate_question(error: AskError, wide: Sequence[str]) -> AskError:
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


def _read_array(
    arrays: NumpyArchive, name: str, read_options: ReadOptions, settings: InputSettings
) -> Samples:
    """Return the rows of an array of numbers, judged by its header before it is unpacked."""
    column = None if arrays.single else settings.column
    header = arrays.headers[arrays.choose_array(column, "vectors")]
    if (n_bytes := math.prod(header.shape) * header.dtype.itemsize) > MAX_UNPACKED:
        raise RefusedError(
            f"The array has {n_bytes / 1e6:,.0f} MB; this page accepts up to "
            f"{MAX_UNPACKED // 10**6} MB. Save it as float16, or save a random subset of its rows."
        )
    read_options = replace(read_options, column=column, by=None, group_by=None, prompts=None)
    try:
        result = samples_of(
            arrays, replace(read_options, kind="vectors" if settings.kind == "vectors" else "")
        )
    except AskError as error:
        raise translate_question(error, []) from None
    if result.kind != "vectors":
        raise RefusedError(f"Expected rows of numbers (n, d), got shape {header.shape}.")
    samples = _build_samples(result, name, replace(read_options, kind="vectors"), settings)
    return replace(samples, columns=tuple(arrays.headers) if len(arrays.headers) > 1 else ())


def _build_images(result: ReadSamples, name: str, settings: InputSettings) -> Samples:
    """Return the images in a column of a dataset, of which each has its bytes."""
    if not all(isinstance(image, bytes) for image in result.values):
        raise RefusedError(
            f"{name:.60} contains names of images, not images; send the image files."
        )
    names = [f"{result.unit} {location}" for location in result.places]
    samples = read_pictures(list(zip(names, result.values, strict=True)), name, settings.draw)
    return replace(samples, sentence=f"{result.taken}.")


def _describe_reading(
    result: ReadSamples, table: Table, name: str, descriptions: Sequence[str]
) -> str:
    """Describe how samples were read: `Read 3 rows from a.csv (no header row; split by tabs).`"""
    facts = [*descriptions]
    if not table.typed:
        header_note = f"the first row contains the column names {join_names(table.names):.90}"
        facts.insert(0, header_note if table.header is not None else "no header row")
    if table.encoding == "cp1252":
        facts.append("read as Windows-1252 because it is not UTF-8")
    width_note = (
        f" of {result.values.shape[1]:,} numbers" if result and result.kind == "vectors" else ""
    )
    details = f" ({'; '.join(facts)})" if facts else ""
    return f"Read {len(result):,} {result.unit}s{width_note} from {name:.60}{details}."
