"""Choice of the columns of samples, prompts and models: by names and cells, or by a question.

The samples are in the one column that is named as answers or, without such a name, in the one with
prose; ids, labels, targets and prompts are never taken because other columns were left out.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ...support.errors import short_repr
from ...support.text_detection import count_unspaced, looks_like
from .limits import AskError, RefusedError, Wanted
from .names import (
    MOLECULE_NAMES,
    PROMPT_NAMES,
    SEQUENCE_NAMES,
    SETTING_NAMES,
    SITE_NAMES,
    SPECIES_NAMES,
    TASK_NAMES,
    is_named,
    join_names,
    role_of,
    say_left_out,
)
from .records import is_image, is_nested, known_record, paths, value_at
from .tables import Table, are_numbers, is_row

_LOOK = 200  # rows that show what the rest is like
_MOST = 100  # columns examined
_LONG = 1_000  # characters of a cell that show what it is
_PROSE = 0.3  # of the cells have several words, in columns of texts
_FEATURES = 2  # columns of numbers that may be meant next to a column of names
_FEW_SETS = 20  # sets that a column may tell apart
_COUNT = re.compile(r"\s*\d+(\.0)?\s*")

_SAMPLES = ("molecules", "sequences", "vectors", "images")  # contents that are kinds of samples
# Contents of columns that hold samples of a kind.
_HOLDING = {
    "texts": ("texts", "lists", "molecules", "sequences"),
    "sequences": ("texts", "molecules", "sequences"),
    "molecules": ("molecules",),
    "images": ("images",),
    "vectors": ("vectors",),
}
# Contents of texts that the name of their column decides.
_NAMED = {"molecules": MOLECULE_NAMES, "sequences": SEQUENCE_NAMES}


class Choice(NamedTuple):
    """The column of samples, or None for all columns of numbers, their kind, and their groups."""

    column: str | None
    kind: str
    prompt: str = ""
    model: str = ""
    record: str = ""  # the tool that writes such records
    once: str = ""  # a column whose first value alone is read


class Column(NamedTuple):
    """A column: its name, the role that the name has, and what most cells hold."""

    name: str
    role: str
    holds: str
    is_prose: bool

    @property
    def is_meant(self) -> bool:
        """True if the name says that the column holds samples."""
        if self.holds in _NAMED:
            return is_named(self.name, _NAMED[self.holds])
        return self.holds in ("texts", "lists") and self.role == "text"


def choose(head: Table, wanted: Wanted) -> Choice:
    """Return the column of samples that the first rows of a table show, with their groups.

    Parameters
    ----------
    head : Table, not empty
    wanted : Wanted, the columns and the kind of samples, as far as a person named them

    Returns
    -------
    tuple
        The `column`, None for all columns of numbers, its `kind`, and the columns `prompt` and
        `model`, "" without one.

    Raises
    ------
    AskError, RefusedError
        Where two readings exist, with the choices; without a column of samples.
    """
    every = [_column(head, name) for name in head.names[:_MOST]]
    columns = [column for column in every if column.name not in wanted.others]
    name = wanted.column
    if name and name not in head.names and wanted.kind == "vectors" and "," in name:
        return _all_numbers(every, wanted, name)
    known = _known_choice(head, wanted)
    if known and name in (None, known.column):
        return known
    if not name:
        record = _record_of_counts(head, columns, wanted)
        if record or wanted.kind == "counts":
            return Choice(None, "counts", record=record)
        could = columns if wanted.kind == "values" else _candidates(columns, wanted.kind)
        if len(columns) == 1 and (wanted.kind or columns[0].holds not in ("nested", "numbers", "")):
            could = columns
        elif (not could and wanted.kind == "vectors") or _are_features(columns, could, wanted):
            return _all_numbers(every, wanted)
        elif len(could) != 1 or _has_others(columns, could[0], wanted):
            raise _question(head, columns, could, wanted)
        name = could[0].name
    held = column_kind(head, name)
    if held == "numbers":
        held = "vectors"
    kind = wanted.kind or (held if held in _SAMPLES else "texts")
    if known:
        prompt = "" if known.prompt == name else known.prompt
        return Choice(name, kind, prompt, known.model)
    return Choice(name, kind, *_grouping(every, name, wanted))


def _all_numbers(columns: Sequence[Column], wanted: Wanted, names: str | None = None) -> Choice:
    """Return columns of numbers as features, grouped by columns of texts alone."""
    texts = [column for column in columns if column.holds == "texts"]
    return Choice(names, "vectors", *_grouping(texts, "", wanted))


def _columns(head: Table, wanted: Wanted) -> list[Column]:
    """Return the columns that can hold samples, with what their first cells show."""
    names = head.names[:_MOST]
    return [_column(head, name) for name in names if name not in wanted.others]


def _column(head: Table, name: str) -> Column:
    strings = _strings(head, name)
    prose = sum(map(is_prose, strings)) > _PROSE * len(strings)
    return Column(name, role_of(name), column_kind(head, name), prose)


def column_kind(head: Table, name: str) -> str:
    """Detect the type of a column from its first cells and its name.

    Parameters
    ----------
    head : Table
        The first rows.
    name : str
        Column name; it distinguishes molecules and sequences from other text.

    Returns
    -------
    str
        "texts", "lists" (of texts), "molecules", "sequences", "images", "numbers", "vectors",
        "nested" or "".

    See Also
    --------
    role_of : Detect the role of a column from its name.

    Examples
    --------
    >>> from vendiscore.report import Table, column_kind
    >>> column_kind(Table(["x"], [[1], [2.5]], [2, 3]), "x")
    'numbers'
    """
    kind = _kind_of_cells(head.column(name, _LOOK))
    if kind == "texts" and is_named(name, MOLECULE_NAMES):
        return "molecules"
    is_sequence = kind in ("texts", "molecules") and is_named(name, SEQUENCE_NAMES)
    return "sequences" if is_sequence and not any(map(is_prose, _strings(head, name))) else kind


def _strings(head: Table, name: str) -> list[str]:
    cells = head.column(name, _LOOK)
    return [cell for cell in cells if isinstance(cell, str) and cell.strip()]


def _known_choice(head: Table, wanted: Wanted) -> Choice | None:
    """Return the answers of records that a tool is known to write."""
    if not head.typed or wanted.kind not in ("", "texts"):
        return None
    first = head.record(0)
    known = known_record(first)
    if not known:
        return None
    model = known.model if value_at(first, known.model) is not None else ""
    prompt, model = wanted.unnamed_groups(known.prompt, model)
    return Choice(known.answers, "texts", prompt, model, known.name, known.once)


def _are_features(columns: Sequence[Column], could: Sequence[Column], wanted: Wanted) -> bool:
    """Return whether columns of numbers are meant, as nothing is named or written as a text."""
    if wanted.kind or any(column.holds != "texts" or column.is_meant for column in could):
        return False
    texts = [column for column in columns if column.holds == "texts"]
    if any(column.is_prose for column in texts) or any(c.holds == "nested" for c in columns):
        return False
    return len(_features(columns)) >= (_FEATURES if texts else 1)


def _features(columns: Sequence[Column]) -> list[Column]:
    """Return the columns of numbers that may be meant: of several, no ids and labels."""
    numbers = [column for column in columns if column.holds == "numbers"]
    named = ("id", "label") if len(columns) > 1 else ()
    return [column for column in numbers if column.role not in named]


def _has_others(columns: Sequence[Column], likely: Column, wanted: Wanted) -> bool:
    """Return whether nested values, numbers or, instead of single words, prose may be meant."""
    if likely.is_meant:
        return False
    if any(column.holds == "nested" for column in columns):
        return True
    if likely.holds != "texts" or wanted.kind:
        return False
    if len(_features(columns)) >= (_FEATURES if likely.is_prose else 1):
        return True
    return not likely.is_prose and any(column.is_prose for column in columns)


def is_numeric(table: Table, wanted: Wanted) -> bool:
    """Return whether the column that is named, or each column, is of numbers and not of sites."""
    columns = _columns(table, wanted)
    if columns and is_named(columns[0].name, SITE_NAMES):
        return False
    named = [column for column in columns if column.name == wanted.column]
    return {column.holds for column in named or columns} - {""} == {"numbers"}


def _record_of_counts(head: Table, columns: Sequence[Column], wanted: Wanted) -> str:
    """Return the name of tables with a row for each species; ask about a row for each site."""
    if wanted.kind not in ("", "counts"):
        return ""
    first, *rest = columns
    counted = [each.name for each in rest if each.holds == "numbers" and not each.role]
    cells = [str(cell) for name in counted for cell in head.column(name, _LOOK)]
    if 2 * len(counted) <= len(rest) or not all(map(_COUNT.fullmatch, cells)):
        return ""
    if is_named(first.name, SPECIES_NAMES):
        return "a table of abundances"
    if not wanted.kind and is_named(first.name, SITE_NAMES) and not first.is_prose:
        raise AskError(
            f"Does {join_names(counted)} count the individuals of a species at each {first.name}?",
            [("They are counts", {"kind": "counts"}), ("Rows are features", {"kind": "vectors"})],
        )
    return ""


def merge_numbered(table: Table, wanted: Wanted) -> Table:
    """Return columns of texts named alike but for a number, such as answer_1, as one of lists."""
    stems: dict[str, list[str]] = {}
    columns = _columns(table, wanted)
    for column in columns:
        if column.role == "text" and column.holds == "texts":
            stem = re.sub(r"[\W_]*\d+$", "", column.name)
            stems.setdefault(stem, []).append(column.name)
    alike = [stem for stem, numbered in stems.items() if len(numbered) > 1]
    several = sum(column.role == "model" for column in columns) > 1  # one for each column
    if several or wanted.column or wanted.kind == "vectors" or len(alike) != 1:
        return table
    stem = alike[0]
    numbered = stems[stem]
    merging = {*numbered}
    rows = []
    blank = 0
    for i in range(len(table.rows)):
        record = table.record(i)
        answers = [record.pop(name) for name in numbered]
        filled = list(filter(None, answers))
        blank += len(answers) - len(filled)
        rows.append([*record.values(), filled])
    names = [*(name for name in table.names if name not in merging), stem]
    merged = f"{short_repr(stem)} are the {len(numbered)} columns {join_names(numbered)}"
    if blank:  # rows may have fewer answers than others
        merged += f", in which {say_left_out(blank, 'blank cell')}"
    return replace(table, names=names, header=names, rows=rows, above=[*table.above, merged])


def _candidates(columns: Sequence[Column], kind: str) -> list[Column]:
    """Return the columns that hold samples of a kind, named ones before others."""
    holding = _HOLDING.get(kind, ("texts", "lists", *_SAMPLES))
    left = []
    for column in columns:
        # "row" is not an id where it holds vectors.
        could = column.role in ("text", "") or (column.role, column.holds) == ("id", "vectors")
        if could and column.holds in holding:
            left.append(column)
    if kind == "texts" and any(column.holds == "texts" for column in left):
        left = [column for column in left if column.holds != "molecules"]
    if any(column.is_meant for column in left):
        return [each for each in left if each.is_meant or each.holds in ("vectors", "images")]
    return [each for each in left if each.holds != "texts" or each.is_prose] or left


def _question(
    head: Table, columns: Sequence[Column], could: Sequence[Column], wanted: Wanted
) -> RefusedError:
    """Ask for the column: the likely ones first, then paths in nested ones, then others."""
    what = wanted.kind if wanted.kind in ("molecules", "vectors") else "samples"
    first = head.record(0)
    names = [column.name for column in could]
    reason = "No column is clearly meant"
    if len(names) > 1:
        reason = f"Columns {join_names(names)} could be meant"
    for column in columns:
        if column.holds == "nested":
            names += paths(first[column.name], column.name)
    names += [column.name for column in columns if column.holds == "texts"]
    if not names:
        return RefusedError(f"There is no column of {what}; it has {join_names(head.names)}.")
    choices = [(name, {"column": name}) for name in list(dict.fromkeys(names))[:_MOST]]
    if not wanted.kind and _features(columns):
        choices.append(("all columns of numbers", {"kind": "vectors"}))
    return AskError(f"Which column holds the {what}? {reason}.", choices)


def _grouping(columns: Sequence[Column], name: str, wanted: Wanted) -> tuple[str, str]:
    """Return the columns that are named as prompts and as models, "" without one.

    They are the same whatever columns a person named: a named one takes the place of its role.
    """
    rest = [each for each in columns if each.name != name and each.holds not in ("vectors", "")]
    prompts = [each.name for each in rest if each.role == "prompt"]
    ids = [each.name for each in rest if each.role == "id"]
    for pattern in (PROMPT_NAMES, TASK_NAMES):
        prompts += [name for name in ids if is_named(name, pattern)]
    models = [each.name for each in rest if each.role == "model" and each.holds == "texts"]
    return wanted.unnamed_groups([*prompts, ""][0], [*models, ""][0])


def _kind_of_cells(cells: Sequence[object]) -> str:
    """Return what most cells hold: "numbers", "vectors", "lists" of texts, "texts", "nested", …"""
    filled = [cell for cell in cells if cell is not None and cell != "" and cell == cell]
    strings = [cell for cell in filled if isinstance(cell, str)]
    if strings and 2 * len(strings) >= len(filled):
        return _kind_of_strings(strings)
    tests = _KINDS_OF_CELLS.items()
    return next((kind for kind, test in tests if any(map(test, filled))), "")


_KINDS_OF_CELLS: dict[str, Callable[[object], bool]] = {
    "images": is_image,
    "vectors": is_row,
    "nested": is_nested,
    "lists": lambda cell: isinstance(cell, list),
    "numbers": lambda cell: isinstance(cell, (int, float)),
}


def _kind_of_strings(strings: Sequence[str]) -> str:
    some = [text[:_LONG].strip() for text in strings]
    if are_numbers(some):
        return "numbers"
    if is_row(row_in(strings[0])):
        return "vectors"
    if not re.search(r"[^\W\d_]", "".join(some)):  # dates, say
        return ""
    like = looks_like(some)
    return "molecules" if like and like[1] == "morgan" else "texts"


def row_in(cell: object) -> object:
    """Return the numbers of a text that is a JSON list of them; any other cell as it is."""
    if isinstance(cell, str) and cell.startswith("["):
        try:
            return json.loads(cell)
        except ValueError:
            return cell
    return cell


def is_prose(cell: str) -> bool:
    """Return whether a cell contains several words.

    Parameters
    ----------
    cell : str
        The cell.

    Returns
    -------
    bool
        Whether it contains several words.

    See Also
    --------
    column_kind : Detect the type of a column.

    Examples
    --------
    >>> is_prose("a cat sat"), is_prose("cat")
    (True, False)
    """
    return (" " in cell and any(map(str.isalpha, cell))) or count_unspaced([cell]) > 0


def few_values(labels: Iterable[str]) -> bool:
    """Return whether labels repeat enough to define groups.

    Parameters
    ----------
    labels : iterable of str
        The labels.

    Returns
    -------
    bool
        Whether there are 2 to 20 distinct labels, each used at least twice on average.

    See Also
    --------
    column_kind : Detect the type of a column.

    Examples
    --------
    >>> few_values(["a", "b", "a", "b"]), few_values(["a", "b", "c", "d"])
    (True, False)
    """
    every = [label for label in labels if label]
    return 2 <= len({*every}) <= min(_FEW_SETS, len(every) // 2)


def set_columns(table: Table) -> list[str]:
    """Return the columns that may tell sets apart: those named as models before any of few values.

    >>> set_columns(Table(["text", "LLM"], [["a b", "x"], ["c d", "y"]] * 2, [1, 2, 3, 4]))
    ['LLM']
    """
    columns = [_column(table, name) for name in table.names[:_MOST]]
    texts = [each for each in columns if each.holds == "texts"]
    models = [each.name for each in texts if each.role == "model"]
    others = [each.name for each in texts if each.role in ("", "label") and not each.is_prose]
    return models + [name for name in others if few_values(table.labels(name))]


def check_one_set(table: Table, chosen: Choice, wanted: Wanted) -> None:
    """Ask whether a column of few texts tells sets apart, unless columns of groups are known.

    A column that is the same for all answers to a prompt does not.
    """
    if wanted.groups_named or chosen.record or chosen.kind not in ("texts", "molecules"):
        return
    units: Sequence[object] = table.labels(chosen.prompt) if chosen.prompt else ()
    if column_kind(table, str(chosen.column)) == "lists":
        units = range(len(table.rows))
    elif len({*units}) == len(units):
        units = ()
    for column in _columns(table, wanted):
        name = column.name
        if column.holds == "numbers":
            could_be_sets = is_named(name, SETTING_NAMES)
        else:
            could_be_sets = column.holds == "texts" and column.role in ("", "label")
        if name in chosen or not could_be_sets:
            continue
        labels = table.labels(name)
        is_of_units = len({*zip(units, labels, strict=False)}) == len({*units}) > 0
        if few_values(labels) and not is_of_units:
            values = join_names(dict.fromkeys(filter(None, labels)))
            raise AskError(
                f"Is each value of column {short_repr(name)} a set of its own ({values})?",
                [
                    (f"Each {name} by itself", {"group_by": name}),
                    ("All rows are one set", {"pool": True}),
                ],
                {"prompts": chosen.prompt, "by": chosen.model},
            )
