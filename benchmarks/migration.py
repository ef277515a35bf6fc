"""Compare calls of vendi_score 0.0.3 with the same calls of vendiscore.

    python benchmarks/migration.py --json benchmarks/results/migration.json

The values of `EQUAL_CALLS` must agree to 1e-9. For `DIFFERENT_CALLS`, both values and the reason
are written.
"""

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pairs import collect_environment
from scipy.sparse import identity
from vendi_score import vendi as theirs

import vendiscore as ours

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 16))
K = np.exp(-np.abs(X[:, :1] - X[:, 0]))
P = RNG.dirichlet(np.ones(200))
PLANE_ROWS = np.stack([np.cos(np.arange(20.0)), np.sin(np.arange(20.0))], axis=1)

EQUAL_CALLS: dict[str, Callable[[Any], float]] = {
    "score(samples, k)": lambda vendi: vendi.score([0, 0, 10, 10, 20, 20], exponential_similarity),
    "score_K(K)": lambda vendi: vendi.score_K(K),
    "score_K(K, q=2)": lambda vendi: vendi.score_K(K, q=2),
    'score_K(K, q="inf")': lambda vendi: vendi.score_K(K, q="inf"),
    "score_K(K, p=p)": lambda vendi: vendi.score_K(K, p=P),
    "score_K(3 K, normalize=True)": lambda vendi: vendi.score_K(3 * K, normalize=True),
    "score_X(X)": lambda vendi: vendi.score_X(X),
    "score_dual(X)": lambda vendi: vendi.score_dual(X),
    "score_dual(X, q=2)": lambda vendi: vendi.score_dual(X, q=2),
}
DIFFERENT_CALLS: dict[str, tuple[Callable[[Any], float], str]] = {
    "`score_X(X, q=2)`": (
        lambda vendi: vendi.score_X(X, q=2),
        "vendi_score ignores `q` and returns the score of order 1",
    ),
    "`score_K(K, q=0)`, K of rank 2": (
        lambda vendi: vendi.score_K(PLANE_ROWS @ PLANE_ROWS.T, q=0),
        "vendi_score counts eigenvalues that are only rounding errors",
    ),
    "`score_K(K, q=0.1)`, K of rank 2": (
        lambda vendi: vendi.score_K(PLANE_ROWS @ PLANE_ROWS.T, q=0.1),
        "same reason",
    ),
    '`score_K(K, q=float("inf"))`': (
        lambda vendi: vendi.score_K(K, q=float("inf")),
        'vendi_score accepts infinity only as the string "inf"',
    ),
    "`score_K(identity(30, format='csr'))`": (
        lambda vendi: vendi.score_K(identity(30, format="csr")),
        "vendi_score uses only six eigenvalues of a sparse K",
    ),
}


def exponential_similarity(a: float, b: float) -> float:
    return float(np.exp(-abs(a - b)))


def format_outcome(call: Callable[[Any], float], vendi: Any) -> str:
    """Return the result of a call as text, or the name of its error."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return f"{float(call(vendi)):.4g}"
    except Exception as error:
        return f"`{type(error).__name__}`"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    for name, call in EQUAL_CALLS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            a, b = call(ours), float(call(theirs))
        assert abs(a / b - 1) < 1e-9, (name, a, b)
        print(f"{name}: {a:.6g}, both")
    differ = [
        {
            "call": name,
            "theirs": format_outcome(call, theirs),
            "ours": format_outcome(call, ours),
            "why": reason,
        }
        for name, (call, reason) in DIFFERENT_CALLS.items()
    ]
    for row in differ:
        print(row)
    if options.json:
        facts = {
            "environment": collect_environment("vendi-score"),
            "same": list(EQUAL_CALLS),
            "differ": differ,
        }
        options.json.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
