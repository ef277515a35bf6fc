"""Image encoders: Inception v3, transformers models and custom models of PIL images."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..support.errors import SampleError
from ..support.optional import is_network, require
from ..support.types import Options
from .embeddings import Encode, check_no_conflict
from .model_cache import CONNECTION_TIMEOUT, format_alternatives, list_image_alternatives
from .networks import (
    ModelFiles,
    Network,
    Pooling,
    build_sentence_embed,
    describe_network,
    has_modules_file,
    load_pretrained,
    load_sentence_transformer,
    pool,
    sentence_settings,
)
from .pil_images import as_image, check_images
from .sample_encoder import Modality

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

Transform = Callable[[Any], object]

_TRUE_VALUES = ("1", "ON", "YES", "TRUE")  # as in huggingface_hub


def read_images(items: list[object], background: str | None = None) -> list[Image]:
    """Convert a batch of images of any type to RGB; transparent pixels show `background`.

    A SampleError lists all images of the batch that cannot be read.
    """
    images = []
    problems = {}
    for i, item in enumerate(items):
        try:
            images.append(as_image(item, i, background).convert("RGB"))
        except SampleError as error:
            problems.update(error.problems)
    SampleError.check(problems)
    return images


def _load_network(files: ModelFiles, pooling: Pooling | None, max_length: None) -> Network:
    """Load an image model and its image processor from the Hub or a folder.

    If `files.path` is None, load Inception v3. `max_length` is always None: it is a parameter
    because text models are loaded by a function with the same signature.
    """
    path = files.path
    if path is None:
        check_no_conflict({"revision": files.revision, "pooling": pooling}, "Inception v3")
        return _load_inception(files)
    if not has_modules_file(files):  # a model of transformers
        model = load_pretrained(files, pooling or "pooler")
        processor = files.load_component("AutoImageProcessor")
    else:
        sentence_model = load_sentence_transformer(files, pooling)
        model = sentence_model.transformers_model
        processor = sentence_model.processor
        if pooling is None:
            if not sentence_model.supports("image"):
                raise ValueError(
                    f"the model {str(path)!r} does not accept images, according to its files; "
                    "pass another model, or, if the network of transformers in the model accepts "
                    "images, pass pooling='mean', 'cls' or 'pooler' to use only this network"
                )
            # The model computes embeddings itself, by the steps in modules.json.
            settings = sentence_settings(sentence_model, model) | {
                "transform": _qualified_name(processor)
            }
            embed = build_sentence_embed(sentence_model)
            return Network(sentence_model, files.device, settings, sentence_model.preprocess, embed)

    def prepare(batch: list[object]) -> Options:
        return processor(images=batch, return_tensors="pt")

    return _build_network(model, files.device, pooling, prepare, _qualified_name(processor))


def _wrap_network(
    model: torch.nn.Module, transform: Transform, pooling: Pooling | None, max_length: None
) -> Network:
    """Wrap a torch network that the user passed, and `transform`, a function of one image.

    The transform turns a PIL image into an input of the network. `max_length` is always None: it is
    a parameter because text models are wrapped by a function with the same signature.
    """
    if not is_network(model):
        raise TypeError(
            f"`transform` requires a torch network as `model`, got {type(model).__name__}; "
            f"remove `transform` if the model prepares images itself"
        )
    return _build_network(
        model,
        device=None,
        pooling=pooling,
        prepare=_as_batch_transform(transform),
        transform=_qualified_name(transform),
    )


IMAGES = Modality(
    "images",
    "transform",
    check_images,
    _load_network,
    _wrap_network,
    list_image_alternatives,
    read=read_images,
)


def _build_network(
    model: torch.nn.Module,
    device: torch.device | None,
    pooling: Pooling | None,
    prepare: Encode,
    transform: str,
) -> Network:
    """Build a Network that embeds images by `model`, with the given pooling.

    Without `pooling`, the embedding is the pooled output of the model. `prepare` turns a batch of
    images into inputs, and `transform` is its name in the settings. `device` is None for a model
    that the user passed.
    """
    # A model of texts and images, such as CLIP, has a separate method for images.
    forward = getattr(model, "get_image_features", model)
    pooling_or_default = pooling or "pooler"

    def embed(inputs: object) -> torch.Tensor:
        # Image processors of transformers return a dict of inputs, other transforms a tensor.
        output = forward(**inputs) if isinstance(inputs, Mapping) else forward(inputs)
        return pool(output, pooling_or_default)

    settings = describe_network(model) | {
        "pooling": pooling_or_default,
        "pooling_from": "given" if pooling else "default",
        "transform": transform,
    }
    return Network(model, device, settings, prepare, embed)


def _load_inception(files: ModelFiles) -> Network:
    """Load Inception v3 without its classification layer; its output is the embedding."""
    from urllib.error import URLError  # the import takes 20 ms

    torch = require("torch", "images", "kernel 'image_embeddings'")
    models = require("torchvision.models", "images", "kernel 'image_embeddings'")
    weights = models.Inception_V3_Weights.DEFAULT
    file = Path(torch.hub.get_dir()) / "checkpoints" / weights.url.rpartition("/")[2]
    # With weights, torchvision sets transform_input=True: the network itself converts the ImageNet
    # normalization of transforms() into the range that it was trained on.
    try:
        # torchvision would wait long for an unreachable server, so the connection is tested first.
        if not file.exists():
            _check_connection(weights.url)
        model = models.inception_v3(weights=weights, progress=False)
    except URLError as error:
        alternatives = format_alternatives(list_image_alternatives(""))
        raise ConnectionError(
            f"the weights of Inception v3 are not in the local cache, and the network cannot be "
            f"reached ({error.reason}); {alternatives}download {weights.url} on a machine with a "
            f"network, and copy it to {file}"
        ) from error
    # Replaces the classification layer, so the output is the input of this layer.
    model.fc = torch.nn.Identity()
    model.to(files.dtype)
    settings = {"model": f"torchvision {weights}", "transform": "weights.transforms()"}
    prepare = _as_batch_transform(weights.transforms())
    return Network(model, files.device, settings, prepare, lambda X: pool(model(X), pooling=None))


def _check_connection(url: str) -> None:
    """Raise a URLError if a server cannot be reached within a few seconds."""
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    if os.environ.get("HF_HUB_OFFLINE", "").upper() in _TRUE_VALUES:
        raise URLError("HF_HUB_OFFLINE is set")
    try:
        urlopen(Request(url, method="HEAD"), timeout=CONNECTION_TIMEOUT).close()
    except HTTPError:
        pass  # the server answered; the download reports the problem
    except TimeoutError as error:
        raise URLError(str(error)) from error


def _as_batch_transform(transform: Transform) -> Encode:
    """Turn a transform of one image into a transform of a batch."""

    def prepare(batch: list[object]) -> object:
        # Transforms each of m images, and stacks the results to a tensor of shape (m, C, H, W).
        torch = require("torch", "images", "kernel 'image_embeddings'")
        tensors = []
        for image in batch:
            output = transform(image)
            if isinstance(output, Mapping):  # of a transformers image processor
                output = output["pixel_values"][0]
            tensors.append(torch.as_tensor(output))
            if tensors[-1].shape != tensors[0].shape:
                raise ValueError(
                    "`transform` must return tensors of equal shape, got "
                    f"{tuple(tensors[0].shape)} and {tuple(tensors[-1].shape)}; add a resize step"
                )
        return torch.stack(tensors)

    return prepare


def _qualified_name(transform: object) -> str:
    """Return the qualified name of a function, or of the class of another object."""
    return str(getattr(transform, "__qualname__", type(transform).__qualname__))
