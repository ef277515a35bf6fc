"""Tables, columnar files and arrays of any kind: what is in their cells decides which."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from vendiscore.report import (
    FORMATS,
    AskError,
    Columns,
    Limits,
    RefusedError,
    Table,
    Wanted,
    decode,
    is_prose,
    join_names,
    role_of,
    samples_of,
)

from ..quotas import MAX_UNPACKED, NUMBERS, TABLE, check_lines
from .kinds import kinds_of_table
from .matrices import csv_code, expression_code
from .parts import fit
from .plain_numbers import plain_numbers
from .roles import answer_columns, are_models, melted, roles_of
from .submission import KINDS, Asked, Kind
from .visitor_samples import Python, Samples
from .western_text import encoding_of

LARGE = 4_000_000  # bytes of numbers, from which NumPy reads them faster
_TEXTS = ("csv", "tsv", "json", "jsonl")
_FIRST = replace(TABLE, samples=200)  # rows that tell what the others are


def of_cells(name: str, data: bytes, form: str, asked: Asked) -> Samples:
    if form in ("npy", "npz"):
        return _of_arrays(name, data, form, asked)
    csv = form in ("csv", "tsv")
    guessed = asked.kind if asked.kind == "molecules" else None
    first = parse(data, form, _wanted(asked, guessed, _FIRST if csv else TABLE))
    wide = answer_columns(first) if isinstance(first, Table) and first.rows else []
    asked = replace(asked, wide=asked.wide and len(wide) > 1)
    if asked.wide:
        first = melted(first, wide)
    if isinstance(first, Columns):
        return of_columns(first, name, asked)
    kinds = kinds_of_table(first, asked)
    kind = _kind(first, kinds, asked)
    try:
        if csv and not kind:
            kind = _samples(first, _wanted(asked)).kind
        wanted = _wanted(asked, kind, NUMBERS if kind == "vectors" else TABLE)
        if asked.blocks and not asked.by and kind != "vectors":
            raise RefusedError(
                "A table has no blocks of lines: pick the column that its rows are grouped by."
            )
        found = _large(data, form, wanted) if csv and kind == "vectors" else None
        if found is None:
            read = parse(data, form, wanted) if csv else first
            read = melted(read, wide) if asked.wide and csv else read
            found = _with_roles(_samples(read, wanted), read, lambda _: read, asked)
    except AskError as error:
        if kind != "vectors" and len(wide) > 1:
            each = f"Each of {join_names(wide)} holds the answers of one model"
            error.choices.insert(0, (each, {"wide": True, "kind": "texts"}))
        raise
    if found.kind == "texts" and are_models(wide) and not asked.wide:
        found = replace(found, wide=tuple(wide))
    python = _csv_python(name, found) if csv and found.kind == "vectors" else None
    return _finished(found, name, asked, kinds, python)


def _kind(head: Table, kinds: Sequence[Kind], asked: Asked) -> str:
    """Return the kind that a visitor or the cells leave no choice of, or else ""."""
    if asked.kind in kinds:
        return str(asked.kind)
    only_numbers = kinds == ["vectors"] or (len(head.names) == 1 and kinds[:1] == ["vectors"])
    return "vectors" if only_numbers else ""


def _samples(read: Table | Columns, wanted: Wanted) -> Samples:
    """Return the samples of a table, which this page scores as texts, molecules or numbers."""
    counts = "This page scores no counts of species: the command does, `vendiscore FILE --counts`."
    try:
        found = samples_of(read, wanted)
    except AskError as error:
        kinds = ("", *KINDS)
        choices = [each for each in error.choices if each[1].get("kind", "") in kinds]
        more = f" {counts}" * (len(choices) < len(error.choices))
        raise AskError(f"{error.question}{more}", choices) from None
    if found.kind == "labels":
        raise AskError(counts, [("Rows are features", {"kind": "vectors"})])
    if found.kind == "images":
        raise RefusedError("Images in a table are not read here: send the files of the images.")
    return Samples.of(replace(found, kind="texts") if found.kind == "sequences" else found)


def of_numbers(text: str, name: str, asked: Asked) -> Samples:
    """Return the rows of numbers of a text file, or of the box, where nothing is asked."""
    wanted, hand = _wanted(asked, "vectors", NUMBERS), not name
    read = parse(text.encode("utf-8", "replace"), "csv", replace(wanted, typed=hand))
    if hand:
        named = read.header is not None
        index = asked.index if named or asked.index is not None else False
        wanted = replace(wanted, header=named, index=index)
    found = Samples.of(samples_of(read, wanted))
    plain = not read.header and not found.lost and not (found.table and found.table.comma)
    python = _csv_python(name or "samples.csv", found)
    found = _finished(found, name or "the box", asked, (), python)
    return replace(found, name="pasted", notes=found.notes[plain:]) if hand else found


def of_columns(file: Columns, name: str, asked: Asked) -> Samples:
    head = file.head()
    kinds = kinds_of_table(head, asked)
    found = _samples(file, _wanted(asked, _kind(head, kinds, asked)))
    found = _with_roles(found, head, lambda columns: file.table(columns or file.names[:1]), asked)
    chosen = [*found.features]
    some = f"[{chosen!r}]" if len(chosen) < len(file.all) else ""
    expression = f"pd.read_parquet({name!r}){some}.to_numpy()"
    if chosen and chosen[0] in file.vectors:
        expression = f"np.stack(pd.read_parquet({name!r})[{chosen[0]!r}].to_numpy())"
    python = partial(expression_code, "numpy as np, pandas as pd", expression)
    found = _finished(found, name, asked, kinds, python if chosen else None)
    return replace(found, columns=tuple(file.names) if len(file.names) > 1 else ())


def _of_arrays(name: str, data: bytes, form: str, asked: Asked) -> Samples:
    """Return the rows of an array of numbers, judged by its header before it is unpacked."""
    arrays = parse(data, form, _wanted(asked))
    asked = replace(asked, column=None if arrays.single else asked.column, by=None)
    key = arrays.choose_array(asked.column)
    header = arrays.headers[key]
    if (promised := math.prod(header.shape) * header.dtype.itemsize) > MAX_UNPACKED:
        raise RefusedError(
            f"The array has {promised / 1e6:,.0f} MB; this page takes up to "
            f"{MAX_UNPACKED // 10**6} MB: save it as float16, or a random part of its rows."
        )
    read = samples_of(arrays, _wanted(asked, "vectors", NUMBERS), {1: "vectors", 2: "vectors"})
    expression = f"np.load({name!r})" + (f"[{key!r}]" if key else "")
    python = partial(expression_code, "numpy as np", expression)
    X, names = read.values, tuple(arrays.headers)
    found = replace(Samples.of(read), values=X if X.ndim == 2 else X[:, None], columns=names)
    return _finished(found, name, asked, (), python)


def _with_roles(
    found: Samples, head: Table, whole: Callable[[list[str]], Table], asked: Asked
) -> Samples:
    """Add what other columns tell of the samples, and the prompts that they answer."""
    rows = found.rows or range(len(found))
    roles = roles_of(head, whole, {found.column, *found.features}, asked)
    roles = {role: (column, [each[i] for i in rows]) for role, (column, each) in roles.items()}
    prompts = roles["prompt"][1] if "prompt" in roles and found.kind != "vectors" else ()
    return replace(found, roles=roles, all_roles=roles, asked=found.prompts or prompts)


def parse(data: bytes, form: str, wanted: Wanted) -> Any:
    parser = FORMATS[form].parse
    assert parser is not None
    if form in ("csv", "tsv", "jsonl"):
        check_lines(data.count(b"\n") + data.count(b"\r"))
    encoding = encoding_of(data) if form in _TEXTS else None
    return parser(data, replace(wanted, encoding=encoding))


def begins(shown: Iterable[str]) -> str:
    """Show the first few samples, each on one line."""
    first = list(islice((" ".join(text.split()) for text in shown), 4))
    cut = [f"{text[:36]}…" if len(text) > 37 else text for text in first[:3]]
    return f"It begins: {' · '.join(cut)}{' · …' if len(first) > 3 else ''}"


def _wanted(asked: Asked, kind: str | None = None, limits: Limits = TABLE) -> Wanted:
    return Wanted(
        kind or "",
        asked.column or None,
        by=asked.sets or None,
        group_by=asked.by or None,
        prompts=asked.prompts if kind in ("", "texts") and asked.prompts != asked.column else None,
        header=asked.header,
        index=asked.index,
        pool=not (asked.sets or asked.by),
        matrix=False,  # which its kernel says
        limits=limits,
    )


def _large(data: bytes, form: str, wanted: Wanted) -> Samples | None:
    """Read a large table of nothing but numbers."""
    if len(data) <= LARGE or wanted.column or wanted.others:
        return None
    head = parse(data, form, replace(wanted, limits=replace(NUMBERS, samples=_FIRST.samples)))
    return plain_numbers(decode(data, encoding_of(data))[0], head, wanted)


def _csv_python(name: str, found: Samples) -> Python | None:
    return partial(csv_code, name, found.table, found.features) if found.table else None


def _finished(
    found: Samples, name: str, asked: Asked, kinds: Sequence[Kind], python: Python | None
) -> Samples:
    """Return as many of the samples as fit, with the page's notes on them."""
    read, by = found.table or Table([], [], [], header=[], typed=True), asked.by or None
    columns = found.columns or tuple(read.names)
    if len(columns) < 2 or (found.kind == "vectors" and read.header is None and not by):
        columns = ()
    whole = replace(found, notes=(), python=python, written=None, by=by, columns=columns)
    found = fit(replace(whole, sets_by=asked.sets or None), asked.draw)
    more = (f"Only the first {found.total:,} rows were read.",) if read.more else ()
    known = [_split_by(read), "decimal commas" * read.comma or _left_out(found)]
    return replace(
        found,
        name=f"{name} › {found.column}" if found.column else name,
        column=found.column or None,
        prompt_column=_prompt_column(found, asked) if found.kind == "texts" else "",
        kinds=tuple(kinds),
        how="; ".join(filter(None, known)),
        notes=(_note(found, name), *more, *_one_set(found), *found.notes),
        table=None,
    )


def _prompt_column(found: Samples, asked: Asked) -> str:
    """Return the column of prompts, unless it numbers them, or prose that texts are grouped by."""
    role = found.roles.get("prompt", ("",))[0]
    names = [asked.prompts, role if role_of(role) != "id" else ""]
    names += [found.by] if any(map(is_prose, map(str, found.groups))) else []
    there = (name for name in names if name in found.columns and name != found.column)
    return next(filter(None, there), "")


def _note(found: Samples, name: str) -> str:
    """Say what was read: `Read 3 rows of column 'a' of a.csv (the first row names …). …`."""
    read = found.table
    facts = []
    if read and not read.typed:
        named = f"the first row names the columns {join_names(read.names):.90}"
        facts = [named if read.header is not None else "no row of names"]
        facts += [_split_by(read)] if read.delimiter != "," else []
        facts += ["read as Windows-1252, as it is not UTF-8"] if read.encoding == "cp1252" else []
        facts += ["decimal commas"] if read.comma else []
    facts += [*(read.above if read else ()), *found.above, _left_out(found)]
    if found.groups:
        groups = len({*found.groups} - {""})
        facts.append(f"{groups:,} groups by column {found.by!r:.60}")
    usable = (found.values[i] for i in range(len(found)) if i not in found.problems)
    what = f"of column {found.column!r:.60}" if found.column else "of text"
    if found.kind == "vectors":
        width = found.values.shape[1]
        what = f"of {width:,} numbers"
        usable = (", ".join(f"{x:.4g}" for x in row[:4]) + ", …" * (width > 4) for row in usable)
    how = "; ".join(filter(None, facts))
    said = f"Read {found.total:,} {found.unit}s {what} of {name:.60}{f' ({how})' if how else ''}."
    return f"{said} {begins(usable)}"


def _one_set(found: Samples) -> list[str]:
    """Say that samples with a prompt, a model or a row in common are scored as one set."""
    roles = [found.roles[role][0] for role in ("prompt", "model") if role in found.roles]
    several = 0 < len({*found.rows}) < len(found)
    if found.groups or found.sets or not (roles or several):
        return []
    lists = f", also where one {found.unit} has several" if several else ""
    column = " or ".join(map(repr, roles)) or "a column"
    kind = "rows" if found.kind == "vectors" else found.kind
    return [
        f"All {kind} are taken as one set{lists}: pick {column} under “Grouped by” to score groups."
    ]


def _left_out(found: Samples) -> str:
    why = (f"{column} ({reason})" for column, reason in found.lost.items())
    return f"left out: {join_names(why)}" if found.lost else ""


def _split_by(read: Table) -> str:
    """Say how the cells of a table were told apart; "" for one column."""
    if not read.delimiter or len(read.names) == 1:
        return ""
    return f"split by {read.signs}"
