"""What a visitor sends, and how it is to be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["texts", "images", "molecules", "vectors"]
KINDS: tuple[Kind, ...] = ("texts", "images", "molecules", "vectors")
# What one sample of each kind is called.
SINGULAR = {"texts": "text", "images": "image", "molecules": "molecule", "vectors": "row"}
# What may stand between two texts; anything else is itself the sign.
LINE, BLANK, FILE, ROW = "line", "blank", "file", "row"


@dataclass(frozen=True)
class Given:
    """What a visitor sent.

    Attributes
    ----------
    files : sequence of (str, bytes)
        Names without folders, and what is in them.
    text : str
        What was pasted; it counts where there are no files.
    """

    files: Sequence[tuple[str, bytes]] = ()
    text: str = ""


@dataclass(frozen=True)
class Asked:
    """How it is to be read; None and "" are for what is to be found out.

    Attributes
    ----------
    kind : str or None
        One of `KINDS`.
    column : str or None
        The column of a table, or the array of a .npz file.
    by : str or None
        The column of groups.
    separator : str or None
        What stands between two texts: "line", "blank", "file", "row" of a table, or a sign
        such as "---".
    blocks : bool
        Whether blank lines separate groups of lines.
    draw : int
        Which random part is taken of more samples than fit.
    example : str or None
        An example instead of a `Given`.
    dataset : str or None
        The id of a data set on the Hub instead of a `Given`, "owner/name:config/split".
    header, index : bool or None
        Whether the first row names the columns, and the first column numbers the rows.
    """

    kind: str | None = None
    column: str | None = None
    by: str | None = None
    separator: str | None = None
    blocks: bool = False
    draw: int = 0
    example: str | None = None
    dataset: str | None = None
    header: bool | None = None
    index: bool | None = None
