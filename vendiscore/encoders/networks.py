"""Torch networks as encoders: loading, inference and pooling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..support.arguments import check_bool
from ..support.errors import short_repr, warn
from ..support.namespace import is_torch
from ..support.optional import require
from ..support.types import Record
from .embeddings import Encode

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import PreTrainedModel

Pooling = Literal["pooler", "cls", "mean"]


class ModelFiles(NamedTuple):
    """The Hub id or folder of a model, and the device and precision to use."""

    path: str | Path | None  # None for Inception v3
    revision: str | None
    extra: str
    device: torch.device
    dtype: torch.dtype
    local_only: bool = False  # whether to use only files in the local cache

    def load_component(self, class_name: str, **options: object) -> Any:
        """Load a component with a class of transformers, such as "AutoTokenizer"."""
        transformers = require("transformers", self.extra, "an embedding kernel")
        loader = getattr(transformers, class_name)
        return loader.from_pretrained(
            self.path, revision=self.revision, local_files_only=self.local_only, **options
        )


def resolve_model_files(
    path: str | Path | None, revision: str | None, extra: str, device: object, half: bool | None
) -> ModelFiles:
    """Return the Hub id or folder of a model with the requested device and precision."""
    torch_device = pick_device(device, extra)
    return ModelFiles(path, revision, extra, torch_device, pick_dtype(half, torch_device))


def pick_device(device: object, extra: str) -> torch.device:
    """Return the requested torch device; by default a GPU if available, otherwise the CPU."""
    torch = require("torch", extra, "an embedding kernel")
    if device is None:
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        tensor = torch.empty(1, device=str(device) if isinstance(device, bool) else device)
        tensor.cpu()
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"`device` must be a torch device that is available on this machine, such as 'cpu', "
            f"'cuda' or 'cuda:1', got {device!r}: {reason}; pass 'cpu'"
        ) from None
    return tensor.device  # includes the device index


def pick_dtype(half: bool | None, device: torch.device) -> torch.dtype:
    """Return float16 on a GPU unless `half` is False, float32 on a CPU."""
    torch = require("torch", "text", "an embedding kernel")
    if half is not None:
        half = check_bool("half", half)
    if half and device.type == "cpu":
        raise ValueError("`half` must be False on a CPU, got True; half precision is for GPUs")
    return torch.float32 if half is False or device.type == "cpu" else torch.float16


def load_pretrained(
    files: ModelFiles, pooling: Pooling | None, class_name: str = "AutoModel"
) -> PreTrainedModel:
    """Load a transformers network from the Hub or a folder; raise if it lacks trained weights."""
    model, report = files.load_component(class_name, dtype=files.dtype, output_loading_info=True)
    _check_trained(model, str(files.path), sorted(report["missing_keys"]), pooling)
    return model


def load_sentence_transformer(files: ModelFiles, pooling: Pooling | None) -> SentenceTransformer:
    """Load a model with `modules.json`; `pooling` replaces only its pooling step."""
    library = require("sentence_transformers", files.extra, "a model with modules.json")
    path = str(files.path)
    try:
        model = library.SentenceTransformer(
            path,
            device=str(files.device),
            revision=files.revision,
            local_files_only=files.local_only,
            model_kwargs={"dtype": files.dtype},
        )
        length = model.max_seq_length
        if length is not None and not length >= 1:
            raise ValueError(f"max_seq_length is {short_repr(length)}")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"`model_path` {path!r} cannot be loaded by sentence-transformers ({error}); "
            f"download the model again"
        ) from error
    network = model.transformers_model
    steps = [type(step).__name__ for step in model]
    if pooling is not None:
        steps += ["a prompt"] if default_prompt(model) else []
        other_steps = [
            step for step in steps[1:] if step not in ("Pooling", "Normalize", "Dropout")
        ]
        if network is None or other_steps:
            raise ValueError(
                f"`pooling` cannot replace the steps of {path!r}, which has "
                f"{' and '.join(other_steps or steps)}; remove `pooling`"
            )
    if network is not None:
        # transformers marks the weights it loads; sentence-transformers has no report of missing
        # ones.
        weights = dict(network.named_parameters())
        missing_keys = [
            n for n, w in weights.items() if not getattr(w, "_is_hf_initialized", False)
        ]
        _check_trained(
            network, path, missing_keys if len(missing_keys) < len(weights) else [], pooling
        )
    return model


def default_prompt(model: SentenceTransformer) -> str | None:
    """Return the prompt that a SentenceTransformer prepends to every text, or None."""
    return model.prompts.get(model.default_prompt_name) or None


def sentence_settings(model: SentenceTransformer, network: object) -> Record:
    """Return the settings of a SentenceTransformer with the transformers model `network`."""
    pooling = next((step.pooling_mode for step in model if hasattr(step, "pooling_mode")), None)
    return describe_network(network) | {"pooling": pooling, "pooling_from": "modules.json"}


def build_sentence_embed(model: SentenceTransformer) -> Callable[[Record], torch.Tensor]:
    """Return the function of a SentenceTransformer that maps model inputs to embeddings."""
    return lambda inputs: model(inputs)["sentence_embedding"][:, : model.truncate_dim]


def _check_trained(
    model: PreTrainedModel, path: str, missing: list[str], pooling: Pooling | None
) -> None:
    """Raise a ValueError if weights are missing from the files and would be random."""
    pooler_keys = [key for key in missing if "pooler" in key.split(".")]
    if pooling == "pooler" and pooler_keys:
        raise ValueError(
            f"`pooling='pooler'` requires trained weights, but {path!r} has none for "
            f"{pooler_keys[0]}, which would be random; pass pooling='mean' or 'cls'"
        )
    if weights := [key for key in missing if key not in pooler_keys]:
        raise ValueError(
            f"`model_path` must contain all weights of a {type(model).__name__}, but {path!r} "
            f"lacks {len(weights)} of them ({weights[0]}, …), which would be random; pass a folder "
            "with all files of the model"
        )


def has_modules_file(files: ModelFiles) -> bool:
    """Return whether a model has `modules.json`; warn if this cannot be determined."""
    path = str(files.path)
    if Path(path).is_dir():
        return (Path(path) / "modules.json").is_file()
    hub = require("huggingface_hub", files.extra, "an embedding kernel")
    errors = require("huggingface_hub.errors", files.extra, "an embedding kernel")
    wrong = (errors.RepositoryNotFoundError, errors.RevisionNotFoundError, errors.HFValidationError)
    options = {"revision": files.revision, "local_files_only": files.local_only}
    try:
        hub.hf_hub_download(path, "modules.json", **options)
    except (*wrong, errors.RemoteEntryNotFoundError):
        return False  # transformers raises an error that explains the problem
    except (errors.LocalEntryNotFoundError, errors.HfHubHTTPError):
        # The cache records requested files that do not exist. A snapshot that contains
        # .gitattributes, which exists in every repository but is needed by no model, is complete.
        if not any(
            hub.try_to_load_from_cache(path, file, revision=files.revision)
            for file in ("modules.json", ".gitattributes")
        ):
            warn(
                f"cannot check whether the model {path!r} has a file modules.json, because the Hub "
                "cannot be reached; the model is loaded without it. Load the model once with a "
                "network, or pass a folder with all its files"
            )
        return False
    return True


def pool(output: object, pooling: Pooling | None, mask: torch.Tensor | None = None) -> torch.Tensor:
    """Return one row per sample from the output of a network."""
    if isinstance(output, (list, tuple)):
        output = output[0]
    if is_torch(output):
        return _flatten_pooled(output)
    if pooling == "pooler":
        pooled = getattr(output, "pooler_output", None)
        if pooled is None:
            raise ValueError(
                "`pooling='pooler'` requires a model with a pooled output, but this model has "
                "none; pass pooling='mean' or 'cls'"
            )
        return _flatten_pooled(pooled)
    hidden = getattr(output, "last_hidden_state", None)
    if hidden is None or hidden.ndim != 3:
        raise ValueError(
            f"`pooling={pooling!r}` requires a model with one hidden state per token, but this "
            "model has none; pass pooling='pooler'"
        )
    if pooling == "cls":
        return hidden[:, 0]
    if mask is None:
        return hidden.float().mean(dim=1)
    weights = mask.to(hidden.device).float()[:, :, None]
    return (hidden.float() * weights).sum(dim=1) / weights.sum(dim=1)


def _flatten_pooled(tensor: torch.Tensor) -> torch.Tensor:
    """Remove trailing axes of length 1, which pooled outputs of convolutional networks have."""
    flat = tensor.ndim > 2 and all(size == 1 for size in tensor.shape[2:])
    return tensor.flatten(1) if flat else tensor


def describe_network(model: object) -> Record:
    """Return the class of a network and, if known, its name and revision."""
    config = getattr(model, "config", None)
    return {
        "model": type(model).__qualname__,
        "model_path": getattr(config, "_name_or_path", None) or None,
        "revision": getattr(config, "_commit_hash", None),
    }


@dataclass(eq=False)
class Network:
    """A torch network: `prepare` turns samples into inputs, `embed` turns inputs into rows."""

    model: torch.nn.Module
    device: (
        torch.device | None
    )  # None for a network of the caller, which stays on its device and is restored after use
    settings: Record
    prepare: Encode
    embed: Callable[[Any], torch.Tensor]

    def __post_init__(self) -> None:
        if self.device is not None:
            self.model.eval().to(self.device)

    def digest(self) -> str:
        """Return a digest of the weights."""
        digest = blake2b(digest_size=8)
        for tensor in self.model.state_dict().values():
            digest.update(tensor.cpu().float().numpy().tobytes())
        return digest.hexdigest()

    @contextmanager
    def inference_mode(
        self, samples: Sequence[object], report: Record
    ) -> Iterator[tuple[Encode, Record]]:
        """Yield a function from batches to rows, and the settings.

        The function adds samples that the model cannot represent to `report`.
        """
        torch = require("torch", "text", "an encoder")
        self.check(samples)
        with nullcontext() if self.device else _evaluation_mode(self.model):
            first = next(self.model.parameters(), torch.empty(0, dtype=torch.float32, device="cpu"))
            device = self.device or first.device
            dtype = first.dtype
            settings = {**self.settings, "device": device.type, "half": dtype.itemsize == 2}

            def encode(batch: list[object]) -> object:
                inputs = self.prepare_inputs(batch, report)
                with torch.inference_mode():  # per thread, so it is entered for each batch
                    return self.embed(_move_to_device(inputs, device, dtype))

            yield encode, settings

    def check(self, samples: Sequence[object]) -> None:
        """Raise a `SampleError` for samples that the network does not support, before any work."""

    def prepare_inputs(self, batch: list[Any], report: Record) -> object:
        """Return the inputs of a batch; add samples that cannot be represented to `report`."""
        return self.prepare(batch)


def _move_to_device(inputs: object, device: torch.device, dtype: torch.dtype) -> object:
    """Move tensors to a device, and convert floating-point ones to `dtype`."""
    if isinstance(inputs, Mapping):
        return {name: _move_to_device(value, device, dtype) for name, value in inputs.items()}
    if not is_torch(inputs):
        return inputs
    return inputs.to(device, dtype if inputs.is_floating_point() else None)


# Original modes of the submodules of networks in use, and the number of users, by id.
_modes_in_use: dict[int, tuple[dict[torch.nn.Module, bool], int]] = {}
_modes_lock = RLock()  # reentrant, as a generator may be garbage-collected while the lock is held


@contextmanager
def _evaluation_mode(model: torch.nn.Module) -> Iterator[None]:
    """Keep a network of the caller in evaluation mode until its last user is done."""
    with _modes_lock:
        usual = {module: module.training for module in model.modules()}
        modes, users = _modes_in_use.get(id(model), (usual, 0))
        _modes_in_use[id(model)] = modes, users + 1
        model.eval()
    try:
        yield
    finally:
        with _modes_lock:
            modes, users = _modes_in_use.pop(id(model))
            if users > 1:
                _modes_in_use[id(model)] = modes, users - 1
            else:
                for module, training in modes.items():
                    module.training = training
