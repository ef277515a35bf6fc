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
    """Where a model is loaded from, and with which device and precision.

    `extra` is the extra of vendiscore that installs the packages to load the model, for the error
    if one of them is missing.
    """

    path: str | Path | None  # Hub id or folder; None for Inception v3
    revision: str | None
    extra: str
    device: torch.device
    dtype: torch.dtype
    local_only: bool = False  # whether to use only files in the local cache

    def load_component(self, class_name: str, **options: object) -> Any:
        """Load a component of the model by a class of transformers, such as "AutoTokenizer"."""
        transformers = require("transformers", self.extra, "an embedding kernel")
        loader = getattr(transformers, class_name)
        return loader.from_pretrained(
            self.path, revision=self.revision, local_files_only=self.local_only, **options
        )


def resolve_model_files(
    path: str | Path | None, revision: str | None, extra: str, device: object, half: bool | None
) -> ModelFiles:
    """Return where a model is loaded from (`path` and `revision`), and its device and precision.

    The device is a GPU by default, if there is one. On a GPU, the model is loaded in float16,
    unless `half` is False; on a CPU in float32. `extra` is the extra of vendiscore that installs
    torch, for the error if it is missing.
    """
    torch_device = pick_device(device, extra)
    return ModelFiles(path, revision, extra, torch_device, pick_dtype(half, torch_device))


def pick_device(device: object, extra: str) -> torch.device:
    """Return the requested torch device; by default a GPU if available, otherwise the CPU.

    `extra` is the extra of vendiscore that installs torch, for messages.
    """
    torch = require("torch", extra, "an embedding kernel")
    if device is None:
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    # The test allocates a tensor, because a torch.device can be valid but not available.
    try:
        # torch would read True as the device with index 1.
        tensor = torch.empty(1, device=str(device) if isinstance(device, bool) else device)
        tensor.cpu()  # the device "meta" has no data to copy
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"`device` must be a torch device that is available on this machine, such as 'cpu', "
            f"'cuda' or 'cuda:1', got {device!r}: {reason}; pass 'cpu'"
        ) from None
    return tensor.device  # includes the device index


def pick_dtype(half: bool | None, device: torch.device) -> torch.dtype:
    """Return float16 on a GPU unless `half` is False; return float32 on a CPU.

    Raise a ValueError if `half` is True on a CPU.
    """
    torch = require("torch", "text", "an embedding kernel")
    if half is not None:
        half = check_bool("half", half)
    if half and device.type == "cpu":
        raise ValueError("`half` must be False on a CPU, got True; half precision is for GPUs")
    return torch.float32 if half is False or device.type == "cpu" else torch.float16


def load_pretrained(
    files: ModelFiles, pooling: Pooling | None, class_name: str = "AutoModel"
) -> PreTrainedModel:
    """Load a transformers network from the Hub or a folder; raise if it lacks trained weights.

    `class_name` is the class of transformers that loads it. Weights of the pooler, the layer that
    computes the pooled output, are needed only for ``pooling="pooler"``.
    """
    model, report = files.load_component(class_name, dtype=files.dtype, output_loading_info=True)
    _check_weights(model, str(files.path), sorted(report["missing_keys"]), pooling)
    return model


def load_sentence_transformer(files: ModelFiles, pooling: Pooling | None) -> SentenceTransformer:
    """Load a model of sentence-transformers.

    Its file `modules.json` lists its steps: a network, and then, for example, pooling and
    normalization. If `pooling` is passed, the caller uses only the network, with this pooling. A
    ValueError is then raised if the model has steps that would be omitted and would change the
    cosine of embeddings, such as a dense layer.
    """
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
            # The text of the error below includes this message.
            raise ValueError(f"`max_seq_length` must be at least 1, got {short_repr(length)}")
    # Incomplete or damaged files cause errors of these types.
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"`model_path` {path!r} cannot be loaded by sentence-transformers ({error}); "
            f"download the model again"
        ) from error
    network = model.transformers_model  # None if the first step is not a transformers network
    if pooling is not None:
        steps = [type(step).__name__ for step in model]
        steps += ["a prompt"] if default_prompt(model) else []
        # Normalization does not change the cosine, and dropout is not active.
        other_steps = [
            step for step in steps[1:] if step not in ("Pooling", "Normalize", "Dropout")
        ]
        if network is None or other_steps:
            raise ValueError(
                f"`pooling` is not supported for {path!r}, whose embeddings also depend on "
                f"{' and '.join(other_steps or steps)}; remove `pooling`"
            )
    if network is not None:
        # sentence-transformers does not report missing weights, but transformers marks the
        # weights that it has loaded.
        weights = dict(network.named_parameters())
        missing_keys = [
            name
            for name, weight in weights.items()
            if not getattr(weight, "_is_hf_initialized", False)
        ]
        if len(missing_keys) == len(weights):
            missing_keys = []  # this release of transformers marks no weights
        _check_weights(network, path, missing_keys, pooling)
    return model


def default_prompt(model: SentenceTransformer) -> str | None:
    """Return the prompt that a SentenceTransformer prepends to every text, or None."""
    return model.prompts.get(model.default_prompt_name) or None


def sentence_settings(model: SentenceTransformer, network: object) -> Record:
    """Return the settings of a SentenceTransformer for the signature of a result.

    `network` is the object from which the name and the revision of the model are read: its
    transformers network, or else the model itself.
    """
    pooling = next((step.pooling_mode for step in model if hasattr(step, "pooling_mode")), None)
    return describe_network(network) | {"pooling": pooling, "pooling_from": "modules.json"}


def build_sentence_embed(model: SentenceTransformer) -> Callable[[Record], torch.Tensor]:
    """Return a function from model inputs to the embeddings of a SentenceTransformer."""
    # A model with truncate_dim uses only the first dimensions; None keeps all.
    return lambda inputs: model(inputs)["sentence_embedding"][:, : model.truncate_dim]


def _check_weights(
    model: PreTrainedModel, path: str, missing_keys: list[str], pooling: Pooling | None
) -> None:
    """Raise a ValueError if weights that are used are missing from the files and thus random.

    `missing_keys` are the names of the missing weights. Weights of the pooler, the layer that
    computes the pooled output, are used only for ``pooling="pooler"``.
    """
    pooler_keys = [key for key in missing_keys if "pooler" in key.split(".")]
    if pooling == "pooler" and pooler_keys:
        raise ValueError(
            f"`pooling='pooler'` requires trained weights, but {path!r} has none for "
            f"{pooler_keys[0]}, which would be random; pass pooling='mean' or 'cls'"
        )
    if other_keys := [key for key in missing_keys if key not in pooler_keys]:
        raise ValueError(
            f"`model_path` must contain all weights of a {type(model).__name__}, but {path!r} "
            f"lacks {len(other_keys)} of them ({other_keys[0]}, …), which would be random; pass a "
            "folder with all files of the model"
        )


def has_modules_file(files: ModelFiles) -> bool:
    """Return whether a model has `modules.json`; warn if this cannot be determined."""
    path = str(files.path)
    if Path(path).is_dir():
        return (Path(path) / "modules.json").is_file()
    hub = require("huggingface_hub", files.extra, "an embedding kernel")
    errors = require("huggingface_hub.errors", files.extra, "an embedding kernel")
    invalid_model = (
        errors.RepositoryNotFoundError,
        errors.RevisionNotFoundError,
        errors.HFValidationError,
    )
    options = {"revision": files.revision, "local_files_only": files.local_only}
    try:
        hub.hf_hub_download(path, "modules.json", **options)
    except errors.RemoteEntryNotFoundError:  # the Hub was reached, and the file does not exist
        return False
    except invalid_model:
        return False  # transformers then raises an error that explains the problem
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
    """Return the embeddings of n samples from the output of a network, shape (n, d).

    The output is a tensor with one row per sample, which is returned without pooling, or an output
    of transformers. `pooling` selects the pooled output ("pooler"), the first token ("cls") or the
    mean over tokens ("mean"). `mask` of shape (n, tokens) is 0 for padding tokens, which the mean
    ignores.
    """
    if isinstance(output, (list, tuple)):
        # Some networks return a tuple; its first entry is used.
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
    # Sums are computed in float32, because float16 has few digits and overflows above 65504.
    if mask is None:
        return hidden.float().mean(dim=1)
    weights = mask.to(hidden.device).float()[:, :, None]
    return (hidden.float() * weights).sum(dim=1) / weights.sum(dim=1)


def _flatten_pooled(tensor: torch.Tensor) -> torch.Tensor:
    """Remove trailing axes of length 1, which pooled outputs of convolutional networks have."""
    has_trailing_ones = tensor.ndim > 2 and all(size == 1 for size in tensor.shape[2:])
    return tensor.flatten(1) if has_trailing_ones else tensor


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
    """A torch network: `prepare` turns samples into inputs, `embed` turns inputs into embeddings.

    `device` is None for a network that the user passed. Such a network stays on its device, and is
    set to evaluation mode only during a computation. Other networks are moved to `device`.
    """

    model: torch.nn.Module
    device: torch.device | None
    settings: Record
    prepare: Encode
    embed: Callable[[Any], torch.Tensor]

    def __post_init__(self) -> None:
        if self.device is not None:
            self.model.eval().to(self.device)

    def digest(self) -> str:
        """Return a digest of the weights as 16 hexadecimal digits."""
        digest = blake2b(digest_size=8)
        # Converted by `float()`, because NumPy has no bfloat16.
        for tensor in self.model.state_dict().values():
            digest.update(tensor.cpu().float().numpy().tobytes())
        return digest.hexdigest()

    @contextmanager
    def inference_mode(
        self, samples: Sequence[object], report: Record
    ) -> Iterator[tuple[Encode, Record]]:
        """Check the samples; yield a function from batches to embeddings, and the settings.

        The function adds samples that the model cannot represent, or represents only in part, to
        the dicts `report["missed"]` and `report["partial"]`, with the reason by index. The network
        is in evaluation mode within this context.
        """
        torch = require("torch", "text", "an encoder")
        self.check(samples)
        with nullcontext() if self.device else _evaluation_mode(self.model):
            # The first parameter determines device and precision; a network without parameters gets
            # float32 on the CPU.
            no_parameter = torch.empty(0, dtype=torch.float32, device="cpu")
            parameter = next(self.model.parameters(), no_parameter)
            device = self.device or parameter.device  # None for a network of the user
            dtype = parameter.dtype
            settings = {**self.settings, "device": device.type, "half": dtype.itemsize == 2}

            def encode(batch: list[object]) -> object:
                inputs = self.prepare_inputs(batch, report)
                with torch.inference_mode():  # per thread, so it is entered for each batch
                    return self.embed(_move_to_device(inputs, device, dtype))

            yield encode, settings

    def check(self, samples: Sequence[object]) -> None:
        """Raise a `SampleError` for samples that the network does not support.

        It is called before samples are embedded. Subclasses override it.
        """

    def prepare_inputs(self, batch: list[Any], report: Record) -> object:
        """Return the inputs of the network for a batch of samples.

        Subclasses also add samples that the model cannot represent to `report`.
        """
        return self.prepare(batch)


def _move_to_device(inputs: object, device: torch.device, dtype: torch.dtype) -> object:
    """Move tensors to a device, and convert floating-point ones to `dtype`."""
    if isinstance(inputs, Mapping):
        return {name: _move_to_device(value, device, dtype) for name, value in inputs.items()}
    if not is_torch(inputs):
        return inputs
    return inputs.to(device, dtype if inputs.is_floating_point() else None)


# For each network in use, by id: whether each submodule was in training mode before, and the number
# of threads that use the network.
_modes_in_use: dict[int, tuple[dict[torch.nn.Module, bool], int]] = {}
_modes_lock = RLock()  # reentrant, as a generator may be garbage-collected while the lock is held


@contextmanager
def _evaluation_mode(model: torch.nn.Module) -> Iterator[None]:
    """Set a network that the user passed to evaluation mode within this context.

    At its end, each submodule is set to training or evaluation mode as before. If several threads
    use the network, the last one restores the modes.
    """
    with _modes_lock:
        current_modes = {module: module.training for module in model.modules()}
        # The first thread stores the modes before the change; later ones only increase the count.
        modes, users = _modes_in_use.get(id(model), (current_modes, 0))
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
