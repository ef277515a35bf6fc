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
from .prompt_lists import conditioning_keywords

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
_POLL_SECONDS = 0.5  # seconds between two looks at how much of a network is here
_BATCH = {"images": 16}  # samples that take a few seconds on one core, where fewer than usual
_MAX_RECENT = 4  # sets, of at most 1,000 × 384 numbers each
# Another visitor who sends the same samples would get the same numbers anyway.
_log = logging.getLogger(__name__)
_recent: OrderedDict[int, Similarity] = OrderedDict()


@cache
def list_offered(kind: str) -> dict[str, Record]:
    """Return the encoders of a kind that are available here, as options of `compute`.

    Static word vectors replace missing networks for texts.
    """
    available = {
        name: options
        for name, options in _list_networks(kind).items()
        if _is_cached(options["model_path"])
    }
    static = kind == "texts" and not available and all(map(find_spec, _STATIC_PACKAGES))
    return _STATIC if static else available


def list_absent(kind: str) -> list[str]:
    """Return the networks of a kind that `download` can fetch; none on a Space."""
    if "SPACE_ID" in os.environ:
        return []
    return [name for name in _list_networks(kind) if name not in list_offered(kind)]


def describe_missing(kind: str) -> str:
    """Return a sentence on what replaces the network of a kind if it is missing, or ""."""
    available = list_offered(kind)
    missing = [name for name in ALLOWED.get(kind, {}) if name not in available]
    if not missing:
        return ""
    if available:
        consequence = (
            f"meaning is compared by {join_names(available)}, which ignore the order of words"
        )
    else:
        consequence = f"only {'wording' if kind == 'texts' else 'pixels'} can be compared"
    return f"{join_names(missing)} is not available here, so {consequence}."


def download(kind: object, name: object) -> Steps[Record]:
    """Fetch a network from the Hub by `vendiscore model download`, telling how much is here."""
    if not isinstance(kind, str) or name not in list_absent(kind):
        raise RefusedError(f"{short_repr(name)} cannot be downloaded here.")
    model = ALLOWED[kind][str(name)]["model_path"]
    command = [sys.executable, "-m", "vendiscore", "model", "download", model]
    with subprocess.Popen(command, stdout=DEVNULL, stderr=DEVNULL) as fetching:
        try:
            while fetching.poll() is None:
                megabytes = min(_measure_download(model), MEGABYTES)
                yield f"Downloading {name}: {megabytes:.0f} of {MEGABYTES} MB."
                time.sleep(_POLL_SECONDS)
        finally:
            fetching.terminate()
        if fetching.returncode:
            raise RefusedError(
                f"{name} was not downloaded; check that this machine can reach huggingface.co and "
                f"has free disk space, then try again."
            )
    list_offered.cache_clear()
    yield f"Loading {name}."
    return {"kernel": name}


def _measure_download(model: str) -> float:
    """Return how much of a model is in the cache of the Hub's client, arriving files included."""
    from huggingface_hub.constants import HF_HUB_CACHE

    folder = Path(HF_HUB_CACHE, f"models--{model.replace('/', '--')}", "blobs")
    with suppress(OSError):  # a file that has just got its name
        return sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    return 0.0


def _list_networks(kind: str) -> dict[str, Record]:
    """Return the networks of a kind whose packages are installed."""
    return ALLOWED.get(kind, {}) if all(map(find_spec, _PACKAGES)) else {}


def prepare() -> None:
    """Import what the encoders offered need, before any thread computes."""
    # While one thread imports torch, SciPy in another may look for tensors in a half of it.
    with _loading:
        if any(list_offered(kind).keys() & _list_networks(kind) for kind in ALLOWED):
            transformers = importlib.import_module("transformers")
            for name in ("AutoModel", "AutoTokenizer", "AutoImageProcessor"):
                getattr(transformers, name)  # imported when asked for
            importlib.import_module("sentence_transformers")


def compute_similarity(samples: Any, arguments: Record) -> Steps[Similarity]:
    """Return the Similarity of samples; one that an encoder makes is made batch by batch."""
    arguments = {name: value for name, value in arguments.items() if name != "psd"}
    if arguments.get("k") not in ("text_embeddings", "image_embeddings"):
        return as_similarity(samples, **arguments)
    key = hash((repr(sorted(arguments.items())), *samples))  # with a random key of this process
    if (result := _recent.pop(key, None)) is None:
        result = yield from _encode(samples, arguments)
    _recent[key] = result  # as the last one; each step is atomic, whatever the thread
    if len(_recent) > _MAX_RECENT:
        _recent.popitem(last=False)
    return result


def _encode(samples: Sequence[object], arguments: Record) -> Steps[Similarity]:
    prompts = list(arguments.get("prompts", ()))
    conditioning = conditioning_keywords(prompts)
    all_texts = [*samples, *prompts]
    if prompts and arguments.get("model_path") == ALLOWED["texts"]["MiniLM"]["model_path"]:
        conditioning["in_context"] = True
        sample_prompts = prompts * len(samples) if len(prompts) == 1 else prompts
        all_texts += [f"{u} {text!s}" for u, text in zip(sample_prompts, samples, strict=True)]
    distinct = list(dict.fromkeys(all_texts))
    if get_kernel(arguments["k"]).samples == "text":
        check_texts(samples)  # here, because errors in `distinct` would have other indices
        try:
            check_texts(prompts)
        except SampleError as error:
            raise RefusedError(f"Prompt {min(error.problems)} {error.problem}.") from None

    def describe_progress(done: int) -> str:
        return f"Encoding: {done:,} of {len(distinct):,} done."

    kernel = get_kernel(arguments["k"])
    separate_names = ("k", "prompts", "given_prompt")
    options = {name: x for name, x in arguments.items() if name not in separate_names}
    yield describe_progress(0)  # before the model is loaded
    if kernel.samples in _BATCH:
        options["batch_size"] = _BATCH[kernel.samples]
    network = _load_encoder(kernel.samples, options)
    steps = network.embed_steps(distinct)
    with suppress(SampleError):  # which is raised again below, with the places of all such samples
        embeddings = yield from map_steps(steps, describe_progress)
        network = copy(network)  # for the kernel, which asks for these samples in this order
        network.embed_with_report = lambda samples: embeddings  # type: ignore[method-assign]
    return as_similarity(samples, k=kernel.name, model=network, **conditioning)


def _load_encoder(kind: Any, options: Record) -> Encoder:
    """Return an encoder; raise RefusedError that names other kernels if it cannot be loaded."""
    key = kind, *sorted(options.items())
    with _loading:
        if key not in _encoders:
            try:
                _encoders[key] = encoder(kind=kind, **options)
            except OSError as error:
                raise _build_load_error(options["model_path"]) from error
        return _encoders[key]


def _build_load_error(model: str) -> RefusedError:
    """Return the error for a network that cannot be loaded, with the kernels that can be used."""
    kind, name = next(
        (kind, name)
        for kind, networks in (ALLOWED | {"texts": ALLOWED["texts"] | _STATIC}).items()
        for name, options in networks.items()
        if options["model_path"] == model
    )
    _log.exception("the encoder %s cannot be loaded", name)
    sample_type = "text" if kind == "texts" else kind
    encoders = {options["k"] for options in ALLOWED[kind].values()}
    other_names = [x.name for x in list_kernels() if x.samples == sample_type and x.label]
    other_names = [*list_offered(kind), *(other for other in other_names if other not in encoders)]
    other_names = [other for other in other_names if other != name]
    return RefusedError(
        f"{name} cannot be loaded on this server; select another kernel: {join_names(other_names)}."
    )


_encoders: dict[object, Encoder] = {}
_loading = threading.Lock()


def _is_cached(model: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(model, "model.safetensors"), str)
