"""Lines of text as samples: each line, or each part between two separators."""

from collections.abc import Callable, Iterator, Sequence

from .encodings import LINE_BREAK
from .samples import Samples


def line_samples(text: str, split: str, molecules: bool) -> Samples:
    """Split a text at each "row", at "blank" lines or at a sign; drop the names of SMILES."""
    rows = LINE_BREAK.split(text)
    rows = rows[:-1] if not rows[-1] else rows
    places: Sequence[int] = range(1, len(rows) + 1)
    values = rows
    whole = rows
    between = "\n"
    if molecules:
        values = [row.split(maxsplit=1)[0] if row.strip() else "" for row in rows]
    elif split != "row":
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
