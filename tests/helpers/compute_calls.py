"""Random calls of `compute`, as samples and arguments that JSON and Python text can contain."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

WORDS = ["cat", "dog", "bird", "sat", "ran", "flew", "home", "fast", "red", "blue", "on", "the"]
SMILES = ["CCO", "CCN", "CCC", "c1ccccc1", "CC(=O)O", "CCCl", "C1CCCCC1", "CC#N", "COC", "CC(C)O"]


class Call(NamedTuple):
    """One call: samples, and the other arguments as keywords of `compute`."""

    samples: Any
    keywords: dict[str, Any]

    @property
    def text(self) -> str:
        """The keywords as the text of a call in Python."""
        return ", ".join(f"{name}={value!r}" for name, value in self.keywords.items())

    @property
    def pasted(self) -> str:
        """The samples as text for the web app: one per line, or rows of a table."""
        rows = [
            ", ".join(map(repr, sample)) if isinstance(sample, list) else sample
            for sample in self.samples
        ]
        return "\n".join(rows)

    @property
    def kind(self) -> str:
        """The kind of samples in the web app."""
        if isinstance(self.samples[0], list):
            return "vectors"
        return "molecules" if self.samples[0] in SMILES else "texts"


def random_calls(count: int = 40, seed: int = 68) -> list[Call]:
    """Return random calls that differ in kernel, measures, order, weights and references."""
    rng = np.random.default_rng(seed)
    builders = [
        _vector_call,
        _matrix_call,
        _text_call,
        _molecule_call,
        _two_sample_call,
        _magnitude_call,
        _weighted_call,
        _group_call,
    ]
    calls = [builders[i % len(builders)](rng) for i in range(count)]
    for call in calls:
        json.dumps(call)
    return calls


def _pick(rng: np.random.Generator, *options: Any) -> Any:
    return options[rng.integers(len(options))]


def _rows(rng: np.random.Generator, n: int | None = None, d: int = 3) -> list[list[float]]:
    return rng.normal(size=(n or int(rng.integers(6, 20)), d)).round(3).tolist()


def _texts(rng: np.random.Generator) -> list[str]:
    n = int(rng.integers(6, 14))
    return [" ".join(rng.choice(WORDS, rng.integers(4, 9))) for _ in range(n)]


def _order(rng: np.random.Generator) -> dict[str, Any]:
    return _pick(rng, {}, {"q": 2}, {"q": 0.5}, {"q": "inf"}, {"q": [0, 1, 2]}, {"q": 3.5})


def _vector_call(rng: np.random.Generator) -> Call:
    kernel = _pick(
        rng,
        {"k": "rbf", "sigma": 0.5},
        {"k": "rbf"},
        {"k": "laplacian", "sigma": 2.0},
        {"k": "cosine"},
        {"k": "linear", "normalize": True},
    )
    measures = _pick(rng, {}, {"measures": ["VS", "IntDiv", "RKE"]}, {"measures": ["VS", "LC"]})
    return Call(_rows(rng), {**kernel, **_order(rng), **measures})


def _matrix_call(rng: np.random.Generator) -> Call:
    X = np.array(_rows(rng, 8, 4))
    K = X @ X.T
    if _pick(rng, True, False):
        return Call(K.tolist(), {"score_K": True, "normalize": True, **_order(rng)})
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    return Call(unit.tolist(), {_pick(rng, "score_X", "score_dual"): True, **_order(rng)})


def _text_call(rng: np.random.Generator) -> Call:
    kernel = _pick(
        rng,
        {},
        {"ns": [1, 2]},
        {"k": "word_overlap"},
        {"k": "bleu", "max_order": 2},
        {"k": "labels"},
        {"analyzer": "char", "ns": [2, 3]},
        {"k": {"ngram_overlap": 0.25, "word_overlap": 0.75}},
    )
    measures = _pick(rng, {}, {"measures": ["VS", "NgramDiversity", "SelfBLEU"]}, {"ci": 0.9})
    return Call(_texts(rng), {**kernel, **measures})


def _molecule_call(rng: np.random.Generator) -> Call:
    smiles = [SMILES[i] for i in rng.permutation(len(SMILES))[: int(rng.integers(5, 12))]]
    kernel = _pick(rng, {"k": "morgan", "radius": 1}, {"k": "maccs"}, {"k": "rdkit"})
    return Call(smiles, {**kernel, **_order(rng)})


def _two_sample_call(rng: np.random.Generator) -> Call:
    measures = _pick(
        rng,
        {"measures": ["Precision", "Recall"], "neighbours": 2},
        {"measures": {"MMD": {"unbiased": True}, "VS": {}}, "k": "rbf", "sigma": 1.0},
        {"measures": {"Coverage": {"neighbours": 2}, "Density": {}}, "neighbours": 3},
    )
    return Call(_rows(rng), {"references": _rows(rng), **measures})


def _magnitude_call(rng: np.random.Generator) -> Call:
    keywords = _pick(
        rng,
        {"measures": ["MagArea", "t_conv"], "t_cut": 2.0},
        {"measures": {"Magnitude": {"t": [0.25, 1.0, 4.0]}, "Spread": {}}},
        {"measures": ["MagDiff"], "references": _rows(rng), "n_scales": 10},
        {"measures": ["MagArea"], "metric": "manhattan", "average": True, "t_cut": "t_conv"},
    )
    return Call(_rows(rng), keywords)


def _weighted_call(rng: np.random.Generator) -> Call:
    samples = _rows(rng)
    p = rng.dirichlet(np.ones(len(samples))).tolist()
    return Call(samples, {"k": "rbf", "sigma": 1.5, "p": p, **_order(rng)})


def _group_call(rng: np.random.Generator) -> Call:
    texts = _texts(rng)
    labels = [f"group {i % 2}" for i in range(len(texts))]
    measures = _pick(rng, {}, {"measures": ["BetweenVS", "WithinVS"], "permutations": 19})
    return Call(texts, {"groups": labels, **measures})
