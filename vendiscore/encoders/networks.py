"""Torch networks as encoders: on which device, how they are loaded, what is read from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from ..arguments import flag, one_of
from ..arrays.namespace import is_torch
from ..optional import require

Pooling = Literal["pooler", "cls", "mean"]


def pick_device(device: Any, extra: str) -> Any:
    """The torch device asked for, or the GPU if there is one, or the CPU."""
    torch = require("torch", extra, "an embedding kernel")
    if device is None:
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        if isinstance(device, bool):
            raise TypeError
        place = torch.device(device)
    except (RuntimeError, TypeError):
        raise ValueError(
            f"`device` must be a torch device such as 'cpu', 'cuda' or 'cuda:1', got {device!r}"
        ) from None
    try:
        torch.empty(1, device=place).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        why = str(error).partition("\n")[0]
        raise ValueError(f"`device` {device!r} cannot be used here: {why}; pass 'cpu'") from None
    return place


def pick_dtype(half: bool | None, device: Any) -> Any:
    """float16 on a GPU unless `half` is False, float32 on a CPU."""
    torch = require("torch", "text", "an embedding kernel")
    if half is not None:
        half = flag("half", half)
    if half and device.type == "cpu":
        raise ValueError("`half` must be False on a CPU, got True; half precision is for GPUs")
    return torch.float32 if half is False or device.type == "cpu" else torch.float16


def check_pooling(pooling: Any) -> Pooling | None:
    """One of `Pooling`, or None where it is for the model's files to say."""
    return None if pooling is None else one_of("pooling", pooling, get_args(Pooling))


def check_model_path(model_path: Any) -> None:
    """Raise a TypeError for what is neither a Hub id nor a folder."""
    if not isinstance(model_path, (str, Path)):
        raise TypeError(
            f"`model_path` must be a Hub id or a folder, got {type(model_path).__name__}; a model "
            f"that is loaded already goes with model=…"
        )


def load_pretrained(
    model_path: str | Path,
    pooling: Pooling | None,
    *,
    extra: str,
    revision: str | None,
    dtype: Any,
    subfolder: str = "",
) -> Any:
    """The transformers network of a Hub id or folder, all of whose weights are the trained ones."""
    transformers = require("transformers", extra, "an embedding kernel")
    model, report = transformers.AutoModel.from_pretrained(
        model_path, revision=revision, dtype=dtype, subfolder=subfolder, output_loading_info=True
    )
    missing = sorted(report["missing_keys"])
    pooler = [key for key in missing if "pooler" in key.split(".")]
    if pooling == "pooler" and pooler:
        raise ValueError(
            f"`pooling='pooler'` needs trained weights, but {str(model_path)!r} has none for "
            f"{pooler[0]}, which would be random; pass pooling='mean' or 'cls'"
        )
    if others := [key for key in missing if key not in pooler]:
        raise ValueError(
            f"`model_path` must hold all weights of a {type(model).__name__}, but "
            f"{str(model_path)!r} lacks {len(others)} of them ({others[0]}, …), which would be "
            f"random; pass the folder of the whole model"
        )
    return model


def pool(output: Any, pooling: Pooling | None, mask: Any = None) -> Any:
    """One row (n, d) per sample from what a network returns."""
    if isinstance(output, (list, tuple)):
        output = output[0]
    if is_torch(output):
        return _flat(output)
    if pooling == "pooler":
        pooled = getattr(output, "pooler_output", None)
        if pooled is None:
            raise ValueError(
                "`pooling='pooler'` needs a model with a pooled output, and this one has none; "
                "pass pooling='mean' or 'cls'"
            )
        return _flat(pooled)
    hidden = getattr(output, "last_hidden_state", None)
    if hidden is None or hidden.ndim != 3:
        raise ValueError(
            f"`pooling={pooling!r}` needs a model with one hidden state per token, and this one "
            f"has none; pass pooling='pooler'"
        )
    if pooling == "cls":
        return hidden[:, 0]
    if mask is None:
        return hidden.float().mean(dim=1)
    weights = mask.to(hidden.device).float()[:, :, None]
    return (hidden.float() * weights).sum(dim=1) / weights.sum(dim=1)


def _flat(tensor: Any) -> Any:
    """(n, d, 1, 1), as convolutional networks pool, to (n, d); other shapes are left."""
    flat = tensor.ndim > 2 and all(size == 1 for size in tensor.shape[2:])
    return tensor.flatten(1) if flat else tensor


def describe(model: Any) -> dict[str, Any]:
    """What a report says of a network: its class, and where it is known its name and revision."""
    config = getattr(model, "config", None)
    return {
        "model": type(model).__qualname__,
        "model_path": getattr(config, "_name_or_path", None) or None,
        "revision": getattr(config, "_commit_hash", None),
    }
