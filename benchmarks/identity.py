"""Does the identity behind leave-one-out scores hold, and how large is the error of its quadrature?

    python benchmarks/identity.py --json benchmarks/results/identity.json

Four parts, each of which stops where a claim of docs/identity.md fails:
- the change of log VS by leaving one sample out, and by adding one, against a decomposition for
  each, at several steps of the trapezoid rule, with the bound that is proved there;
- the same at other orders, with the library's usual step;
- that Σ λ^q is monotone and submodular for q < 1, that −tr A log A is submodular and not monotone,
  over all pairs of subsets of small sets; and how far greedy choice is from the best;
- the certificate of a selection, against all subsets of small sets.
"""

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pairs import arguments, environment, write

from vendiscore import FeatureSimilarity, MatrixSimilarity, select
from vendiscore.spectral.leave_one_out import (
    leave_one_out,
    log_scores_leaving_each_out,
    log_scores_with_each_added,
)
from vendiscore.spectral.quadrature import (
    compute_quadrature_nodes,
    compute_quadrature_step,
    compute_trace_term,
)
from vendiscore.spectral.vendi_scores import compute_spectrum

STEPS = (3.0, 2.0, 1.5, 1.0, 0.7)
ORDERS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 3.0, math.inf)
SMALL = 8  # samples of sets of which every pair of subsets is looked at


def unit(X: np.ndarray) -> np.ndarray:
    return np.asarray(X / np.linalg.norm(X, axis=1)[:, None])


def sets() -> dict[str, np.ndarray]:
    """Return rows of unit length: of full rank, more than columns, with copies, nearly equal."""
    rng = np.random.default_rng(0)
    return {
        "400 x 64": unit(rng.standard_normal((400, 64))),
        "100 x 300": unit(rng.standard_normal((100, 300))),
        "200 x 20, half of them copies": unit(np.tile(rng.standard_normal((100, 20)), (2, 1))),
        "100 x 50, spectrum 1/j^2": unit(
            rng.standard_normal((100, 50)) / np.arange(1, 51, dtype=float) ** 2
        ),
    }


def eigenvalues(X: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of Σ x xᵀ that are above rounding."""
    values = np.linalg.eigvalsh(X @ X.T if len(X) < X.shape[1] else X.T @ X)
    return np.asarray(values[values > len(values) * np.finfo(float).eps * values[-1]])


def log_score(X: np.ndarray, q: float = 1.0) -> float:
    shares = eigenvalues(X) / len(X)
    if q == 1:
        return -float(shares @ np.log(shares))
    if math.isinf(q):
        return -math.log(shares[-1])
    return math.log(float((shares**q).sum())) / (1 - q)


def brute(X: np.ndarray, q: float = 1.0) -> np.ndarray:
    """Return log VS without each."""
    return np.array([log_score(np.delete(X, i, axis=0), q) for i in range(len(X))])


def proved(step: float) -> float:
    """Return 4π Σ 1/sinh(2π²m/h), the error of a change of −tr A log A by one unit vector."""
    return 4 * math.pi * sum(1 / math.sinh(2 * math.pi**2 * m / step) for m in (1, 2, 3))


def everywhere(X: np.ndarray, step: float) -> np.ndarray:
    """Return log VS without each sample, by the rule of that step without a tail, with b = 1."""
    values = eigenvalues(X)
    if len(X) <= X.shape[1]:
        squares = np.linalg.eigh(X @ X.T)[1][:, -len(values) :] ** 2 * values
    else:
        squares = (X @ np.linalg.eigh(X.T @ X)[1][:, -len(values) :]) ** 2
    t = np.exp(step * np.arange(math.ceil(-36 / step), math.floor(36 / step) + 1))
    s = squares @ (1 / (values[:, None] + t))
    # 1 − s is the determinant without over that with a sample: no cancellation where t is small.
    rest = np.maximum(1 - (squares / values).sum(axis=1), 0.0)
    rest[rest < 1e-12] = 0.0
    left = rest[:, None] + (squares / values) @ (t / (values[:, None] + t))
    logs = np.where(s < 0.5, np.log1p(-np.minimum(s, 0.5)), np.log(left))
    losses = -1 + (-logs - 1 / (1 + t)) @ (step * t)
    n = len(X)
    whole = -float(values @ np.log(values))
    return np.asarray(math.log(n - 1) + (whole - losses) / (n - 1))


def quadrature() -> list[dict[str, Any]]:
    """Return largest errors, in units of 1/(n − 1): what a change of −tr A log A is wrong by."""
    rows = []
    kept = {name: (X, brute(X)) for name, X in sets().items()}
    added = unit(np.random.default_rng(1).standard_normal((20, 64)))
    X = kept["400 x 64"][0]
    gained = np.array([log_score(np.vstack([X, x])) for x in added]) - log_score(X)
    for step in STEPS:
        tolerance = 16 * math.pi * math.exp(-2 * math.pi**2 / step)
        assert abs(compute_quadrature_step(tolerance) - step) < 1e-12
        ours, whole, nodes = 0.0, 0.0, 0
        for A, truth in kept.values():
            spectrum = compute_spectrum(FeatureSimilarity(A), vectors=True)
            values = spectrum.values[spectrum.values > 0]
            squares = spectrum.vectors**2
            result = log_scores_leaving_each_out(values, squares, 1.0, 1 / len(A), tolerance)
            ours = max(ours, float(np.abs(result - truth).max()) * (len(A) - 1))
            whole = max(whole, float(np.abs(everywhere(A, step) - truth).max()) * (len(A) - 1))
            count = len(
                compute_quadrature_nodes(1.0, values[-1], values[0], tolerance, 1 / len(A))[0]
            )
            nodes = max(nodes, count)
        spectrum = compute_spectrum(FeatureSimilarity(X), vectors=True)
        values, V = np.linalg.eigh(X.T @ X)
        squares = (added @ V[:, ::-1]) ** 2
        result = log_scores_with_each_added(
            values[::-1] / 400, squares, np.ones(20), 1.0, 1 / 400, tolerance
        )
        gain = float(np.abs(result - log_score(X) - gained).max()) * 401
        rows.append(
            {
                "step": step,
                "nodes": nodes,
                "asked": tolerance,
                "error": ours,
                "error_of_a_gain": gain,
                "error_of_the_rule": whole,
                "proved": proved(step),
            }
        )
        print(rows[-1], flush=True)
        # Eigenvalues are known to some 1e-13 themselves, of all n − 1 units.
        assert whole < proved(step) + 1e-10
        assert max(ours, gain) < tolerance + 1e-10
    return rows


def orders() -> list[dict[str, Any]]:
    """Return the same at other orders, as the library has it by default."""
    rows = []
    for q in ORDERS:
        error = 0.0
        for X in sets().values():
            result = leave_one_out(compute_spectrum(FeatureSimilarity(X), vectors=True), q)
            # Below 1 eigenvalues near rounding count: their own error is part of this one.
            error = max(error, float(np.abs(result - brute(X, q)).max()))
        rows.append({"q": "inf" if math.isinf(q) else q, "error_of_log_VS": error})
        print(rows[-1], flush=True)
        assert error < 1e-7
    return rows


def subsets(n: int) -> list[tuple[int, ...]]:
    return [S for m in range(n + 1) for S in itertools.combinations(range(n), m)]


def set_function(X: np.ndarray, f: Callable[[np.ndarray], float]) -> dict[frozenset[int], float]:
    return {frozenset(S): f(eigenvalues(X[list(S)])) if S else 0.0 for S in subsets(len(X))}


def defects(F: dict[frozenset[int], float], n: int) -> tuple[float, float]:
    """Return the least gain of any sample, and by how much a gain grows at most with the set."""
    gain = {(S, x): F[S | {x}] - F[S] for S in F for x in range(n) if x not in S}
    grows = max(
        gain[S | {y}, x] - gain[S, x] for S, x in gain for y in range(n) if y != x and y not in S
    )
    return min(gain.values()), grows


def greedy(F: dict[frozenset[int], float], n: int, k: int) -> float:
    S: frozenset[int] = frozenset()
    while len(S) < k:
        S = max((S | {x} for x in range(n) if x not in S), key=F.__getitem__)
    return F[S]


def objective(values: np.ndarray, q: float) -> float:
    """Return Σ λ^q below order 1, which is monotone; (Σ λ^q − tr A)/(1 − q) from there on."""
    if q == 1:
        return -float(values @ np.log(values))
    return float((values**q).sum() if q < 1 else (values**q - values).sum() / (1 - q))


def submodular(repeats: int) -> list[dict[str, Any]]:
    rows = []
    for q in (0.25, 0.5, 0.75, 0.95, 1.0, 1.5, 2.0):
        least, grows, ratio, slack = math.inf, -math.inf, math.inf, math.inf
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((SMALL, int(rng.integers(2, SMALL + 1))))
            X[-2:] = X[:2] + rng.choice([0.0, 0.1, 1.0]) * X[2:4]  # copies, and nearly
            F = set_function(unit(X), partial(objective, q=q))
            result = defects(F, SMALL)
            least, grows = min(least, result[0]), max(grows, result[1])
            for k in (2, 3, 4, 5):
                best = max(F[S] for S in F if len(S) == k)
                chosen = greedy(F, SMALL, k)
                if q < 1:
                    ratio = min(ratio, chosen / best)
                elif q == 1:
                    log_best, log_chosen = (math.log(k) + value / k for value in (best, chosen))
                    ratio = min(ratio, math.exp(log_chosen - log_best))
                    least_log = (1 - 1 / math.e) * log_best - (1 + math.log(2)) / math.e
                    slack = min(slack, log_chosen - least_log)
        row = {"q": q, "least_gain": least, "gain_grows_by": grows}
        assert grows < 1e-9
        if q < 1:
            row["greedy_over_best"] = ratio
            assert least > -1e-9
            assert ratio > 1 - 1 / math.e
        elif q == 1:
            row |= {"VS_of_greedy_over_best": ratio, "above_the_guarantee": slack}
            assert least < -1
            assert slack > 0
        rows.append({"submodular": row})
        print(rows[-1], flush=True)
    return rows


def certificates(repeats: int, n: int = 14, k: int = 5) -> list[dict[str, Any]]:
    """Return the bound, the bound by weights p alone, and the choice, over the best subset."""
    shares: dict[str, list[float]] = {"bound": [], "surprise": [], "chosen": []}
    combinations = np.array(list(itertools.combinations(range(n), k)))
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        centres = rng.standard_normal((6, 8))
        X = unit(centres[rng.integers(6, size=n)] + 0.4 * rng.standard_normal((n, 8)))
        K = X @ X.T
        values = np.linalg.eigvalsh(K[combinations[:, :, None], combinations[:, None, :]]) / k
        values = np.maximum(values, 1e-300)
        best = float(np.exp(-(values * np.log(values)).sum(axis=1)).max())
        result = select(MatrixSimilarity(K, psd=True), k)
        whole = compute_spectrum(MatrixSimilarity(K, psd=True), vectors=True)
        positive = whole.values[whole.values > 0]
        logs = -np.log(positive)
        surprises = n * (whole.vectors**2 * positive) @ logs
        shares["bound"].append(result.bound / best)
        shares["surprise"].append(math.exp(float(np.sort(surprises)[-k:].mean())) / best)
        shares["chosen"].append(float(result.scores[-1]) / best)
    row = {
        name: {"least": min(each), "mean": float(np.mean(each)), "most": max(each)}
        for name, each in shares.items()
    }
    assert row["bound"]["least"] > 1 - 1e-12
    assert row["surprise"]["least"] > 1 - 1e-12
    assert row["chosen"]["most"] < 1 + 1e-9
    found_row = {"certificate": row, "n": n, "k": k, "sets": repeats}
    print(found_row, flush=True)
    return [found_row]


def main() -> None:
    given = arguments(__doc__)
    assert float(compute_trace_term(1.0, 1.0)) == -1.0
    rows = [*quadrature(), *orders(), *submodular(given.repeats), *certificates(given.repeats)]
    write(given.json, rows, environment() | {"repeats": given.repeats})


if __name__ == "__main__":
    main()
