"""Lines of text as samples: each line, or each part between two separators."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...support.errors import short_repr
from ...support.text_detection import can_be_smiles, looks_like
from ...support.types import Record
from .encodings import LINE_BREAK
from .limits import AskError, ReadOptions
from .names import join_names, say_left_out
from .samples import Samples
from .text_fields import is_rule, likely_names

_SPEAKER = re.compile(r"^[^\w\n]*(user|you|assistant|human|ai|bot|agent|system)\W", re.I | re.M)
_NAME_OF_FIELD = re.compile(r"([A-Z]\w*( \w+)?):(\s|$)")
_FIELD = re.compile(r"[^\W\d_][\w-]*:\s*\S.*")
# Signs of a document in Markdown: code, a heading below the first level, a table or an image.
_MARKDOWN = re.compile(
    r"\s*(```|~~~)\w*\s*|#{2,6} \S.*|\s*\|?(\s*:?-{3,}:?\s*\|)+[\s:|-]*|!\[.*\]\(.*\)\s*"
)
_COMMENT = re.compile(r"#\s+\S.*")
_FEWEST_BLOCKS = 3  # between blank lines
_MOST_RULES = 4  # different ones that a question offers
_SOME_MOLECULES = 0.5  # of the lines; then others are often molecules that a model got wrong


def line_samples(text: str, read_options: ReadOptions, molecules: bool) -> Samples:
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
            above.append(say_left_out(n_comments, "comment"))
        if read_options.kind in ("", "texts"):
            rules = frequent_rules(rows)
            split = split or likely_split(rows, rules)
    kept = [(place, row) for place, row in enumerate(rows, 1) if row.strip()]
    between = "\n"
    if molecules:
        kept = [(place, row) for place, row in kept if not row.startswith("#")]
        if kept and not can_be_smiles(kept[0][1].split()[0]):
            above.append(f"line {kept[0][0]} is above the molecules")
            del kept[0]
    elif split not in ("", "row"):
        sign = "" if split == "blank" else split
        found = list(parts(rows, lambda row: row.strip() == sign))
        # Two signs in a row enclose an empty text; blank lines in a row are one separator. Signs
        # that nobody named can also stand above and below all texts.
        keeps_empty = sign and read_options.split
        n = len(found)
        found = [part for i, part in enumerate(found, 1) if part[1] or (keeps_empty and i < n)]
        if not read_options.split:
            found = [part for part in found if any(map(str.strip, part[1]))]
            above.append(f"the texts are the parts between lines of {shown_rule(sign)}")
        kept = [(place, "\n".join(part)) for place, part in found]
        between = f"\n{sign}\n" if sign else "\n\n"
    else:
        if n_blank:
            above.append(say_left_out(n_blank, "blank line"))
        if rules:
            kept = [(place, row) for place, row in kept if not is_rule(row)]
            signs = " or ".join(map(shown_rule, rules))
            above.append(say_left_out(rules.total(), "separator line", f" of {signs}"))
    whole = [row for _, row in kept]
    values, names = whole, list[str]()
    if molecules:
        cells = [row.split(maxsplit=1) for row in whole]
        values = [smiles for smiles, *_ in cells]
        names = [name[0].strip() if name else "" for _, *name in cells]
    return Samples(
        values,
        [place for place, _ in kept],
        names=names if any(names) else (),
        kind="molecules" if molecules else "texts",
        above=above,
        written=lambda some: between.join(whole[i] for i in some) + "\n" * bool(some),
    )


def are_molecules(rows: Sequence[str], read_options: ReadOptions) -> bool:
    """Return whether most lines are SMILES; ask if many are not.

    A generator of molecules can write up to half of them wrong. Options that declare lines or parts
    of text answer the question.
    """
    if read_options.kind or read_options.split or read_options.type:
        return False
    lines = [row.strip() for row in rows if row.strip()]
    like = looks_like(lines, _SOME_MOLECULES)
    if not like or like[1] != "morgan":
        return False
    if like == looks_like(lines):
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
    places = [i for i, row in enumerate(rows) if _COMMENT.fullmatch(row)]
    n_filled = sum(bool(row.strip()) for row in rows)
    if comments is False or not places or (comments is None and len(places) == n_filled):
        return [*rows], 0
    if comments is None and any(map(_MARKDOWN.fullmatch, rows)):  # headings
        return [*rows], 0
    others = (i for i, row in enumerate(rows) if row.strip() and not _COMMENT.fullmatch(row))
    if comments is None and places[-1] > next(others):
        raise AskError(
            f"{len(places):,} of {n_filled:,} lines begin with “# ”, for example "
            f"{short_repr(rows[places[-1]])}. Are they comments?",
            [
                ("They are comments, which are left out", {"comments": True}),
                ("They are texts", {"comments": False}),
            ],
        )
    are_comments = {*places}
    kept = ["" if i in are_comments else row for i, row in enumerate(rows)]
    return kept, len(places)


def frequent_rules(rows: Iterable[str]) -> Counter[str]:
    """Count how often each separator line occurs, the most frequent one first."""
    return Counter(dict(Counter(row.strip() for row in rows if is_rule(row)).most_common()))


def shown_rule(rule: str) -> str:
    return rule if len(rule) < 6 else f"{rule[:3]}…"


def likely_split(rows: Sequence[str], rules: Counter[str]) -> str:
    """Return the separator of texts: a rule if texts have several lines, otherwise "row".

    Ask if there is only one separator or several kinds, or if there are blocks of lines.
    """
    if are_fortunes(rows):
        return "%"
    texts = [[row for row in part if row.strip()] for _, part in parts(rows, is_rule)]
    filled = [part for part in texts if part]
    is_markdown = any(map(_MARKDOWN.fullmatch, rows))
    is_document = is_markdown or _have_fields(rows) or is_transcript("\n".join(rows))
    if not rules or max(map(len, filled), default=0) < 2:
        are_blocks = not rules and "" in rows and _are_blocks(rows)
        if are_blocks or (is_document and not rules):
            what = "The text has headings or code, as documents in Markdown have. " * is_markdown
            choices = [("Each line", {"split": "row"}), ("Each part", {"split": "blank"})]
            raise _question(rows, what, "blank lines", choices[::-1] if are_blocks else choices)
        return "row"
    if len(rules) == 1 and len(filled) > 2 and not is_document:
        return next(iter(rules))
    signs = [*rules][:_MOST_RULES]
    choices = [(f"Each part between {shown_rule(rule)}", {"split": rule}) for rule in signs]
    choices.append(("Each line", {"split": "row"}))
    shown = " or ".join(map(shown_rule, signs))
    raise _question(rows if is_document else [], "", f"lines of {shown}", choices)


def _question(
    rows: Sequence[str], what: str, separators: str, choices: Sequence[tuple[str, Record]]
) -> AskError:
    """Ask what the texts are; those of a name with which lines begin, such as a speaker, first."""
    names = likely_names(rows)
    named = [(f"Texts of {name}", {"type": "fields", "column": name}) for name in names]
    question = f"{what}Is each line a text, or each part between {separators}?"
    if names:
        question = (
            f"{what}Lines begin with names ({join_names(names)}), as in chats. Are the samples the "
            f"texts of one of them, the lines, or the parts between {separators}?"
        )
    return AskError(question, [*named, *choices])


def are_fortunes(rows: Sequence[str]) -> bool:
    """Return whether lines of a percent sign separate texts, as in files of the program fortune.

    There are at least two of them, and some text has several lines.
    """
    texts = [part for _, part in parts(rows, lambda row: row.strip() == "%")]
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
    long = [size for size in sizes if size > 1]
    if len(blocks) < _FEWEST_BLOCKS:
        return False
    return 2 * len(long) > len(blocks) or (
        len(long) >= _FEWEST_BLOCKS and 2 * sum(long) > sum(sizes)
    )


def parts(rows: Sequence[str], is_sign: Callable[[str], bool]) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines between separators, with the number of the first, from 1."""
    start = 1
    part = list[str]()
    for place, row in enumerate(rows, 1):
        if is_sign(row):
            yield start, part
            start = place + 1
            part = []
        else:
            part.append(row)
    yield start, part
