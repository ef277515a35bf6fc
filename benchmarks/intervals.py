"""Coverage of jackknife intervals, and the bias of the naive bootstrap.

    python benchmarks/intervals.py --repeats 300

Sets of three kernels and two sizes are drawn repeatedly. The rows contain

- how often the 95 % jackknife interval covers E log VS of so many samples, the mean over all sets;
- how much lower the scores of n of n samples are that are drawn with replacement;
- whether growth at order 2 equals the mean purity of subsets, and of larger sets of the population.

The figure of the second item is docs/images/bootstrap-bias.png.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pairs import collect_environment, parse_arguments, write_results

from vendiscore import as_similarity, growth
from vendiscore.scoring.jackknife import jackknife
from vendiscore.scoring.subsampling import N_DRAWS, half_sampling_error
from vendiscore.similarity.base import Similarity
from vendiscore.spectral.vendi_scores import compute_spectrum, compute_vendi_scores

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from populations import draw_molecules, draw_vectors

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "bootstrap-bias.png"
# The bandwidth is fixed, so all sets have the same kernel.
KERNELS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "linear": (draw_vectors, {"k": "cosine"}),
    "RBF": (draw_vectors, {"k": "rbf", "sigma": 2.0}),
    "Tanimoto": (draw_molecules, {"k": "morgan", "n_bits": 1024}),
}
SIZES = (100, 400)
BOOTSTRAP_SETS, N_RESAMPLES = 10, 50  # bootstrap: number of sets, and of resamples
Z = 1.96


def draw_set(name: str, n: int, seed: int) -> Similarity:
    """Draw a set of n samples."""
    source, options = KERNELS[name]
    return as_similarity(source(np.random.default_rng(seed), n), **options)


def compute_coverage(name: str, n: int, repeats: int) -> dict[str, Any]:
    """Return how often the interval covers the mean of log VS over all sets."""
    estimates = [
        jackknife(compute_spectrum(draw_set(name, n, s), vectors=True)) for s in range(repeats)
    ]
    logs, errors = (
        np.array([getattr(estimate, key) for estimate in estimates])
        for key in ("log_score", "error")
    )
    covered = np.abs(logs - logs.mean()) <= Z * errors
    halves = (
        [estimate_half_sampling_error(draw_set(name, n, seed)) for seed in range(20)]
        if n < 200
        else []
    )
    return {
        "covered": float(covered.mean()),
        "deviation": float(logs.std(ddof=1)),
        "jackknife_error": float(np.sqrt((errors**2).mean())),
        "halves_error": float(np.sqrt(np.mean(np.square(halves)))) if halves else None,
        "mean_score": float(np.exp(logs.mean())),
    }


def estimate_half_sampling_error(similarity: Similarity) -> float:
    """Return the standard error from random halves of the set."""

    def log_score(indices: np.ndarray) -> float:
        return float(np.log(compute_vendi_scores(similarity.take(indices)).values[0]))

    rng = np.random.default_rng(0)
    return float(half_sampling_error(similarity.n, log_score, similarity.n // 2, N_DRAWS, rng))


def bootstrap_ratios(name: str, n: int) -> np.ndarray:
    """Return scores of bootstrap samples divided by the score of the set, shape (sets,
    resamples).
    """
    ratios = np.empty((BOOTSTRAP_SETS, N_RESAMPLES))
    for seed in range(BOOTSTRAP_SETS):
        similarity = draw_set(name, n, seed)
        score = compute_vendi_scores(similarity).values[0]
        rng = np.random.default_rng(seed)
        for i in range(N_RESAMPLES):
            ratios[seed, i] = (
                compute_vendi_scores(similarity.take(np.sort(rng.integers(n, size=n)))).values[0]
                / score
            )
    return ratios


def check_growth_at_order_2(name: str, repeats: int) -> dict[str, Any]:
    """Return differences of growth at order 2 from simulations, in standard errors."""
    similarity = draw_set(name, 100, 0)
    rng = np.random.default_rng(0)
    growth_result = growth(similarity, [10, 50], q=2)
    differences = {}
    for m, score in zip(growth_result.sizes, growth_result.scores, strict=True):
        subsets = [similarity.take(rng.choice(100, m, replace=False)) for _ in range(2000)]
        purity = np.array([1 / compute_vendi_scores(subset, [2.0]).values[0] for subset in subsets])
        differences[f"subsets_of_{m}"] = standardized_difference(purity, 1 / score)
    doubled = np.array(
        [1 / growth(draw_set(name, 100, s), [200], q=2).scores[0] for s in range(repeats)]
    )
    fresh = np.array(
        [
            1 / compute_vendi_scores(draw_set(name, 200, 10**6 + s), [2.0]).values[0]
            for s in range(repeats)
        ]
    )
    difference = (doubled.mean() - fresh.mean()) / np.sqrt((doubled.var() + fresh.var()) / repeats)
    return differences | {"sets_of_200_from_100": float(difference)}


def standardized_difference(values: np.ndarray, expected: float) -> float:
    """Return the difference of the mean of values from the expected value, in standard errors."""
    return float((values.mean() - expected) / (values.std(ddof=1) / np.sqrt(len(values))))


def draw_picture(rows: list[tuple[str, np.ndarray, float]]) -> None:
    """Draw the bootstrap scores and the jackknife interval for each population and size."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3), layout="constrained")
    ax = figure.add_subplot()
    rng = np.random.default_rng(0)
    for i, (_, ratios, error) in enumerate(rows):
        x, y = ratios[0], i + 0.14 + 0.1 * rng.uniform(-1, 1, N_RESAMPLES)
        ax.plot(x, y, "o", ms=2.5, color="C1", alpha=0.6, label="" if i else "naive bootstrap")
        ends = np.exp([-Z * error, Z * error])
        ax.plot(ends, [i - 0.14] * 2, color="C0", lw=4, label="" if i else "95 % jackknife")
    ax.axvline(1, color="0.4", lw=0.8)
    ax.set_yticks(range(len(rows)), [label for label, _, _ in rows])
    ax.set(xlabel="share of the score of the set", ylim=(len(rows) - 0.5, -0.5))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8, loc="lower left")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=100, metadata={"Software": None})


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    options = parse_arguments(__doc__)
    rows, picture_rows = [], []
    for name in KERNELS:
        for n in SIZES:
            result = compute_coverage(name, n, options.repeats)
            ratios = bootstrap_ratios(name, n)
            row = {"name": name, "n": n, **result, "bootstrap_bias": float(ratios.mean()) - 1}
            picture_rows.append((f"{name}, n = {n}", ratios, result["jackknife_error"]))
            rows.append(row)
            print(row, flush=True)
    for name in KERNELS:
        rows.append({"name": name, "purity_off": check_growth_at_order_2(name, options.repeats)})
        print(rows[-1], flush=True)
    draw_picture(picture_rows)
    write_results(options.json, rows, collect_environment() | {"repeats": options.repeats})


if __name__ == "__main__":
    main()
