"""The kernel that compares samples of each type by default."""

from collections.abc import Sequence

from ...support.text_detection import are_sequences
from ...support.types import Record

# For each sample type, the default kernel and what it compares. Texts have no entry: the library
# has a default kernel for them.
DEFAULT_KERNELS = {
    "vectors": ("cosine", "cosine similarity"),
    "molecules": ("morgan", "Morgan fingerprints"),
    "images": ("pixels", "pixels"),
    "labels": ("labels", "equality"),
    "values": ("labels", "equality"),
    "sequences": ("ngram_overlap", "n-grams of 1 to 4 letters"),
}
_SEQUENCE_OPTIONS: Record = {"analyzer": "char", "ns": [1, 2, 3, 4]}


def detect_sample_type(kind: str, samples: Sequence[str]) -> str:
    """Return the type of samples that were read as `kind`: texts can be biological sequences."""
    return "sequences" if kind == "texts" and are_sequences(samples) else kind


def default_keywords(sample_type: str) -> Record:
    """Return the keywords of the default kernel for a sample type; none for texts."""
    if sample_type not in DEFAULT_KERNELS:
        return {}
    kernel, _ = DEFAULT_KERNELS[sample_type]
    return {"k": kernel, **(_SEQUENCE_OPTIONS if sample_type == "sequences" else {})}
