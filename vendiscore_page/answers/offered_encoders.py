"""Encoders that the page offers: a name that a visitor sends is looked up in `ALLOWED` alone."""

import importlib
import logging
import os
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from vendiscore import SampleError, Similarity, as_similarity, encoder, get_kernel, list_kernels
from vendiscore.encoders.sample_encoder import Encoder
from vendiscore.encoders.text_encoders import check_texts
from vendiscore.report import join_names
from vendiscore.support.errors import short_repr
from vendiscore.support.progress import map_steps

from ..aliases import Record, Steps
from ..quotas import RefusedError
from .prompt_lists import given_prompts

# By kind of sample: the name on the page, and the options of `compute`.
ALLOWED: dict[str, dict[str, Record]] = {
    "texts": {
        "MiniLM": {
            "k": "text_embeddings",
            "model_path": "sentence-transformers/all-MiniLM-L6-v2",
            "pooling": "mean",
        }
    },
    "images": {
        "DINOv2": {"k": "image_embeddings", "model_path": "facebook/dinov2-small", "pooling": "cls"}
    },
}
_PACKAGES = ("torch", "torchvision", "transformers", "sentence_transformers", "huggingface_hub")
# For texts without a network: vectors that a package contains.
_STATIC_PACKAGES = ("wordllama", "safetensors", "tokenizers")
_STATIC = {"static vectors": {"k": "text_embeddings", "model_path": "wordllama"}}
MEGABYTES = 90  # of either network: 90.9 and 88.2 on the Hub
_EVERY = 0.5  # seconds between two looks at how much of a network is here
_BATCH = {"images": 16}  # samples that take a few seconds on one core, where fewer than usual
_KEPT = 4  # sets, of at most 1,000 × 384 numbers each
# Another visitor who sends the same samples would get the same numbers anyway.
_log = logging.getLogger(__name__)
_recent: OrderedDict[int, Similarity] = OrderedDict()


@cache
def offered(kind: str) -> dict[str, Record]:
    """Return the encoders of a kind that are available here, as options of `compute`.

    Static word vectors replace missing networks for texts.
    """
    here = {name: how for name, how in _networks(kind).items() if _is_cached(how["model_path"])}
    static = kind == "texts" and not here and all(map(find_spec, _STATIC_PACKAGES))
    return _STATIC if static else here


def absent(kind: str) -> list[str]:
    """Return the networks of a kind that `download` can fetch; none on a Space."""
    if "SPACE_ID" in os.environ:
        return []
    return [name for name in _networks(kind) if name not in offered(kind)]


def describe_missing(kind: str) -> str:
    """Return a sentence on what replaces the network of a kind if it is missing, or ""."""
    here = offered(kind)
    missing = [name for name in ALLOWED.get(kind, {}) if name not in here]
    if not missing:
        return ""
    if here:
        then = f"meaning is compared by {join_names(here)}, which ignore the order of words"
    else:
        then = f"only {'wording' if kind == 'texts' else 'pixels'} can be compared"
    return f"{join_names(missing)} is not available here, so {then}."


def download(kind: object, name: object) -> Steps[Record]:
    """Fetch a network from the Hub by `vendiscore model download`, telling how much is here."""
    if not isinstance(kind, str) or name not in absent(kind):
        raise RefusedError(f"{short_repr(name)} cannot be downloaded here.")
    model = ALLOWED[kind][str(name)]["model_path"]
    command = [sys.executable, "-m", "vendiscore", "model", "download", model]
    with subprocess.Popen(command, stdout=DEVNULL, stderr=DEVNULL) as fetching:
        try:
            while fetching.poll() is None:
                here = min(_megabytes(model), MEGABYTES)
                yield f"Downloading {name}: {here:.0f} of {MEGABYTES} MB."
                time.sleep(_EVERY)
        finally:
            fetching.terminate()
        if fetching.returncode:
            raise RefusedError(
                f"{name} was not downloaded; check that this machine can reach huggingface.co and "
                f"has free disk space, then try again."
            )
    offered.cache_clear()
    yield f"Loading {name}."
    return {"kernel": name}


def _megabytes(model: str) -> float:
    """Return how much of a model is in the cache of the Hub's client, arriving files included."""
    from huggingface_hub.constants import HF_HUB_CACHE

    folder = Path(HF_HUB_CACHE, f"models--{model.replace('/', '--')}", "blobs")
    with suppress(OSError):  # a file that has just got its name
        return sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    return 0.0


def _networks(kind: str) -> dict[str, Record]:
    """Return the networks of a kind whose packages are installed."""
    return ALLOWED.get(kind, {}) if all(map(find_spec, _PACKAGES)) else {}


def prepare() -> None:
    """Import what the encoders offered need, before any thread computes."""
    # While one thread imports torch, SciPy in another may look for tensors in a half of it.
    with _loading:
        if any(offered(kind).keys() & _networks(kind) for kind in ALLOWED):
            transformers = importlib.import_module("transformers")
            for name in ("AutoModel", "AutoTokenizer", "AutoImageProcessor"):
                getattr(transformers, name)  # imported when asked for
            importlib.import_module("sentence_transformers")


def similarity(samples: Any, arguments: Record) -> Steps[Similarity]:
    """Return the Similarity of samples; one that an encoder makes is made batch by batch."""
    arguments = {name: value for name, value in arguments.items() if name != "psd"}
    if arguments.get("k") not in ("text_embeddings", "image_embeddings"):
        return as_similarity(samples, **arguments)
    key = hash((repr(sorted(arguments.items())), *samples))  # with a random key of this process
    if (known := _recent.pop(key, None)) is None:
        known = yield from _encoded(samples, arguments)
    _recent[key] = known  # as the last one; each step is atomic, whatever the thread
    if len(_recent) > _KEPT:
        _recent.popitem(last=False)
    return known


def _encoded(samples: Sequence[object], arguments: Record) -> Steps[Similarity]:
    prompts = list(arguments.get("prompts", ()))
    given = given_prompts(prompts)
    every = [*samples, *prompts]
    if prompts and arguments.get("model_path") == ALLOWED["texts"]["MiniLM"]["model_path"]:
        given["in_context"] = True
        of_each = prompts * len(samples) if len(prompts) == 1 else prompts
        every += [f"{u} {text!s}" for u, text in zip(of_each, samples, strict=True)]
    distinct = list(dict.fromkeys(every))
    if get_kernel(arguments["k"]).samples == "text":
        check_texts(samples)  # here, because errors in `distinct` would have other indices
        try:
            check_texts(prompts)
        except SampleError as error:
            raise RefusedError(f"Prompt {min(error.problems)} {error.problem}.") from None

    def words(done: int) -> str:
        return f"Encoding: {done:,} of {len(distinct):,} done."

    kernel = get_kernel(arguments["k"])
    apart = ("k", "prompts", "given_prompt")
    options = {name: x for name, x in arguments.items() if name not in apart}
    yield words(0)  # before the model is loaded
    if kernel.samples in _BATCH:
        options["batch_size"] = _BATCH[kernel.samples]
    network = _loaded(kernel.samples, options)
    steps = network.embed_steps(distinct)
    with suppress(SampleError):  # which is raised again below, with the places of all such samples
        known = yield from map_steps(steps, words)
        network = copy(network)  # for the kernel, which asks for these samples in this order
        network.embed_with_report = lambda samples: known  # type: ignore[method-assign]
    return as_similarity(samples, k=kernel.name, model=network, **given)


def _loaded(kind: Any, options: Record) -> Encoder:
    """Return an encoder; raise RefusedError that names other kernels if it cannot be loaded."""
    key = kind, *sorted(options.items())
    with _loading:
        if key not in _encoders:
            try:
                _encoders[key] = encoder(kind=kind, **options)
            except OSError as error:
                raise _failure(options["model_path"]) from error
        return _encoders[key]


def _failure(model: str) -> RefusedError:
    """Return the error for a network that cannot be loaded, with the kernels that can be used."""
    kind, name = next(
        (kind, name)
        for kind, networks in (ALLOWED | {"texts": ALLOWED["texts"] | _STATIC}).items()
        for name, how in networks.items()
        if how["model_path"] == model
    )
    _log.exception("the encoder %s cannot be loaded", name)
    sample_type = "text" if kind == "texts" else kind
    encoders = {how["k"] for how in ALLOWED[kind].values()}
    others = [x.name for x in list_kernels() if x.samples == sample_type and x.label]
    others = [*offered(kind), *(other for other in others if other not in encoders)]
    others = [other for other in others if other != name]
    return RefusedError(
        f"{name} cannot be loaded on this server; select another kernel: {join_names(others)}."
    )


_encoders: dict[object, Encoder] = {}
_loading = threading.Lock()


def _is_cached(model: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(model, "model.safetensors"), str)
