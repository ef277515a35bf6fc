"""Texts by the cosine of their embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..encoders.models import BATCH_SIZE
from ..encoders.networks import Pooling
from ..encoders.text_encoders import MODEL_PATH, check_texts, text_encoder
from ..registry.kernel import register_kernel
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity


@register_kernel(
    "text_embeddings",
    samples="text",
    needs="text",
    source="Friedman & Dieng, arXiv 2210.02410, §4.5; SimCSE: Gao et al., arXiv 2104.08821",
    rows=True,
    label="mean the same",
    by="By what they mean",
)
def text_embeddings(
    texts: Sequence[str],
    model_path: str | Path = MODEL_PATH,
    model: Any = None,
    tokenizer: Any = None,
    pooling: Pooling | None = None,
    batch_size: int = BATCH_SIZE,
    max_length: int | None = None,
    device: Any = None,
    half: bool | None = None,
    revision: str | None = None,
) -> Similarity:
    """The cosine of the embeddings of two texts.

    Parameters
    ----------
    texts : sequence of str
        The empty string is a text like another, as long as the model has tokens for it.
    model_path : str or Path
        Hub id or local folder of a transformers model and its tokenizer. A model with
        `modules.json` is loaded by sentence-transformers, with all its steps: pooling, length,
        lower case, its default prompt, Dense layers.
    model : object, optional
        Instead of `model_path`: an encoder (`vendiscore.encoder(…)`), an object with
        `.encode(list of str)` (sentence-transformers, model2vec, a wrapper of a web API), a
        function of such a list that returns an (n, d) array, or, with `tokenizer`, a
        transformers model. It must embed each text by itself,
        whatever else is in the list. Evaluated without dropout and gradients, left as it was.
    tokenizer : transformers tokenizer, optional
        The one of a transformers `model`.
    pooling : {"pooler", "cls", "mean"}
        The model's own pooled output, its first token, or the mean of its tokens. By default
        what the files of `model_path` say, and "pooler" for the default model; a model that says
        nothing is refused, since one choice gives other numbers than another.
    batch_size : int
    max_length : int, optional
        Texts are cut to so many tokens; by default to what the model's files say or it takes. How
        many (distinct) texts were cut is reported as `truncated`.
    device : str or torch.device, optional
        A GPU if there is one, otherwise the CPU; a `model` stays where it is unless given.
    half : bool, optional
        Half precision. By default on a GPU, for a model loaded here; False asks for single, which
        gives the same number on every machine up to rounding. `details` says which it was.
    revision : str, optional
        Branch, tag or commit on the Hub.

    Returns
    -------
    Similarity
        With float32 features (n, d); `settings` has model, revision, pooling and where that is
        from (`pooling_from`), dims, dtype, truncated.

    Raises
    ------
    SampleError
        If texts are no str or have no tokens, or their embeddings are zero or not finite.
    MissingPackageError
        Without torch and transformers (extra `text`), unless `model` needs neither.
    TypeError, ValueError
        For a model that returns no such array, has no such pooling, does not say how it pools, or
        lacks trained weights.

    Notes
    -----
    Time is that of the model, and of loading it, which `model_path` does in every call: for many
    sets make the encoder once, `vendiscore.encoder(model_path)`, and pass it as `model`. On a GPU
    a model loaded here runs in half precision, so that the last digits of a score depend on the
    machine; half=False does not. Texts of similar length share a batch, only a batch at a time is
    on the device, and nothing is cached. Memory n·d numbers.
    """
    check_texts(texts)
    encoder = text_encoder(
        model_path,
        model,
        tokenizer,
        pooling,
        batch_size,
        max_length,
        device,
        half,
        revision,
    )
    X, settings = encoder.embedded(texts)
    return FeatureSimilarity(X, settings).normalized()
