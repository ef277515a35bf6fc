"""`vendiscore model download`: download a model from the Hub into the local cache."""

import re
from argparse import Namespace
from collections.abc import Collection

from ...resolve.kernel import NAMED_MODELS
from ...support.optional import require
from ...support.suggestions import model_modality
from .exit_codes import PROGRAM, UsageError, print_message

# Files that a model needs. `.gitattributes`, which every repository contains, marks a complete
# download.
_MODEL_FILE_ENDINGS = (".safetensors", ".json", ".txt", ".model", ".gitattributes")
# weights of models without safetensors
_TORCH_WEIGHTS = re.compile(r"pytorch_model(.*)\.bin$")
_OTHER_FORMAT_FOLDERS = ("onnx/", "openvino/")  # folders with the same weights in other formats


def run_model(args: Namespace) -> str:
    """Download a model, and return its folder and the command that uses it."""
    name = NAMED_MODELS.get(args.name, args.name)
    hub = require("huggingface_hub", "text", f"`{PROGRAM} model`")
    unknown_model_error = UsageError(
        f"there is no public model {name!r} on the Hub; pass OWNER/NAME"
    )
    if model_modality(name) is None:  # not of the form OWNER/NAME
        raise unknown_model_error
    try:
        info = hub.HfApi().model_info(name, files_metadata=True)
        sizes = {file.rfilename: file.size for file in info.siblings}
        files = select_model_files(sizes)
        size = sum(sizes[file] for file in files) / 1e6
        print_message(f"{size:,.1f} MB to download from the Hub, unless cached: {name}")
        folder = hub.snapshot_download(name, allow_patterns=files)
    except (hub.errors.RepositoryNotFoundError, hub.errors.HFValidationError):
        raise unknown_model_error from None
    except Exception as error:  # exception classes of the client differ between releases
        raise OSError(
            f"cannot download {name}: {error}; check the network connection and the free disk "
            f"space, or use -k static, which requires no network"
        ) from error
    return f"{name} is stored in {folder}\nTo use it: {PROGRAM} FILE -k {args.name}\n"


def select_model_files(names: Collection[str]) -> list[str]:
    """Return the files needed for embedding: configuration, tokenizer, and weights in one format.

    >>> names = ["config.json", "model.safetensors", "pytorch_model.bin", "onnx/model.onnx"]
    >>> select_model_files(names)
    ['config.json', 'model.safetensors']
    """
    needed = []
    for name in names:
        if name.startswith(_OTHER_FORMAT_FOLDERS):
            continue
        # PyTorch weights are needed only if the same weights do not exist as safetensors.
        safetensors_name = _TORCH_WEIGHTS.sub(r"model\1.safetensors", name)
        is_torch_weights = safetensors_name != name
        are_only_weights = is_torch_weights and safetensors_name not in names
        if are_only_weights or name.endswith(_MODEL_FILE_ENDINGS):
            needed.append(name)
    return needed
