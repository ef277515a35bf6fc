"""Conversion of all supported image types to opaque 8-bit PIL images."""

import io

import numpy as np
import pytest

from vendiscore import SampleError
from vendiscore.encoders.pil_images import (
    as_image,
    check_background,
    check_images,
    name_files_in_errors,
)

Image = pytest.importorskip("PIL.Image")
RNG = np.random.default_rng(0)
COLOUR = RNG.integers(0, 256, (6, 5, 3), dtype=np.uint8)
GREY = COLOUR[:, :, 0].copy()


def to_pixels(item, **options):
    return np.asarray(as_image(item, 0, **options))


def encode_image(image, format="PNG", **options):
    data = io.BytesIO()
    image.save(data, format, **options)
    return data.getvalue()


@pytest.mark.parametrize("array", [COLOUR, GREY], ids=["colour", "grey"])
def test_as_image_accepts_all_image_types(array, tmp_path):
    data = encode_image(Image.fromarray(array))
    path = tmp_path / "image.png"
    path.write_bytes(data)
    items = [array, Image.fromarray(array), data, bytearray(data), path, str(path)]
    items += [{"bytes": data, "path": None}, {"bytes": None, "path": str(path)}]
    items += [array.tolist(), array.astype(np.int64), array / 255]
    for item in items:
        np.testing.assert_array_equal(to_pixels(item), array)
    assert as_image(array, 0).mode == ("RGB" if array.ndim == 3 else "L")


def test_as_image_accepts_channels_first_and_last():
    np.testing.assert_array_equal(to_pixels(np.moveaxis(COLOUR, 2, 0)), COLOUR)
    np.testing.assert_array_equal(to_pixels(COLOUR[:3]), COLOUR[:3])  # (3, 5, 3) is (H, W, C)
    np.testing.assert_array_equal(to_pixels(GREY[:, :, None]), GREY)
    np.testing.assert_array_equal(to_pixels(GREY[None]), GREY)
    assert to_pixels(GREY > 100).tolist() == np.where(GREY > 100, 255, 0).tolist()


@pytest.mark.parametrize("mode", ["1", "LA", "P", "RGBA", "CMYK", "YCbCr", "HSV", "RGBX"])
def test_image_modes_become_greyscale_or_rgb(mode):
    image = Image.fromarray(COLOUR).convert("RGBA" if mode == "RGBA" else "RGB").convert(mode)
    result = as_image(image, 0)
    assert result.mode == ("L" if mode in ("1", "LA") else "RGB")
    np.testing.assert_array_equal(np.asarray(result), np.asarray(image.convert(result.mode)))


def test_16_bit_images_are_scaled_to_8_bits():
    values = np.array([[0, 257, 256 * 128, 65535]], np.uint16)
    expected = [[0, 1, 128, 255]]
    assert to_pixels(Image.fromarray(values)).tolist() == expected
    assert to_pixels(encode_image(Image.fromarray(values))).tolist() == expected
    for mode in ("I", "F"):
        with pytest.raises(SampleError, match=f"sample 3 is an image of mode {mode}"):
            as_image(Image.new(mode, (2, 2)), 3)


def test_transparent_pixels_require_background():
    image = Image.new("RGBA", (2, 1), (200, 100, 0, 255))
    assert to_pixels(image).tolist() == [[[200, 100, 0]] * 2]
    image.putpixel((0, 0), (200, 100, 0, 0))
    image.putpixel((1, 0), (200, 100, 0, 128))
    with pytest.raises(SampleError, match="has transparent pixels"):
        as_image(image, 0)
    (transparent_pixel, translucent_pixel) = to_pixels(image, background="white")[0]
    assert transparent_pixel.tolist() == [255, 255, 255]
    expected = np.rint(128 / 255 * np.array([200, 100, 0]) + 127 / 255 * 255)
    assert np.abs(translucent_pixel - expected).max() <= 1


def test_exif_orientation_is_applied():
    data = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(COLOUR).save(data, "PNG", exif=exif)
    np.testing.assert_array_equal(to_pixels(data.getvalue()), np.rot90(COLOUR, -1))


def test_animations_are_rejected():
    frames = [Image.fromarray(COLOUR), Image.fromarray(255 - COLOUR)]
    data = encode_image(frames[0], "GIF", save_all=True, append_images=frames[1:])
    with pytest.raises(SampleError, match="is an animation"):
        as_image(data, 0)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (3, "must be a PIL image, .* got int: 3"),
        (b"no image", "cannot be read as an image"),
        ({"image": 1}, r"must have a key `bytes` or `path`.*ds\['image'\]"),
        ({"a": 1}, r"ds\['a'\]"),
        (np.zeros((2, 3, 5)), "1, 3 or 4 channels"),
        (np.zeros((0, 3)), r"got shape \(0, 3\)"),
        (np.zeros(4), r"got shape \(4,\)"),
        (np.full((2, 2), 256), "integers from 0 to 255, got values from 256"),
        (np.full((2, 2), -1), "integers from 0 to 255"),
        (np.full((2, 2), 1.5), "floats from 0 to 1, got values from 1.5"),
        (np.full((2, 2), np.nan), "floats from 0 to 1"),
        (np.full((2, 2), "a"), "array of numbers"),
        ([[1, 2], [3]], "cannot be read as an array"),
        (np.ma.masked_array(GREY, GREY > 100), "has masked pixels"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_invalid_items_raise_sample_error(item, message):
    with pytest.raises(SampleError, match=message) as caught:
        as_image(item, 7)
    assert caught.value.index == 7


def test_check_images_checks_types_and_paths_without_reading(tmp_path):
    path = tmp_path / "broken.png"
    path.write_bytes(b"not read yet")
    check_images([path, str(path), b"x", COLOUR, {"path": str(path)}, Image.new("L", (1, 1))])
    invalid_items = [path, "missing.png", tmp_path, 3, {"x": 1}, {"path": "missing.png"}]
    with pytest.raises(SampleError) as caught:
        check_images(invalid_items)
    problems = caught.value.problems
    assert [*problems] == [1, 2, 3, 4, 5]
    assert "is not a file: 'missing.png'" in problems[1]
    assert "is a folder" in problems[2]
    assert "got int" in problems[3]


def test_errors_name_image_files(tmp_path):
    paths = [tmp_path / "a.png", {"bytes": None, "path": "b.png"}, {"bytes": b"", "path": "c.png"}]
    with pytest.raises(SampleError) as caught, name_files_in_errors(paths):
        raise SampleError.from_problems({0: "is broken", 1: "is not b.png", 2: "is broken"})
    assert caught.value.problems == {
        0: f"({tmp_path / 'a.png'}) is broken",
        1: "is not b.png",
        2: "is broken",
    }


def test_check_background_accepts_only_colours():
    for colour in (None, "white", "#808080"):
        check_background(colour)
    with pytest.raises(ValueError, match=r"`background` must be a colour.* got 'whitish'"):
        check_background("whitish")


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float16", "bfloat16"])
def test_tensors_are_read_channels_first(dtype):
    torch = pytest.importorskip("torch")
    values = torch.tensor(np.moveaxis(COLOUR // 128 * 255, 2, 0))
    if dtype != "uint8":
        values = (values / 255).to(getattr(torch, dtype))
    np.testing.assert_array_equal(to_pixels(values), COLOUR // 128 * 255)
    with pytest.raises(SampleError, match="can be read as"):
        as_image(torch.zeros(3, 4, 3), 0)
