"""Small pictures of images and molecules."""

from __future__ import annotations

import base64
import html
import io
import re
from typing import TYPE_CHECKING

from ...kernels.molecules import is_readable

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = [
    "depicted",
    "encoded",
    "sketch",
    "small",
    "uri",
]

LARGEST_DRAWN = 100  # maximum number of atoms of a molecule that is drawn
# Size of drawings of molecules, in pixels.
WIDTH = 150
HEIGHT = 110
_LINES = re.compile(r" d='([^']*)' style='fill:([^;]*);(?:[^']*;)?stroke:([^;]*);")
_LETTERS = re.compile(
    r"<text x='([^']*)' y='([^']*)'[^>]*font-size:([^;]*)px;[^>]*fill:([^'; ]*)[^>]*>([^<]*)</text>"
)


def sketch(smiles: str) -> str:
    """Draw a molecule as inline SVG with one path per colour; "" if it cannot be drawn.

    The text is about a fifth as long as that of `depicted`.
    """
    svg = depicted(smiles, letters=True)
    if not svg:
        return ""
    path_data: dict[tuple[str, str], str] = {}
    for d, fill, stroke in _LINES.findall(svg):
        shortened = re.sub(r"\.0(?!\d)|(?<=[MLCQZ]) | (?=[MLCQZ])", "", d).strip()
        path_data[fill, stroke] = path_data.get((fill, stroke), "") + shortened
    paths = "".join(
        f'<path d="{d}" fill="{_ink(fill)}" stroke="{_ink(stroke)}"/>'
        for (fill, stroke), d in path_data.items()
    )
    letters = "".join(
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{_ink(fill)}">{escaped}</text>'
        for x, y, size, fill, text in _LETTERS.findall(svg)
        if (escaped := html.escape(html.unescape(text)))
    )
    attributes = f'viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true" stroke-width="2"'
    return f'<svg class="molecule" {attributes}>{paths}{letters}</svg>'


def _ink(colour: str) -> str:
    return "currentColor" if colour == "#000000" else colour


def depicted(smiles: str, letters: bool = False) -> str:
    """Draw a molecule as SVG with RDKit; "" if SMILES are invalid or the molecule is too large.

    If `letters` is True, letters are text elements instead of paths.
    """
    from rdkit import Chem, rdBase
    from rdkit.Chem.Draw import rdMolDraw2D

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles) if is_readable(smiles) else None
        if molecule is None or molecule.GetNumAtoms() > LARGEST_DRAWN:
            return ""
        canvas = rdMolDraw2D.MolDraw2DSVG(WIDTH, HEIGHT, -1, -1, letters)
        canvas.DrawMolecule(rdMolDraw2D.PrepareMolForDrawing(molecule))
        canvas.FinishDrawing()
    return canvas.GetDrawingText()


def uri(image: Image, kind: str = "png", **options: object) -> str:
    """Return an image as a data URI, in the image format `kind`."""
    return f"data:image/{kind};base64,{base64.b64encode(encoded(image, kind, **options)).decode()}"


def encoded(image: Image, kind: str, **options: object) -> bytes:
    """Return an image as the bytes of an image file of the format `kind`."""
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def small(image: Image, side: int = 48) -> str:
    """Return an image, reduced to at most `side` pixels in both directions, as a data URI.

    The format is JPEG or PNG, whichever is shorter.
    """
    image = image.convert("RGB") if image.mode != "L" else image.copy()
    image.thumbnail((side, side))
    return min(uri(image, "jpeg", quality=70), uri(image), key=len)
