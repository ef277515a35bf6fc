"""Each type of samples has a default kernel."""

import pytest

from vendiscore import get_kernel
from vendiscore.tools.reading.default_kernels import (
    DEFAULT_KERNELS,
    default_keywords,
    detect_sample_type,
)

PROTEINS = ["MKVLAAGIVGLLLAQWERTYHGF", "MKTAYIAKQRQISFVKSHFSRQLE", "GSHMASMTGGQQMGRGSEFELRRQ"]


def test_default_kernels_exist():
    for kernel, description in DEFAULT_KERNELS.values():
        assert get_kernel(kernel).name == kernel
        assert description


@pytest.mark.parametrize(
    ("kind", "samples", "expected"),
    [
        ("texts", PROTEINS, "sequences"),
        ("texts", ["a cat sat", "a dog ran"], "texts"),
        ("molecules", PROTEINS, "molecules"),
    ],
)
def test_texts_can_be_sequences(kind, samples, expected):
    assert detect_sample_type(kind, samples) == expected


def test_keywords_of_sample_types():
    assert default_keywords("texts") == {}
    assert default_keywords("vectors") == {"k": "cosine"}
    sequences = {"k": "ngram_overlap", "analyzer": "char", "ns": [1, 2, 3, 4]}
    assert default_keywords("sequences") == sequences
