"""Columns that hold the samples of a table: found by their contents, or else by a question."""

from .limits import AskError, Limits, Wanted
from .string_patterns import is_smiles, unspaced
from .tables import (
    MOLECULE_NAMES,
    OTHER_NAMES,
    TEXT_NAMES,
    Table,
    checked_column,
    is_named,
    join_names,
    share_of_numbers,
)

_LOOK, _LOOK_SMILES = 200, 20  # rows that show what the rest is like
_MOST = 100  # columns examined
_CLEAR = 3  # times the length of the next longest column: texts, not labels


def pick(table: Table, wanted: Wanted) -> str:
    if wanted.column:
        return checked_column(table.names, wanted.column)
    if len(table.names) == 1:
        return table.names[0]
    what = "molecule" if wanted.kind == "molecules" else "text"
    found = _molecules(table, wanted.limits) if what == "molecule" else _texts(table)
    if len(found) == 1:
        return found[0]
    could = f"Columns {join_names(found)} could be meant" if found else "No column is clearly meant"
    first = [*found, *(name for name in table.names if name not in found)][:_MOST]
    raise AskError(
        f"Which column holds the {what}s? {could}; pick a column: {join_names(table.names)}.",
        [(name, {"column": name, "kind": wanted.kind}) for name in first],
    )


def _molecules(table: Table, limits: Limits) -> list[str]:
    named = [name for name in table.names if is_named(name, MOLECULE_NAMES)]
    if named:
        return named
    cells = {name: _some(table, name)[:_LOOK_SMILES] for name in table.names[:_MOST]}
    return [
        name
        for name, some in cells.items()
        if sum(is_smiles(cell, limits.smiles) for cell in some) > 0.5 * len(some)
    ]


def _texts(table: Table) -> list[str]:
    cells = {name: _some(table, name) for name in table.names[:_MOST]}
    cells = {name: some for name, some in cells.items() if some and share_of_numbers(some) < 0.5}
    # Columns with names that nobody gives to answers come last, and prose before identifiers.
    left = [name for name in cells if not is_named(name, OTHER_NAMES)] or list(cells)
    named = [name for name in left if is_named(name, TEXT_NAMES)]
    if len(named) == 1:
        return named
    left = named or left
    prose = {name: sum(map(is_prose, cells[name])) / len(cells[name]) for name in left}
    left = [name for name in left if prose[name] > 0.3] or left
    weight = {name: sum(map(len, set(cells[name]))) / len(cells[name]) for name in left}
    return [name for name in left if _CLEAR * weight[name] > max(weight.values())]


def _some(table: Table, name: str) -> list[str]:
    """Return the first strings of a column that are not blank."""
    at = table.names.index(name)
    found = [row[at].strip() for row in table.rows[:_LOOK] if isinstance(row[at], str)]
    return [cell for cell in found if cell]


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
