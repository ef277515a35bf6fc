"""Samples and options of every registered kernel, for the tests of what each promises.

A new kernel needs an entry in CASES, one in OMISSIONS, and one in OPTIONS if it has options; the
contract tests fail without them and say so.
"""

import math
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
    """Return stands in for a sentence encoder, as any function from texts to rows may."""
    return np.array([[sum(ord(c) % 13 == i for c in text) for i in range(13)] for text in texts])


def mean_colours(images: list[Any]) -> np.ndarray:
    """Return stands in for a vision model."""
    return np.array([np.asarray(image).mean(axis=0).ravel() for image in images])


# kernel: (six samples, of which 0 and 3 are the same; options that it cannot do without)
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "atom_pair": (MOLECULES, {}),
    "bleu": (TEXTS, {}),
    "cosine": (VECTORS, {}),
    "equivalence": (TEXTS, {}),
    "image_embeddings": (IMAGES, {"model": mean_colours}),
    "labels": (["oak", "elm", "ash", "oak", "été", "elm"], {}),
    "laplacian": (VECTORS, {}),
    "linear": (UNIT_VECTORS, {}),
    "maccs": (MOLECULES, {}),
    "morgan": (MOLECULES, {}),
    "ngram_overlap": (TEXTS, {}),
    "pixels": (IMAGES, {}),
    "probability_product": (PROBABILITIES, {}),
    "rbf": (VECTORS, {}),
    "rdkit": (MOLECULES, {}),
    "tags": (TAGS, {}),
    "tanimoto": (BITS, {}),
    "text_embeddings": (TEXTS, {"model": count_letters}),
    "topological_torsion": (MOLECULES, {}),
    "word_overlap": (TEXTS, {}),
}

# kernel: option: (a value that changes something, a value that is refused or None)
_FINGERPRINT = {"coefficient": ("dice", "cosine")}
_ENCODER = {  # these load a model, and are refused if a model is given
    "model_path": (None, "bert"),
    "pooling": (None, "max"),
    "batch_size": (None, 0),
    "device": (None, "cpu"),
    "half": (None, True),
    "revision": (None, "main"),
}
OPTIONS: dict[str, dict[str, tuple[Any, Any]]] = {
    "atom_pair": {"n_bits": (16, 0), **_FINGERPRINT},
    "bleu": {
        "tokenize": ("char", "13b"),
        "smooth": ("none", "ext"),
        "max_order": (2, 0),
        "lowercase": (True, None),
    },
    "equivalence": {  # all but the first are of judges that are not "exact"
        "same": (lambda text: text.split()[0], 7),
        "same_above": (None, 0.3),
        "audit": (None, -1),
        **{name: own for name, own in _ENCODER.items() if name not in ("model_path", "pooling")},
        "max_length": (None, 0),
        "graded": (None, True),  # by a judge of pairs alone
    },
    "image_embeddings": {
        **_ENCODER,
        "transform": (None, "crop"),
        "background": (None, "vlue"),
    },
    "laplacian": {"sigma": (0.1, -1)},
    "maccs": _FINGERPRINT,
    "morgan": {"radius": (1, -1), "n_bits": (16, 0), "chirality": (True, None), **_FINGERPRINT},
    "ngram_overlap": {
        "ns": (1, 0),
        "tokenizer": (str.split, 7),
        "analyzer": ("char", "x"),
    },
    "pixels": {"size": (4, 0), "mode": ("L", "CMYK"), "background": (None, "vlue")},
    "rbf": {"sigma": (0.1, math.inf)},
    "rdkit": {"max_path": (2, 0), "n_bits": (16, 0), **_FINGERPRINT},
    "tanimoto": _FINGERPRINT,
    "text_embeddings": {
        **_ENCODER,
        "tokenizer": (None, "bert"),
        "max_length": (None, 0),
        "in_context": (None, True),
        "cache": (None, "folder"),
    },
    "topological_torsion": {"n_bits": (16, 0), "chirality": (True, None), **_FINGERPRINT},
    "word_overlap": {"lowercase": (False, None)},
}
# Samples in which such an option shows.
SHOWS: dict[str, Any] = {
    "lowercase": ["The cat", "the cat", "a dog"],
    "chirality": ["C[C@H](N)C(=O)O", "C[CH](N)C(=O)O", "CCO"],
    "smooth": ["the cat sat here", "a dog sat here", "one cat sat"],
    "tokenizer": ["a cat, here", "a cat here", "some, thing"],
}


def short_network() -> dict[str, Any]:
    """Return a network of texts that reads 12 tokens and knows few words, as options."""
    from sentences import SIZES, tiny_tokenizer, torch, transformers

    torch.manual_seed(0)
    config = transformers.BertConfig(**SIZES, max_position_embeddings=12, pad_token_id=0)
    model = transformers.BertModel(config)
    return {"model": model, "tokenizer": tiny_tokenizer(), "pooling": "mean"}


WORDS = "the cat sat on the mat and the dog ran"
REFUSED = "samples that it cannot see are refused"
CHAINS = ["CCCCO", "CCCCN", "CC(C)CCO"]  # all of four bonded atoms
# kernel: what it can miss, or why it can miss nothing. "nothing" and "part": samples of which it
# sees nothing, and not all; "equal": two samples that differ in what it does not see; "good":
# samples that it sees, if those in CASES will not do; "options": those that these samples need.
OMISSIONS: dict[str, dict[str, Any] | str] = {
    "atom_pair": {"part": ["C", "[Na+]"]},
    "bleu": {"nothing": ["\u200b"]},
    "cosine": REFUSED,
    "equivalence": {"nothing": ["", " \u200b"], "good": TEXTS},
    "image_embeddings": REFUSED,
    "labels": "a label is seen as a whole",
    "laplacian": "a row of zeros is a point like another",
    "linear": REFUSED,
    "maccs": {"part": ["[C]", "[H][H]"]},
    "morgan": "each atom sets a bit",
    "ngram_overlap": {
        "nothing": ["\u200b", "\ufeff \u200d"],
        "part": ["cat", "🐈"],
        "equal": ("a dog ran to the cat", "to the cat ran a dog"),
        "options": {"ns": (1, 2), "tokenizer": lambda text: sorted(text.lower().split())},
    },
    "pixels": REFUSED,
    "probability_product": "rows sum to 1",
    "rbf": "a row of zeros is a point like another",
    "rdkit": {"part": ["C", "[Na+]"]},
    "tags": REFUSED,
    "tanimoto": {"part": [[0, 0, 0, 0, 0]], "good": BITS.tolist()},
    "text_embeddings": {
        "nothing": ["", " \u200b", "猫", "🐈 猫"],
        "part": [f"{WORDS} {WORDS}"],
        "equal": (f"{WORDS} away from it", f"{WORDS} away from every house"),
        "good": ["the cat sat", "a dog ran", "every cat and every dog", "the mat", "the red house"],
        "options": short_network,
    },
    "topological_torsion": {"part": ["CC", "O"], "good": CHAINS},
    "word_overlap": {"nothing": ["\u200b"]},
}
