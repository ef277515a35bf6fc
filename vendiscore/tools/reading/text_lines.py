"""Lines of text as samples: each line, or each part between two separators."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...support.errors import short_repr
from ...support.text_detection import can_be_smiles, looks_like
from ...support.types import Record
from .encodings import LINE_BREAK
from .limits import AskError, ReadOptions
from .markdown import find_table, is_list
from .names import format_dropped_count, join_names
from .samples import Samples
from .text_fields import are_messages, find_candidate_names, is_rule

_SPEAKER = re.compile(r"^[^\w\n]*(user|you|assistant|human|ai|bot|agent|system)\W", re.I | re.M)
_NAME_OF_FIELD = re.compile(r"([A-Z]\w*( \w+)?):(\s|$)")
_FIELD = re.compile(r"[^\W\d_][\w-]*:\s*\S.*")
# Signs of a document in Markdown: code, a heading below the first level, a table or an image.
_MARKDOWN = re.compile(
    r"\s*(```|~~~)\w*\s*|#{2,6} \S.*|\s*\|?(\s*:?-{3,}:?\s*\|)+[\s:|-]*|!\[.*\]\(.*\)\s*"
)
_COMMENT = re.compile(r"#\s+\S.*")
_MIN_BLOCKS = 3  # between blank lines
_MAX_OFFERED_RULES = 4  # different ones that a question offers
_MIN_MOLECULE_FRACTION = 0.5  # of the lines; then others are often molecules that a model got wrong


def take_line_samples(text: str, read_options: ReadOptions, molecules: bool) -> Samples:
    """Split a text at each "row", at "blank" lines or at a sign; names may follow SMILES.

    Lines that repeat one character are separators. If several lines stand between them, the parts
    are the texts. Most parts between blank lines have several lines in poems, about which a
    question is asked.
    """
    rows = LINE_BREAK.split(text)
    if not rows[-1]:
        rows.pop()
    n_blank = sum(not row.strip() for row in rows)
    molecules = molecules or read_options.kind == "molecules" or are_molecules(rows, read_options)
    rules = Counter[str]()
    split = read_options.split
    above = []
    if not molecules:
        rows, n_comments = blank_comments(rows, read_options.comments)
        if n_comments:
            above.append(format_dropped_count(n_comments, "comment"))
        if read_options.kind in ("", "texts"):
            rules = count_rules(rows)
            split = split or detect_separator(rows, rules)
    lines = [(line_number, row) for line_number, row in enumerate(rows, 1) if row.strip()]
    between = "\n"
    if molecules:
        lines = [(line_number, row) for line_number, row in lines if not row.startswith("#")]
        if lines and not can_be_smiles(lines[0][1].split()[0]):
            above.append(f"line {lines[0][0]} is above the molecules")
            del lines[0]
    elif split not in ("", "row"):
        separator = "" if split == "blank" else split
        text_parts = list(iter_parts(rows, lambda row: row.strip() == separator))
        # Two signs in a row enclose an empty text; blank lines in a row are one separator. A
        # detected separator can also be above and below all texts.
        keeps_empty = separator and read_options.split
        if keeps_empty and len(text_parts) == 1:
            above.append(f"no line equals the separator {short_repr(separator)}")
        n = len(text_parts)
        text_parts = [
            part for i, part in enumerate(text_parts, 1) if part[1] or (keeps_empty and i < n)
        ]
        if not read_options.split:
            text_parts = [part for part in text_parts if any(map(str.strip, part[1]))]
            above.append(f"the texts are the parts between lines of {format_rule(separator)}")
        lines = [(line_number, "\n".join(part)) for line_number, part in text_parts]
        between = f"\n{separator}\n" if separator else "\n\n"
    else:
        if n_blank:
            above.append(format_dropped_count(n_blank, "blank line"))
        if rules:
            lines = [(line_number, row) for line_number, row in lines if not is_rule(row)]
            signs = " or ".join(map(format_rule, rules))
            above.append(format_dropped_count(rules.total(), "separator line", f" of {signs}"))
    line_texts = [row for _, row in lines]
    values, names = line_texts, list[str]()
    if molecules:
        cells = [row.split(maxsplit=1) for row in line_texts]
        values = [smiles for smiles, *_ in cells]
        names = [name[0].strip() if name else "" for _, *name in cells]
    return Samples(
        values,
        [line_number for line_number, _ in lines],
        names=names if any(names) else (),
        kind="molecules" if molecules else "texts",
        above=above,
        written=lambda indices: between.join(line_texts[i] for i in indices) + "\n" * bool(indices),
    )


def are_molecules(rows: Sequence[str], read_options: ReadOptions) -> bool:
    """Return whether most lines are SMILES; ask if many are not.

    A generator of molecules can write up to half of them wrong. Options that declare lines or parts
    of text answer the question.
    """
    if read_options.kind or read_options.split or read_options.type:
        return False
    lines = [row.strip() for row in rows if row.strip()]
    detected = looks_like(lines, _MIN_MOLECULE_FRACTION)
    if not detected or detected[1] != "morgan":
        return False
    if detected == looks_like(lines):
        return True
    raise AskError(
        "Many lines are SMILES of molecules, and others are not. Are the lines molecules?",
        [("Each line is a molecule", {"type": "smi"}), ("Each line is a text", {"type": "txt"})],
    )


def blank_comments(rows: Sequence[str], comments: bool | None) -> tuple[list[str], int]:
    """Return lines in which comments are blank, and the number of comments.

    Comments begin with "# ". Without further information (`comments` is None), such lines above all
    others are comments; if there are others, a question is asked, as they may be headings or texts.

    >>> blank_comments(["# of a model", "a cat", "a dog"], None)
    (['', 'a cat', 'a dog'], 1)
    """
    comment_indices = [i for i, row in enumerate(rows) if _COMMENT.fullmatch(row)]
    n_filled = sum(bool(row.strip()) for row in rows)
    if (
        comments is False
        or not comment_indices
        or (comments is None and len(comment_indices) == n_filled)
    ):
        return [*rows], 0
    if comments is None and any(map(_MARKDOWN.fullmatch, rows)):  # headings
        return [*rows], 0
    others = (i for i, row in enumerate(rows) if row.strip() and not _COMMENT.fullmatch(row))
    if comments is None and comment_indices[-1] > next(others):
        raise AskError(
            f"{len(comment_indices):,} of {n_filled:,} lines begin with “# ”, for example "
            f"{short_repr(rows[comment_indices[-1]])}. Are they comments?",
            [
                ("They are comments, which are left out", {"comments": True}),
                ("They are texts", {"comments": False}),
            ],
        )
    are_comments = {*comment_indices}
    without_comments = ["" if i in are_comments else row for i, row in enumerate(rows)]
    return without_comments, len(comment_indices)


def count_rules(rows: Iterable[str]) -> Counter[str]:
    """Count how often each separator line occurs, the most frequent one first."""
    return Counter(dict(Counter(row.strip() for row in rows if is_rule(row)).most_common()))


def format_rule(rule: str) -> str:
    return rule if len(rule) < 6 else f"{rule[:3]}…"


def detect_separator(rows: Sequence[str], rules: Counter[str]) -> str:
    """Return the separator of texts: a rule if texts have several lines, otherwise "row".

    Ask if there is only one separator or several kinds, or if there are blocks of lines.
    """
    if are_fortunes(rows):
        return "%"
    texts = [[row for row in part if row.strip()] for _, part in iter_parts(rows, is_rule)]
    filled = [part for part in texts if part]
    is_markdown = any(map(_MARKDOWN.fullmatch, rows))
    is_document = (
        is_markdown
        or _have_fields(rows)
        or is_transcript("\n".join(rows))
        or are_messages(rows)
        or is_list(rows)
        or bool(find_table(rows))
    )
    if not rules or max(map(len, filled), default=0) < 2:
        are_blocks = not rules and "" in rows and _are_blocks(rows)
        if are_blocks or (is_document and not rules):
            description = (
                "The text has headings or code, as documents in Markdown have. " * is_markdown
            )
            choices = [("Each line", {"split": "row"}), ("Each part", {"split": "blank"})]
            raise _build_question(
                rows, description, "blank lines", choices[::-1] if are_blocks else choices
            )
        return "row"
    if len(rules) == 1 and len(filled) > 2 and not is_document:
        return next(iter(rules))
    signs = [*rules][:_MAX_OFFERED_RULES]
    choices = [(f"Each part between {format_rule(rule)}", {"split": rule}) for rule in signs]
    choices.append(("Each line", {"split": "row"}))
    listed = " or ".join(map(format_rule, signs))
    raise _build_question(rows if is_document else [], "", f"lines of {listed}", choices)


def _build_question(
    rows: Sequence[str], description: str, separators: str, choices: Sequence[tuple[str, Record]]
) -> AskError:
    """Ask what the texts are; those of a name with which lines begin, such as a speaker, first."""
    names = find_candidate_names(rows)
    named: list[tuple[str, Record]] = [
        (f"Texts of {name}", {"type": "fields", "column": name}) for name in names
    ]
    if find_table(rows):
        description = "The text has a table, as documents in Markdown have. "
        named.insert(0, ("The rows of its table", {"type": "csv"}))
    elif is_list(rows):
        description += "Lines begin with the marks of a list, which are no part of its items. "
        named.append(("The items of the list, without their marks", {"type": "list"}))
    question = f"{description}Is each line a text, or each part between {separators}?"
    if names:
        question = (
            f"{description}Lines begin with names ({join_names(names)}), as in chats. Are the "
            f"samples the texts of one of them, the lines, or the parts between {separators}?"
        )
    return AskError(question, [*named, *choices])


def are_fortunes(rows: Sequence[str]) -> bool:
    """Return whether lines of a percent sign separate texts, as in files of the program fortune.

    There are at least two of them, and some text has several lines.
    """
    texts = [part for _, part in iter_parts(rows, lambda row: row.strip() == "%")]
    return len(texts) > 2 and max(map(len, texts)) > 1


def is_transcript(text: str) -> bool:
    """Return whether lines of a text begin with at least two speakers of a chat.

    >>> is_transcript("User: hi\\nAssistant: hello"), is_transcript("Note: hi")
    (True, False)
    """
    return len({match[1].lower() for match in _SPEAKER.finditer(text)}) > 1


def _have_fields(rows: Sequence[str]) -> bool:
    """Return whether a text begins with two lines such as "title: a", and has other lines.

    Two such names that are repeated are enough anywhere.
    """
    filled = list(filter(str.strip, rows))
    are_fields = [bool(_FIELD.fullmatch(row)) for row in filled]
    if all(are_fields[:2]) and len(filled) > 2 and not all(are_fields):
        return True
    counts = Counter(match[1] for row in filled if (match := _NAME_OF_FIELD.match(row)))
    return sum(count > 1 for count in counts.values()) > 1


def _are_blocks(rows: Sequence[str]) -> bool:
    """Return whether there are parts between blank lines that may be texts of several lines.

    There are three or more parts, most of several lines or with most of the lines in three or more
    parts of several lines, or two that begin with a heading, which ends with a colon.
    """
    blocks = re.split("\n\n+", "\n".join(map(str.strip, rows)).strip("\n"))
    if sum(bool(re.match(r".*:\n", block)) for block in blocks) > 1:
        return True
    sizes = [block.count("\n") + 1 for block in blocks]
    long_sizes = [size for size in sizes if size > 1]
    if len(blocks) < _MIN_BLOCKS:
        return False
    return 2 * len(long_sizes) > len(blocks) or (
        len(long_sizes) >= _MIN_BLOCKS and 2 * sum(long_sizes) > sum(sizes)
    )


def iter_parts(
    rows: Sequence[str], is_separator: Callable[[str], bool]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines between separators, with the number of the first, from 1."""
    start = 1
    part = list[str]()
    for line_number, row in enumerate(rows, 1):
        if is_separator(row):
            yield start, part
            start = line_number + 1
            part = []
        else:
            part.append(row)
    yield start, part
