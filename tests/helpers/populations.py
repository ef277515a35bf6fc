"""Populations from which sets of any size are drawn.

Words, centres and functional groups are drawn from a list, with ranks that follow a geometric
distribution. Its parameter `concentration`, from 0 to 1, is the probability of the first one; a
larger value means less diversity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vendiscore import Similarity, as_similarity

_NOUNS = ["cat", "dog", "house", "river", "model", "tree", "child", "teacher", "city", "song"]
_VERBS = ["sees", "likes", "builds", "follows", "draws", "finds", "helps", "asks"]
_ADJECTIVES = ["red", "old", "small", "quiet", "bright", "heavy", "green", "strange"]
_PLACES = ("", "", "in the park", "at night", "near the sea", "on the hill", "without a word")
_GROUPS = ("O", "N", "C(=O)O", "C(=O)N", "c1ccccc1", "C1CCCCC1", "Cl", "C#N", "S(=O)(=O)N", "OC")


def draw_sentences(rng: np.random.Generator, n: int, concentration: float = 0.25) -> list[str]:
    """Return sentences of one grammar with unevenly frequent words."""

    def choose_word(words: Any) -> str:
        return str(words[min(len(words), rng.geometric(concentration)) - 1])

    def choose_noun_phrase() -> str:
        return f"the {choose_word(_ADJECTIVES)} {choose_word(_NOUNS)}"

    return [
        f"{choose_noun_phrase()} {choose_word(_VERBS)} {choose_noun_phrase()} "
        f"{rng.choice(_PLACES)}".strip()
        for _ in range(n)
    ]


def draw_vectors(rng: np.random.Generator, n: int, concentration: float = 0.25) -> np.ndarray:
    """Return rows around twelve unevenly frequent centres."""
    centres = 2 * np.random.default_rng(0).normal(size=(12, 8))
    return centres[np.minimum(rng.geometric(concentration, size=n), 12) - 1] + rng.normal(
        size=(n, 8)
    )


def draw_molecules(rng: np.random.Generator, n: int, concentration: float = 0.25) -> list[str]:
    """Return SMILES of chains with a functional group at each end."""

    def choose_group() -> str:
        return _GROUPS[min(len(_GROUPS), rng.geometric(concentration)) - 1]

    return [f"C({choose_group()}){'C' * int(rng.integers(1, 8))}{choose_group()}" for _ in range(n)]


# For each name, a function that draws samples, and the kernel options.
POPULATIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "texts, n-grams": (draw_sentences, {"k": "ngram_overlap"}),
    "vectors, cosine": (draw_vectors, {"k": "cosine"}),
    "vectors, rbf": (draw_vectors, {"k": "rbf"}),
    "molecules, morgan": (draw_molecules, {"k": "morgan"}),
}


def pool_sets(sets: Sequence[Any], **options: Any) -> tuple[Similarity, list[int]]:
    """Return the similarity of all samples, and the size of each set."""
    arrays = all(isinstance(samples, np.ndarray) for samples in sets)
    samples_of_all_sets = (
        np.concatenate(sets) if arrays else [x for samples in sets for x in samples]
    )
    return as_similarity(samples_of_all_sets, **options), [len(samples) for samples in sets]
