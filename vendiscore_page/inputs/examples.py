"""Worked examples of every kind: three each, small enough to take in at a glance.

`examples.json` has their lines, or their pictures as base64 of PNG: regular polygons, copies of a
blurred spot with noise, and gratings, all of 64 × 64 pixels.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from PIL import Image

from vendiscore.support.errors import short_repr

from ..aliases import Record
from ..quotas import RefusedError
from .submission import KINDS, Kind


@dataclass(frozen=True)
class Example:
    kind: Kind
    name: str
    note: str  # one line on what there is to see
    kernel: str = ""  # that it is meant for; empty for the usual one
    lines: Sequence[str] = ()  # of the box; empty for images
    pictures: Sequence[str] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def files(self) -> list[tuple[str, bytes]]:
        pictures = map(base64.b64decode, self.pictures)
        return [(f"{i}.png", data) for i, data in enumerate(pictures, 1)]

    def open_images(self) -> list[Image.Image]:
        return [Image.open(io.BytesIO(data)) for _, data in self.files]

    def to_menu_entry(self) -> Record:
        entry = {"name": self.name, "note": self.note}
        return entry | ({"kernel": self.kernel} if self.kernel else {})


# A table of made-up answers; the page opens on its comparison.
THREE_MODELS = "Three models, ten prompts"
_FILE = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
MENU = {kind: [Example(kind, **each) for each in _FILE["menu"][kind]] for kind in KINDS}
# Entries of the menu of sets to compare, which are examples by the names of the sets.
PAIRINGS: list[Record] = _FILE["pairings"]
_OTHER_EXAMPLES = [Example(**each) for each in _FILE["others"]]  # that stand only in a comparison


def find_example(name: str, kind: str | None = None) -> Example:
    examples = chain(*MENU.values(), _OTHER_EXAMPLES)
    by_name = {example.name: example for example in examples if kind in (None, example.kind)}
    if name not in by_name:
        raise RefusedError(
            f"There is no example {short_repr(name)}; there are {', '.join(by_name)}."
        )
    return by_name[name]
