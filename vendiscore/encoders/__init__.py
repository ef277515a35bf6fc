"""Encoders: models that map texts or images to embeddings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..support.types import Device

if TYPE_CHECKING:
    from .networks import Pooling
    from .sample_encoder import Encoder


def encoder(
    model_path: str | Path | None = None,
    *,
    kind: Literal["text", "images"] = "text",
    model: Any = None,
    tokenizer: Any = None,
    transform: Callable[[Any], object] | None = None,
    pooling: Pooling | None = None,
    batch_size: int = 64,
    max_length: int | None = None,
    device: Device = None,
    half: bool | None = None,
    revision: str | None = None,
    cache: str | Path | None = None,
) -> Encoder:
    """Load an embedding model once, to embed several sets with it.

    ``compute(texts, k="text_embeddings", model=encoder)`` returns the same value as passing these
    keywords to `compute`, which loads the model in every call. Threads may share an encoder.

    Parameters
    ----------
    model_path : str or Path, optional
        Hub id or folder of a transformers model with its tokenizer or image processor, or folder
        of a static text model. By default SimCSE for texts and torchvision's Inception v3 for
        images.
    kind : {"text", "images"}, default "text"
        Type of the samples.
    model : object, optional
        A model to use instead of `model_path`: an object with ``encode(list)``, a function from a
        list of samples to an array of shape (n, d), or a torch network with `tokenizer` or
        `transform`. A network is evaluated without dropout and gradients, and its state is
        restored after each call.
    tokenizer : callable, optional
        Tokenizer of a torch network for texts.
    transform : callable, optional
        For a torch network for images: maps a PIL image to a tensor of shape (C, H, W).
    pooling : {"pooler", "cls", "mean"}, optional
        The pooled output of the model, its first token, or the mean over tokens. By default what
        the files of the model specify; a text model whose files do not specify it requires this
        argument.
    batch_size : int, default 64
        Number of samples per forward pass.
    max_length : int, optional
        Maximum number of tokens per text; longer texts are truncated. By default the limit of the
        model.
    device : str or torch.device, optional
        Device of the model; by default a GPU if there is one.
    half : bool, optional
        Whether to load the model in half precision; by default only on a GPU.
    revision : str, optional
        Branch, tag or commit on the Hub.
    cache : str or Path, optional
        Folder in which embeddings of texts are kept for later calls.

    Returns
    -------
    Encoder
        The encoder, with ``encode(samples)``, which returns an array of shape (n, d), and
        `settings`.

    Raises
    ------
    MissingPackageError
        If a package that the model requires is not installed.
    OSError
        If the model does not exist. A ConnectionError if it is not in the local cache and the Hub
        cannot be reached.
    TypeError, ValueError
        If arguments exclude each other, or the model does not support the pooling or lacks
        trained weights.

    See Also
    --------
    compute : Score samples; pass the encoder as `model`.

    Examples
    --------
    >>> lengths = encoder(model=lambda texts: [[len(text), 1.0] for text in texts])
    >>> lengths.encode(["a", "bcd"])
    array([[1., 1.],
           [3., 1.]])
    """
    from ..support.arguments import check_choice
    from .embeddings import check_no_conflict
    from .image_encoders import IMAGES
    from .sample_encoder import make_encoder
    from .text_encoders import TEXTS

    if check_choice("kind", kind, ("text", "images")) == "text":
        check_no_conflict({"transform": transform}, "kind='text'")
        modality = TEXTS
        adapter = tokenizer
    else:
        text_options = {"tokenizer": tokenizer, "max_length": max_length, "cache": cache}
        check_no_conflict(text_options, "kind='images'")
        modality = IMAGES
        adapter = transform
    options = (pooling, batch_size, device, half, revision, max_length, cache)
    return make_encoder(modality, model_path, model, adapter, *options)
