"""Samples and options of every registered kernel, for the contract tests of kernels.

A new kernel needs an entry in `CASES`. The contract tests fail without it.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TEXTS = [
    "the cat sat on the mat",
    "a cat sat on a mat by the door",
    "dogs run fast in the park",
    "the cat sat on the mat",
    "¿Qué hora es? 今日は 🐈‍⬛ naïve",
    "the dog ran by the door of the park",
]
MOLECULES = ["CCO", "CCN", "c1ccccc1O", "CCO", "CC(=O)Oc1ccccc1C(=O)O", "C[C@H](N)C(=O)O"]
VECTORS = np.array([[1.0, 0, 2], [0, 1, 1], [3, -1, 0], [1, 0, 2], [0.5, 2, 1], [-1, 1, 1]])
UNIT_VECTORS = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
TAGS = [["oak", "red"], ["oak"], ["elm", "red", "old"], ["oak", "red"], ["été"], ["elm", "old"]]
PROBABILITIES = np.array([[0.7, 0.3, 0], [0, 1, 0], [0.2, 0.2, 0.6], [0.7, 0.3, 0]] * 2)[:6]
BITS = np.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 1, 1, 0]] * 2)[:6]
BITS[5] = [0, 0, 0, 1, 1]
IMAGES = np.random.default_rng(0).integers(0, 256, (6, 9, 7, 3), dtype=np.uint8)
IMAGES[3] = IMAGES[0]


def count_letters(texts: list[str]) -> np.ndarray:
    """Return letter counts, as a simple sentence encoder."""
    return np.array([[sum(ord(c) % 13 == i for c in text) for i in range(13)] for text in texts])


def compute_mean_colours(images: list[Any]) -> np.ndarray:
    """Return the mean colour of each column, as a simple vision model."""
    return np.array([np.asarray(image).mean(axis=0).ravel() for image in images])


_FINGERPRINT = {"coefficient": ("dice", "cosine")}
_ENCODER = {  # options that load a model; invalid together with a model
    "model_path": (None, "bert"),
    "pooling": (None, "max"),
    "batch_size": (None, 0),
    "device": (None, "cpu"),
    "half": (None, True),
    "revision": (None, "main"),
}


@dataclass(frozen=True)
class KernelCase:
    """What the contract tests pass to a kernel.

    Attributes
    ----------
    samples : six samples; the first and the fourth are identical
    omissions : str or dict
        Why every valid sample is fully represented, or samples that are not. Keys: "nothing" and
        "part", samples of which nothing or only a part is represented; "equal", two different
        samples that the kernel does not distinguish; "good", fully represented samples, if
        `samples` are not; "options", options for these samples.
    required : dict of options without a default
    options : dict from each other option to two values
        A value that changes the similarities, and an invalid one; None if there is none.
    """

    samples: Any
    omissions: dict[str, Any] | str
    required: dict[str, Any] = field(default_factory=dict)
    options: dict[str, tuple[Any, Any]] = field(default_factory=dict)


def make_short_network_options() -> dict[str, Any]:
    """Return kernel options of a small BERT with 12 tokens and a small vocabulary."""
    from tiny_text_models import BERT_SIZES, make_tiny_tokenizer, torch, transformers

    torch.manual_seed(0)
    config = transformers.BertConfig(**BERT_SIZES, max_position_embeddings=12, pad_token_id=0)
    model = transformers.BertModel(config)
    return {"model": model, "tokenizer": make_tiny_tokenizer(), "pooling": "mean"}


WORDS = "the cat sat on the mat and the dog ran"
REJECTED = "samples that it cannot represent are errors"
FOUR_ATOM_MOLECULES = ["CCCCO", "CCCCN", "CC(C)CCO"]  # all of four bonded atoms
CASES: dict[str, KernelCase] = {
    "atom_pair": KernelCase(
        MOLECULES, options={"n_bits": (16, 0), **_FINGERPRINT}, omissions={"part": ["C", "[Na+]"]}
    ),
    "bleu": KernelCase(
        TEXTS,
        options={
            "tokenize": ("char", "13b"),
            "smooth": ("none", "ext"),
            "max_order": (2, 0),
            "lowercase": (True, None),
        },
        omissions={"nothing": ["\u200b"]},
    ),
    "cosine": KernelCase(VECTORS, omissions=REJECTED),
    "equivalence": KernelCase(
        TEXTS,
        options={  # only the first applies to the judge "exact"
            "same": (lambda text: text.split()[0], 7),
            "same_above": (None, 0.3),
            "audit": (None, -1),
            **{
                name: own for name, own in _ENCODER.items() if name not in ("model_path", "pooling")
            },
            "max_length": (None, 0),
            "graded": (None, True),  # requires a judge of pairs
        },
        omissions={"nothing": ["", " \u200b"], "good": TEXTS},
    ),
    "image_embeddings": KernelCase(
        IMAGES,
        required={"model": compute_mean_colours},
        options={
            **_ENCODER,
            "transform": (None, "crop"),
            "background": (None, "vlue"),
        },
        omissions=REJECTED,
    ),
    "labels": KernelCase(
        ["oak", "elm", "ash", "oak", "été", "elm"], omissions="a label is compared as a whole"
    ),
    "laplacian": KernelCase(
        VECTORS, options={"sigma": (0.1, -1)}, omissions="a row of zeros is a point like another"
    ),
    "linear": KernelCase(UNIT_VECTORS, omissions=REJECTED),
    "maccs": KernelCase(MOLECULES, options=_FINGERPRINT, omissions={"part": ["[C]", "[H][H]"]}),
    "morgan": KernelCase(
        MOLECULES,
        options={"radius": (1, -1), "n_bits": (16, 0), "chirality": (True, None), **_FINGERPRINT},
        omissions="each atom sets a bit",
    ),
    "ngram_overlap": KernelCase(
        TEXTS,
        options={
            "ns": (1, 0),
            "tokenizer": (str.split, 7),
            "analyzer": ("char", "x"),
        },
        omissions={
            "nothing": ["\u200b", "\ufeff \u200d"],
            "part": ["cat", "🐈"],
            "equal": ("a dog ran to the cat", "to the cat ran a dog"),
            "options": {"ns": (1, 2), "tokenizer": lambda text: sorted(text.lower().split())},
        },
    ),
    "pixels": KernelCase(
        IMAGES,
        options={"size": (4, 0), "mode": ("L", "CMYK"), "background": (None, "vlue")},
        omissions=REJECTED,
    ),
    "probability_product": KernelCase(PROBABILITIES, omissions="rows sum to 1"),
    "rbf": KernelCase(
        VECTORS,
        options={"sigma": (0.1, math.inf)},
        omissions="a row of zeros is a point like another",
    ),
    "rdkit": KernelCase(
        MOLECULES,
        options={"max_path": (2, 0), "n_bits": (16, 0), **_FINGERPRINT},
        omissions={"part": ["C", "[Na+]"]},
    ),
    "tags": KernelCase(TAGS, omissions=REJECTED),
    "tanimoto": KernelCase(
        BITS, options=_FINGERPRINT, omissions={"part": [[0, 0, 0, 0, 0]], "good": BITS.tolist()}
    ),
    "text_embeddings": KernelCase(
        TEXTS,
        required={"model": count_letters},
        options={
            **_ENCODER,
            "tokenizer": (None, "bert"),
            "max_length": (None, 0),
            "in_context": (None, True),
            "cache": (None, "folder"),
        },
        omissions={
            "nothing": ["", " \u200b", "猫", "🐈 猫"],
            "part": [f"{WORDS} {WORDS}"],
            "equal": (f"{WORDS} away from it", f"{WORDS} away from every house"),
            "good": [
                "the cat sat",
                "a dog ran",
                "every cat and every dog",
                "the mat",
                "the red house",
            ],
            "options": make_short_network_options,
        },
    ),
    "topological_torsion": KernelCase(
        MOLECULES,
        options={"n_bits": (16, 0), "chirality": (True, None), **_FINGERPRINT},
        omissions={"part": ["CC", "O"], "good": FOUR_ATOM_MOLECULES},
    ),
    "word_overlap": KernelCase(
        TEXTS, options={"lowercase": (False, None)}, omissions={"nothing": ["\u200b"]}
    ),
}
# Samples in which an option changes the similarities, if those in `CASES` do not show it.
SENSITIVE_SAMPLES: dict[str, Any] = {
    "lowercase": ["The cat", "the cat", "a dog"],
    "chirality": ["C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O", "CCO"],
    "smooth": ["the cat sat here", "a dog sat here", "one cat sat"],
    "tokenizer": ["a cat, here", "a cat here", "some, thing"],
}
