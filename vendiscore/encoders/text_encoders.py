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
from .model_files import Stated, stated
from .models import BATCH_SIZE, Encoder, Kind, made
from .networks import (
    Pooling,
    check_model_path,
    check_pooling,
    describe,
    load_pretrained,
    pick_device,
    pick_dtype,
    pool,
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
    """The encoder of kernel "text_embeddings"; arguments and errors as there."""
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
    return Encoder(
        TEXTS, _Transformer(network, tokenizer, Stated(pooling, "given"), max_length), batch_size
    )


def _loaded(
    model_path: str | Path,
    pooling: Pooling | None,
    max_length: int | None,
    device: Any,
    half: bool | None,
    revision: str | None,
) -> _Transformer:
    place = pick_device(device, "text")
    dtype = pick_dtype(half, place)
    says = _stated(model_path, revision, pooling)
    where: dict[str, Any] = {"revision": revision, "subfolder": says.subfolder}
    model = load_pretrained(model_path, says.pooling, extra="text", dtype=dtype, **where)
    tokenizer = _load_tokenizer(model_path, lowercase=says.lowercase, **where)
    return _Transformer(Network(model, place, ours=True), tokenizer, says, max_length)


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


class _Transformer:
    """A network of transformers with its tokenizer and pooling."""

    def __init__(
        self, network: Network, tokenizer: Any, says: Stated, max_length: int | None
    ) -> None:
        model = network.model
        self.network, self.tokenizer, self.pooling = network, tokenizer, says.pooling
        self.limit = _limit(model, tokenizer, max_length, says.max_length)
        if getattr(model.config, "is_encoder_decoder", False):
            self.forward = model.get_encoder()
        else:
            self.forward = getattr(model, "get_text_features", model)
        self.settings = {
            **describe(model),
            "tokenizer": type(tokenizer).__name__,
            "pooling": says.pooling,
            "pooling_from": says.pooling_from,
            **({"lowercase": True} if says.lowercase else {}),
            "max_length": self.limit,
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
        """Their embeddings, and how many of them were cut."""
        inputs, cut = self._tokenize(texts), 0
        lengths = inputs["attention_mask"].sum(dim=1)
        if self.limit is not None and inputs["input_ids"].shape[1] > self.limit:
            cut = int((lengths > self.limit).sum())
            inputs = self._tokenize(texts, truncation=True, max_length=self.limit)
        SampleError.check(_without_tokens(texts, lengths))
        with inference():
            output = self.forward(**inputs.to(place.device))
            return pool(output, self.pooling, inputs["attention_mask"]), cut

    def _check_blank(self, texts: Sequence[str]) -> None:
        """Raise for blank texts without tokens, before any work is done on the others."""
        blank = [i for i, text in enumerate(texts) if not text.strip()]
        if blank:
            found = [texts[i] for i in blank]
            lengths = self._tokenize(found)["attention_mask"].sum(dim=1)
            problems = _without_tokens(found, lengths)
            SampleError.check({blank[i]: problem for i, problem in problems.items()})

    def _tokenize(self, texts: list[str], **options: Any) -> Any:
        # A tokenizer holds padding and truncation itself while it works, so that threads take
        # turns. Padding goes to the right: the first token is where pooling looks for it.
        with _tokenizing:
            return self.tokenizer(
                texts,
                padding=True,
                padding_side="right",
                return_tensors="pt",
                verbose=False,
                **options,
            )


_tokenizing = Lock()


def _without_tokens(texts: Sequence[str], lengths: Any) -> dict[int, str]:
    return {
        i: f"has no tokens: {text!r:.40}; remove empty texts"
        for i, (text, length) in enumerate(zip(texts, lengths.tolist(), strict=True))
        if not length
    }


def _load_tokenizer(model_path: str | Path, *, lowercase: bool, **where: Any) -> Any:
    transformers = require("transformers", "text", "kernel 'text_embeddings'")
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_path, **where)
    if tokenizer.pad_token is None:  # masked, so any token does
        tokenizer.pad_token = tokenizer.eos_token
    if lowercase:
        if not tokenizer.is_fast:
            raise ValueError(
                f"`model_path` {str(model_path)!r} lower-cases texts, which a "
                f"{type(tokenizer).__name__} does not; pass model=SentenceTransformer("
                f"{str(model_path)!r})"
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
