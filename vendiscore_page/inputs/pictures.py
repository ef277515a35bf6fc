"""Images from files: decoded one at a time, and large photos at a reduced size."""

from __future__ import annotations

import base64
import functools
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec

from PIL import Image, UnidentifiedImageError

from vendiscore import SampleError
from vendiscore.encoders.pil_images import as_image
from vendiscore.report import RefusedError, thumbnails

from ..quotas import MAX_ALL_PIXELS, MAX_DECODED, MAX_IMAGES, MAX_PIXELS, check_count
from .file_code import draw_indices
from .parts import describe_subset
from .visitor_samples import Samples

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "HEIF", "AVIF")
_SHOWN_FORMATS = "PNG, JPEG, WEBP, GIF, BMP, HEIC, AVIF"
# `pixels` resizes to this side; images are resized when read, to hold one large image at a time.
# An encoder gets the unchanged file, and decodes a batch at a time.
SIDE = 32
THUMBNAIL = 72
# Photos of more pixels than these are read at a reduced size, of at least so many each way: what is
# compared is 32 or 224 pixels wide.
REDUCED_FROM = 8_000_000
REDUCED_SIDE = 512


# Bytes that reading takes for each pixel, measured with Pillow 12 on images of 16 megapixels, one
# colour, turned by EXIF: by format, else by mode. JPEG is decoded at a reduced size, unless it is
# progressive.
_BYTES_OF_FORMAT = {"WEBP": 17, "HEIF": 10, "AVIF": 10, "JPEG": 1}
_BYTES_OF_MODE = {"1": 3, "L": 3, "P": 7, "RGB": 9, "RGBA": 13, "LA": 13}
_BYTES_OF_PROGRESSIVE = 9
_BYTES_OF_OTHERS = 18  # such as 16 bits a channel


@dataclass(frozen=True)
class Picture:
    name: str  # of its file, without folders
    data: bytes  # of the file, or of what it was reduced to
    small: Image.Image  # RGB, resized to 32 × 32 as the kernel `pixels` does
    thumbnail: str  # a data URI, at most 72 pixels wide and high
    reduced: bool = False  # whether it was read at a reduced size


def read_pictures(files: Sequence[tuple[str, bytes]], name: str, draw: int = 0) -> Samples:
    """Return the images in files, or a random part; None for each that is unusable."""
    total = len(files)
    drawn = [files[i] for i in draw_indices(total, MAX_IMAGES, draw)]
    check_pixels(sum(count_pixels(data) for _, data in drawn))
    images: list[Picture | None] = []
    problems: dict[int, str] = {}
    for i, (file, data) in enumerate(drawn):
        try:
            images.append(_open_picture(file, data))
        except SampleError as error:
            images.append(None)
            problems[i] = error.problem
    notes = [f"Read {total:,} image{'s' * (total != 1)}."]
    if total > len(drawn):
        notes.append(describe_subset(len(drawn), total, "images"))
    if reduced := sum(picture is not None and picture.reduced for picture in images):
        notes.append(
            f"{reduced:,} large photo{'s were' if reduced > 1 else ' was'} read at a reduced size, "
            f"of at least {REDUCED_SIDE} pixels in width and height."
        )
    names = [file for file, _ in drawn]
    samples = Samples(images, names, "image", problems, tuple(notes), kind="images")
    return replace(samples, name=name, total=total, draw=draw)


def decode_images(
    images: object, format_image: Callable[[int], str] = "Image {}".format
) -> list[Picture]:
    """Decode the images of an API call: base64 of image files; `format_image` names image i."""
    if not isinstance(images, list):
        raise RefusedError(f"Expected a list of base64 strings, got {type(images).__name__}.")
    check_count(len(images), MAX_IMAGES, "images")
    files = list(map(decode_base64, images))
    if None in files:
        raise RefusedError(f"{format_image(files.index(None))} is not valid base64.")
    contents = [data for data in files if data is not None]
    check_pixels(sum(map(count_pixels, contents)))
    decoded = []
    for i, data in enumerate(contents):
        try:
            decoded.append(_open_picture(format_image(i), data))
        except SampleError as error:
            raise RefusedError(
                f"{format_image(i):.60} {error.problem.partition('; ')[0]}."
            ) from None
    return decoded


def decode_base64(text: object) -> bytes | None:
    """Decode base64 with or without the prefix of a data URI; return None for anything else."""
    try:
        return base64.b64decode(str(text).rpartition(",")[2], validate=True)
    except ValueError:
        return None


def count_pixels(data: bytes) -> int:
    """Return the pixels that the header of an image declares; 0 for one that is not decoded."""
    try:
        return _read_header(data)[0]
    except SampleError:
        return 0


def check_pixels(count: int) -> None:
    if count > MAX_ALL_PIXELS:
        raise RefusedError(
            f"The images have more than {MAX_ALL_PIXELS / 1e6:,.0f} megapixels together; make them "
            f"smaller or send fewer."
        )


def _read_header(data: bytes) -> tuple[int, str | None]:
    """Return the pixels and the format of an image, of which the header alone is read."""
    with _pillow_errors(), Image.open(io.BytesIO(data), formats=_list_formats()) as header:
        pixels, form = header.width * header.height, header.format
        max_pixels = min(MAX_PIXELS, MAX_DECODED // _estimate_bytes_per_pixel(header))
    if pixels > max_pixels:
        raise SampleError(0, _describe_excess(f"{pixels / 1e6:.3g}", max_pixels, form or ""))
    return pixels, form


def _estimate_bytes_per_pixel(header: Image.Image) -> int:
    """Return how many bytes reading an image takes for each of its pixels, by its header."""
    if header.info.get("progressive") or header.info.get("progression"):
        return _BYTES_OF_PROGRESSIVE
    default = _BYTES_OF_MODE.get(header.mode, _BYTES_OF_OTHERS)
    return _BYTES_OF_FORMAT.get(header.format or "", default)


def _open_picture(name: str, data: bytes) -> Picture:
    """Return an image; raise a SampleError if it is unusable."""
    pixels, form = _read_header(data)
    # Formats that every decoder reads are kept unchanged.
    is_decoded = pixels > REDUCED_FROM or form in ("HEIF", "AVIF")
    with _pillow_errors():
        rgb = (_decode_reduced(data) if is_decoded else as_image(data, 0)).convert("RGB")
    small = rgb.resize((SIDE, SIDE))
    thumbnail = rgb.copy()
    thumbnail.thumbnail((THUMBNAIL, THUMBNAIL))
    reduced = rgb.width * rgb.height < pixels
    content = thumbnails.encoded(rgb, "JPEG", quality=95) if is_decoded else data
    return Picture(name, content, small, thumbnails.uri(thumbnail), reduced)


@contextmanager
def _pillow_errors() -> Iterator[None]:
    """Replace errors of Pillow by a SampleError."""
    try:
        yield
    except SampleError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise SampleError(0, _describe_excess("over 80")) from None
    except UnidentifiedImageError:
        raise SampleError(0, f"is not an image in a supported format ({_SHOWN_FORMATS})") from None
    except (OSError, ValueError, SyntaxError, MemoryError, EOFError, RuntimeError):
        raise SampleError(0, "cannot be read; it may be truncated or damaged") from None


def _decode_reduced(data: bytes) -> Image.Image:
    """Decode an image to no more than is needed of it, upright, as `as_image` takes it."""
    with Image.open(io.BytesIO(data), formats=_list_formats()) as image:
        image.draft("RGB", (REDUCED_SIDE, REDUCED_SIDE))  # JPEG alone: an eighth at the least
        upright: Image.Image = as_image(image, 0)
        return upright.reduce(max(1, min(upright.size) // REDUCED_SIDE))


@functools.cache
def _list_formats() -> tuple[str, ...]:
    """Return the formats that Pillow reads here; HEIC where there is a package for it."""
    if heif := find_spec("pillow_heif") is not None:
        import pillow_heif

        pillow_heif.register_heif_opener()
    available = {"HEIF": heif, "AVIF": ".avif" in Image.registered_extensions()}
    return tuple(form for form in FORMATS if available.get(form, True))


def _describe_excess(megapixels: str, max_pixels: int = MAX_PIXELS, form: str = "") -> str:
    format_note = f" for {form} images" if max_pixels < MAX_PIXELS else ""
    limit = f"{max_pixels / 1e6:.3g}{format_note}"
    return f"has {megapixels} megapixels, more than the limit of {limit}; make it smaller"
