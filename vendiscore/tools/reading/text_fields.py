"""Tables of lines such as "Name: text", which chats and lists of records have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from .encodings import LINE_BREAK
from .limits import ReadOptions, RefusedError
from .names import OUTPUT_NAMES, format_dropped_count, is_named, role_of
from .records import detect_speaker

if TYPE_CHECKING:
    from .tables import Table

# Up to three words before a colon, also in bold, in a list, or after the time of a message.
_TIME = r"[(\[][^\])\n]{1,40}[)\]] ?|\d[\d:.,/ -]{0,30}(?:\s?[AaPp]\.?[Mm]\.?)?(?: -)? "
_NAME = r"[^\W\d_][\w-]*(?: [\w-]+){0,2}|\+\d[\d ()-]{5,20}"  # or the number of a telephone
_FIELD = re.compile(rf"\u200e?(?:[-*>#]+ |{_TIME})?\**({_NAME})\**:\**(?:\s+(\S.*)|\s*)")
# A line of a chat that begins with the time of a message, and the name of its author.
_MESSAGE = re.compile(rf"\u200e?(?=.{{,12}}\d.{{,12}}\d:\d\d)(?:{_TIME})({_NAME}):\s+\S.*")
_MIN_MESSAGES = 3
# Lines of three or more of one of these characters separate texts.
_RULE = re.compile(r"\s*([-=*#_~+])\1{2,199}\s*")
_MAX_OFFERED_NAMES = 6  # that a question offers
_MAX_COLUMNS = 100  # more names are no speakers and no fields
_LETTERS = re.compile(r"[^\W\d_]{2}")


class _Field(NamedTuple):
    """A text with its name, the number of its line, and whether a separator stands above it."""

    line_number: int
    name: str
    text: str
    is_first: bool


def parse_fields(text: str, read_options: ReadOptions) -> Table:
    r"""Read lines "Name: text" as a table with a column for each name that occurs several times.

    Lines without such a name continue the text above. The names of a row are in the order in which
    they first occur in the file, those of people who ask before those of others. Another name and a
    line that repeats one character begin the next row. If `read_options` names a column, the rows
    without it are left out.

    Raises
    ------
    RefusedError
        If no name occurs several times, or more than 100 names do.

    Examples
    --------
    >>> parse_fields("You: hi\nBot: hello\nYou: bye\nBot: see\nyou\n", ReadOptions()).rows
    [['hi', 'hello'], ['bye', 'see\nyou']]
    """
    from .tables import Table

    lines = LINE_BREAK.split(text)
    names = sorted(
        _find_repeated_names(lines), key=lambda name: not _is_asking_name(name)
    )  # stable
    if not names:
        raise RefusedError("it has no lines “Name: text” whose names occur several times")
    if len(names) > _MAX_COLUMNS:
        raise RefusedError(
            f"{len(names):,} names begin its lines, more than {_MAX_COLUMNS}; read it as lines "
            "with the type txt"
        )
    order = {name: k for k, name in enumerate(names)}
    rows: list[dict[str, _Field]] = []
    last = len(names)
    fields = list(_find_fields(lines, names))
    for field in fields:
        if order[field.name] <= last or field.is_first:
            rows.append({})
        rows[-1][field.name] = field
        last = order[field.name]
    column = read_options.column or ""
    if column in names:
        rows = [row for row in rows if column in row]
    rows = rows[: read_options.limits.samples + 1]
    n_above = sum(bool(line.strip()) for line in lines[: fields[0].line_number - 1])
    return Table(
        names,
        [[row[name].text if name in row else "" for name in names] for row in rows],
        [row.get(column, next(iter(row.values()))).line_number for row in rows],
        unit="line",
        header=names,
        above=[format_dropped_count(n_above, "line", " above the first name")] if n_above else [],
    )


def is_rule(row: str) -> bool:
    """Return whether a line repeats one character that separates texts.

    >>> is_rule("-----"), is_rule("--"), is_rule("- - -")
    (True, False, False)
    """
    return bool(_RULE.fullmatch(row))


def are_messages(lines: Sequence[str]) -> bool:
    """Return whether most lines begin with the time and the author of a message.

    >>> are_messages(["12/31/23, 9:41 PM - Ann Lee: hi", "[31.12.23, 21:42:03] Tom: hello"] * 2)
    True
    """
    n_filled = sum(bool(line.strip()) for line in lines)
    n_messages = sum(bool(_MESSAGE.fullmatch(line.strip())) for line in lines)
    return n_messages >= max(_MIN_MESSAGES, n_filled / 2)


def find_candidate_names(lines: Sequence[str]) -> list[str]:
    """Return the names of lines "Name: text" whose texts may be samples, the likeliest first.

    There are none unless at least two names occur several times.
    """
    names = _find_repeated_names(lines)
    if len(names) < 2:
        return []
    texts: dict[str, list[str]] = {name: [] for name in names}
    for field in _find_fields(lines, names):
        if _LETTERS.search(field.text):
            texts[field.name].append(field.text)
    candidates = [name for name in names if len(texts[name]) > 1]
    return sorted(candidates, key=lambda name: _rank_name(name, texts[name]))[
        :_MAX_OFFERED_NAMES
    ]  # stable


def _rank_name(name: str, texts: Sequence[str]) -> int:
    """Return the position of a name: generated output, others, users, what repeats, and ids."""
    if 2 * len({*texts}) <= len(texts):
        return 4
    if _is_asking_name(name):
        return 3
    if detect_speaker(name) == "assistant" or is_named(name, OUTPUT_NAMES):
        return 0
    return {"text": 1, "": 2}.get(role_of(name), 5)


def _is_asking_name(name: str) -> bool:
    """Return whether a name is that of a user, or of a prompt."""
    return detect_speaker(name) == "user" or role_of(name) == "prompt"


def _find_repeated_names(lines: Sequence[str]) -> list[str]:
    """Return the names that occur in several lines, in the order of the text.

    Names that are less than half as frequent as the most frequent one are parts of texts.
    """
    matches = (match[1] for line in lines if (match := _FIELD.fullmatch(line.strip())))
    counts = Counter(matches)
    min_count = max(2, max(counts.values(), default=0) / 2)
    return [name for name, count in counts.items() if count >= min_count]


def _find_fields(lines: Sequence[str], names: Sequence[str]) -> Iterator[_Field]:
    """Yield the fields of some lines. Separators at the end of a text are no part of it."""
    starts = []
    name_set = {*names}
    for i, line in enumerate(lines):
        match = _FIELD.fullmatch(line.strip())
        if match and match[1] in name_set:
            starts.append((i, match[1], match[2] or ""))
    ends = [*(i for i, _, _ in islice(starts, 1, None)), len(lines)]
    is_first = False
    for (i, name, first), end in zip(starts, ends, strict=True):
        continuation = list(map(str.strip, lines[i + 1 : end]))
        n_lines = len(continuation)
        while continuation and (not continuation[-1] or is_rule(continuation[-1])):
            continuation.pop()
        yield _Field(i + 1, name, "\n".join([first, *continuation]).strip(), is_first)
        is_first = any(map(is_rule, lines[end - n_lines + len(continuation) : end]))
