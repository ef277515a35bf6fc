"""Results of a hundred calls equal stored values to the last digits.

After an intended change of results, `python tests/metric/test_numbers.py` rewrites the file.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vendiscore
from vendiscore import compute, score_dual, score_K, score_X

FILE = Path(__file__).with_name("numbers.json")
WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "under", "mat", "road", "red", "old"]
SMILES = ["CCO", "CCN", "CCCO", "c1ccccc1", "c1ccccc1O", "CC(=O)O", "CC(=O)Oc1ccccc1C(=O)O", "C"]


def iter_calls() -> Iterator[tuple[str, Any]]:
    """Yield the name and the result of every call."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, rng.integers(5, 12))) for _ in range(60)]
    rows = np.concatenate([rng.normal(c, 0.5, (20, 5)) for c in (0.0, 2.0, -3.0)])
    wide = rng.normal(size=(30, 700))
    pictures = rng.integers(0, 255, (12, 20, 20, 3), dtype=np.uint8)
    probabilities = rng.dirichlet(np.full(4, 0.5), 25)
    sets = [set(rng.choice(list("abcdefg"), 3)) for _ in range(25)]
    p = rng.dirichlet(np.ones(60))
    records = {"text": texts, "place": rows.tolist()}
    orders = [0, 0.5, 1, 2, 3.5, "inf"]
    measures = ["VS", "IntDiv", "AvgSim", "MagArea"]
    samples = {
        "ngram_overlap": texts, "bleu": texts, "cosine": rows, "linear": rows, "rbf": rows,
        "laplacian": rows, "pixels": list(pictures), "labels": texts[:9] * 3,
        "tags": sets, "probability_product": probabilities, "morgan": SMILES, "rdkit": SMILES,
        "maccs": SMILES, "atom_pair": SMILES, "topological_torsion": SMILES,
    }  # fmt: skip
    for name, kernel_samples in samples.items():
        more = {"normalize": name == "linear", "psd": "clip" if name == "bleu" else "check"}
        more |= (
            {"n_bits": 1024} if name == "morgan" else {}
        )  # the default when the file was written
        yield f"{name}: orders", compute(kernel_samples, k=name, q=orders, **more)
        for q in (1, 2, "inf"):
            yield f"{name}: {q}", compute(kernel_samples, k=name, q=q, **more)
        if name != "bleu":
            yield f"{name}: measures", compute(kernel_samples, k=name, measures=measures, **more)
    for k in ("ngram_overlap", "rbf"):
        kernel_samples = texts if k == "ngram_overlap" else rows
        yield (
            f"{k}: weights",
            compute(kernel_samples, k=k, p=p, q=orders, measures=["VS", "IntDiv", "LC"]),
        )
    yield "function", compute(rows[:, 0], k=lambda a, b: np.exp(-abs(a - b)), q=orders)
    mixture = {"ngram_overlap:text": 0.3, "rbf:place": 0.7}
    yield "sum", compute(records, k=mixture, q=orders)
    yield "product", compute(records, k=list(mixture), combine="product", q=orders)
    C = np.corrcoef(wide)
    yield "score_K", {str(q): score_K(C, q=q) for q in orders}
    yield (
        "score_X",
        {str(q): score_X(wide / np.linalg.norm(wide, axis=1)[:, None], q=q) for q in orders},
    )
    unit = rows / np.linalg.norm(rows, axis=1)[:, None]
    yield "score_dual", {str(q): score_dual(unit, q=q) for q in orders}
    magnitude = vendiscore.load("magnitude")
    for metric in ("euclidean", "manhattan", "cosine", "minkowski"):
        more = {"exponent": 1.5} if metric == "minkowski" else {}
        yield f"magnitude, {metric}: area", magnitude.compute(samples=rows, metric=metric, **more)
        yield (
            f"magnitude, {metric}: t",
            magnitude.compute(samples=rows, metric=metric, t=[0.1, 1, 10], **more),
        )
    for method in ("cg", "cholesky"):
        yield f"magnitude, {method}", magnitude.compute(samples=rows, t=[0.3, 3, 30], solver=method)
    yield "magnitude, difference", magnitude.compute(samples=rows[:30], references=rows[20:])
    yield "magnitude, texts: area", magnitude.compute(samples=texts)
    yield "magnitude, texts: 1-k", magnitude.compute(samples=texts, metric="1-k", t=[1, 2])
    yield "magnitude, spread", {str(t): vendiscore.spread(rows, t) for t in (0.1, 1, 10)}
    yield "magnitude, dimension", dict(enumerate(vendiscore.magnitude_dimension(rows).values[::10]))
    yield "magnitude, weights", dict(enumerate(map(float, vendiscore.magnitude_weights(rows, 1.0))))


def to_floats(result: dict[Any, Any]) -> dict[str, float]:
    return {str(key): float(value) for key, value in result.items()}


def test_scores_equal_the_stored_values():
    for package in ("rdkit", "PIL", "sacrebleu"):
        pytest.importorskip(package)
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    computed = {name: to_floats(result) for name, result in iter_calls()}
    assert list(computed) == list(stored)
    for name, values in stored.items():
        # Rounding differs between processors; solving for weights enlarges it.
        rel = 1e-10 if name.startswith("magnitude") else 1e-12
        assert computed[name] == pytest.approx(values, rel=rel, abs=1e-12), name


if __name__ == "__main__":
    values = {name: to_floats(result) for name, result in iter_calls()}
    FILE.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
