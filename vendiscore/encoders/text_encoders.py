"""Encoders of texts: transformers models with their tokenizers, and whatever encodes strings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from ..arguments import integer
from ..arrays.namespace import is_network
from ..errors import SampleError
from ..optional import require
from .embeddings import Encode, no_effect
from .inference import Network, Place, inference
from .models import BATCH_SIZE, Encoder, Kind, made
from .networks import (
    Pooling,
    check_model_path,
    check_pooling,
    default_prompt,
    describe,
    embedded,
    has_steps,
    load_pretrained,
    load_sentence_transformer,
    on_device,
    pick_device,
    pick_dtype,
    pool,
    pooling_of,
)

# What the reference implementation embeds with; trained so that its pooled output is the embedding.
MODEL_PATH = "princeton-nlp/unsup-simcse-roberta-base"


def check_texts(texts: Sequence[Any]) -> None:
    """Raise a `SampleError` for samples that are no str."""
    SampleError.check(
        {
            i: f"must be a str, got {type(text).__name__}: {text!r:.40}"
            for i, text in enumerate(texts)
            if not isinstance(text, str)
        }
    )


TEXTS = Kind("text", "texts", check_texts, lambda texts: [len(text) for text in texts])


def text_encoder(
    model_path: str | Path = MODEL_PATH,
    model: Any = None,
    tokenizer: Any = None,
    pooling: Pooling | None = None,
    batch_size: int = BATCH_SIZE,
    max_length: int | None = None,
    device: Any = None,
    half: bool | None = None,
    revision: str | None = None,
) -> Encoder:
    """Return the encoder of kernel "text_embeddings"; arguments and errors as there."""
    pooling = check_pooling(pooling)
    batch_size = integer("batch_size", batch_size)
    max_length = None if max_length is None else integer("max_length", max_length)
    check_model_path(model_path)
    if model is None:
        no_effect({"tokenizer": tokenizer is not None}, "model_path=…, which has its own")
        loaded = _loaded(model_path, pooling, max_length, device, half, revision)
        return Encoder(TEXTS, loaded, batch_size)
    no_effect({"model_path": model_path != MODEL_PATH, "revision": revision}, "model=…")
    if tokenizer is None:
        given = {"pooling": pooling, "max_length": max_length, "device": device, "half": half}
        return made(
            TEXTS,
            model,
            batch_size,
            {name: value is not None for name, value in given.items()},
            missing=f"`tokenizer` is missing: `model` is a torch network ({type(model).__name__}) "
            f"without a method encode(list of str); pass the tokenizer that goes with it",
        )
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
    network = Network(model, place, ours=False)
    limit = _limit(model, tokenizer, max_length, None)
    return Encoder(TEXTS, _Transformer(network, tokenizer, pooling, "given", limit), batch_size)


def _loaded(
    model_path: str | Path,
    pooling: Pooling | None,
    max_length: int | None,
    device: Any,
    half: bool | None,
    revision: str | None,
) -> _Transformer:
    where: dict[str, Any] = {"extra": "text", "revision": revision}
    place = pick_device(device, "text")
    where["dtype"] = pick_dtype(half, place)
    source = "given"
    if model_path == MODEL_PATH:
        pooling, source = (pooling, source) if pooling else ("pooler", "its card")
    elif has_steps(model_path, revision, "text"):
        sentences = load_sentence_transformer(model_path, pooling, device=place, **where)
        if pooling is None:
            return _SentenceTransformer(Network(sentences, place, ours=True), max_length)
        model, tokenizer = sentences.transformers_model, sentences.tokenizer
        limit = _limit(model, tokenizer, max_length, sentences.max_seq_length)
        found = _Transformer(Network(model, place, ours=True), tokenizer, pooling, source, limit)
        found.settings |= _lowercase(sentences)
        return found
    transformers = require("transformers", "text", "kernel 'text_embeddings'")
    if pooling is None:
        # A path that leads nowhere is a matter for transformers.
        transformers.AutoConfig.from_pretrained(model_path, revision=revision)
        raise ValueError(
            f"`model_path` {str(model_path)!r} says nothing about pooling (no modules.json); "
            f"pass pooling='mean', 'cls' or 'pooler', as the model's card says"
        )
    model = load_pretrained(model_path, pooling, **where)
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_path, revision=revision)
    if tokenizer.pad_token is None:  # masked, so any token does
        tokenizer.pad_token = tokenizer.eos_token
    limit = _limit(model, tokenizer, max_length, None)
    return _Transformer(Network(model, place, ours=True), tokenizer, pooling, source, limit)


class _Transformer:
    """A network of transformers with its tokenizer and pooling."""

    prompt = ""

    def __init__(
        self, network: Network, tokenizer: Any, pooling: Any, source: str, limit: int | None
    ) -> None:
        model = network.model
        self.network, self.tokenizer, self.pooling, self.limit = network, tokenizer, pooling, limit
        if getattr(getattr(model, "config", None), "is_encoder_decoder", False):
            self.forward = model.get_encoder()
        else:
            self.forward = getattr(model, "get_text_features", model)
        self.settings: dict[str, Any] = {
            **describe(model),
            "tokenizer": type(tokenizer).__name__,
            "pooling": pooling,
            "pooling_from": source,
            "max_length": limit,
        }

    @contextmanager
    def running(self, texts: Sequence[str]) -> Iterator[tuple[Encode, Mapping[str, Any]]]:
        self._check_blank(texts)
        with self.network.running() as place:
            settings = {**self.settings, "truncated": 0, **place.settings}

            def encode(batch: list[str]) -> Any:
                rows, cut = self._rows(batch, place)
                settings["truncated"] += cut
                return rows

            yield encode, settings

    def _rows(self, texts: list[str], place: Place) -> tuple[Any, int]:
        """Return the embeddings of texts, and how many texts were cut."""
        # A tokenizer holds padding and truncation itself while it works, so that threads take
        # turns.
        with _tokenizing:
            inputs = self._tokenize(texts)
            lengths = _lengths(inputs, len(texts))
            full = [i for i in range(len(texts)) if lengths[i] == self.limit]
            cut = sum(length > (self.limit or 0) for length in self._uncut(texts, full))
        SampleError.check(_without_tokens(texts, lengths))
        with inference():
            return self._embed(on_device(inputs, place)), cut

    def _check_blank(self, texts: Sequence[str]) -> None:
        """Raise for blank texts without tokens, before any work is done on the others."""
        blank = [i for i, text in enumerate(texts) if not text.strip()]
        if blank:
            found = [texts[i] for i in blank]
            with _tokenizing:
                lengths = _lengths(self._tokenize(found), len(found))
            problems = _without_tokens(found, lengths)
            SampleError.check({blank[i]: problem for i, problem in problems.items()})

    def _tokenize(self, texts: list[str]) -> Mapping[str, Any]:
        # Padding goes to the right: the first token is where pooling looks for it.
        return self.tokenizer(
            texts,
            padding=True,
            padding_side="right",
            return_tensors="pt",
            verbose=False,
            truncation=self.limit is not None,
            max_length=self.limit,
        )

    def _uncut(self, texts: list[str], index: Sequence[int]) -> list[int]:
        """Return numbers of tokens of some texts, none of which is cut."""
        some = [self.prompt + texts[i] for i in index]
        return (
            [len(ids) for ids in self.tokenizer(some, verbose=False)["input_ids"]] if some else []
        )

    def _embed(self, inputs: dict[str, Any]) -> Any:
        return pool(self.forward(**inputs), self.pooling, inputs["attention_mask"])


class _SentenceTransformer(_Transformer):
    """A model that says itself how its texts become embeddings."""

    def __init__(self, network: Network, max_length: int | None) -> None:
        model = network.model
        inner, first = model.transformers_model, model[0]
        limit = None
        if inner is not None:
            limit = _limit(inner, model.tokenizer, max_length, model.max_seq_length)
            model.max_seq_length = limit
        elif max_length is not None:
            raise ValueError(f"`max_length` has no effect with a {type(first).__name__}")
        super().__init__(network, model.tokenizer, pooling_of(model), "modules.json", limit)
        self.settings |= describe(model if inner is None else inner) | _lowercase(model)
        self.prompt = default_prompt(model) or ""
        if self.prompt:
            self.settings["prompt"] = self.prompt

    def _tokenize(self, texts: list[str]) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.network.model.preprocess(texts, prompt=self.prompt or None)
        return found

    def _embed(self, inputs: dict[str, Any]) -> Any:
        return embedded(self.network.model, inputs)


def _lowercase(sentences: Any) -> dict[str, bool]:
    return {"lowercase": True} if getattr(sentences[0], "do_lower_case", False) else {}


_tokenizing = Lock()


def _lengths(inputs: Mapping[str, Any], n: int) -> list[int]:
    """Return numbers of tokens of n texts; 1 where a model does not say them."""
    mask = inputs.get("attention_mask")
    return [1] * n if mask is None else mask.sum(dim=1).tolist()


def _without_tokens(texts: Sequence[str], lengths: Sequence[int]) -> dict[int, str]:
    return {
        i: f"has no tokens: {text!r:.40}; remove empty texts"
        for i, (text, length) in enumerate(zip(texts, lengths, strict=True))
        if not length
    }


def _limit(
    model: Any, tokenizer: Any, max_length: int | None, stated_length: int | None
) -> int | None:
    """Return the number of tokens to cut at: `max_length`, or what is stated and positions
    allow."""
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
