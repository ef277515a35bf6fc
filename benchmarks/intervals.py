"""Do intervals cover what they should, and what does the naive bootstrap do?

    python benchmarks/intervals.py --repeats 300

Draws sets of a source again and again, of three kernels and two sizes each.
- How often the 95 % jackknife interval covers E log VS of so many samples, the mean over all sets.
- How far scores of n of n samples drawn with replacement lie below the score of the set.
- Whether growth at order 2 is the mean purity of subsets, and of larger sets of the source.

The picture of the second goes to docs/images/bootstrap-bias.png.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pairs import arguments, environment, write

from vendiscore import as_similarity, growth
from vendiscore.scoring.jackknife import jackknife
from vendiscore.scoring.subsampling import N_DRAWS, half_sampling_error
from vendiscore.similarity.base import Similarity
from vendiscore.spectral.vendi_scores import compute_spectrum, compute_vendi_scores

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from populations import draw_molecules, draw_vectors

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "bootstrap-bias.png"
# The bandwidth does not follow from the set, so that all sets have one kernel.
KERNELS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "linear": (draw_vectors, {"k": "cosine"}),
    "RBF": (draw_vectors, {"k": "rbf", "sigma": 2.0}),
    "Tanimoto": (draw_molecules, {"k": "morgan", "n_bits": 1024}),
}
SIZES = (100, 400)
SETS, RESAMPLES = 10, 50  # of the bootstrap
TIMES = 1.96


def drawn(name: str, n: int, seed: int) -> Similarity:
    """Return a set of n samples."""
    source, options = KERNELS[name]
    return as_similarity(source(np.random.default_rng(seed), n), **options)


def covers(name: str, n: int, repeats: int) -> dict[str, Any]:
    """Return how often the interval covers the mean of log VS over all sets."""
    result = [jackknife(compute_spectrum(drawn(name, n, s), vectors=True)) for s in range(repeats)]
    logs, errors = (np.array([getattr(each, key) for each in result]) for key in ("log", "error"))
    covered = np.abs(logs - logs.mean()) <= TIMES * errors
    halves = [halved(drawn(name, n, seed)) for seed in range(20)] if n < 200 else []
    return {
        "covered": float(covered.mean()),
        "deviation": float(logs.std(ddof=1)),
        "jackknife_error": float(np.sqrt((errors**2).mean())),
        "halves_error": float(np.sqrt(np.mean(np.square(halves)))) if halves else None,
        "mean_score": float(np.exp(logs.mean())),
    }


def halved(whole: Similarity) -> float:
    """Return the error by halves without replacement."""

    def log_score(places: np.ndarray) -> float:
        return float(np.log(compute_vendi_scores(whole.take(places)).values[0]))

    rng = np.random.default_rng(0)
    return float(half_sampling_error(whole.n, log_score, whole.n // 2, N_DRAWS, rng))


def bootstrapped(name: str, n: int) -> np.ndarray:
    """Return scores of bootstrap samples over the score of the set, (sets, resamples)."""
    shares = np.empty((SETS, RESAMPLES))
    for seed in range(SETS):
        whole = drawn(name, n, seed)
        score = compute_vendi_scores(whole).values[0]
        rng = np.random.default_rng(seed)
        for i in range(RESAMPLES):
            shares[seed, i] = (
                compute_vendi_scores(whole.take(np.sort(rng.integers(n, size=n)))).values[0] / score
            )
    return shares


def purities(name: str, repeats: int) -> dict[str, Any]:
    """Return the difference of growth at order 2 from Monte Carlo, in standard errors."""
    whole = drawn(name, 100, 0)
    rng = np.random.default_rng(0)
    closed = growth(whole, [10, 50], q=2)
    off = {}
    for m, score in zip(closed.sizes, closed.scores, strict=True):
        parts = [whole.take(rng.choice(100, m, replace=False)) for _ in range(2000)]
        purity = np.array([1 / compute_vendi_scores(part, [2.0]).values[0] for part in parts])
        off[f"subsets_of_{m}"] = standardized(purity, 1 / score)
    doubled = np.array(
        [1 / growth(drawn(name, 100, s), [200], q=2).scores[0] for s in range(repeats)]
    )
    fresh = np.array(
        [
            1 / compute_vendi_scores(drawn(name, 200, 10**6 + s), [2.0]).values[0]
            for s in range(repeats)
        ]
    )
    apart = (doubled.mean() - fresh.mean()) / np.sqrt((doubled.var() + fresh.var()) / repeats)
    return off | {"sets_of_200_from_100": float(apart)}


def standardized(values: np.ndarray, expected: float) -> float:
    """Return how many standard errors the mean of values is from what is expected."""
    return float((values.mean() - expected) / (values.std(ddof=1) / np.sqrt(len(values))))


def picture(rows: list[tuple[str, np.ndarray, float]]) -> None:
    """Draw the bootstrap's scores and the jackknife's interval for each source and size."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3), layout="constrained")
    ax = figure.add_subplot()
    rng = np.random.default_rng(0)
    for i, (_, shares, error) in enumerate(rows):
        x, y = shares[0], i + 0.14 + 0.1 * rng.uniform(-1, 1, RESAMPLES)
        ax.plot(x, y, "o", ms=2.5, color="C1", alpha=0.6, label="" if i else "naive bootstrap")
        ends = np.exp([-TIMES * error, TIMES * error])
        ax.plot(ends, [i - 0.14] * 2, color="C0", lw=4, label="" if i else "95 % jackknife")
    ax.axvline(1, color="0.4", lw=0.8)
    ax.set_yticks(range(len(rows)), [label for label, _, _ in rows])
    ax.set(xlabel="share of the score of the set", ylim=(len(rows) - 0.5, -0.5))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8, loc="lower left")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=100, metadata={"Software": None})


def main() -> None:
    given = arguments(__doc__)
    rows, drawings = [], []
    for name in KERNELS:
        for n in SIZES:
            result = covers(name, n, given.repeats)
            shares = bootstrapped(name, n)
            row = {"name": name, "n": n, **result, "bootstrap_bias": float(shares.mean()) - 1}
            drawings.append((f"{name}, n = {n}", shares, result["jackknife_error"]))
            rows.append(row)
            print(row, flush=True)
    for name in KERNELS:
        rows.append({"name": name, "purity_off": purities(name, given.repeats)})
        print(rows[-1], flush=True)
    picture(drawings)
    write(given.json, rows, environment() | {"repeats": given.repeats})


if __name__ == "__main__":
    main()
