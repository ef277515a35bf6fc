"""How long do measures of many small groups take, compared with bare NumPy stacks?

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/group_stacks.py

Numbers are compared with one call for each of some groups before anything is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pairs import agree, arguments, compare, environment, write

import vendiscore

SCALES = np.geomspace(0.01, 1, 20)
COLUMNS = 384
CHECKED = 20  # groups
AGREE = 1e-8


def bare_scores(X: np.ndarray) -> float:
    """Return the mean Vendi Score of groups X (g, m, d)."""
    X = X / np.linalg.norm(X, axis=2, keepdims=True)
    shares = np.linalg.eigvalsh(X @ X.swapaxes(1, 2) / X.shape[1])
    shares = np.where(shares > 0, shares, 1.0)
    return float(np.exp(-(shares * np.log(shares)).sum(axis=1)).mean())


def bare_magnitudes(X: np.ndarray) -> np.ndarray:
    """Return the mean magnitude of groups X (g, m, d) at all scales."""
    squares = (X * X).sum(axis=2)
    D = squares[:, :, None] + squares[:, None, :] - 2 * X @ X.swapaxes(1, 2)
    D[:, range(X.shape[1]), range(X.shape[1])] = 0.0
    Z = np.exp(-np.sqrt(D)[:, None] * SCALES[:, None, None])
    return np.linalg.solve(Z, np.ones((X.shape[1], 1))).sum(axis=(2, 3)).mean(axis=0)


def bare_entropies(labels: np.ndarray) -> float:
    """Return the mean entropy of the labels of groups (g, m)."""
    entropies = []
    for group in labels.tolist():
        shares = np.array([group.count(label) for label in set(group)]) / len(group)
        entropies.append(-(shares * np.log(shares)).sum())
    return float(np.mean(entropies))


def main() -> None:
    given = arguments(__doc__)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 8, COLUMNS))
    spaces = rng.standard_normal((200, 10, COLUMNS))
    kinds = rng.integers(0, 4, (1000, 8))
    at_scales = {"measures": {"Magnitude": {"t": SCALES.tolist()}}}
    cosine: dict[str, Any] = {"k": "cosine"}
    labels: dict[str, Any] = {"k": "labels"}
    cells: list[tuple[str, np.ndarray, dict[str, Any], Callable[[np.ndarray], Any]]] = [
        ("Magnitude at 20 scales", spaces, at_scales, bare_magnitudes),
        ("MagArea", spaces, {"measures": "MagArea"}, bare_magnitudes),
        ("VS", X, cosine, bare_scores),
        ("KernelLanguageEntropy", X, {"measures": "KernelLanguageEntropy"} | cosine, bare_scores),
        ("RKE", X, {"measures": "RKE"} | cosine, bare_scores),
        ("SemanticEntropy", kinds, {"measures": "SemanticEntropy"} | labels, bare_entropies),
        ("SampleCoverage", kinds, {"measures": "SampleCoverage"} | labels, bare_entropies),
    ]
    rows = []
    for name, groups, how, bare in cells:
        g, m, *rest = groups.shape
        flat = groups.reshape(g * m, *rest)
        codes = np.repeat(np.arange(g), m)
        some = codes < CHECKED
        together = vendiscore.compute(flat[some], groups=codes[some], **how)
        each = [vendiscore.compute(group, **how) for group in groups[:CHECKED]]
        for key in each[0]:
            agree(together[key], float(np.mean([numbers[key] for numbers in each])), AGREE)

        def ours(flat: np.ndarray = flat, codes: np.ndarray = codes, how: Any = how) -> Any:
            return vendiscore.compute(flat, groups=codes, **how)

        def theirs(groups: np.ndarray = groups, bare: Any = bare) -> Any:
            return bare(groups)

        rows.append(compare(f"{name}, {g} × {m}", ours, theirs, given.repeats))
    write(given.json, rows, environment())


if __name__ == "__main__":
    main()
