"""Parsing of delimited text into tables with column names and row numbers."""

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import Any

from ...support.errors import short_repr
from ...support.suggestions import suggest_name
from ...support.text_detection import can_be_smiles, looks_like
from .limits import AskError, Limits, ReadOptions, RefusedError
from .names import is_column_name, is_sentence, join_names, role_of
from .records import extract_label, get_path_start, get_value_at

_ALIGNED = "  "  # runs of spaces, between columns that are aligned
DELIMITERS = {
    ",": "commas",
    ";": "semicolons",
    "\t": "tabs",
    "|": "bars",
    _ALIGNED: "runs of spaces",
    " ": "spaces",
}
_NO_DELIMITER = "\x1f"  # delimiter for one column: a control character that texts do not have
_NUMBER = re.compile(
    r"\s*[+-]?(?:(\d+([.,]\d+|\.)?|[.,]\d+)(e[+-]?\d+)?|nan|inf"
    r"|\d{1,3}(?:(,\d{3})+(\.\d+)?|(\.\d{3})+(,\d+)?))[\s\xa0\u202f]*(?:%\s*)?",  # or a percentage
    re.I | re.ASCII,
)
_WORD = re.compile(r"\S+")
_PHRASE = re.compile(r"\S+(?: \S+)*")
_PREVIEW_MOLECULES = 200  # cells that show whether a column has molecules
_FRACTION = re.compile(r"\d[.,]\d|\de-?\d")
_FILE_NAME = re.compile(r"[^\s.]\.[A-Za-z][A-Za-z0-9]{1,4}$")  # at their end
_FIRST_ROW = re.compile(r"""(?:"[^"]*+"|[^\r\n])*+""")  # quoted cells may have several lines
_PREVIEW_CELLS = 2_000  # from which the content of columns is detected
# Cells of rows below the header that name columns once more: Qualtrics, SurveyMonkey.
_REPEATED_HEADER = re.compile(
    r"""\{["']ImportId["']:.*\}|(Open-Ended )?Response|Other \(please specify\)"""
)
_MAX_REPEATED_HEADERS = 3  # such rows
_MAX_ALIGNED_LENGTH = 10_000  # characters of a line of aligned columns
_PREVIEW_LINES = 20  # of a text, which show whether it is a table
_MAX_TITLE_ROWS = 20  # rows above the header
_MIN_ROWS_ABOVE_SUMMARY = 3  # rows above one of sums, at least
# Cells that name the sums or means in a row below the others.
_SUMMARY = re.compile(
    "(grand |sub)?total|sum|average|avg|mean|median|gesamt|summe|durchschnitt|mittelwert", re.I
)

Row = tuple[int, list[str]]


@dataclass(frozen=True)
class Table:
    r"""A table of cells with column names.

    Attributes
    ----------
    names : list of str
        Distinct column names.
    rows : list of list
        The cells of each row.
    places : sequence of int
        Location of each row in the file.
    unit : str
        What the locations count, such as "row".
    problems : mapping of int to str
        What is wrong with a row, by index.
    header : list of str or None
        The first row, if it contains column names.
    delimiter : str
        Delimiter of the cells.
    encoding : str
        Text encoding.
    above : sequence of str
        Descriptions of rows above the table.
    typed : bool
        Whether cells are values rather than strings.
    origin : sequence
        For JSON, the lines or elements.
    comma : bool
        Whether numbers have decimal commas.
    more : bool
        Whether the file has further rows.
    group : str
        Column that the layout of the file makes the group of each row.

    See Also
    --------
    vendiscore.report.samples_of : Read the samples of a table.

    Examples
    --------
    >>> parse_table("id,answer\n1,a cat\n", ReadOptions()).column("answer")
    ['a cat']
    """

    names: list[str]  # all different
    rows: list[list[Any]]
    places: Sequence[int]  # of each row, counted from 1 as spreadsheets and editors do
    unit: str = "row"  # of `places`: "row", "line" or "element"
    problems: Mapping[int, str] = field(default_factory=dict)  # by index of the row, as a predicate
    header: list[str] | None = None  # the first row, if it is not a sample
    delimiter: str = ""  # "" for one column
    encoding: str = "utf-8"  # as Python calls it
    above: Sequence[str] = ()  # descriptions of rows that contain no samples
    typed: bool = False  # cells are values of any type rather than strings
    origin: Sequence[object] = ()  # of JSON: the original lines or elements
    comma: bool = False  # whether there are decimal commas
    more: bool = False  # whether there are more rows than are read
    group: str = ""  # the column that the layout of the file makes the group of each row

    def column(self, name: str, most: int | None = None) -> list[Any]:
        """Return the cells of a column, or of a path into its nested values.

        Parameters
        ----------
        name : str
            Name of the column, or path.
        most : int, optional
            Maximum number of rows; by default all.

        Returns
        -------
        list
            The cells.
        """
        rows = self.rows[:most]
        if (index := self.indices.get(name)) is not None:
            return [row[index] for row in rows]
        return [get_value_at(self.record(i), name) for i in range(len(rows))]

    @cached_property
    def indices(self) -> dict[str, int]:
        """The index of each column, by its name."""
        return {name: j for j, name in enumerate(self.names)}

    def record(self, i: int) -> dict[str, object]:
        """Return the cells of a row by the names of their columns."""
        return dict(zip(self.names, self.rows[i], strict=True))

    @property
    def signs(self) -> str:
        """The name of the delimiter, such as "commas"."""
        return _describe_delimiter(self.delimiter)

    def labels(self, name: str) -> list[str]:
        """Return the labels in a column.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        list of str
            The labels; "" for empty cells.
        """
        check_column_path(self.names, name)  # refuses a name that is not there
        return list(map(extract_label, self.column(name)))


def parse_table(
    text: str, read_options: ReadOptions, *, delimiter: str = "", encoding: str = "utf-8"
) -> Table:
    """Read delimited text as a table, split by `delimiter` if it is known."""
    limits = read_options.limits
    if marked := re.match(r"sep=(.)\r?\n", text):  # a line for Excel, which does not count it
        text = text[marked.end() :]
        delimiter = marked[1]
    if re.match(r"# [^,;\t|\n]*\n", text):
        text = re.sub("(?m)^# .*", "", text)  # comments, whose lines still count
    delimiter = delimiter or detect_delimiter(text, read_options.kind == "vectors", limits)
    max_rows = limits.samples + 2 + read_options.skip_rows + _MAX_TITLE_ROWS
    rows, row_numbers = [], []
    for row_number, cells in islice(parse_rows(text, delimiter, limits), max_rows):
        rows.append(cells)
        row_numbers.append(row_number)
    n_titles = read_options.skip_rows or _count_title_rows(rows[:_PREVIEW_CELLS])
    above = [f"row {row_number} is above the header" for row_number in row_numbers[:n_titles]]
    del rows[:n_titles], row_numbers[:n_titles]
    if not rows:
        return Table([], [], [], encoding=encoding)
    tab_counts = {i: cells[0].count("\t") + 1 for i, cells in enumerate(rows) if "\t" in cells[0]}
    if not delimiter and 2 * len(tab_counts) > len(rows):
        raise _build_ragged_error(row_numbers, 1, tab_counts, "\t")
    header = read_options.header
    if header is None:
        header = _has_header(rows[:_PREVIEW_CELLS], read_options)
    if n_repeated := header and _count_repeated_headers(rows[1 : _MAX_REPEATED_HEADERS + 1]):
        above += [
            f"row {row_number} names the columns again"
            for row_number in row_numbers[1 : n_repeated + 1]
        ]
        del rows[1 : n_repeated + 1], row_numbers[1 : n_repeated + 1]
    if header and len(rows) + n_titles < max_rows:
        n_kept = len(rows) - _count_summary_rows(rows[1:], row_numbers[1:])
        above += [f"row {row_number} is below the table" for row_number in row_numbers[n_kept:]]
        del rows[n_kept:], row_numbers[n_kept:]
    first = [cell.strip() for cell in rows[0]]
    if header and _has_row_names(rows[1 : _PREVIEW_CELLS + 1], len(first)):
        first.insert(0, "")
    width = len(first)
    ragged = {i: len(cells) for i, cells in enumerate(rows) if len(_trim(cells)) > width}
    if ragged and (not header or 2 * len(ragged) > len(rows)):
        raise _build_ragged_error(row_numbers, width, ragged, delimiter)
    end = header + limits.samples
    surplus = (
        f"split by {_describe_delimiter(delimiter)}, where the header has {width}: put cells with "
        "such signs in quotes"
    )
    return Table(
        names=_make_distinct(first if header else [""] * width),
        rows=[_fit_width(cells, width, delimiter) for cells in rows[header:end]],
        places=row_numbers[header:end],
        problems={i - header: f"has {cells} cells, {surplus}" for i, cells in ragged.items()},
        header=first if header else None,
        delimiter=delimiter,
        encoding=encoding,
        above=above,
        more=len(rows) > end,
    )


def _has_row_names(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Return whether rows of numbers begin with names, in a column for which R writes no header."""
    is_wider = {*map(len, rows)} == {width + 1}
    return is_wider and are_numbers(row[-1] for row in rows)


def _count_title_rows(rows: Sequence[Sequence[str]]) -> int:
    """Count the rows above the header: they have fewer cells than most rows.

    Rows of one cell are titles. Rows of several cells, such as names with their values, are titles
    if the first row that is as full as most rows names columns.
    """
    widths = [len(_trim(cells)) for cells in rows]
    if not widths or (usual_width := Counter(widths).most_common(1)[0][0]) < 2:
        return 0
    n_titles = next(i for i, width in enumerate(widths) if width > 1)
    usual_filled = _count_usual_filled(rows)
    for i in range(n_titles, min(len(rows), _MAX_TITLE_ROWS + 1)):
        if _count_filled(rows[i]) >= usual_filled:
            is_header = i > n_titles and _names_columns(rows[i], rows[i + 1 :], i)
            return i if is_header else n_titles
        if widths[i] >= usual_width:  # as the header above an unnamed column of ids
            break
    return n_titles


def _names_columns(cells: Sequence[str], body: Sequence[Sequence[str]], n_above: int) -> bool:
    """Return whether a row below `n_above` shorter rows has names of columns in all its cells."""
    names = [cell.strip() for cell in cells]
    if not body or any(is_number(name) or is_sentence(name) for name in names):
        return False
    columns = [[row[j] for row in body if j < len(row)] for j in range(len(names))]
    if any(name and are_numbers(column) for name, column in zip(names, columns, strict=True)):
        return True
    return n_above > 1 and any(map(is_column_name, names))


def _count_summary_rows(rows: Sequence[Sequence[str]], row_numbers: Sequence[int]) -> int:
    """Count the rows below a table that have sums or means of its columns, or a remark.

    They are named so and partly empty, or they follow the only blank row.
    """
    gaps = [i for i, (above, row) in enumerate(pairwise(row_numbers), 1) if row > above + 1]
    usual_filled = _count_usual_filled(rows)
    if usual_filled < 2 or len(rows) <= _MIN_ROWS_ABOVE_SUMMARY:
        return 0
    is_partial = _count_filled(rows[-1]) < usual_filled
    if len(gaps) == 1 and gaps[0] >= _MIN_ROWS_ABOVE_SUMMARY:
        after = rows[gaps[0] :]
        if (len(after) == 1 and is_partial) or all(map(_is_summary, after)):
            return len(after)
    is_id_missing = not rows[-1][0].strip() and all(cells[0].strip() for cells in rows[:-1])
    is_named_first = _is_summary([rows[-1][0]])
    has_summary = _is_summary(rows[-1]) and (is_id_missing or is_named_first)
    return int(is_partial and has_summary)


def _is_summary(cells: Sequence[str]) -> bool:
    """Return whether the first cell that is not blank names a sum or a mean."""
    first = next(filter(None, map(str.strip, cells)), "")
    return bool(_SUMMARY.fullmatch(first.rstrip(": ")))


def _count_usual_filled(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of cells that are not blank in most rows."""
    return Counter(map(_count_filled, rows)).most_common(1)[0][0] if rows else 0


def _count_filled(cells: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)


def _count_repeated_headers(rows: Sequence[Sequence[str]]) -> int:
    """Count the rows below the header that name the columns for a program or a second time."""
    n_repeated = 0
    for i, cells in enumerate(rows, 1):
        filled = [*filter(None, map(str.strip, cells))]
        if filled and all(map(_REPEATED_HEADER.fullmatch, filled)):
            n_repeated = i
    return n_repeated


def check_column(names: Collection[str], column: str, noun: str = "column") -> str:
    if column not in names:
        hint = suggest_name(f"{column:.60}", [f"{name:.40}" for name in names])
        raise RefusedError(f"There is no {noun} {short_repr(column)}. {hint}")
    return column


def check_column_path(names: Sequence[str], path: str) -> str:
    """Return the column in which a path begins."""
    return check_column(names, path if path in names else get_path_start(path))


def is_row(value: object) -> bool:
    """Return whether a value is an array of numbers."""
    return isinstance(value, list) and len(value) > 0 and {*map(type, value)} <= {int, float, bool}


def is_blank(cell: object) -> bool:
    """Return whether a cell has no value: None, NaN, or at most spaces.

    >>> is_blank(None), is_blank(" "), is_blank(float("nan")), is_blank(0)
    (True, True, True, False)
    """
    return cell is None or cell != cell or not str(cell).strip()


def is_number(cell: object) -> bool:
    """Return whether a cell is a number, of either decimal sign."""
    return bool(_NUMBER.fullmatch(str(cell)))


def share_of_numbers(cells: Iterable[object]) -> float:
    """Return the proportion of numbers among cells that are not blank.

    Parameters
    ----------
    cells : iterable
        The cells, of which the first 2000 are used.

    Returns
    -------
    float
        The proportion; 0 if all cells are blank.

    See Also
    --------
    vendiscore.report.column_kind : Detect the type of a column.

    Examples
    --------
    >>> share_of_numbers(["1", "2,5", "", "x"])
    0.6666666666666666
    """
    filled = [cell for cell in islice(cells, _PREVIEW_CELLS) if str(cell).strip()]
    return sum(bool(_NUMBER.fullmatch(str(cell))) for cell in filled) / max(1, len(filled))


def are_numbers(cells: Iterable[object]) -> bool:
    """Return whether most cells of a column are numbers, null and Booleans not among them.

    Parameters
    ----------
    cells : iterable

    Returns
    -------
    bool

    Examples
    --------
    >>> are_numbers([1, None, "2.5"]), are_numbers([True, False])
    (True, False)
    """
    return share_of_numbers("" if c is None or isinstance(c, bool) else c for c in cells) > 0.5


def is_table(text: str) -> bool:
    """Return whether the first lines have as many cells each.

    There are no spaces after the delimiters, or most cells are numbers.
    """
    lines = [line for line in islice(io.StringIO(text), _PREVIEW_LINES) if line.strip()]
    if any(iter_aligned_rows(lines)):
        return True
    for delimiter in DELIMITERS:  # in one order, whatever the hashes of strings
        rows = [line.split(delimiter) for line in lines if delimiter in line or line[0] != "#"]
        first, *other_rows = rows or [[]]
        cells = [*chain.from_iterable(other_rows)]
        if (
            delimiter.strip(" ")
            and cells
            and len(first) > 1
            and {*map(len, other_rows)} == {len(first)}
        ):
            has_no_spaces = not any(cell[:1].isspace() for cell in [*first, *cells])
            if has_no_spaces or are_numbers(cells):
                return True
    return False


def are_consecutive(cells: Sequence[object], start: int = 0) -> bool:
    """Return whether the cells are start, start + 1, start + 2, …"""
    matches = (str(cell).strip() == str(i) for i, cell in enumerate(cells, start))
    return len(cells) > 0 and all(matches)


def _has_header(rows: Sequence[Sequence[str]], read_options: ReadOptions) -> bool:
    """Return whether the first row names the columns, which it does unless its cells forbid it."""
    first = [cell.strip() for cell in rows[0]]
    body = rows[1:]
    columns = [[row[j] for row in body if j < len(row)] for j in range(len(first))]
    if any(map(is_column_name, first)):
        return True
    names = first[1:]
    if (
        names
        and not first[0]
        and (are_consecutive(names) or are_consecutive(names, 1) or names == columns[0])
    ):
        return True  # names above an index: counted, as by pandas or R, or equal to it
    numbers = list(map(are_numbers, columns))
    if are_consecutive(first):  # pandas' names or, above whole numbers, a sample
        return not any(numbers) or (len(first) > 1 and _are_fractions(body))
    if read_options.kind == "vectors" or any(map(is_number, first)):
        return not any(map(is_number, first))
    if any(name and below for name, below in zip(first, numbers, strict=True)):
        return True
    if read_options.kind == "molecules" and any(map(can_be_smiles, first)):
        return False
    if any(_are_molecules([name, *cells]) for name, cells in zip(first, columns, strict=True)):
        return False
    if any(_are_file_names([name, *cells]) for name, cells in zip(first, columns, strict=True)):
        return False
    is_repeated = any(name and name in cells for name, cells in zip(first, columns, strict=True))
    return bool(body) and not is_repeated and not any(map(is_sentence, first))


def _are_molecules(cells: Sequence[str]) -> bool:
    """Return whether the first cell of a column, and most others, are SMILES."""
    detected = looks_like([*filter(None, cells[:_PREVIEW_MOLECULES])])
    return detected is not None and detected[1] == "morgan" and can_be_smiles(cells[0])


def _are_file_names(cells: Sequence[str]) -> bool:
    """Return whether all cells of a column of several cells end as names of files do."""
    return len(cells) > 1 and all(map(_FILE_NAME.search, cells[:_PREVIEW_CELLS]))


def _are_fractions(rows: Iterable[Iterable[str]]) -> bool:
    """Return whether nearly all cells are numbers with a fraction, as programs write them."""
    cells = list(islice(chain.from_iterable(rows), _PREVIEW_CELLS))
    return sum(map(bool, map(_FRACTION.search, cells))) > 0.9 * len(cells)


def detect_delimiter(text: str, numeric: bool, limits: Limits) -> str:
    """Return the sign that splits rows into equal numbers of cells.

    Signs that split all rows alike come before others, then those that split most rows alike, then
    those with most numbers. Spaces are compared with a sign that splits all rows alike only if all
    cells between spaces are numbers.
    """
    best = (False, 0.0, 0.0)
    best_delimiter = ""
    error = None
    max_rows = min(limits.samples + 1, _PREVIEW_CELLS)
    first_row = next(_FIRST_ROW.finditer(text.lstrip("\r\n ")))[0]
    is_column_name_alone = (
        role_of(first_row) or not first_row.strip()
    )  # one column, of texts with such signs
    for delimiter in DELIMITERS:
        may_follow_titles = delimiter not in first_row
        if (delimiter == " " and not numeric) or (may_follow_titles and is_column_name_alone):
            continue
        try:
            numbered_rows = list(islice(parse_rows(text, delimiter, limits), max_rows))
        except RefusedError as caught:
            error = error or caught
            continue
        row_numbers, rows = [i for i, _ in numbered_rows], [cells for _, cells in numbered_rows]
        if may_follow_titles:
            n_titles = _count_title_rows(rows)
            row_numbers, rows = row_numbers[n_titles:], rows[n_titles:]
            rows = rows[: len(rows) - _count_summary_rows(rows[1:], row_numbers[1:])]
        if not rows and delimiter == _ALIGNED:
            continue
        if not rows:
            return delimiter  # all cells are blank
        width = len(rows[0])
        if width < 2 or (may_follow_titles and any(len(cells) != width for cells in rows)):
            continue
        n_regular = sum(len(_trim(cells)) <= width and len(cells) > 1 for cells in rows)
        numbers = share_of_numbers(chain.from_iterable(rows[1:] or rows))
        is_even = not may_follow_titles and all(len(cells) == width for cells in rows)
        if delimiter == " " and best[0] and numbers < 1:
            continue
        rank = (is_even, round(n_regular / len(rows), 2), numbers)
        if rank > best:
            best = rank
            best_delimiter = delimiter
    if not best_delimiter and error:
        raise error
    return best_delimiter


def parse_rows(text: str, delimiter: str, limits: Limits) -> Iterator[Row]:
    """Yield the rows that are not blank, with their numbers; blank rows count, too."""
    rows: Iterable[list[str]]
    if delimiter == _ALIGNED:
        rows = iter_aligned_rows(text.split("\n"))
    elif delimiter == " ":
        rows = map(str.split, text.split("\n"))
    else:
        rows = _iter_csv_rows(text, delimiter or _NO_DELIMITER, limits)
    total = width = 0
    max_cells = limits.values + limits.columns + 2 * limits.samples  # with names and labels
    for row_number, cells in enumerate(rows, 1):
        total += len(cells)
        if total > max_cells:
            raise RefusedError(f"More than {max_cells:,} cells are too many; send fewer rows.")
        # Below a row of one cell, "" is a row: pandas writes the empty cell of one column so.
        if any(cell.strip() for cell in cells) or (width == 1 and cells == [""]):
            width = max(width, len(cells))
            yield row_number, cells


def iter_aligned_rows(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the cells of lines whose columns are aligned by runs of spaces; of others, nothing.

    All lines have the same number of cells, which start or end at the same place in each column.
    Only the first line may lack a cell, the name of the first column. Single spaces are in cells
    or, if cells would not align, between them.
    """
    if not any("  " in line.strip() for line in lines):
        return
    for pattern in (_PHRASE, _WORD):
        if (width := _count_aligned_columns(lines, pattern)) > 0:
            for line in lines:
                cells = pattern.findall(line)
                yield cells if len(cells) in (0, width) else ["", *cells]
            return


def _count_aligned_columns(lines: Sequence[str], pattern: re.Pattern[str]) -> int:
    """Return the number of cells in aligned lines, 0 if there are no aligned columns."""
    if any(len(line) > _MAX_ALIGNED_LENGTH for line in lines):
        return 0
    spans = ([match.span() for match in pattern.finditer(line)] for line in lines)
    filled = filter(None, spans)
    first, second = next(filled, []), next(filled, [])
    width = len(second)
    lacks_name = len(first) == width - 1 and width > 1 and first[0][0] > 0
    if width < 2 or len(first) + lacks_name != width:
        return 0
    are_left, are_right = [True] * width, [True] * width
    for row in chain([[*second[:lacks_name], *first]], filled):
        if len(row) != width:
            return 0
        for j, ((start, end), (left, right)) in enumerate(zip(row, second, strict=True)):
            are_left[j] &= start == left
            are_right[j] &= end == right
            if not (are_left[j] or are_right[j]):
                return 0
    return width


def _iter_csv_rows(text: str, delimiter: str, limits: Limits) -> Iterator[list[str]]:
    has_spaces = _has_spaces_before_quotes(text, delimiter)
    if has_spaces:
        sign = re.escape(delimiter)
        padded_cell = rf'((?:^|(?<={sign})) *"(?:[^"]|"")*+") +(?={sign}|\r?$)'
        text = re.sub(padded_cell, r"\1", text, flags=re.MULTILINE)
    reader = csv.reader(
        _check_widths(io.StringIO(text, newline=""), delimiter, limits),
        strict=True,
        delimiter=delimiter,
        skipinitialspace=has_spaces,
    )
    try:
        yield from reader
    except csv.Error as error:
        raise RefusedError(
            f"Line {reader.line_num} is not valid CSV ({error}); cells may have up to "
            f"{min(limits.text, csv.field_size_limit()):,} characters and quotes must be closed."
        ) from None


def _has_spaces_before_quotes(text: str, delimiter: str) -> bool:
    """Return whether quoted cells follow a delimiter and a space, outside of other quoted cells."""
    start = f'{delimiter} "'
    if start not in text:
        return False
    quoted_cell = rf'(?:^|(?<={re.escape(delimiter)}))"(?:[^"]|"")*+"'
    return start in re.sub(quoted_cell, "", text, flags=re.MULTILINE)


def _check_widths(lines: Iterable[str], delimiter: str, limits: Limits) -> Iterator[str]:
    """Yield the lines; refuse one with too many cells by a quick count of delimiters."""
    for line in lines:
        if (cells := line.count(delimiter) + 1) > max(limits.columns, limits.text):
            raise RefusedError(f"{cells:,} columns are too many: the limit is {limits.columns:,}.")
        yield line


def _trim(cells: Sequence[str]) -> Sequence[str]:
    """Cut blank cells at the end, as spreadsheets append them."""
    end = len(cells)
    while end and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


def _fit_width(cells: list[str], width: int, delimiter: str) -> list[str]:
    """Add blank cells up to the number of names, or join surplus cells to the last."""
    cells += [""] * (width - len(cells))
    surplus = [*_trim(cells[width:])]
    return [*cells[: width - 1], delimiter.join([cells[width - 1], *surplus])]


def _describe_delimiter(delimiter: str) -> str:
    return DELIMITERS.get(delimiter, repr(delimiter))


def _build_ragged_error(
    row_numbers: Sequence[int], width: int, ragged: Mapping[int, int], delimiter: str
) -> AskError:
    """Ask whether lines are samples, as they have different numbers of cells."""
    descriptions = [f"row {row_numbers[i]} has {cells}" for i, cells in ragged.items()]
    return AskError(
        f"Split by {_describe_delimiter(delimiter)}, row {row_numbers[0]} has {width} cells but "
        f"{join_names(descriptions)}. Put cells that hold such signs in quotes; if every line is "
        "one sample, save the file as .txt.",
        [("Every line is one sample", {"separator": "line"})],
    )


def _make_distinct(names: Sequence[str]) -> list[str]:
    """Number blank names, as in "column 2", and make all names different."""
    distinct: dict[str, None] = {}
    counts: dict[str, int] = {}  # how often each name occurred, to try each number only once
    for i, requested in enumerate(names, 1):
        name = requested or f"column {i}"
        while name in distinct:
            counts[requested] = counts.get(requested, 1) + 1
            name = f"{requested} ({counts[requested]})"
        distinct[name] = None
    return list(distinct)
