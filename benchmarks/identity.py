"""Check the identity for leave-one-out scores and the error of its quadrature.

    python benchmarks/identity.py --json benchmarks/results/identity.json

The script has four parts. Each stops with an AssertionError if a claim of docs/identity.md fails:

- the change of log VS if one sample is removed or added, compared with an eigenvalue decomposition
  for each sample, at several steps of the trapezoidal rule, and with the proved bound;
- the same at other orders, with the default step of the package;
- Σ λ^q is monotone and submodular for q < 1, and −tr A log A is submodular and not monotone, for
  all pairs of subsets of small sets; also the ratio of the greedy selection to the best selection;
- the upper bound of a selection, compared with all subsets of small sets.
"""

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pairs import collect_environment, parse_arguments, write_results

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
SMALL_SIZE = 8  # number of samples of sets for which all pairs of subsets are checked


def unit_rows(X: np.ndarray) -> np.ndarray:
    return np.asarray(X / np.linalg.norm(X, axis=1)[:, None])


def make_sets() -> dict[str, np.ndarray]:
    """Return unit rows: of full rank, more rows than columns, with copies, and nearly equal."""
    rng = np.random.default_rng(0)
    return {
        "400 x 64": unit_rows(rng.standard_normal((400, 64))),
        "100 x 300": unit_rows(rng.standard_normal((100, 300))),
        "200 x 20, half of them copies": unit_rows(np.tile(rng.standard_normal((100, 20)), (2, 1))),
        "100 x 50, spectrum 1/j^2": unit_rows(
            rng.standard_normal((100, 50)) / np.arange(1, 51, dtype=float) ** 2
        ),
    }


def nonzero_eigenvalues(X: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of Σ x xᵀ that are above rounding."""
    values = np.linalg.eigvalsh(X @ X.T if len(X) < X.shape[1] else X.T @ X)
    return np.asarray(values[values > len(values) * np.finfo(float).eps * values[-1]])


def log_score(X: np.ndarray, q: float = 1.0) -> float:
    """Return log VS_q of the rows of X, which have length 1."""
    proportions = nonzero_eigenvalues(X) / len(X)
    if q == 1:
        return -float(proportions @ np.log(proportions))
    if math.isinf(q):
        return -math.log(proportions[-1])
    return math.log(float((proportions**q).sum())) / (1 - q)


def log_scores_without_each(X: np.ndarray, q: float = 1.0) -> np.ndarray:
    """Return log VS without each sample, with an eigenvalue decomposition for each."""
    return np.array([log_score(np.delete(X, i, axis=0), q) for i in range(len(X))])


def error_bound(step: float) -> float:
    """Return 4π Σ 1/sinh(2π²m/h), a bound of the error of a change of −tr A log A by a unit
    vector.
    """
    return 4 * math.pi * sum(1 / math.sinh(2 * math.pi**2 * m / step) for m in (1, 2, 3))


def log_scores_by_quadrature(X: np.ndarray, step: float) -> np.ndarray:
    """Return log VS without each sample, by the trapezoidal rule with this step on a wide range,
    with b = 1.
    """
    values = nonzero_eigenvalues(X)
    if len(X) <= X.shape[1]:
        squares = np.linalg.eigh(X @ X.T)[1][:, -len(values) :] ** 2 * values
    else:
        squares = (X @ np.linalg.eigh(X.T @ X)[1][:, -len(values) :]) ** 2
    t = np.exp(step * np.arange(math.ceil(-36 / step), math.floor(36 / step) + 1))
    s = squares @ (1 / (values[:, None] + t))
    # 1 − s is the ratio of the determinants without and with a sample; no cancellation for small t.
    outside_span = np.maximum(1 - (squares / values).sum(axis=1), 0.0)
    outside_span[outside_span < 1e-12] = 0.0
    with_sample_removed = outside_span[:, None] + (squares / values) @ (t / (values[:, None] + t))
    logs = np.where(s < 0.5, np.log1p(-np.minimum(s, 0.5)), np.log(with_sample_removed))
    losses = -1 + (-logs - 1 / (1 + t)) @ (step * t)
    n = len(X)
    trace_term = -float(values @ np.log(values))
    return np.asarray(math.log(n - 1) + (trace_term - losses) / (n - 1))


def check_quadrature() -> list[dict[str, Any]]:
    """Return the largest errors for each step, in units of 1/(n − 1), the scale of a change of −tr
    A log A.
    """
    rows = []
    sets_with_truth = {name: (X, log_scores_without_each(X)) for name, X in make_sets().items()}
    added_rows = unit_rows(np.random.default_rng(1).standard_normal((20, 64)))
    X = sets_with_truth["400 x 64"][0]
    true_gains = np.array([log_score(np.vstack([X, x])) for x in added_rows]) - log_score(X)
    for step in STEPS:
        tolerance = 16 * math.pi * math.exp(-2 * math.pi**2 / step)
        assert abs(compute_quadrature_step(tolerance) - step) < 1e-12
        package_error, rule_error, nodes = 0.0, 0.0, 0
        for A, truth in sets_with_truth.values():
            spectrum = compute_spectrum(FeatureSimilarity(A), vectors=True)
            values = spectrum.values[spectrum.values > 0]
            squares = spectrum.vectors**2
            result = log_scores_leaving_each_out(values, squares, 1.0, 1 / len(A), tolerance)
            package_error = max(package_error, float(np.abs(result - truth).max()) * (len(A) - 1))
            rule_error = max(
                rule_error,
                float(np.abs(log_scores_by_quadrature(A, step) - truth).max()) * (len(A) - 1),
            )
            count = len(
                compute_quadrature_nodes(1.0, values[-1], values[0], tolerance, 1 / len(A))[0]
            )
            nodes = max(nodes, count)
        spectrum = compute_spectrum(FeatureSimilarity(X), vectors=True)
        values, V = np.linalg.eigh(X.T @ X)
        squares = (added_rows @ V[:, ::-1]) ** 2
        # The package uses a fixed tolerance if samples are added, independent of the step.
        result = log_scores_with_each_added(values[::-1] / 400, squares, 1.0, 1 / 400)
        gain = float(np.abs(result - log_score(X) - true_gains).max()) * 401
        rows.append(
            {
                "step": step,
                "nodes": nodes,
                "asked": tolerance,
                "error": package_error,
                "error_of_a_gain": gain,
                "error_of_the_rule": rule_error,
                "proved": error_bound(step),
            }
        )
        print(rows[-1], flush=True)
        # The eigenvalues have errors of about 1e-13.
        assert rule_error < error_bound(step) + 1e-10
        assert max(package_error, gain) < tolerance + 1e-10
    return rows


def check_orders() -> list[dict[str, Any]]:
    """Return the largest errors at several orders, with the default step."""
    rows = []
    for q in ORDERS:
        error = 0.0
        for X in make_sets().values():
            result = leave_one_out(compute_spectrum(FeatureSimilarity(X), vectors=True), q)
            # At orders below 1, rounding errors of small eigenvalues contribute to this error.
            error = max(error, float(np.abs(result - log_scores_without_each(X, q)).max()))
        rows.append({"q": "inf" if math.isinf(q) else q, "error_of_log_VS": error})
        print(rows[-1], flush=True)
        assert error < 1e-7
    return rows


def all_subsets(n: int) -> list[tuple[int, ...]]:
    return [S for m in range(n + 1) for S in itertools.combinations(range(n), m)]


def evaluate_subsets(
    X: np.ndarray, f: Callable[[np.ndarray], float]
) -> dict[frozenset[int], float]:
    """Return f(nonzero eigenvalues) of each subset of the rows of X; 0 for the empty set."""
    return {
        frozenset(S): f(nonzero_eigenvalues(X[list(S)])) if S else 0.0 for S in all_subsets(len(X))
    }


def find_defects(F: dict[frozenset[int], float], n: int) -> tuple[float, float]:
    """Return the smallest gain of any sample, and the largest increase of a gain with the size of
    the set.
    """
    gain = {(S, x): F[S | {x}] - F[S] for S in F for x in range(n) if x not in S}
    grows = max(
        gain[S | {y}, x] - gain[S, x] for S, x in gain for y in range(n) if y != x and y not in S
    )
    return min(gain.values()), grows


def greedy_value(F: dict[frozenset[int], float], n: int, k: int) -> float:
    S: frozenset[int] = frozenset()
    while len(S) < k:
        S = max((S | {x} for x in range(n) if x not in S), key=F.__getitem__)
    return F[S]


def objective(values: np.ndarray, q: float) -> float:
    """Return the objective of a set from its nonzero eigenvalues λ, `values`.

    It is Σ λ^q if q < 1, which never decreases if a sample is added, and (Σ λ^q − Σ λ)/(1 − q)
    otherwise, with the limit −Σ λ log λ at q = 1.
    """
    if q == 1:
        return -float(values @ np.log(values))
    return float((values**q).sum() if q < 1 else (values**q - values).sum() / (1 - q))


def check_submodularity(repeats: int) -> list[dict[str, Any]]:
    """Check Theorem 3 and Proposition 4 of docs/identity.md on all subsets of random sets.

    Return, for each order, the smallest gain, the largest increase of a gain, and how good greedy
    selections are relative to the best subsets.
    """
    rows = []
    for q in (0.25, 0.5, 0.75, 0.95, 1.0, 1.5, 2.0):
        min_gain, max_growth, ratio, slack = math.inf, -math.inf, math.inf, math.inf
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((SMALL_SIZE, int(rng.integers(2, SMALL_SIZE + 1))))
            X[-2:] = X[:2] + rng.choice([0.0, 0.1, 1.0]) * X[2:4]  # exact and approximate copies
            F = evaluate_subsets(unit_rows(X), partial(objective, q=q))
            result = find_defects(F, SMALL_SIZE)
            min_gain, max_growth = min(min_gain, result[0]), max(max_growth, result[1])
            for k in (2, 3, 4, 5):
                best = max(F[S] for S in F if len(S) == k)
                greedy_score = greedy_value(F, SMALL_SIZE, k)
                if q < 1:
                    ratio = min(ratio, greedy_score / best)
                elif q == 1:
                    # F is k log VS − k log k, so log VS of k samples is log k + F/k.
                    log_best, log_chosen = (
                        math.log(k) + value / k for value in (best, greedy_score)
                    )
                    ratio = min(ratio, math.exp(log_chosen - log_best))
                    least_log = (1 - 1 / math.e) * log_best - (1 + math.log(2)) / math.e
                    slack = min(slack, log_chosen - least_log)
        row = {"q": q, "least_gain": min_gain, "gain_grows_by": max_growth}
        assert max_growth < 1e-9
        if q < 1:
            row["greedy_over_best"] = ratio
            assert min_gain > -1e-9
            assert ratio > 1 - 1 / math.e
        elif q == 1:
            row |= {"VS_of_greedy_over_best": ratio, "above_the_guarantee": slack}
            assert min_gain < -1
            assert slack > 0
        rows.append({"submodular": row})
        print(rows[-1], flush=True)
    return rows


def check_upper_bounds(repeats: int, n: int = 14, k: int = 5) -> list[dict[str, Any]]:
    """Return the upper bound, a bound from surprisals, and the selected score, relative to the best
    subset.
    """
    ratios: dict[str, list[float]] = {"bound": [], "surprise": [], "chosen": []}
    combinations = np.array(list(itertools.combinations(range(n), k)))
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        centres = rng.standard_normal((6, 8))
        X = unit_rows(centres[rng.integers(6, size=n)] + 0.4 * rng.standard_normal((n, 8)))
        K = X @ X.T
        values = np.linalg.eigvalsh(K[combinations[:, :, None], combinations[:, None, :]]) / k
        values = np.maximum(values, 1e-300)
        best = float(np.exp(-(values * np.log(values)).sum(axis=1)).max())
        result = select(MatrixSimilarity(K, psd=True), k)
        spectrum = compute_spectrum(MatrixSimilarity(K, psd=True), vectors=True)
        positive = spectrum.values[spectrum.values > 0]
        logs = -np.log(positive)
        surprises = n * (spectrum.vectors**2 * positive) @ logs
        ratios["bound"].append(result.bound / best)
        ratios["surprise"].append(math.exp(float(np.sort(surprises)[-k:].mean())) / best)
        ratios["chosen"].append(float(result.scores[-1]) / best)
    row = {
        name: {
            "least": min(ratios_of_bound),
            "mean": float(np.mean(ratios_of_bound)),
            "most": max(ratios_of_bound),
        }
        for name, ratios_of_bound in ratios.items()
    }
    assert row["bound"]["least"] > 1 - 1e-12
    assert row["surprise"]["least"] > 1 - 1e-12
    assert row["chosen"]["most"] < 1 + 1e-9
    result_row = {"certificate": row, "n": n, "k": k, "sets": repeats}
    print(result_row, flush=True)
    return [result_row]


def main() -> None:
    options = parse_arguments(__doc__)
    # At b = 1, the trace term is the factor −1 of c in Theorem 1 of docs/identity.md.
    assert float(compute_trace_term(1.0, 1.0)) == -1.0
    rows = [
        *check_quadrature(),
        *check_orders(),
        *check_submodularity(options.repeats),
        *check_upper_bounds(options.repeats),
    ]
    write_results(options.json, rows, collect_environment() | {"repeats": options.repeats})


if __name__ == "__main__":
    main()
