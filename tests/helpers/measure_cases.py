"""Samples for each registered measure, and families of sets that vary one aspect.

A measure that reads samples (`needs="samples"`) or has a required option needs an entry here.
Otherwise the contract tests fail.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from vendiscore import list_measures
from vendiscore.measures.measure import get_measure

N = 64  # samples of a set
LAPLACIAN = {"k": "laplacian", "sigma": 1.0}
MODES = 8
CORNERS = 4.0 * np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(MODES)])

# Sample types other than rows of numbers.
SAMPLE_TYPES: dict[str, str] = {
    "CompressionRatio": "texts",
    "DistinctK": "answers",
    "NgramDiversity": "texts",
    "SelfBLEU": "texts",
    "SemanticEntropy": "answers",
    "UtilityK": "answers",
}
# Required options of a measure for n samples.
OPTIONS: dict[str, Callable[[int], dict[str, Any]]] = {
    "ConditionalVS": lambda n: {"given": [2 * i // n for i in range(n)], "given_k": "labels"},
    "UtilityK": lambda n: {"quality": np.ones(n), "patience": 1.0},  # of answers in any order
    "qVS": lambda n: {"quality": np.linspace(0.5, 1.0, n)},
}
# Measures of one set that need nothing but rows and a kernel.
ROW_MEASURES = [
    each.name
    for each in list_measures()
    if not (each.groups or each.references or each.name in SAMPLE_TYPES or each.name in OPTIONS)
]


def make_normal_rows(n: int, seed: int = 0, d: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def make_texts(n: int, seed: int = 0, modes: int = MODES) -> list[str]:
    """Return texts of six words; each mode has its own vocabulary."""
    word_numbers = np.random.default_rng(seed).integers(0, 12, (n, 6))
    return [" ".join(f"w{i % modes}x{j}" for j in row) for i, row in enumerate(word_numbers)]


def make_answers(n: int, seed: int = 0, modes: int = MODES) -> list[str]:
    """Return texts that are one of a few words."""
    return [f"word {i % modes}" for i in np.random.default_rng(seed).permutation(n)]


MAKERS: dict[str, Callable[..., Any]] = {
    "texts": make_texts,
    "answers": make_answers,
}


def make_samples(name: str, n: int, seed: int = 0) -> Any:
    """Return n samples that a measure accepts."""
    return MAKERS.get(SAMPLE_TYPES.get(name, ""), make_normal_rows)(n, seed)


def similarity_options(name: str) -> dict[str, Any]:
    """Return the kernel options for a measure."""
    kind = SAMPLE_TYPES.get(name, "rows")
    kernels = {
        "texts": "ngram_overlap",
        "answers": "equivalence",
    }
    return {"k": kernels[kind]} if kind in kernels else LAPLACIAN


def compute_arguments(name: str, n: int) -> dict[str, Any]:
    """Return the arguments of `compute` for a measure: required options, groups and kernel."""
    measure_options = OPTIONS[name](n) if name in OPTIONS else {}
    # One group contains the first modes, the other one the remaining modes.
    groups = np.arange(n) % MODES >= MODES // 2 if get_measure(name).groups else None
    return {"measures": {name: measure_options}, "groups": groups, **similarity_options(name)}


def vary_diversity(name: str, level: int) -> tuple[Any, Any]:
    """Return samples of 1, 2, 4 or 8 modes, and references of all modes."""
    modes = 2**level
    kind = SAMPLE_TYPES.get(name, "rows")
    if kind != "rows":
        maker = MAKERS[kind]
        return maker(N, 0, modes), maker(N, 1)
    indices = np.arange(N)
    return (
        CORNERS[indices % modes] + 0.3 * make_normal_rows(N),
        CORNERS[indices % MODES] + 0.3 * make_normal_rows(N, 1),
    )


def vary_fidelity(name: str, level: int) -> tuple[Any, Any]:
    """Return samples and references; (3 − level) quarters of the samples are unlike references."""
    X = make_normal_rows(N)
    X[: (3 - level) * N // 4] += 8.0
    return X, make_normal_rows(N, 1)


def vary_likeness(name: str, level: int) -> tuple[Any, Any]:
    """Return samples that are closer to the references at a higher level."""
    return make_normal_rows(N) + (3.0, 1.5, 0.7, 0.0)[level], make_normal_rows(N, 1)


def vary_dimension(name: str, level: int) -> tuple[Any, Any]:
    """Return samples in one to four dimensions."""
    sides = np.arange(4) <= level
    return sides * np.random.default_rng(0).random((N, 4)), make_normal_rows(N, 1, 4)


FAMILIES = {
    "diversity": vary_diversity,
    "dimension": vary_dimension,
    "fidelity": vary_fidelity,
    "likeness": vary_likeness,
}
LEVELS = 4
