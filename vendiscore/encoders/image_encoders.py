"""Encoders of images: Inception v3, transformers models, and whatever encodes PIL images."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError

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
from .pil_images import as_image, check_images

Transform = Callable[[Any], Any]

_TRUE = ("1", "ON", "YES", "TRUE")  # as huggingface_hub reads its switches


def _read(items: list[Any]) -> list[Any]:
    """Return RGB images of a batch."""
    images, problems = [], {}
    for i, item in enumerate(items):
        try:
            images.append(as_image(item, i).convert("RGB"))
        except SampleError as error:
            problems.update(error.problems)
    SampleError.check(problems)
    return images


IMAGES = Kind("images", "images", check_images, read=_read)


def image_encoder(
    model_path: str | Path | None = None,
    model: Any = None,
    transform: Transform | None = None,
    pooling: Pooling | None = None,
    batch_size: int = BATCH_SIZE,
    device: Any = None,
    half: bool | None = None,
    revision: str | None = None,
) -> Encoder:
    """Return the encoder of kernel "image_embeddings"; arguments and errors as there."""
    pooling = check_pooling(pooling)
    batch_size = integer("batch_size", batch_size)
    if model_path is not None:
        check_model_path(model_path)
    if model is None:
        no_effect({"transform": transform}, "a model that has its own; pass both as model=")
        place = pick_device(device, "images")
        dtype = pick_dtype(half, place)
        if model_path is None:
            no_effect({"revision": revision, "pooling": pooling is not None}, "Inception v3")
            return Encoder(IMAGES, _inception(place, dtype), batch_size)
        return Encoder(IMAGES, _loaded(model_path, pooling, revision, place, dtype), batch_size)
    no_effect({"model_path": model_path, "revision": revision}, "model=…")
    if transform is None:
        given = {"pooling": pooling, "device": device, "half": half}
        return made(
            IMAGES,
            model,
            batch_size,
            {name: value is not None for name, value in given.items()},
            missing=f"`transform` is missing: `model` is a torch network ({type(model).__name__}), "
            f"and how its input is made decides what it sees; pass the transforms of its weights",
        )
    if not is_network(model):
        raise TypeError(
            f"`transform` goes with a torch network as `model`, got {type(model).__name__}; "
            f"leave it out if the model encodes pictures by itself"
        )
    no_effect({"half": half is not None}, "model=…, which has its own precision")
    network = Network(model, None if device is None else pick_device(device, "images"), ours=False)
    how, source = pooling or "pooler", "default" if pooling is None else "given"
    settings = {**describe(model), **_pooled(how, source), "transform": _name(transform)}
    return Encoder(IMAGES, _Vision(network, _each(transform), how, settings), batch_size)


def _loaded(
    model_path: str | Path, pooling: Pooling | None, revision: str | None, place: Any, dtype: Any
) -> _Vision:
    where: dict[str, Any] = {"extra": "images", "revision": revision, "dtype": dtype}
    how, source = pooling or "pooler", "default" if pooling is None else "given"
    if not has_steps(model_path, revision, "images"):
        model = load_pretrained(model_path, how, **where)
        transformers = require("transformers", "images", "kernel 'image_embeddings'")
        processor = transformers.AutoImageProcessor.from_pretrained(model_path, revision=revision)
    else:
        sentences = load_sentence_transformer(model_path, pooling, device=place, **where)
        model, processor = sentences.transformers_model, sentences.processor
        if pooling is None:
            if not sentences.supports("image"):
                raise ValueError(
                    f"`model_path` {str(model_path)!r} takes no images, as its files say; pass "
                    f"pooling='mean', 'cls' or 'pooler' to use its network alone"
                )
            settings = describe(model) | _pooled(pooling_of(sentences), "modules.json")
            network = Network(sentences, place, ours=True)
            settings["transform"] = _name(processor)
            return _Vision(network, sentences.preprocess, how, settings)
    settings = {**describe(model), **_pooled(how, source), "transform": _name(processor)}

    def prepare(batch: list[Any]) -> Any:
        return processor(images=batch, return_tensors="pt")

    return _Vision(Network(model, place, ours=True), prepare, how, settings)


class _Vision:
    """A network with what prepares its images, and pooling."""

    def __init__(
        self, network: Network, prepare: Encode, pooling: Pooling, settings: Mapping[str, Any]
    ) -> None:
        self.network, self.prepare, self.pooling = network, prepare, pooling
        self.settings = settings
        self.forward = getattr(network.model, "get_image_features", network.model)

    @contextmanager
    def running(self, images: Sequence[Any]) -> Iterator[tuple[Encode, Mapping[str, Any]]]:
        with self.network.running() as place:
            yield lambda batch: self._rows(batch, place), {**self.settings, **place.settings}

    def _rows(self, images: list[Any], place: Place) -> Any:
        inputs = self.prepare(images)
        with inference():
            if not isinstance(inputs, Mapping):
                return pool(self.forward(inputs.to(place.device, place.dtype)), self.pooling)
            inputs = on_device(inputs, place)
            if hasattr(self.network.model, "truncate_dim"):
                return embedded(self.network.model, inputs)
            return pool(self.forward(**inputs), self.pooling)


def _pooled(pooling: Any, source: str) -> dict[str, Any]:
    return {"pooling": pooling, "pooling_from": source}


def _inception(place: Any, dtype: Any) -> _Vision:
    torch = require("torch", "images", "kernel 'image_embeddings'")
    models = require("torchvision.models", "images", "kernel 'image_embeddings'")
    weights = models.Inception_V3_Weights.DEFAULT
    kept = Path(torch.hub.get_dir()) / "checkpoints" / weights.url.rpartition("/")[2]
    remedy = (
        f"put {weights.url} at {kept}, or pass model_path=… (a model in the Hub's cache) or model=…"
    )
    if not kept.exists() and os.environ.get("HF_HUB_OFFLINE", "").upper() in _TRUE:
        raise ConnectionError(
            f"the weights of Inception v3 are not on this machine, and HF_HUB_OFFLINE is set; "
            f"{remedy}"
        )
    # Given weights, torchvision sets transform_input=True: the network itself turns ImageNet's
    # normalisation, which transforms() applies, into the range it was trained in.
    try:
        model = models.inception_v3(weights=weights, progress=False)
    except URLError as error:
        raise ConnectionError(
            f"the weights of Inception v3 cannot be downloaded ({error.reason}); {remedy}"
        ) from error
    model.fc = torch.nn.Identity()
    model.to(dtype)
    settings = {"model": f"torchvision {weights}", "transform": "weights.transforms()"}
    network = Network(model, place, ours=True)
    return _Vision(network, _each(weights.transforms()), "pooler", settings)


def _each(transform: Transform) -> Encode:
    """Return a transform of one image as one of a batch."""

    def prepare(batch: list[Any]) -> Any:
        torch = require("torch", "images", "kernel 'image_embeddings'")
        tensors = []
        for image in batch:
            out = transform(image)
            if isinstance(out, Mapping):  # of a transformers image processor
                out = out["pixel_values"][0]
            tensors.append(torch.as_tensor(out))
            if tensors[-1].shape != tensors[0].shape:
                raise ValueError(
                    f"`transform` must bring all images to one shape, got "
                    f"{tuple(tensors[0].shape)} and {tuple(tensors[-1].shape)}; let it resize"
                )
        return torch.stack(tensors)

    return prepare


def _name(thing: Any) -> str:
    return str(getattr(thing, "__qualname__", type(thing).__qualname__))
