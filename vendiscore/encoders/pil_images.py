"""Conversion of images of any type to opaque 8-bit PIL images, greyscale or RGB."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING

import numpy as np

from ..support.errors import SampleError, short_repr
from ..support.namespace import is_torch
from ..support.optional import require

if TYPE_CHECKING:
    from PIL.Image import Image

_GREYS = ("1", "L", "LA")
_COLOURS = ("RGB", "RGBA", "RGBX", "P", "PA", "CMYK", "YCbCr", "HSV")
_CHANNELS = (1, 3, 4)
_ORIENTATION = 0x0112  # the EXIF tag
_FOLDER_PROBLEM = (
    "is a folder, not an image: {}; pass only the path of the folder to use its images, or lists "
    "of files for groups"
)


class _ImageError(Exception):
    """An image that cannot be read; the message is a predicate such as "has masked pixels"."""


def as_image(item: object, index: int, background: str | None = None) -> Image:
    """Convert any image to a PIL image of mode "L" (greyscale) or "RGB".

    Transparent pixels show the colour `background`. If it is None, a SampleError is raised for an
    image with transparent pixels. Errors contain `index`, the index of the image.
    """
    image_module = require("PIL.Image", "images", "a kernel on images")
    try:
        # From a dict to its content or path, from content to a file, and from a file, an array or a
        # PIL image to a decoded image.
        if isinstance(item, Mapping):
            item = _get_image_source(item)
        if isinstance(item, (bytes, bytearray)):
            item = io.BytesIO(item)
        if isinstance(item, (str, Path, io.BytesIO)):
            image = _open_image(image_module, item)
        else:
            is_pil_image = isinstance(item, image_module.Image)
            image = _decode_image(
                item if is_pil_image else image_module.fromarray(_to_pixel_array(item))
            )
        return _to_eight_bit(_to_opaque(image, background))
    except _ImageError as error:
        raise SampleError(index, str(error)) from error.__cause__


def check_background(colour: str | None) -> None:
    """Raise a ValueError if `colour` is neither a colour nor None."""
    if colour is None:
        return
    try:
        require("PIL.ImageColor", "images", "a kernel on images").getrgb(str(colour))
    except ValueError:
        raise ValueError(
            f"`background` must be a colour, such as 'white' or '#808080', got {short_repr(colour)}"
        ) from None


@contextmanager
def name_files_in_errors(images: Sequence[object]) -> Iterator[None]:
    """Add file names to a SampleError raised within this context.

    A name is added to the problem of each image that was passed as a file. `images` are all images,
    as passed.
    """
    try:
        yield
    except SampleError as error:
        problems = dict(error.problems)
        for i, problem in problems.items():
            # A dict with the path of an image, and without its content, is a file.
            item = images[i]
            if isinstance(item, Mapping) and item.get("bytes") is None:
                item = item.get("path")
            # Some problems already contain the name, possibly abbreviated.
            has_name = str(item) in problem or short_repr(str(item)) in problem
            if isinstance(item, (str, Path)) and not has_name:
                problems[i] = f"({item}) {problem}"
        raise SampleError.from_problems(problems) from error.__cause__


def check_images(images: Sequence[object]) -> None:
    """Raise a `SampleError` for unsupported types and missing files, before images are read."""
    image_module = require("PIL.Image", "images", "a kernel on images")
    readable = (image_module.Image, bytes, bytearray, np.ndarray, list)
    problems = {}
    for i, item in enumerate(images):
        try:
            # Paths are checked without opening the files; other items only by type.
            source = _get_image_source(item) if isinstance(item, Mapping) else item
            if isinstance(source, (str, Path)):
                if os.path.isdir(source):
                    problems[i] = _FOLDER_PROBLEM.format(short_repr(os.fspath(source)))
                elif not os.path.isfile(source):
                    problems[i] = f"is not a file: {short_repr(os.fspath(source))}; check the path"
            elif not is_torch(source) and not isinstance(source, readable):
                raise _not_an_image_error(source)
        except _ImageError as error:
            problems[i] = str(error)
    SampleError.check(problems)


def _get_image_source(item: Mapping[str, object]) -> object:
    """Return the bytes or the path of an image from a dict with the key "bytes" or "path".

    Datasets with a column of type `datasets.Image` contain such dicts.
    """
    for key in ("bytes", "path"):
        if item.get(key) is not None:
            return item[key]
    # The item may be a row of a dataset; suggest the column with the images.
    column = "image" if "image" in item else next(iter(item), "image")
    raise _ImageError(
        "must have a key `bytes` or `path`, like values of `datasets.Image`, got a mapping with "
        f"the keys {sorted(map(str, item))}; for a dataset, pass its column, ds[{column!r}]",
    )


def _open_image(image_module: ModuleType, file: str | Path | IO[bytes]) -> Image:
    """Open and decode an image file; raise an _ImageError if it cannot be read.

    `image_module` is the module PIL.Image.
    """
    try:
        with image_module.open(file) as image:
            return _decode_image(image)
    except (OSError, ValueError, SyntaxError, image_module.DecompressionBombError) as error:
        # A folder is an OSError with an unhelpful message.
        if isinstance(file, (str, Path)) and os.path.isdir(file):
            raise _ImageError(_FOLDER_PROBLEM.format(short_repr(os.fspath(file)))) from error
        raise _unreadable_error(error) from error


def _decode_image(image: Image) -> Image:
    """Decode the image and rotate it according to its EXIF orientation; reject animations."""
    try:
        image.load()  # files are loaded lazily
        is_rotated = image.getexif().get(_ORIENTATION, 1) != 1
        # Photos (MPO) may contain a preview, and PSD files layers; they are not animations.
        is_animated = getattr(image, "is_animated", False) and image.format not in ("MPO", "PSD")
    except (OSError, ValueError, SyntaxError) as error:
        raise _unreadable_error(error) from error
    if is_animated:
        raise _ImageError("is an animation; pass its frames as separate images")
    if not is_rotated:
        return image
    upright = require("PIL.ImageOps", "images", "a kernel on images").exif_transpose(image)
    upright.format = image.format  # `_to_eight_bit` and `_to_opaque` depend on it
    return upright


def _unreadable_error(error: Exception) -> _ImageError:
    reason = str(error).partition(" <")[0]  # drop the memory address of bytes objects
    return _ImageError(f"cannot be read as an image: {reason}; replace or remove the file")


def _not_an_image_error(item: object) -> _ImageError:
    return _ImageError(
        f"must be a PIL image, an array, a path, bytes or a value of `datasets.Image`, got "
        f"{type(item).__name__}: {short_repr(item)}",
    )


def _to_eight_bit(image: Image) -> Image:
    """Return the image in mode L or RGB; 16 bits are scaled to 8."""
    if image.mode in ("L", "RGB"):
        return image
    # Older versions of pillow open 16-bit PNG files in mode I.
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PNG"):
        pixels = np.rint(np.asarray(image) / 257).astype(np.uint8)  # 65535 / 257 = 255
        return require("PIL.Image", "images", "a kernel on images").fromarray(pixels)
    if image.mode not in _GREYS + _COLOURS:
        raise _ImageError(
            f"is an image of mode {image.mode}, which has no unique conversion to 8-bit greyscale "
            f"or RGB; pass np.asarray(image) / maximum, with the same maximum for all images"
        )
    return image.convert("L" if image.mode in _GREYS else "RGB")


def _to_opaque(image: Image, background: str | None) -> Image:
    """Return the image with transparent pixels shown on the colour `background`.

    If `background` is None, raise an error for an image with transparent pixels.
    """
    # A file in mode L or RGB can declare a transparent colour. A converted image keeps this
    # declaration, although its pixels are opaque.
    is_converted = image.format is None and image.mode in ("L", "RGB")
    if is_converted or not image.has_transparency_data:
        return image
    rgba = image.convert("RGBA")
    if rgba.getchannel("A").getextrema()[0] == 255:  # no pixel is transparent
        return image
    if background is None:
        raise _ImageError(
            "has transparent pixels, whose colour depends on the background; pass "
            "background='white', or another colour, with k='pixels' or k='image_embeddings'"
        )
    # Fill an image of the same size with the background, and draw the image onto it.
    canvas = rgba.copy()
    canvas.paste(background, (0, 0, *rgba.size))
    canvas.alpha_composite(rgba)
    return canvas.convert("RGB")


def _to_pixel_array(item: object) -> np.ndarray:
    """Convert an array to a uint8 array of shape (height, width) or (height, width, channels)."""
    try:
        if is_torch(item):
            pixels = item.detach().cpu()
            if pixels.is_floating_point() and pixels.itemsize < 4:
                pixels = pixels.float()  # NumPy has no bfloat16
            A = pixels.numpy()
        elif isinstance(item, (np.ndarray, list)):
            A = np.asarray(item)
        else:
            raise _not_an_image_error(item)
    except (TypeError, ValueError, RuntimeError) as error:
        raise _ImageError(
            f"cannot be read as an array: {error}; pass a PIL image, or an array of shape (H, W, C)"
        ) from error
    # `np.asarray` has dropped the mask.
    if np.ma.is_masked(item):
        raise _ImageError("has masked pixels, which have no value; fill them")
    if A.ndim == 3:
        A = _to_channels_last(A, is_tensor=is_torch(item))
    if A.ndim not in (2, 3) or 0 in A.shape:
        raise _ImageError(
            f"must be an array of shape (H, W) or (H, W, C) with 1, 3 or 4 channels, got shape "
            f"{A.shape}; reshape it"
        )
    return _to_bytes(A)


def _to_channels_last(A: np.ndarray, is_tensor: bool) -> np.ndarray:
    """Return a three-dimensional image with its channels in the last axis.

    A single channel is returned as shape (height, width). If both the first and the last axis can
    be the channels, a tensor raises an error, and an array is read as channels last.
    """
    can_be_first = A.shape[0] in _CHANNELS
    can_be_last = A.shape[2] in _CHANNELS
    if can_be_first and can_be_last and is_tensor:
        raise _ImageError(
            f"is a tensor of shape {A.shape}, which can be read as (C, H, W) and as (H, W, C); "
            f"pass a PIL image or a NumPy array (H, W, C)"
        )
    if not can_be_first and not can_be_last:
        raise _ImageError(f"must have 1, 3 or 4 channels, first or last, got shape {A.shape}")
    A = A if can_be_last else np.moveaxis(A, 0, 2)
    return A[:, :, 0] if A.shape[2] == 1 else A


def _to_bytes(A: np.ndarray) -> np.ndarray:
    """Convert pixels to uint8: integers from 0 to 255, and floats or booleans from 0 to 1."""
    if A.dtype == np.uint8:
        return np.ascontiguousarray(A)
    white = {"b": 1, "f": 1, "i": 255, "u": 255}.get(A.dtype.kind)  # the largest value
    if white is None:
        raise _ImageError(f"must be an array of numbers, got dtype {A.dtype}")
    low = A.min()
    high = A.max()
    if not (low >= 0 and high <= white):  # also catches NaN
        expected = "floats from 0 to 1" if A.dtype.kind == "f" else "integers from 0 to 255"
        raise _ImageError(
            f"must contain {expected}, got values from {low:g} to {high:g} in {A.dtype}; rescale "
            "all images in the same way, such as x / 255, or (x + 1) / 2 for values from −1 to 1"
        )
    # Floats and booleans have the maximum 1; integers already range to 255.
    scaled = np.rint(A.astype(np.float64) * 255) if white == 1 else A
    return np.ascontiguousarray(scaled.astype(np.uint8))
