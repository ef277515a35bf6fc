"""Static text models: the embedding is the mean of token vectors. They do not require torch.

A folder of model2vec or wordllama contains the vectors in a safetensors file and a tokenizer in
JSON, possibly in subfolders.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np

from ..support.hashing import hash_bytes
from ..support.optional import MissingPackageError, require

# The name of the tensor with the token vectors ends with one of these.
_VECTOR_NAMES = ("embeddings", "embedding.weight")
# Names of optional tensors of model2vec: the row of the vector of each token, and its weight.
_OTHER_TENSORS = {"mapping", "weights"}


class StaticFiles(NamedTuple):
    """The files of a static model.

    `tensors` is a safetensors file that contains the token vectors under the key `name`, and
    `tokenizer` is a JSON file with the tokenizer.
    """

    tensors: Path
    name: str
    tokenizer: Path


def find_static_files(path: str) -> StaticFiles | None:
    """Return the files of the static model in a folder, or None if it does not contain one.

    The path "wordllama" means the folder of the installed package wordllama, whose wheel contains a
    model. This package is located without importing it.
    """
    folder = Path(path)
    if path == "wordllama":
        folder = _find_wordllama()
    if not folder.is_dir() or not _allows_static_model(folder / "modules.json"):
        return None
    tensor_files = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*/*.safetensors"))
    tokenizers = sorted(folder.glob("tokenizer.json")) or sorted(folder.glob("*/*tokenizer*.json"))
    # More than one file may belong to another type of model, such as one with sharded weights.
    if len(tensor_files) != 1 or len(tokenizers) != 1:
        return None
    path_of_tensors = tensor_files[0]
    with (
        _safetensors_errors(path_of_tensors) as package,
        package.safe_open(path_of_tensors, "np") as tensors,
    ):
        names = [name for name in tensors.keys() if name not in _OTHER_TENSORS]  # noqa: SIM118
    # Other models, such as transformers, have many tensors with other names.
    if len(names) != 1 or not names[0].endswith(_VECTOR_NAMES):
        return None
    return StaticFiles(tensors=path_of_tensors, name=names[0], tokenizer=tokenizers[0])


def _find_wordllama() -> Path:
    """Return the folder of the installed package wordllama.

    The package is not imported, because this would require several other packages.
    """
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise MissingPackageError("wordllama", "static", "k='static'", "pip install wordllama")
    return Path(spec.origin).parent


def _allows_static_model(modules_file: Path) -> bool:
    """Return whether the file `modules.json` is missing or lists only steps of a static model.

    These steps are the mean of token vectors and normalization, which does not change the cosine of
    two embeddings.
    """
    if not modules_file.is_file():
        return True
    try:
        modules = json.loads(modules_file.read_text(encoding="utf-8"))
        steps = [str(step["type"]) for step in modules]
    except (ValueError, TypeError, KeyError):
        return False  # sentence-transformers raises an error that explains the problem
    supported = (".StaticEmbedding", ".Normalize")
    return bool(steps) and all(step.endswith(supported) for step in steps)


@contextmanager
def _safetensors_errors(path: Path) -> Iterator[ModuleType]:
    """Yield the package safetensors; turn its errors into a ValueError that names the file."""
    package = require("safetensors", "static", "a static model")
    try:
        yield package
    except package.SafetensorError as error:
        raise ValueError(
            f"{str(path)!r} is not a complete safetensors file ({error}); download the model again"
        ) from None
    except TypeError as error:
        raise ValueError(
            f"{str(path)!r} contains numbers of a type that NumPy does not support ({error}); use "
            f"another model"
        ) from None


def _read_tensors(path: Path) -> dict[str, np.ndarray]:
    """Read a safetensors file; return its tensors by name, with float16 converted to float32."""
    with _safetensors_errors(path) as package, package.safe_open(path, "np") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    half_tensors = {name: tensor for name, tensor in tensors.items() if tensor.dtype == np.float16}
    return tensors | {name: tensor.astype(np.float32) for name, tensor in half_tensors.items()}


class StaticModel:
    """A static model: the embedding of a text is the mean of its token vectors.

    `path` is the argument `model_path` of the user, which is recorded in `settings`.
    """

    def __init__(self, path: object, files: StaticFiles) -> None:
        tokenizers = require("tokenizers", "static", "a static model")
        self._tokenizer = tokenizers.Tokenizer.from_file(str(files.tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        tensors = _read_tensors(files.tensors)
        self._vectors = tensors[files.name]
        self._row_of_token = tensors.get("mapping")  # None if token i has the vector i
        self._weights = tensors.get("weights")
        if self._vectors.ndim != 2:
            raise ValueError(
                f"{str(files.tensors)!r} must contain a matrix with one row per token, got an "
                f"array of shape {self._vectors.shape}; download the model again, or pass another "
                f"model"
            )
        # model2vec ignores unknown tokens; wordllama and byte-level tokenizers have none.
        unknown = getattr(self._tokenizer.model, "unk_token", None)
        self._unknown_id = self._tokenizer.token_to_id(unknown) if unknown else None
        self.settings: dict[str, str] = {
            "model": "StaticModel",
            "model_path": str(path),
            "pooling": "mean",
            "weights": hash_bytes(np.ascontiguousarray(self._vectors).data).hex(),
        }

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return the mean token vector of each text, shape (n, d); zeros without known tokens."""
        encodings = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        rows = np.zeros((len(texts), self._vectors.shape[1]), np.float32)
        for row, encoding in zip(rows, encodings, strict=True):
            ids = np.array([i for i in encoding.ids if i != self._unknown_id], dtype=int)
            # The row remains zero, which the caller reports as unusable.
            if not len(ids):
                continue
            # model2vec may store one vector for several tokens (`mapping`), and a weight per token.
            row_indices = ids if self._row_of_token is None else self._row_of_token[ids]
            vectors = self._vectors[row_indices]
            if self._weights is not None:
                vectors = vectors * self._weights[ids, None]
            row[:] = vectors.mean(axis=0, dtype=np.float64)
        return rows
