"""Worked examples of every kind: three each, small enough to take in at a glance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from vendiscore.core.errors import quoted

from ..aliases import Record
from ..quotas import RefusedError
from .submission import KINDS, Kind

_STORIES = """\
An old lighthouse keeper finds a letter addressed to the sea.
The last bakery on Mars runs out of sugar.
Two rival clockmakers fall in love on the longest night of the year.
A girl teaches her grandfather's parrot to keep secrets.
Every dog in the village starts to dream the same dream.
The chess champion loses to a machine that refuses to win.
A cartographer draws an island, and the next morning it is there.
Nobody remembers who planted the tree in the middle of the motorway.
The museum's youngest guard talks to the portraits at night.
After the flood, the librarian lends out boats instead of books.
A violin is passed down through four generations of thieves.
The weather forecast begins to describe the past."""

_COLLAPSED = """\
Once upon a time, there was a young girl named Lily who loved to explore.
Once upon a time, there was a young girl named Lily who loved the forest.
Once upon a time, there was a young boy named Tom who loved to explore.
Once upon a time, there was a little girl named Lily who loved animals.
Once upon a time, in a small village, there was a young girl named Lily.
Once upon a time, in a small village, there was a young girl named Elara.
In a small village, there was a young girl named Elara who loved the stars.
In a small village, there lived a young girl named Elara who loved stories.
Once upon a time, there was a young girl named Mia who loved to explore.
Once upon a time, there was a young girl named Lily who loved to dance.
Once upon a time, there was a kind old man who lived in a small village.
The last bakery on Mars runs out of sugar."""

_PRIMER = "Look, Jane.\nSee Spot.\nSee Spot run.\nRun, Spot, run.\nJane sees Spot run."

_SCENTS = """\
COc1cc(C=O)ccc1O CC1=CCC(CC1)C(C)=C CC(C)C1CCC(C)CC1O O=Cc1ccccc1 O=CC=Cc1ccccc1 CCOC(C)=O
CCCC(=O)OCC CC(=O)OCCC(C)C OCCc1ccccc1 CC(C)=CCCC(C)(O)C=C CC(C)=CCCC(C)=CC=O COc1ccc(CC=C)cc1
Oc1ccc(CC=C)cc1OC CC1(C)C2CCC1(C)C(=O)C2 CCCCCC=O CCCCCCCC=O""".replace(" ", "\n")
_ESTERS = "\n".join(f"{'C' * length}OC(C)=O" for length in range(1, 13))
_MEDICINES = """\
CC(=O)Oc1ccccc1C(=O)O CC(C)Cc1ccc(cc1)C(C)C(=O)O CC(=O)Nc1ccc(O)cc1 Cn1cnc2c1c(=O)n(C)c(=O)n2C
CN1CCCC1c1cccnc1 CN(C)C(=N)NC(=N)N NC(=O)c1cnccn1 OC(=O)c1ccccc1O NCCc1ccc(O)c(O)c1
CNC(C)C(O)c1ccccc1 Nc1ccc(cc1)S(N)(=O)=O COc1ccc2cc(ccc2c1)C(C)C(=O)O""".replace(" ", "\n")

_K = "1, 0.9, 0\n0.9, 1, 0\n0, 0, 1"


def _clusters() -> str:
    rng = np.random.default_rng(0)
    centres = np.array([[4.0, 0.0], [-2.0, 3.5], [-2.0, -3.5]])
    # More than half of all pairs are within a cluster, and so is the median distance.
    return _csv(np.repeat(centres, [18, 4, 2], axis=0) + rng.normal(scale=0.5, size=(24, 2)))


def _circle() -> str:
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    return _csv(np.column_stack([np.cos(angle), np.sin(angle)]))


def _csv(X: np.ndarray) -> str:
    return "\n".join(", ".join(f"{value:.2f}" for value in row) for row in X)


def _shapes() -> list[Image.Image]:
    images = []
    for colour in ("#d1495b", "#2e86ab", "#edae49"):
        for corners in (3, 4, 5, 30):
            image = Image.new("RGB", (64, 64), "#14213d")
            ImageDraw.Draw(image).regular_polygon((32, 32, 24), corners, fill=colour)
            images.append(image)
    return images


def _copies() -> list[Image.Image]:
    rng = np.random.default_rng(0)
    y, x = np.mgrid[-1:1:64j, -1:1:64j]
    face = np.exp(-3 * (x**2 + y**2)) * 200 + 30
    noisy = [face + rng.normal(scale=8, size=face.shape) for _ in range(11)]
    odd = 127 + 120 * np.sign(np.sin(9 * x))
    return _greys([*noisy, odd])


def _gratings() -> list[Image.Image]:
    y, x = np.mgrid[-1:1:64j, -1:1:64j]
    waves = [np.sin(14 * (x * np.cos(a) + y * np.sin(a))) for a in np.linspace(0, np.pi, 12, False)]
    return _greys([127.5 + 127 * wave for wave in waves])


def _greys(images: list[np.ndarray]) -> list[Image.Image]:
    return [Image.fromarray(np.clip(image, 0, 255).astype(np.uint8)) for image in images]


@dataclass(frozen=True)
class Example:
    kind: Kind
    name: str
    note: str  # one line on what there is to see
    text: str = ""  # of the box; empty for images
    kernel: str = ""  # that it is meant for; empty for the usual one
    images: Callable[[], list[object]] = list  # which draws them

    def entry(self) -> Record:
        known = {"name": self.name, "note": self.note}
        return known | ({"kernel": self.kernel} if self.kernel else {})


def _pictures(name: str, note: str, draw: Callable[[], list[Image.Image]]) -> Example:
    return Example("images", name, note, images=draw)


def _pairing(kind: Kind, name: str, note: str, sets: dict[str, str]) -> Record:
    """Return the menu's entry of sets to compare, which are examples by the names of the sets."""
    named = [{"name": name, "example": example} for name, example in sets.items()]
    return {"name": name, "note": note, "kind": kind, "sets": named}


_EIGHT = "Eight story openings"
_HALF = "Every other point of a circle"
_EVERY = [
    Example("texts", "A model in a rut", "12 openings, nearly all of them Lily's", _COLLAPSED),
    Example("texts", "Twelve story openings", "12 openings that share little", _STORIES),
    Example("texts", "A primer", "5 lines of a first reader, with few words", _PRIMER),
    _pictures("Shapes in three colours", "12 polygons: what counts, colour or shape?", _shapes),
    _pictures("One picture, again and again", "11 noisy copies and one odd one out", _copies),
    _pictures("Stripes at all angles", "12 gratings, each turned a little further", _gratings),
    Example("molecules", "Scents", "16 molecules that one can smell", _SCENTS),
    Example("molecules", "Twelve acetates", "12 esters, each a carbon longer", _ESTERS),
    Example("molecules", "Small medicines", "12 common drugs", _MEDICINES),
    Example(
        "vectors", "Three clusters", "24 points in clusters of 18, 4 and 2", _clusters(), "rbf"
    ),
    Example("vectors", "A circle", "24 points, evenly on a circle", _circle(), "cosine"),
    Example("vectors", "A matrix K", "a similarity matrix of 3 samples, two alike", _K, "K"),
]
MENU = {kind: [example for example in _EVERY if example.kind == kind] for kind in KINDS}
# Some stand only in a comparison.
_EVERY += [
    Example("texts", _EIGHT, "8 of them", "\n".join(_STORIES.splitlines()[:8])),
    Example("vectors", _HALF, "12 points on it", "\n".join(_circle().splitlines()[::2])),
]
PAIRINGS = [
    _pairing(
        "texts",
        "In a rut or not",
        "12 openings of one model, 8 of people",
        {"In a rut": "A model in a rut", "Stories": _EIGHT},
    ),
    _pairing(
        "molecules",
        "Scents, acetates, medicines",
        "three sets of different size",
        {"Scents": "Scents", "Acetates": "Twelve acetates", "Medicines": "Small medicines"},
    ),
    _pairing(
        "vectors",
        "Clusters or a circle",
        "24 points and 12",
        {"Clusters": "Three clusters", "Circle": _HALF},
    ),
]


def find_example(name: str, kind: str | None = None) -> Example:
    known = {each.name: each for each in _EVERY if kind in (None, each.kind)}
    if name not in known:
        raise RefusedError(f"There is no example {quoted(name)}; there are {', '.join(known)}.")
    return known[name]
