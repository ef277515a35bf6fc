"""Texts by the cosine of their embeddings."""

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
    """The cosine of the embeddings of two texts, by default of SimCSE.

    The default is the paper's model; `k="semantic"` and `k="static"` are this kernel with other
    models, all-MiniLM-L6-v2 and the word vectors of wordllama. All three are for English text:
    for samples that are mostly in other scripts, sequences, molecules, code or identifiers they
    give a warning. A text that is truncated always gives one.

    Most time goes to loading and running the model: for many sets make the encoder once, pass it as
    `model`. `settings` has model, revision, pooling and its source (`pooling_from`) and dims.

    Parameters
    ----------
    texts : sequence of str
        The empty string is a text like another, as long as the model has tokens for it.
    model_path : str or Path
        Hub id or local folder of a transformers model and its tokenizer. One with `modules.json` is
        loaded by sentence-transformers, with all its steps: pooling, length, lower case, default
        prompt, Dense layers. The folder of a static model (model2vec: a table of vectors in
        safetensors, a tokenizer in JSON) needs no torch (extra `static`): a text is the mean vector
        of its known tokens. "wordllama" is the static model of that package.
    model, tokenizer : optional
        What `vendiscore.encoder(…)` returns or takes (sentence-transformers, model2vec, a wrapper
        of a web API, a transformers model); it must embed each text by itself.
    pooling : {"pooler", "cls", "mean"}
        As the files of `model_path` say, and "pooler" for the default model; a model that says
        nothing is refused, since one choice gives other numbers than another.
    max_length : int, optional
        Tokens that texts are cut to; by default what the model's files say or it takes.
    batch_size, device, half, revision, cache
        As `vendiscore.encoder` takes them; half=False gives the same on all machines up to
        rounding.
    in_context : bool, optional (default: True for `k="semantic"`, whose agreement it raises)
        With prompts that given_prompt=True takes out, compare answers also after their prompts,
        as "prompt answer": the mean of two kernels, of which the prompt is taken out. It takes a
        second embedding of each answer; an answer that repeats its prompt is an echo in both.

    Raises
    ------
    SampleError, TypeError, ValueError
        If texts are not str or have no tokens, or their embeddings are zero or not finite; for a
        model that returns no such array, does not say how it pools, has no such pooling or lacks
        trained weights.
    MissingPackageError
        Without torch and transformers (extra `text`), unless `model` needs neither.
    OSError
        If the model is not at hand and cannot be fetched.
    """
    if in_context:
        raise TypeError(
            "`in_context` compares answers after their prompts: pass `prompts` and "
            "given_prompt=True, and one kernel, or leave it out"
        )
    check_texts(texts)
    own = (pooling, batch_size, device, half, revision, max_length, cache)
    encoder = make_encoder(TEXTS, model_path, model, tokenizer, *own)
    X, settings, omissions = encoder.embed_checked(texts)
    rows = FeatureSimilarity(X, settings).normalized()
    return rows.noted(**omissions, merges=True, truncates=True, scripts=encoder.scripts)
