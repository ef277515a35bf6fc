"""The kernel "text_embeddings": cosine similarity of embeddings of texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..encoders.networks import Pooling
from ..encoders.sample_encoder import BATCH_SIZE, make_encoder
from ..encoders.text_encoders import MODEL_PATH, TEXTS, check_texts
from ..resolve.kernel import register_kernel
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity
from ..support.types import Device


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
    device: Device = None,
    half: bool | None = None,
    revision: str | None = None,
    in_context: bool | None = None,
    cache: str | Path | None = None,
) -> Similarity:
    """The cosine similarity of text embeddings, by default of SimCSE.

    The default model is the one of the Vendi Score paper. `k="semantic"` and `k="static"` are this
    kernel with the models all-MiniLM-L6-v2 and the word vectors of wordllama. All three are for
    English: they warn if most samples are in other scripts, or are sequences, molecules, code or
    identifiers. Truncated texts always cause a warning.

    Loading and running the model takes most of the time. To score many sets, load the encoder once
    and pass it as `model`. `settings` records model, revision, pooling, where the pooling was
    specified (`pooling_from`) and dims.

    Parameters
    ----------
    texts : sequence of str
        The texts. An empty string is accepted if the model has tokens for it.
    model_path : str or Path, default SimCSE
        Hub id or local folder of a transformers model with its tokenizer. A model with
        `modules.json` is loaded by sentence-transformers with all its steps: pooling, maximum
        length, lower case, default prompt and Dense layers. The folder of a static model
        (model2vec: vectors in safetensors and a tokenizer in JSON) requires no torch (extra
        `static`); the embedding of a text is the mean of the vectors of its tokens, without tokens
        that are not in the vocabulary. "wordllama" is the static model in the package wordllama.
    model : object, optional
        An encoder returned by `vendiscore.encoder`, or any model that this function accepts: of
        sentence-transformers, model2vec or transformers, or a wrapper of a web API. The embedding
        of a text must not depend on the other texts.
    tokenizer : optional
        Tokenizer of a transformers `model`.
    pooling : {"pooler", "cls", "mean"}, optional
        How token vectors are pooled. By default as the files of the model specify, and "pooler" for
        SimCSE. If the files of a model do not specify the pooling, this option is required, because
        results depend on it.
    batch_size : int, default 64
        Number of texts that the model processes at once.
    max_length : int, optional
        Maximum number of tokens; longer texts are truncated. By default the limit of the model.
    device : str or torch.device, optional
        Device of the model; by default a GPU if available.
    half : bool, optional
        Whether to use half precision; by default only on a GPU. With False, all machines give the
        same result up to rounding.
    revision : str, optional
        Branch, tag or commit of the model on the Hub.
    in_context : bool, optional
        With given_prompt=True, average two kernels: one on embeddings of the answers, and one on
        embeddings of the texts "prompt answer", in which each answer follows its prompt. Both are
        conditioned on the prompt. A second embedding of each answer is computed. Answers that
        repeat their prompt verbatim are recognized by both kernels. By default True for
        `k="semantic"`, where it improves agreement with human judgements, else False.
    cache : str or Path, optional
        Folder in which embeddings are stored for later calls.

    Raises
    ------
    SampleError
        If samples are not strings or have no tokens, or embeddings are zero or not finite.
    TypeError, ValueError
        If a model returns no array of embeddings, does not specify or support its pooling, or lacks
        trained weights.
    MissingPackageError
        If torch or transformers (extra `text`) is missing but needed.
    OSError
        If the model does not exist. A ConnectionError if it is not in the local cache and the Hub
        cannot be reached; the message lists installed alternatives.
    """
    # If answers are conditioned on their prompts, the caller adds the texts of a prompt and its
    # answer to `texts`, and passes None. Otherwise the option cannot have an effect.
    if in_context:
        raise TypeError(
            "`in_context` embeds each answer together with its prompt; it requires a single "
            "kernel, `prompts` and given_prompt=True"
        )
    check_texts(texts)
    encoder = make_encoder(
        TEXTS,
        model_path,
        model,
        tokenizer,
        pooling=pooling,
        batch_size=batch_size,
        device=device,
        half=half,
        revision=revision,
        max_length=max_length,
        cache=cache,
    )
    X, settings, report = encoder.embed_with_report(texts)
    similarity = FeatureSimilarity(X, settings).normalized()
    # Embeddings may merge different texts, truncate long ones, and support only some scripts. Users
    # are told which texts are concerned.
    return similarity.noted(**report, merges=True, truncates=True, scripts=encoder.scripts)
