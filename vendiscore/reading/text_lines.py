"""Lines of text as samples: each line, or each part between two separators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .encodings import LINE_BREAK
from .samples import Samples
from .string_patterns import could_be_smiles


def line_samples(text: str, split: str, molecules: bool) -> Samples:
    """Split a text at each "row", at "blank" lines or at a sign; drop the names of SMILES."""
    rows = LINE_BREAK.split(text)
    rows = rows[:-1] if not rows[-1] else rows
    places: Sequence[int] = range(1, len(rows) + 1)
    values = rows
    whole = rows
    between = "\n"
    above: list[str] = []
    if molecules:
        kept = [i for i, row in enumerate(rows) if row.strip() and not row.startswith("#")]
        if kept and not could_be_smiles(rows[kept[0]].split()[0]):
            above.append(f"line {kept[0] + 1} is above the molecules")
            kept = kept[1:]
        places = [i + 1 for i in kept]
        whole = [rows[i] for i in kept]
        values = [row.split(maxsplit=1)[0] for row in whole]
    elif split == "row":
        kept = [i for i, row in enumerate(rows) if row.strip()]
        places = [i + 1 for i in kept]
        values = whole = [rows[i] for i in kept]
        if blank := len(rows) - len(kept):
            lines = "1 blank line is" if blank == 1 else f"{blank:,} blank lines are"
            above.append(f"{lines} left out")
    else:
        sign = "" if split == "blank" else split
        found = list(parts(rows, lambda row: row.strip() == sign))
        # Two signs in a row enclose an empty text; blank lines in a row are one separator.
        found = [part for i, part in enumerate(found, 1) if part[1] or (sign and i < len(found))]
        places = [place for place, _ in found]
        values = whole = ["\n".join(part) for _, part in found]
        between = f"\n{sign}\n" if sign else "\n\n"
    return Samples(
        values,
        places,
        kind="molecules" if molecules else "texts",
        above=above,
        written=lambda kept: between.join(whole[i] for i in kept) + "\n" * bool(kept),
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
