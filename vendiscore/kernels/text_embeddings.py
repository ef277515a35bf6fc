"""Texts by the cosine of their embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..arguments import integer
from ..encoders.batches import embed, external, is_network, no_effect
from ..encoders.files import Stated, stated
from ..encoders.networks import (
    Pooling,
    check_model_path,
    check_pooling,
    describe,
    evaluating,
    load_pretrained,
    pick_device,
    pick_dtype,
    pool,
)
from ..errors import SampleError
from ..optional import require
from ..registry import register_kernel
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity

# What the reference implementation embeds with; trained so that its pooled output is the embedding.
MODEL_PATH = "princeton-nlp/unsup-simcse-roberta-base"


@register_kernel(
    "text_embeddings",
    samples="text",
    needs="text",
    source="Friedman & Dieng, arXiv 2210.02410, §4.5; SimCSE: Gao et al., arXiv 2104.08821",
)
def text_embeddings(
    texts: Sequence[str],
    model_path: str | Path = MODEL_PATH,
    model: Any = None,
    tokenizer: Any = None,
    pooling: Pooling | None = None,
    batch_size: int = 64,
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
        Hub id or local folder of a transformers model and its tokenizer. What the files of a
        sentence-transformers model say is followed: pooling, length, lower case. Steps that are
        not done here (Dense, other poolings, a prompt) are refused.
    model : object, optional
        Instead of `model_path`: an object with `.encode(list of str)` (sentence-transformers,
        model2vec, a wrapper of a web API), a function of such a list that returns an (n, d)
        array, or, with `tokenizer`, a transformers model. It must embed each text by itself,
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
    Time is that of the model, and of loading it: to score many sets, load it once and pass it as
    `model`; `model_path` is loaded by every call. On a GPU it runs in half precision, so that the
    last digits of a score depend on the machine; half=False does not. Texts of similar length share
    a batch, only a batch at a time is on the device, and nothing is cached. Memory n·d numbers.
    """
    SampleError.check(
        {
            i: f"must be a str, got {type(text).__name__}: {text!r:.40}"
            for i, text in enumerate(texts)
            if not isinstance(text, str)
        }
    )
    pooling = check_pooling(pooling)
    batch_size = integer("batch_size", batch_size)
    max_length = None if max_length is None else integer("max_length", max_length)
    check_model_path(model_path)
    lengths = [len(text) for text in texts]
    says = Stated(pooling, "given")
    if model is not None:
        no_effect({"model_path": model_path != MODEL_PATH, "revision": revision}, "model=…")
        if tokenizer is None:
            return _external(texts, lengths, model, batch_size, pooling, max_length, device, half)
        no_effect({"half": half is not None}, "model=…, which has its own precision")
        if not (is_network(model) and hasattr(model, "config")):
            raise TypeError(
                f"`tokenizer` goes with a transformers `model`, got {type(model).__name__}; leave "
                f"it out if the model encodes by itself"
            )
        if pooling is None:
            raise ValueError(
                "`pooling` is missing: a transformers `model` does not say how its tokens become "
                "one embedding; pass pooling='mean', 'cls' or 'pooler', as its card says"
            )
        place = None if device is None else pick_device(device, "text")
    else:
        no_effect({"tokenizer": tokenizer is not None}, "model_path=…, which has its own")
        place = pick_device(device, "text")
        dtype = pick_dtype(half, place)
        says = _stated(model_path, revision, pooling)
        where: dict[str, Any] = {"revision": revision, "subfolder": says.subfolder}
        model = load_pretrained(model_path, says.pooling, extra="text", dtype=dtype, **where)
        tokenizer = _load_tokenizer(model_path, lowercase=says.lowercase, **where)
    limit = _limit(model, tokenizer, max_length, says.max_length)
    with evaluating(model, place) as (home, dtype):
        encode = _Transformer(model, tokenizer, says.pooling, limit, home)
        encode.check_blank(texts)
        X = embed(texts, encode, batch_size=batch_size, lengths=lengths, what="texts")
    settings = {
        **describe(model),
        "tokenizer": type(tokenizer).__name__,
        "pooling": says.pooling,
        "pooling_from": says.pooling_from,
        **({"lowercase": True} if says.lowercase else {}),
        "max_length": limit,
        "truncated": encode.truncated,
        "dims": X.shape[1],
        "device": home.type,
        "half": dtype.itemsize == 2,
    }
    return FeatureSimilarity(X, settings).normalized()


def _stated(model_path: str | Path, revision: str | None, pooling: Pooling | None) -> Stated:
    """What the model's files say, where they and `pooling` together say enough."""
    if model_path == MODEL_PATH:
        return Stated("pooler", "its card") if pooling is None else Stated(pooling, "given")
    says = stated(model_path, revision, "text", pooling=pooling)
    if says.pooling is None:
        # A path that leads nowhere is a matter for transformers.
        transformers = require("transformers", "text", "kernel 'text_embeddings'")
        transformers.AutoConfig.from_pretrained(model_path, revision=revision)
        raise ValueError(
            f"`model_path` {str(model_path)!r} says nothing about pooling (no modules.json); "
            f"pass pooling='mean', 'cls' or 'pooler', as the model's card says"
        )
    return says


def _external(
    texts: Sequence[str],
    lengths: Sequence[int],
    model: Any,
    batch_size: int,
    pooling: Pooling | None,
    max_length: int | None,
    device: Any,
    half: bool | None,
) -> Similarity:
    encode = external(model)
    if encode is None:
        raise TypeError(
            f"`tokenizer` is missing: `model` is a torch network ({type(model).__name__}) without "
            f"a method encode(list of str); pass the tokenizer that goes with it"
        )
    no_effect(
        {
            "pooling": pooling is not None,
            "max_length": max_length is not None,
            "device": device is not None,
            "half": half is not None,
        },
        "a model that encodes by itself",
    )
    X = embed(texts, encode, batch_size=batch_size, lengths=lengths, what="texts")
    name = getattr(model, "__qualname__", type(model).__qualname__)
    idle = dict.fromkeys(("model_path", "pooling"))
    return FeatureSimilarity(X, {**idle, "model": name, "dims": X.shape[1]}).normalized()


def _without_tokens(texts: Sequence[str], lengths: Any) -> dict[int, str]:
    return {
        i: f"has no tokens: {text!r:.40}; remove empty texts"
        for i, (text, length) in enumerate(zip(texts, lengths.tolist(), strict=True))
        if not length
    }


class _Transformer:
    """Tokenizer, network and pooling as one encoder that counts the texts it cuts."""

    def __init__(
        self, model: Any, tokenizer: Any, pooling: Pooling | None, limit: int | None, device: Any
    ) -> None:
        self.model, self.tokenizer, self.pooling = model, tokenizer, pooling
        self.limit, self.device, self.truncated = limit, device, 0
        if getattr(model.config, "is_encoder_decoder", False):
            self.forward = model.get_encoder()
        else:
            self.forward = getattr(model, "get_text_features", model)

    def __call__(self, texts: list[str]) -> Any:
        inputs = self._tokenize(texts)
        lengths = inputs["attention_mask"].sum(dim=1)
        if self.limit is not None and inputs["input_ids"].shape[1] > self.limit:
            self.truncated += int((lengths > self.limit).sum())
            inputs = self._tokenize(texts, truncation=True, max_length=self.limit)
        SampleError.check(_without_tokens(texts, lengths))
        output = self.forward(**inputs.to(self.device))
        return pool(output, self.pooling, inputs["attention_mask"])

    def check_blank(self, texts: Sequence[str]) -> None:
        """Raise for blank texts without tokens, before any work is done on the others."""
        blank = [i for i, text in enumerate(texts) if not text.strip()]
        if blank:
            found = [texts[i] for i in blank]
            lengths = self._tokenize(found)["attention_mask"].sum(dim=1)
            problems = _without_tokens(found, lengths)
            SampleError.check({blank[i]: problem for i, problem in problems.items()})

    def _tokenize(self, texts: list[str], **options: Any) -> Any:
        # Padding goes to the right, so that the first token is where pooling looks for it.
        return self.tokenizer(
            texts, padding=True, padding_side="right", return_tensors="pt", verbose=False, **options
        )


def _load_tokenizer(model_path: str | Path, *, lowercase: bool, **where: Any) -> Any:
    transformers = require("transformers", "text", "kernel 'text_embeddings'")
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_path, **where)
    if tokenizer.pad_token is None:  # masked, so any token does
        tokenizer.pad_token = tokenizer.eos_token
    if lowercase:
        if not tokenizer.is_fast:
            raise ValueError(
                f"`model_path` {str(model_path)!r} lower-cases texts, which a {type(tokenizer)} "
                f"does not; pass model=SentenceTransformer({str(model_path)!r})"
            )
        normalizers = require("tokenizers.normalizers", "text", "kernel 'text_embeddings'")
        own = tokenizer.backend_tokenizer.normalizer
        steps = [normalizers.Lowercase(), *([] if own is None else [own])]
        tokenizer.backend_tokenizer.normalizer = normalizers.Sequence(steps)
    return tokenizer


def _limit(
    model: Any, tokenizer: Any, max_length: int | None, stated_length: int | None
) -> int | None:
    """The number of tokens to cut at: `max_length`, or what is stated and positions allow."""
    positions = getattr(model.config, "max_position_embeddings", None)
    for name, module in model.named_modules():
        # RoBERTa and its kin count positions from behind the padding index.
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and padding is not None:
            positions = module.num_embeddings - padding - 1
    if max_length is None:
        bounds = [stated_length or tokenizer.model_max_length, positions]
        # Tokenizers without a limit of their own say 10³⁰.
        known = [bound for bound in bounds if bound is not None and bound < 1 << 24]
        return min(known, default=None)
    if positions is not None and max_length > positions:
        raise ValueError(f"`max_length` must be at most {positions} here, got {max_length}")
    return max_length
