"""Small pictures of images and molecules, as data URIs."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

LARGEST_DRAWN = 100  # atoms


def drawing(smiles: str) -> str:
    """A molecule drawn, as a data URI of SVG; empty if it cannot be read or is too large."""
    from rdkit import Chem, rdBase
    from rdkit.Chem.Draw import rdMolDraw2D

    with rdBase.BlockLogs():
        molecule: Any = Chem.MolFromSmiles(smiles)
        if molecule is None or molecule.GetNumAtoms() > LARGEST_DRAWN:
            return ""
        canvas = rdMolDraw2D.MolDraw2DSVG(150, 110)
        canvas.DrawMolecule(rdMolDraw2D.PrepareMolForDrawing(molecule))
        canvas.FinishDrawing()
    svg: str = canvas.GetDrawingText()
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def uri(image: Image) -> str:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def small(image: Image, side: int = 48) -> str:
    """An image of `side` pixels each way at most, as a data URI: JPEG, or PNG if shorter."""
    image = image.convert("RGB") if image.mode != "L" else image.copy()
    image.thumbnail((side, side))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=70)
    jpeg = "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()
    return min(jpeg, uri(image), key=len)
