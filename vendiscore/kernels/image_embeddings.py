"""Images by the cosine of their embeddings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.error import URLError

from ..arguments import integer
from ..encoders.batches import Encoder, embed, external, is_network, no_effect
from ..encoders.files import stated
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
from .images import as_image, check_images

Transform = Callable[[Any], Any]

_TRUE = ("1", "ON", "YES", "TRUE")  # as huggingface_hub reads its switches


@register_kernel(
    "image_embeddings",
    samples="images",
    needs="images",
    source="Friedman & Dieng, arXiv 2210.02410, §4; Inception v3: Szegedy et al., arXiv 1512.00567",
)
def image_embeddings(
    images: Any,
    model_path: str | Path | None = None,
    model: Any = None,
    transform: Transform | None = None,
    pooling: Pooling | None = None,
    batch_size: int = 64,
    device: Any = None,
    half: bool | None = None,
    revision: str | None = None,
) -> Similarity:
    """The cosine of the embeddings of two images, by default of Inception v3's pool features.

    The default network is torchvision's Inception v3 without its last layer (2,048 features).
    Pictures reach it through the transforms that belong to the weights (to 342 pixels, centre
    crop of 299, ImageNet normalisation), which the reference implementation leaves half out:
    numbers differ from its on purpose.

    Parameters
    ----------
    images : sequence or array
        Anything `kernels.images.as_image` takes; greyscale is made RGB.
    model_path : str or Path, optional
        Hub id or local folder of a transformers vision model (DINOv2, CLIP, ViT, …) and its
        image processor, instead of Inception. CLIP and its kin give their image features.
    model : object, optional
        Instead of both: an object with `.encode(list of PIL images)`, a function of such a list
        that returns an (n, d) array, or, with `transform`, a torch network. It must embed each
        image by itself. Evaluated without dropout and gradients, left as it was.
    transform : callable PIL image → tensor (C, H, W), optional
        The preprocessing of a torch `model`: torchvision transforms or a transformers image
        processor.
    pooling : {"pooler", "cls", "mean"}
        For transformers models: the pooled output, the first token, or the mean of all tokens. By
        default what the files of `model_path` say (`modules.json` of sentence-transformers), or
        else "pooler".
    batch_size : int
    device : str or torch.device, optional
        A GPU if there is one, otherwise the CPU; a `model` stays where it is unless given.
    half : bool, optional
        Half precision. By default on a GPU, for a model loaded here; False asks for single, which
        gives the same number on every machine up to rounding. `details` says which it was.
    revision : str, optional
        Branch, tag or commit on the Hub, for `model_path`.

    Returns
    -------
    Similarity
        With float32 features (n, d); `settings` has model, revision, pooling and where that is
        from (`pooling_from`), dims and dtype.

    Raises
    ------
    SampleError
        If samples are no readable images, or their embeddings are zero or not finite.
    MissingPackageError
        Without pillow, torch, torchvision or transformers, where the call needs it.
    TypeError, ValueError
        For a model that returns no such array, has no such pooling, or lacks trained weights.
    ConnectionError
        If the weights of Inception v3 are not here and cannot be downloaded, or must not be
        (HF_HUB_OFFLINE).

    Notes
    -----
    Time is that of the model, and of loading it: a `model` that is loaded once serves many calls,
    `model_path` and the default are loaded by each. On a GPU these run in half precision, so that
    the last digits of a score depend on the machine; half=False does not. At most a batch of images
    is decoded and on the device at a time; nothing is cached beside the downloaded weights.
    """
    pooling = check_pooling(pooling)
    batch_size = integer("batch_size", batch_size)
    if model_path is not None:
        check_model_path(model_path)
    check_images(images)
    how, source = pooling or "pooler", "default" if pooling is None else "given"
    if model is not None:
        no_effect({"model_path": model_path, "revision": revision}, "model=…")
        if transform is None:
            return _external(images, model, batch_size, pooling, device, half)
        if not is_network(model):
            raise TypeError(
                f"`transform` goes with a torch network as `model`, got {type(model).__name__}; "
                f"leave it out if the model encodes pictures by itself"
            )
        no_effect({"half": half is not None}, "model=…, which has its own precision")
        place = None if device is None else pick_device(device, "images")
        prepare = _each(transform)
        settings = {**describe(model), **_pooled(how, source), "transform": _name(transform)}
    else:
        no_effect({"transform": transform}, "a model that has its own; pass both as model=")
        place = pick_device(device, "images")
        dtype = pick_dtype(half, place)
        if model_path is None:
            no_effect({"revision": revision, "pooling": pooling is not None}, "Inception v3")
            model, prepare, settings = _inception(dtype)
        else:
            says = stated(model_path, revision, "images", pooling=pooling)
            how, source = says.pooling or "pooler", says.pooling_from or source
            where: dict[str, Any] = {"revision": revision, "subfolder": says.subfolder}
            model = load_pretrained(model_path, how, extra="images", dtype=dtype, **where)
            prepare = _processor(model_path, **where)
            settings = {**describe(model), **_pooled(how, source), "transform": _name(prepare)}
    with evaluating(model, place) as (home, dtype):
        forward = getattr(model, "get_image_features", model)

        def encode(batch: list[Any]) -> Any:
            inputs = prepare(batch)
            if isinstance(inputs, Mapping):
                inputs = {key: value.to(home) for key, value in inputs.items()}
                inputs["pixel_values"] = inputs["pixel_values"].to(dtype)
                return pool(forward(**inputs), how)
            return pool(forward(inputs.to(home, dtype)), how)

        X = embed(images, _decoded(encode), batch_size=batch_size, what="images")
    settings |= {"dims": X.shape[1], "device": home.type, "half": dtype.itemsize == 2}
    return FeatureSimilarity(X, settings).normalized()


def _external(
    images: Any,
    model: Any,
    batch_size: int,
    pooling: Pooling | None,
    device: Any,
    half: bool | None,
) -> Similarity:
    encode = external(model)
    if encode is None:
        raise TypeError(
            f"`transform` is missing: `model` is a torch network ({type(model).__name__}), and "
            f"how its input is made decides what it sees; pass the transforms of its weights"
        )
    no_effect(
        {
            "pooling": pooling is not None,
            "device": device is not None,
            "half": half is not None,
        },
        "a model that encodes by itself",
    )
    X = embed(images, _decoded(encode), batch_size=batch_size, what="images")
    return FeatureSimilarity(
        X, {"model": _name(model), "pooling": None, "dims": X.shape[1]}
    ).normalized()


def _pooled(pooling: Pooling, source: str) -> dict[str, str]:
    return {"pooling": pooling, "pooling_from": source}


def _decoded(encode: Encoder) -> Encoder:
    """The encoder behind `as_image`: what it gets are RGB images, a batch of them at a time."""

    def encode_any(items: list[Any]) -> Any:
        images, problems = [], {}
        for i, item in enumerate(items):
            try:
                images.append(as_image(item, i).convert("RGB"))
            except SampleError as error:
                problems.update(error.problems)
        SampleError.check(problems)
        return encode(images)

    return encode_any


def _inception(dtype: Any) -> tuple[Any, Encoder, dict[str, Any]]:
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
    return model, _each(weights.transforms()), settings


def _each(transform: Transform) -> Encoder:
    """A transform of one image as one of a batch."""

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


def _processor(model_path: str | Path, **where: Any) -> Encoder:
    transformers = require("transformers", "images", "kernel 'image_embeddings'")
    processor = transformers.AutoImageProcessor.from_pretrained(model_path, **where)

    def prepare(batch: list[Any]) -> Any:
        return processor(images=batch, return_tensors="pt")

    prepare.__qualname__ = type(processor).__qualname__
    return prepare


def _name(thing: Any) -> str:
    return str(getattr(thing, "__qualname__", type(thing).__qualname__))
