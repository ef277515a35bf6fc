"""Whatever holds an image becomes an opaque image of 8 bits, or an error that says why not."""

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


def pixels(item, **options):
    return np.asarray(as_image(item, 0, **options))


def file_of(image, format="PNG", **options):
    data = io.BytesIO()
    image.save(data, format, **options)
    return data.getvalue()


@pytest.mark.parametrize("array", [COLOUR, GREY], ids=["colour", "grey"])
def test_every_holder_of_an_image_gives_its_pixels(array, tmp_path):
    data = file_of(Image.fromarray(array))
    path = tmp_path / "image.png"
    path.write_bytes(data)
    holders = [array, Image.fromarray(array), data, bytearray(data), path, str(path)]
    holders += [{"bytes": data, "path": None}, {"bytes": None, "path": str(path)}]
    holders += [array.tolist(), array.astype(np.int64), array / 255]
    for holder in holders:
        np.testing.assert_array_equal(pixels(holder), array)
    assert as_image(array, 0).mode == ("RGB" if array.ndim == 3 else "L")


def test_channels_may_be_first_or_last_and_one_channel_is_grey():
    np.testing.assert_array_equal(pixels(np.moveaxis(COLOUR, 2, 0)), COLOUR)
    np.testing.assert_array_equal(pixels(COLOUR[:3]), COLOUR[:3])  # (3, 5, 3) is (H, W, C)
    np.testing.assert_array_equal(pixels(GREY[:, :, None]), GREY)
    np.testing.assert_array_equal(pixels(GREY[None]), GREY)
    assert pixels(GREY > 100).tolist() == np.where(GREY > 100, 255, 0).tolist()


@pytest.mark.parametrize("mode", ["1", "LA", "P", "RGBA", "CMYK", "YCbCr", "HSV", "RGBX"])
def test_modes_become_greyscale_or_colour(mode):
    image = Image.fromarray(COLOUR).convert("RGBA" if mode == "RGBA" else "RGB").convert(mode)
    result = as_image(image, 0)
    assert result.mode == ("L" if mode in ("1", "LA") else "RGB")
    np.testing.assert_array_equal(np.asarray(result), np.asarray(image.convert(result.mode)))


def test_sixteen_bits_are_scaled_to_eight():
    values = np.array([[0, 257, 256 * 128, 65535]], np.uint16)
    expected = [[0, 1, 128, 255]]
    assert pixels(Image.fromarray(values)).tolist() == expected
    assert pixels(file_of(Image.fromarray(values))).tolist() == expected
    for mode in ("I", "F"):
        with pytest.raises(SampleError, match=f"sample 3 is an image of mode {mode}"):
            as_image(Image.new(mode, (2, 2)), 3)


def test_transparent_pixels_show_the_background_or_are_refused():
    image = Image.new("RGBA", (2, 1), (200, 100, 0, 255))
    assert pixels(image).tolist() == [[[200, 100, 0]] * 2]
    image.putpixel((0, 0), (200, 100, 0, 0))
    image.putpixel((1, 0), (200, 100, 0, 128))
    with pytest.raises(SampleError, match="has transparent pixels"):
        as_image(image, 0)
    (clear, half) = pixels(image, background="white")[0]
    assert clear.tolist() == [255, 255, 255]
    expected = np.rint(128 / 255 * np.array([200, 100, 0]) + 127 / 255 * 255)
    assert np.abs(half - expected).max() <= 1


def test_photos_are_turned_upright():
    data = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(COLOUR).save(data, "PNG", exif=exif)
    np.testing.assert_array_equal(pixels(data.getvalue()), np.rot90(COLOUR, -1))


def test_animations_are_refused():
    frames = [Image.fromarray(COLOUR), Image.fromarray(255 - COLOUR)]
    data = file_of(frames[0], "GIF", save_all=True, append_images=frames[1:])
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
def test_what_is_no_image_is_an_error_about_the_sample(item, message):
    with pytest.raises(SampleError, match=message) as caught:
        as_image(item, 7)
    assert caught.value.index == 7


def test_types_and_paths_are_checked_before_any_image_is_read(tmp_path):
    path = tmp_path / "broken.png"
    path.write_bytes(b"not read yet")
    check_images([path, str(path), b"x", COLOUR, {"path": str(path)}, Image.new("L", (1, 1))])
    bad = [path, "missing.png", tmp_path, 3, {"x": 1}, {"path": "missing.png"}]
    with pytest.raises(SampleError) as caught:
        check_images(bad)
    problems = caught.value.problems
    assert [*problems] == [1, 2, 3, 4, 5]
    assert "is not a file: 'missing.png'" in problems[1]
    assert "is a folder" in problems[2]
    assert "got int" in problems[3]


def test_errors_about_files_name_them(tmp_path):
    paths = [tmp_path / "a.png", {"bytes": None, "path": "b.png"}, {"bytes": b"", "path": "c.png"}]
    with pytest.raises(SampleError) as caught, name_files_in_errors(paths):
        raise SampleError.from_problems({0: "is broken", 1: "is not b.png", 2: "is broken"})
    assert caught.value.problems == {
        0: f"({tmp_path / 'a.png'}) is broken",
        1: "is not b.png",
        2: "is broken",
    }


def test_backgrounds_are_colours():
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
    np.testing.assert_array_equal(pixels(values), COLOUR // 128 * 255)
    with pytest.raises(SampleError, match="can be read as"):
        as_image(torch.zeros(3, 4, 3), 0)
