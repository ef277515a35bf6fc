"""Columns that hold the samples, their prompts and their models: by what is plain, or a question.

The samples are in the one column that is named as answers or, without such a name, in the one with
prose; ids, labels, targets and prompts are never taken because other columns were left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from .limits import AskError, RefusedError, Wanted
from .names import (
    MOLECULE_NAMES,
    PROMPT_NAMES,
    SITE_NAMES,
    SPECIES_NAMES,
    is_named,
    join_names,
    role_of,
)
from .records import is_conversation, is_nested, known_record, paths, value_at
from .string_patterns import looks_like, unspaced
from .tables import Table, is_number, is_row

_LOOK = 200  # rows that show what the rest is like
_MOST = 100  # columns examined
_LONG = 1_000  # characters of a cell that show what it is
_PROSE = 0.3  # of the cells have several words, in columns of texts
_FEATURES = 2  # columns of numbers that may be meant next to a column of names

# What a column holds, by the kind of samples that can be taken from it.
_HOLDING = {
    "texts": ("texts", "lists", "molecules"),
    "sequences": ("texts", "molecules"),
    "molecules": ("molecules",),
    "images": ("images",),
    "vectors": ("vectors",),
}


class Choice(NamedTuple):
    """The column of samples, or None for all columns of numbers, their kind, and their groups."""

    column: str | None
    kind: str
    prompt: str = ""
    model: str = ""
    record: str = ""  # the tool that writes such records
    once: str = ""  # a column whose first value alone is read


def choose(head: Table, wanted: Wanted) -> Choice:
    """Return what the first rows of a table show; ask where two readings exist."""
    names = [name for name in head.names[:_MOST] if name not in wanted.others]
    holds = {name: column_kind(head, name) for name in names}
    if not head.rows:
        return Choice(wanted.column or names[0], wanted.kind or "texts")
    if wanted.column:
        return _as_named(head, wanted, holds)
    first = dict(zip(head.names, head.rows[0], strict=True))
    known = known_record(first) if head.typed and wanted.kind in ("", "texts") else None
    if known:
        model = known.model if value_at(first, known.model) is not None else ""
        grouped = ("", "") if wanted.groups_named else (known.prompt, model)
        return Choice(known.answers, known.kind, *grouped, known.name, known.once)
    if wanted.kind == "counts":
        return Choice(None, "counts", record=_are_abundances(head, holds))
    if not wanted.kind and (record := _are_abundances(head, holds)):
        return Choice(None, "counts", record=record)
    if len(names) == 1 and (wanted.kind or holds[names[0]] not in ("nested", "numbers", "")):
        return Choice(names[0], _kind(holds[names[0]], wanted))
    could = list(holds) if wanted.kind == "values" else _candidates(head, holds, wanted.kind)
    features = [name for name in names if holds[name] == "numbers"]
    if len(names) > 1:
        features = [name for name in features if not _is_counter(name)]
    if wanted.kind == "vectors" and not could:
        return Choice(None, "vectors")
    nested = [name for name in names if holds[name] == "nested"]
    prose = any(holds[name] == "texts" and _has_prose(head, name) for name in names)
    bare = all(holds[name] == "texts" and not _is_meant(name, "texts") for name in could)
    enough = len(features) >= (_FEATURES if "texts" in holds.values() else 1)
    if enough and bare and not (wanted.kind or nested or prose):
        return Choice(None, "vectors")
    plain = len(could) == 1 and (not nested or _is_meant(could[0], holds[could[0]]))
    if not plain:
        raise _question(head, holds, could, nested, wanted)
    kind = _kind(holds[could[0]], wanted)
    prompt, model = _grouping(names, could[0], holds) if not wanted.groups_named else ("", "")
    return Choice(could[0], kind, prompt, model)


def is_numeric(table: Table, wanted: Wanted) -> bool:
    """Return whether the column that is named, or each column, is of numbers."""
    names = [wanted.column] if wanted.column in table.names else table.names
    held = {column_kind(table, str(name)) for name in names if name not in wanted.others}
    return held <= {"numbers", ""} and "numbers" in held


def _are_abundances(head: Table, holds: Mapping[str, str]) -> str:
    """Return the name of tables with a row for each species; ask about a row for each site."""
    first, *rest = holds
    counted = [name for name in rest if holds[name] == "numbers"]
    cells = [str(cell) for name in counted for cell in head.column(name)[:_LOOK]]
    if not cells or not all(re.fullmatch(r"\s*\d+(\.0)?\s*", cell) for cell in cells):
        return ""
    if is_named(first, SPECIES_NAMES):
        return "a table of abundances"
    if is_named(first, SITE_NAMES) and holds[first] != "numbers":
        raise AskError(
            f"Does {join_names(counted)} count the individuals of a species at each {first}?",
            [("They are counts", {"kind": "counts"}), ("Rows are features", {"kind": "vectors"})],
        )
    return ""


def merge_numbered(table: Table, wanted: Wanted) -> Table:
    """Return columns of texts named alike but for a number, such as answer_1, as one of lists."""
    if wanted.column:
        return table
    texts = [name for name in table.names if name not in wanted.others]
    texts = [
        name for name in texts if role_of(name) == "text" and column_kind(table, name) == "texts"
    ]
    stems: dict[str, list[str]] = {}
    for name in texts:
        stems.setdefault(re.sub(r"[\W_]*\d+$", "", name), []).append(name)
    alike = [(stem, names) for stem, names in stems.items() if len(names) > 1]
    if len(alike) != 1:
        return table
    ((stem, names),) = alike
    at = [table.names.index(name) for name in names]
    kept = [j for j in range(len(table.names)) if j not in at]
    joined = [[row[j] for j in at if row[j]] for row in table.rows]
    header = [table.names[j] for j in kept]
    return replace(
        table,
        names=[*header, stem],
        header=[*header, stem],
        rows=[
            [*(row[j] for j in kept), each] for row, each in zip(table.rows, joined, strict=True)
        ],
        above=[*table.above, f"{stem!r:.60} are the {len(names)} columns {join_names(names)}"],
    )


def _as_named(head: Table, wanted: Wanted, holds: Mapping[str, str]) -> Choice:
    """Return the choice of a person, with the kind of what is under the name."""
    column = str(wanted.column)
    held = holds.get(column, "")
    if column not in head.names:
        if wanted.kind == "vectors" and "," in column:
            return Choice(column, "vectors")
        held = _kind_of_cells(head.column(column)[:_LOOK])  # of a path
    prompt, model = _grouping(list(holds), column, holds) if not wanted.groups_named else ("", "")
    kind = "vectors" if held == "numbers" and not wanted.kind else _kind(held, wanted)
    return Choice(column, kind, prompt, model)


def _kind(held: str, wanted: Wanted) -> str:
    if wanted.kind:
        return wanted.kind
    return held if held in ("molecules", "vectors", "images") else "texts"


def _candidates(head: Table, holds: Mapping[str, str], kind: str) -> list[str]:
    """Return the columns that samples of a kind can be taken from, named ones before others."""
    held = _HOLDING.get(kind, ("texts", "lists", "molecules", "vectors", "images"))
    left = [name for name in holds if holds[name] in held and role_of(name) in ("text", "")]
    left = [name for name in left if not (head.header and _is_unnamed(head, name))]
    if kind == "texts" and any(holds[name] == "texts" for name in left):
        left = [name for name in left if holds[name] != "molecules"]
    named = [name for name in left if _is_meant(name, holds[name])]
    if named:
        return [name for name in left if name in named or holds[name] in ("vectors", "images")]
    bare = [name for name in left if holds[name] == "texts" and not _has_prose(head, name)]
    return [name for name in left if name not in bare] or left


def _is_meant(name: str, held: str) -> bool:
    if held == "molecules":
        return is_named(name, MOLECULE_NAMES)
    return held in ("texts", "lists") and role_of(name) == "text"


def _question(
    head: Table,
    holds: Mapping[str, str],
    could: Sequence[str],
    nested: Sequence[str],
    wanted: Wanted,
) -> RefusedError:
    """Ask for the column: the likely ones first, then paths in nested ones, then others."""
    what = {"molecules": "molecules", "vectors": "vectors"}.get(wanted.kind, "samples")
    choices = [(name, {"column": name}) for name in could]
    first = dict(zip(head.names, head.rows[0], strict=True))
    inner = [path for name in nested for path in paths(first[name], name)]
    choices += [(path, {"column": path}) for path in inner]
    rest = [name for name in holds if holds[name] == "texts" and name not in could]
    rest.sort(key=lambda name: role_of(name) in ("id", "other"))
    choices += [(name, {"column": name}) for name in rest]
    if not choices:
        return RefusedError(f"There is no column of {what}; it has {join_names(head.names)}.")
    said = "No column is clearly meant"
    if len(could) > 1:
        said = f"Columns {join_names(could)} could be meant"
    return AskError(f"Which column holds the {what}? {said}.", choices[:_MOST])


def _grouping(names: Sequence[str], column: str, holds: Mapping[str, str]) -> tuple[str, str]:
    """Return the columns that are named as prompts and as models, "" without one."""
    rest = [name for name in names if name != column and holds.get(name) not in ("vectors", "")]
    prompts = [name for name in rest if role_of(name) == "prompt"]
    prompts += [name for name in rest if role_of(name) == "id" and is_named(name, PROMPT_NAMES)]
    models = [name for name in rest if role_of(name) == "model"]
    return next(iter(prompts), ""), next(iter(models), "")


def column_kind(head: Table, name: str) -> str:
    """Return what the first cells of a column hold, which no name but of molecules decides.

    Parameters
    ----------
    head, name : Table, str, the first rows, and the name of a column

    Returns
    -------
    str
        "texts", "lists" of texts, "molecules", "images", "numbers", "vectors", "nested" or "".

    Examples
    --------
    >>> from vendiscore.report import Table, column_kind
    >>> column_kind(Table(["x"], [[1], [2.5]], [2, 3]), "x")
    'numbers'
    """
    cells = head.column(name)[:_LOOK]
    if is_named(name, MOLECULE_NAMES) and any(isinstance(cell, str) for cell in cells):
        return "molecules"
    return _kind_of_cells(cells)


def _kind_of_cells(cells: Sequence[Any]) -> str:
    """Return what most cells hold: "numbers", "vectors", "lists" of texts, "texts", "nested", …"""
    filled = [cell for cell in cells if cell is not None and cell != "" and cell == cell]
    strings = [cell for cell in filled if isinstance(cell, str)]
    if strings and 2 * len(strings) >= len(filled):
        return _kind_of_strings(strings)
    if not filled:
        return ""
    if any(isinstance(cell, Mapping) and {*cell} == {"bytes", "path"} for cell in filled):
        return "images"
    if any(map(is_row, filled)):
        return "vectors"
    if any(map(is_conversation, filled)):
        return "lists"
    if any(map(is_nested, filled)):
        return "nested"
    if any(isinstance(cell, list) for cell in filled):
        return "lists"
    return "numbers" if any(isinstance(cell, (int, float)) for cell in filled) else ""


def _kind_of_strings(strings: Sequence[str]) -> str:
    some = [text[:_LONG].strip() for text in strings]
    if 2 * sum(map(is_number, some)) > len(some):
        return "numbers"
    if some[0].startswith("[") and is_row(row_in(strings[0])):
        return "vectors"
    like = looks_like(some)
    return "molecules" if like and like[1] == "morgan" else "texts"


def row_in(cell: Any) -> Any:
    """Return the numbers of a text that is a JSON list of them; any other cell as it is."""
    if isinstance(cell, str) and cell.startswith("["):
        try:
            return json.loads(cell)
        except ValueError:
            return cell
    return cell


def _is_unnamed(head: Table, name: str) -> bool:
    """Return whether a header has no name for a column: it is the index of the rows."""
    return not (head.header or [name])[head.names.index(name)]


def _is_counter(name: str) -> bool:
    return role_of(name) in ("id", "label")


def _has_prose(head: Table, name: str) -> bool:
    some = [cell for cell in head.column(name)[:_LOOK] if isinstance(cell, str) and cell.strip()]
    return sum(map(is_prose, some)) > _PROSE * len(some)


def is_prose(cell: str) -> bool:
    """Return whether a cell has several words.

    Parameters
    ----------
    cell : str

    Returns
    -------
    bool

    Examples
    --------
    >>> is_prose("a cat sat"), is_prose("cat")
    (True, False)
    """
    return " " in cell or unspaced([cell]) > 0


def few_values(labels: Iterable[str]) -> bool:
    """Return whether labels repeat: two or more, twice each in the mean, at most 20.

    Parameters
    ----------
    labels : iterable of str

    Returns
    -------
    bool

    Examples
    --------
    >>> few_values(["a", "b", "a", "b"]), few_values(["a", "b", "c", "d"])
    (True, False)
    """
    every = [label for label in labels if label]
    return 2 <= len({*every}) <= min(20, len(every) // 2)


def check_one_set(table: Table, chosen: Choice, wanted: Wanted) -> None:
    """Ask whether a column of few texts tells sets apart, unless columns of groups are known."""
    if wanted.groups_named or chosen.record or chosen.kind not in ("texts", "molecules"):
        return
    known = {chosen.column, chosen.prompt, chosen.model}
    for name in table.names[:_MOST]:
        if name in known or role_of(name) in ("id", "text", "prompt", "model", "other"):
            continue
        labels = table.labels(name)
        if few_values(labels) and column_kind(table, name) == "texts":
            values = join_names(dict.fromkeys(filter(None, labels)))
            raise AskError(
                f"Is each value of column {name!r:.60} a set of its own ({values})?",
                [
                    (f"Each {name} by itself", {"group_by": name}),
                    ("All rows are one set", {"pool": True}),
                ],
            )
