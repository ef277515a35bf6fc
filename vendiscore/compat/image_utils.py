"""Functions of `vendi_score.image_utils`, with the same names and signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..encoders import encoder
from ..scoring.scores import score, score_X
from ..support.optional import require
from ..support.types import Device
from . import raise_missing_name as __getattr__  # noqa: F401


def get_pixel_vectors(images: Sequence[Any], resize: int | None = 32) -> np.ndarray:
    """Return the pixel values of each PIL image as a row.

    Images are resized to `resize` × `resize` pixels first, unless `resize` is None or 0.
    """
    sized = [image.resize((resize, resize)) if resize else image for image in images]
    return np.stack([np.array(image).ravel() for image in sized])


def get_embeddings(
    images: Sequence[object],
    model: object = None,
    transform: Callable[..., object] | None = None,
    batch_size: int = 64,
    device: Device = "cpu",
) -> np.ndarray:
    """Return the output of a torch model for each image; the default model is Inception v3.

    `transform` converts an image to a tensor; by default torchvision's `ToTensor`. It is used only
    if a model is passed, and `device` only if none is passed.
    """
    if model is None:
        return get_inception_embeddings(images, batch_size, device)
    if transform is None:
        transform = require("torchvision.transforms", "images", "get_embeddings").ToTensor()
    network = encoder(kind="images", model=model, transform=transform, batch_size=batch_size)
    return network.encode(images)


def get_inception_embeddings(
    images: Sequence[object], batch_size: int = 64, device: Device = "cpu"
) -> np.ndarray:
    """Return the 2,048 pooled features of torchvision's Inception v3 for each image, as a row."""
    return encoder(kind="images", batch_size=batch_size, device=device).encode(images)


def pixel_vendi_score(images: Sequence[object], resize: int | None = 32) -> float:
    """Return the Vendi Score of images, compared by the cosine similarity of their pixel values.

    Images are resized to `resize` × `resize` pixels first, unless `resize` is None or 0.
    """
    return float(score(images, "pixels", size=resize or None))


def embedding_vendi_score(
    images: Sequence[object],
    batch_size: int = 64,
    device: Device = "cpu",
    model: object = None,
    transform: Callable[..., object] | None = None,
) -> float:
    """Return the Vendi Score of images, compared by the cosine similarity of their embeddings.

    `get_embeddings` computes the embeddings with the same arguments.
    """
    return float(score_X(get_embeddings(images, model, transform, batch_size, device)))
