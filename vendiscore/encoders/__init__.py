"""From samples to rows of numbers: encoders, and the networks behind them."""

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
    """Return a model that is loaded once and embeds as many sets as there are.

    `compute(texts, k="text_embeddings", model=encoder)` gives the number that the same keywords
    give, which load the model in every call. Threads may share it.

    Parameters
    ----------
    model_path : str or Path, optional
        Hub id or folder of a transformers model with its tokenizer or image processor, or the
        folder of a static model of texts; by default SimCSE, for images torchvision's Inception v3.
    kind : {"text", "images"}, for kernel "text_embeddings" or "image_embeddings"
    model : object, optional
        Instead of `model_path`: an object with `.encode(list)`, a function of a list of samples
        that returns an (n, d) array, or a torch network, with `tokenizer` or `transform`: it is
        evaluated without dropout and gradients, and left as it was after each call.
    tokenizer, transform : optional
        Of a torch `model`: the tokenizer of texts, or a callable PIL image → tensor (C, H, W).
    pooling : {"pooler", "cls", "mean"}, optional
        The model's own pooled output, its first token, or the mean of its tokens; by default what
        the files of `model_path` say. A text model that says nothing is refused.
    batch_size, max_length : int
        Samples that the model gets at once; tokens that texts are cut to, by default the model's
        limit.
    device : str or torch.device, optional; of `model_path`, by default a GPU if there is one
    half, revision : bool, str, optional
        Load in half precision (by default on a GPU); the branch, tag or commit on the Hub.
    cache : str or Path, optional; a folder that keeps the embeddings of texts for later calls

    Returns
    -------
    Encoder
        With `encode(samples)`, which returns an (n, d) array, and `settings`.

    Raises
    ------
    MissingPackageError, OSError
        Without a package that the model needs, or if the model cannot be found or downloaded.
    TypeError, ValueError
        If keywords do not go together, or the model has no such pooling or lacks trained weights.

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
        samples = TEXTS
        adapter = tokenizer
    else:
        idle = {"tokenizer": tokenizer, "max_length": max_length, "cache": cache}
        check_no_conflict(idle, "kind='images'")
        samples = IMAGES
        adapter = transform
    own = (pooling, batch_size, device, half, revision, max_length, cache)
    return make_encoder(samples, model_path, model, adapter, *own)
