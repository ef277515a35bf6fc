"""Thumbnails of images and drawings of molecules."""

import base64
import io
import re

import numpy as np
import pytest

from vendiscore.tools.reports import thumbnails
from vendiscore.tools.reports.thumbnails import depicted, encoded, sketch, small, uri

Image = pytest.importorskip("PIL.Image")
PIXELS = np.random.default_rng(0).integers(0, 256, (60, 90, 3), dtype=np.uint8)


def decode_data_uri(data_uri):
    prefix, _, data = data_uri.partition(";base64,")
    image = Image.open(io.BytesIO(base64.b64decode(data)))
    assert prefix == f"data:image/{image.format.lower()}"
    return image


def test_uri_encodes_the_image():
    image = Image.fromarray(PIXELS)
    result = decode_data_uri(uri(image))
    np.testing.assert_array_equal(np.asarray(result), PIXELS)
    assert Image.open(io.BytesIO(encoded(image, "jpeg", quality=50))).format == "JPEG"


@pytest.mark.parametrize(("side", "size"), [(48, (48, 32)), (30, (30, 20)), (500, (90, 60))])
def test_thumbnail_keeps_the_aspect_ratio(side, size):
    image = Image.fromarray(PIXELS)
    assert decode_data_uri(small(image, side)).size == size
    assert image.size == (90, 60)  # unchanged


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P", "1", "CMYK"])
def test_thumbnails_are_greyscale_or_rgb(mode):
    image = Image.fromarray(PIXELS).convert("RGB").convert(mode)
    assert decode_data_uri(small(image)).mode == ("L" if mode == "L" else "RGB")
    assert image.size == (90, 60)  # unchanged


def test_thumbnail_uses_the_smaller_format():
    uniform = Image.new("RGB", (60, 60), "red")
    assert decode_data_uri(small(uniform)).format == "PNG"
    assert decode_data_uri(small(Image.fromarray(PIXELS))).format == "JPEG"


def test_molecules_have_drawings_and_shorter_sketches():
    pytest.importorskip("rdkit")
    drawing, molecule_sketch = depicted("c1ccccc1O"), sketch("c1ccccc1O")
    assert "<svg" in drawing
    assert 0 < len(molecule_sketch) < len(drawing) / 2
    assert molecule_sketch.startswith('<svg class="molecule" viewBox="0 0 150 110"')
    assert 'stroke="currentColor"' in molecule_sketch
    assert "#000000" not in molecule_sketch
    labels = re.findall(r">(\w+)</text>", molecule_sketch)
    assert "OH" in labels or {"O", "H"} <= {*labels}


@pytest.mark.parametrize(
    "smiles", ["no molecule", "C1CC", "CC\0C", "C" * (thumbnails.LARGEST_DRAWN + 1)]
)
def test_invalid_or_large_molecules_are_not_drawn(smiles):
    pytest.importorskip("rdkit")
    assert depicted(smiles) == sketch(smiles) == ""
    assert depicted("C" * thumbnails.LARGEST_DRAWN)
