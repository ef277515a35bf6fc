"""Lines of text as samples: each line, or each part between two separators."""

import re
from collections.abc import Callable, Iterator, Sequence

from ...support.text_detection import can_be_smiles
from .encodings import LINE_BREAK
from .limits import AskError, Wanted
from .names import say_left_out
from .samples import Samples


def line_samples(text: str, wanted: Wanted, molecules: bool) -> Samples:
    """Split a text at each "row", at "blank" lines or at a sign; drop the names of SMILES.

    Most parts between blank lines have several lines in poems, about which a question is asked.
    """
    split = wanted.split
    rows = LINE_BREAK.split(text)
    if not rows[-1]:
        rows.pop()
    kept = [(place, row) for place, row in enumerate(rows, 1) if row.strip()]
    between = "\n"
    above = []
    if molecules:
        kept = [(place, row) for place, row in kept if not row.startswith("#")]
        if kept and not can_be_smiles(kept[0][1].split()[0]):
            above.append(f"line {kept[0][0]} is above the molecules")
            del kept[0]
    elif not split and wanted.kind in ("", "texts") and "" in rows and _are_blocks(rows):
        raise AskError(
            "Is each line a text, or each part between blank lines?",
            [("Each line", {"split": "row"}), ("Each part", {"split": "blank"})],
        )
    elif split not in ("", "row"):
        sign = "" if split == "blank" else split
        found = list(parts(rows, lambda row: row.strip() == sign))
        # Two signs in a row enclose an empty text; blank lines in a row are one separator.
        found = [part for i, part in enumerate(found, 1) if part[1] or (sign and i < len(found))]
        kept = [(place, "\n".join(part)) for place, part in found]
        between = f"\n{sign}\n" if sign else "\n\n"
    elif blank := len(rows) - len(kept):
        above.append(say_left_out(blank, "blank line"))
    whole = [row for _, row in kept]
    return Samples(
        [row.split(maxsplit=1)[0] for row in whole] if molecules else whole,
        [place for place, _ in kept],
        kind="molecules" if molecules else "texts",
        above=above,
        written=lambda some: between.join(whole[i] for i in some) + "\n" * bool(some),
    )


def _are_blocks(rows: Sequence[str]) -> bool:
    """Return whether there are three or more parts between blank lines, most of several lines."""
    blocks = re.split("\n\n+", "\n".join(map(str.strip, rows)).strip("\n"))
    return len(blocks) > 2 and 2 * sum("\n" in block for block in blocks) > len(blocks)


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
