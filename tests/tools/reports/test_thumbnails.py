"""Small pictures of images and molecules."""

import base64
import io

import numpy as np
import pytest

from vendiscore.tools.reports import thumbnails
from vendiscore.tools.reports.thumbnails import depicted, encoded, sketch, small, uri

Image = pytest.importorskip("PIL.Image")
PIXELS = np.random.default_rng(0).integers(0, 256, (60, 90, 3), dtype=np.uint8)


def opened(address):
    head, _, data = address.partition(";base64,")
    image = Image.open(io.BytesIO(base64.b64decode(data)))
    assert head == f"data:image/{image.format.lower()}"
    return image


def test_an_address_has_the_image():
    image = Image.fromarray(PIXELS)
    result = opened(uri(image))
    np.testing.assert_array_equal(np.asarray(result), PIXELS)
    assert Image.open(io.BytesIO(encoded(image, "jpeg", quality=50))).format == "JPEG"


@pytest.mark.parametrize(("side", "size"), [(48, (48, 32)), (30, (30, 20)), (500, (90, 60))])
def test_a_thumbnail_keeps_the_proportions(side, size):
    image = Image.fromarray(PIXELS)
    assert opened(small(image, side)).size == size
    assert image.size == (90, 60)  # unchanged


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P", "1", "CMYK"])
def test_thumbnails_are_grey_or_coloured(mode):
    image = Image.fromarray(PIXELS).convert("RGB").convert(mode)
    assert opened(small(image)).mode == ("L" if mode == "L" else "RGB")
    assert image.size == (90, 60)  # unchanged


def test_the_shorter_format_is_used():
    plain = Image.new("RGB", (60, 60), "red")
    assert opened(small(plain)).format == "PNG"
    assert opened(small(Image.fromarray(PIXELS))).format == "JPEG"


def test_molecules_are_drawn_and_sketches_are_shorter():
    pytest.importorskip("rdkit")
    drawn, short = depicted("c1ccccc1O"), sketch("c1ccccc1O")
    assert "<svg" in drawn
    assert 0 < len(short) < len(drawn) / 2
    assert short.startswith('<svg class="molecule" viewBox="0 0 150 110"')
    assert 'stroke="currentColor"' in short
    assert "#000000" not in short
    assert ">OH</text>" in short or (">O</text>" in short and ">H</text>" in short)


@pytest.mark.parametrize(
    "smiles", ["no molecule", "C1CC", "CC\0C", "C" * (thumbnails.LARGEST_DRAWN + 1)]
)
def test_what_is_no_molecule_or_too_large_is_not_drawn(smiles):
    pytest.importorskip("rdkit")
    assert depicted(smiles) == sketch(smiles) == ""
    assert depicted("C" * thumbnails.LARGEST_DRAWN)
