"""Random images as arrays and PNG files, and their similarity matrices."""

import io

import numpy as np
from PIL import Image

from vendiscore import as_similarity


def make_images(n=4, height=24, width=40, channels=3, seed=0):
    """Return arrays (height, width[, channels]) of smooth random colours, uint8."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        small = rng.integers(0, 256, (4, 4, channels) if channels > 1 else (4, 4), dtype=np.uint8)
        out.append(np.asarray(Image.fromarray(small).resize((width, height))))
    return out


def cosine_matrix(X):
    """Return the cosine similarity of all pairs of rows or flattened arrays."""
    X = np.asarray(X, dtype=float).reshape(len(X), -1)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return X @ X.T


def image_similarity_matrix(images, k="pixels", **options):
    """Return the similarities of images under a kernel, as a matrix."""
    return as_similarity(images, k=k, **options).dense()


def encode_png(picture):
    """Return the bytes of a PNG file of an array or a PIL image."""
    image = Image.fromarray(picture) if isinstance(picture, np.ndarray) else picture
    file = io.BytesIO()
    image.save(file, format="PNG")
    return file.getvalue()
