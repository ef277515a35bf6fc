"""Images from uploads."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from ..encoders.decoding import as_image
from ..errors import SampleError
from ..report.thumbnails import uri
from .limits import (
    MAX_ALL_PIXELS,
    MAX_ENTRIES,
    MAX_IMAGES,
    MAX_PIXELS,
    MAX_UNPACKED,
    MAX_UPLOAD,
    RefusedError,
    check_count,
)
from .reading import size
from .samples import Samples

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")
IMAGE_FILES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp")
# What `pixels` resizes to; done on reading, so that no more than one large image is held at once.
# An encoder gets the file as it came, and decodes a batch at a time.
SIDE = 32
THUMBNAIL = 72


@dataclass(frozen=True)
class Picture:
    """An uploaded image.

    Attributes
    ----------
    name : str
        Its file name without folders.
    data : bytes
        The file.
    small : PIL.Image.Image
        RGB, resized to 32 × 32 as the kernel `pixels` does.
    thumbnail : str
        A data URI, at most 72 pixels wide and high.
    """

    name: str
    data: bytes
    small: Image
    thumbnail: str


class UnreadableError(RefusedError):
    """An image that cannot be used; `problem` says why, as a predicate."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name:.60} {problem}.")
        self.problem = problem


def pictures(paths: Sequence[str]) -> Samples:
    """The images in uploaded files, and in zips among them; None for each that cannot be used."""
    check_count(len(paths), MAX_IMAGES, "images")
    found: list[Picture | None] = []
    names: list[str] = []
    problems: dict[int, str] = {}
    pixels = 0
    for name, data in _files(paths):
        names.append(name)
        check_count(len(names), MAX_IMAGES, "images")
        try:
            picture, area = _open(name, data, MAX_ALL_PIXELS - pixels)
        except UnreadableError as error:
            problems[len(found)] = error.problem
            found.append(None)
        else:
            pixels += area
            found.append(picture)
    check_count(len(found), MAX_IMAGES, "images")
    return Samples(found, names, "image", problems)


def decoded(images: Any, place: Callable[[int], str] = "Image {}".format) -> list[Picture]:
    """The images of an API call: base64 of image files, with or without a `data:` prefix.

    `place` is what messages call image i.
    """
    if not isinstance(images, list):
        raise RefusedError(f"Expected a list of base64 strings, got {type(images).__name__}.")
    check_count(len(images), MAX_IMAGES, "images")
    found, pixels = [], 0
    for i, text in enumerate(images):
        try:
            data = base64.b64decode(str(text).rpartition(",")[2], validate=True)
        except ValueError:
            raise RefusedError(f"{place(i)} is not valid base64.") from None
        picture, area = _open(place(i), data, MAX_ALL_PIXELS - pixels)
        pixels += area
        found.append(picture)
    return found


def _files(paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        size(path)
        name, kind = Path(path).name, Path(path).suffix.lower()
        if kind == ".zip":
            yield from _entries(path)
        elif kind in IMAGE_FILES:
            yield name, Path(path).read_bytes()
        else:
            raise RefusedError(
                f"{name:.60} is no image that can be read here; "
                f"this tab takes {', '.join(IMAGE_FILES)} and .zip."
            )


def _entries(path: str) -> Iterator[tuple[str, bytes]]:
    """The images in a zip. Nothing is written to disk, so that folders in names do not matter."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > MAX_ENTRIES:
                raise RefusedError(
                    f"The zip has {len(entries):,} entries; this page takes up to {MAX_ENTRIES}."
                )
            wanted = [entry for entry in entries if _is_image(entry.filename)]
            check_count(len(wanted), MAX_IMAGES, "images in the zip")
            left = MAX_UNPACKED
            for entry in wanted:
                with archive.open(entry) as file:
                    # The size that a zip states can be wrong: read no more than is allowed.
                    data = file.read(min(left, MAX_UPLOAD) + 1)
                left -= len(data)
                if left < 0 or len(data) > MAX_UPLOAD:
                    raise RefusedError(
                        f"The zip unpacks to more than {MAX_UNPACKED // 10**6} MB, or an entry to "
                        f"more than {MAX_UPLOAD // 10**6} MB; send fewer or smaller images."
                    )
                yield PurePosixPath(entry.filename.replace("\\", "/")).name, data
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        reason = "it is encrypted" if "encrypted" in str(error) else "it may be damaged"
        raise RefusedError(f"This zip cannot be read: {reason}.") from None


def _is_image(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    hidden = path.name.startswith(".") or "__MACOSX" in path.parts
    return path.suffix.lower() in IMAGE_FILES and not hidden


def _open(name: str, data: bytes, left: int) -> tuple[Picture, int]:
    """The image, and how many pixels it had. `left` are those that may still be decoded."""
    from PIL import Image, UnidentifiedImageError

    try:
        # Reads the header only.
        with Image.open(io.BytesIO(data), formats=FORMATS) as header:
            area = header.width * header.height
        if area > MAX_PIXELS:
            raise UnreadableError(name, _too_large(f"{area / 1e6:.0f}"))
        if area > left:
            raise RefusedError(
                f"The images have more than {MAX_ALL_PIXELS // 10**6} megapixels together; "
                f"make them smaller or send fewer."
            )
        rgb: Image.Image = as_image(data, 0).convert("RGB")
    except RefusedError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise UnreadableError(name, _too_large("more than 80")) from None
    except SampleError as error:
        raise UnreadableError(name, error.problem) from None
    except UnidentifiedImageError:
        problem = f"is not an image that can be read here ({', '.join(FORMATS)})"
        raise UnreadableError(name, problem) from None
    except (OSError, ValueError, SyntaxError, MemoryError, EOFError):
        raise UnreadableError(name, "cannot be read; it may be cut short or damaged") from None
    thumbnail = rgb.copy()
    thumbnail.thumbnail((THUMBNAIL, THUMBNAIL))
    return Picture(name, data, rgb.resize((SIDE, SIDE)), uri(thumbnail)), area


def _too_large(megapixels: str) -> str:
    return (
        f"has {megapixels} megapixels, where this page takes up to {MAX_PIXELS // 10**6}; "
        f"make it smaller"
    )
