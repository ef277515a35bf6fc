"""The kernel "pixels" on images."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ..encoders.pil_images import as_image, check_background, name_files_in_errors
from ..resolve.kernel import register_kernel
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity
from ..support import memory
from ..support.arguments import check_choice, check_int
from ..support.errors import SampleError
from ..support.progress import track

Mode = Literal["L", "RGB"]


@register_kernel(
    "pixels",
    samples="images",
    needs="images",
    source="Friedman & Dieng, arXiv 2210.02410, §4",
    rows=True,
    label="look the same",
    term="32 × 32 pixels",
    by="By their pixels",
)
def pixels(
    images: Sequence[object],
    size: int | None = 32,
    mode: Mode | None = None,
    background: str | None = None,
) -> Similarity:
    """The cosine similarity of the pixel values of two images.

    Equivalent to `get_pixel_vectors` of the package vendi_score, followed by `score_X` or
    `score_dual` of that package. Features are bytes of shape (n, size²), or (n, 3·size²) in colour,
    computed in O(n) time.

    Parameters
    ----------
    images : sequence, array or path of a folder
        PIL images, arrays of shape (H, W) or (H, W, C), file paths, bytes of files, or values of a
        `datasets.Image` column; an array (n, H, W) or (n, H, W, C) of all images; or a folder,
        whose image files are read in the order of their names (subfolders are ignored).
    size : int or None, default 32
        Resize images to size × size pixels (bicubic); their aspect ratio is not preserved. With
        None, images are not resized and must have equal size.
    mode : {"L", "RGB"}, optional
        Convert all images to greyscale or colour. By default to colour if any image has colour; a
        note reports mixed sets.
    background : str, optional
        Colour behind transparent pixels, such as "white" or "#808080".

    Raises
    ------
    SampleError
        If samples are not images, are transparent and no `background` is given, differ in size from
        the first one, or are completely black.
    ValueError
        If `background` is not a colour.
    MissingPackageError
        If pillow is missing (extra `images`).
    """
    if size is not None:
        size = check_int("size", size, hint="or None for no resizing")
    check_choice("mode", mode, ("L", "RGB", None))
    check_background(background)
    with name_files_in_errors(images):
        X, has_mixed_modes = _read_pixels(images, size, mode, background)
    similarity = FeatureSimilarity(X, {"dims": X.shape[1], "size": size}).normalized()
    if has_mixed_modes:
        return similarity.noted(
            notes=["Greyscale images were converted to RGB, because other images have colour."]
        )
    return similarity


def _read_pixels(
    images: Sequence[object], size: int | None, mode: Mode | None, background: str | None
) -> tuple[np.ndarray, bool]:
    """Return the pixel values of each image as a row of bytes, and whether modes are mixed.

    Modes are mixed if some images are greyscale and others have colour. All images are resized to
    size × size pixels unless `size` is None, and converted to `mode`. If `mode` is None, all rows
    are converted to RGB if any image has colour. `background` is the colour behind transparent
    pixels.
    """
    n = len(images)
    if size is not None:  # otherwise the size is that of the first image
        _require_memory(n, 3 * size * size if mode != "L" else size * size)
    X = np.empty((0, 0), dtype=np.uint8)
    first = None  # the first image, in the mode of the rows
    has_mixed_modes = False
    problems = {}
    for i, item in enumerate(track(images, n, "reading images")):
        try:
            image = as_image(item, i, background)
        except SampleError as error:
            problems[i] = error.problem
            continue
        if mode is not None and image.mode != mode:
            image = image.convert(mode)
        if size is not None:
            image = image.resize((size, size))  # bicubic is the default of pillow
        if first is None:
            first = image
            width = image.width * image.height * len(image.getbands())
            _require_memory(n, width)
            X = np.empty((n, width), dtype=np.uint8)
        if image.size != first.size:
            problems[i] = (
                f"has {image.width} × {image.height} pixels, but the first image has "
                f"{first.width} × {first.height}; pass `size` to resize all images"
            )
            continue
        if image.mode != first.mode:
            has_mixed_modes = True
            if image.mode == "RGB":  # the first image with colour: all previous ones are greyscale
                _require_memory(n, 3 * X.shape[1])
                X = np.repeat(X, 3, axis=1)
            first = first.convert("RGB")
            image = image.convert("RGB")
        X[i] = np.frombuffer(image.tobytes(), dtype=np.uint8)  # np.asarray takes twice as long
        if not X[i].any():
            problems[i] = "is completely black, so its cosine is undefined; remove it"
    SampleError.check(problems)
    return X, has_mixed_modes


def _require_memory(n: int, width: int) -> None:
    memory.require(n * width, f"the pixels of {n} images", "pass a smaller `size` or fewer images")
