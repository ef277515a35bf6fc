"""The cost of finding each sample's gain, and whether near-duplicates are all found.

python benchmarks/explain.py --json benchmarks/results/explain.json

Leave-one-out scores are compared with a decomposition for each sample before anything is timed.
"""

import statistics
from pathlib import Path
from typing import Any

import numpy as np
from pairs import arguments, compare, environment, write

from vendiscore import as_similarity, explain
from vendiscore.spectral.rank_one import leave_one_out
from vendiscore.spectral.vendi_scores import spectrum_of, vendi

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
ORDERS = (0.5, 1.0, 1.5, 2.0, float("inf"))


def brute(similarity: Any, q: float, count: int) -> np.ndarray:
    """Return log VS without each of the first samples, from a decomposition each."""
    left = [np.delete(np.arange(similarity.n), i) for i in range(count)]
    return np.log([vendi(similarity.take(places), [q]).values[0] for places in left])


def all_without(similarity: Any, q: float = 1.0) -> np.ndarray:
    return np.asarray(leave_one_out(spectrum_of(similarity, vectors=True), q))


def errors() -> list[dict[str, Any]]:
    """Return the largest difference from n decompositions, in log VS."""
    rows = []
    for n, d in ((100, 20), (300, 64), (200, 400)):
        X = np.random.default_rng(0).standard_normal((n, d))
        for k, options in (("cosine", {}), ("rbf", {"sigma": 5.0})):
            similarity = as_similarity(X, k=k, **options)
            for q in ORDERS:
                gap = np.abs(all_without(similarity, q) - brute(similarity, q, n)).max()
                rows.append({"check": f"{k}, {n} × {d}, q = {q:g}", "largest_error": float(gap)})
                print(f"{rows[-1]['check']:<28} largest error in log VS {gap:.1e}", flush=True)
                assert gap < 1e-9
    return rows


def beside_the_score(repeats: int) -> list[dict[str, Any]]:
    """Return all leave-one-out scores of 20,000 × 384, in times of the score alone."""
    rows = []
    for dtype in (np.float64, np.float32):
        X = np.random.default_rng(0).standard_normal((20_000, 384)) / np.arange(1, 385) ** 0.5
        similarity = as_similarity(X.astype(dtype), k="cosine")
        for q in (0.5, 1.0, 1.5):
            found = compare(
                f"leave-one-out, 20,000 × 384 {dtype.__name__}, q = {q:g}",
                lambda s=similarity, q=q: all_without(s, q),
                lambda s=similarity, q=q: vendi(s, [q]),
                repeats,
            )
            low, high = found["ratio_range"]
            rows.append(
                {
                    "cost": found["name"],
                    "all_s": found["ours_s"],
                    "score_s": found["theirs_s"],
                    "times_the_score": 1 / found["times_faster"],
                    "range": [1 / high, 1 / low],
                }
            )
            print(f"{'':<44} {rows[-1]['times_the_score']:.2f} × the score alone", flush=True)
    return rows


def duplicates(seeds: int = 5) -> list[dict[str, Any]]:
    """Return a hundred near-copies planted among 1,900 digits, found again."""
    with np.load(DATA / "mnist_test.npz") as arrays:
        images = arrays["images"].reshape(10_000, -1).astype(float) / 255
    rows = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X = images[rng.choice(10_000, 1900, replace=False)]
        chosen = rng.choice(1900, 100, replace=False)
        X = np.vstack([X, np.clip(X[chosen] + 0.02 * rng.standard_normal((100, 784)), 0, 1)])
        found = explain(X, k="cosine", threshold=0.992)
        named = {frozenset((i, of)) for i, of in enumerate(found.redundant_of.tolist()) if of >= 0}
        planted = {frozenset((i, 1900 + j)) for j, i in enumerate(chosen.tolist())}
        rows.append(
            {
                "planted": len(planted),
                "found": len(planted & named),
                "precision": len(planted & named) / len(named),
                "VS": found.score,
                "VS_without": found.score_without_duplicates,
            }
        )
        print(
            f"seed {seed}: {rows[-1]['found']} of 100 found, precision "
            f"{rows[-1]['precision']:.3f}; VS {found.score:.4f}, without them "
            f"{found.score_without_duplicates:.4f}",
            flush=True,
        )
    return rows


def main() -> None:
    options = arguments(__doc__)
    rows: list[dict[str, Any]] = errors()
    X = np.random.default_rng(0).standard_normal((400, 64))
    similarity = as_similarity(X, k="cosine")
    gap = np.abs(all_without(similarity)[:20] - brute(similarity, 1.0, 20)).max()
    assert gap < 1e-9
    rows += [
        compare(
            "all leave-one-out scores, 400 × 64, q = 1",
            lambda: all_without(similarity),
            lambda: brute(similarity, 1.0, 400),
            3,
        )
    ]
    rows += beside_the_score(options.repeats)
    rows += duplicates() if DATA.exists() else []
    print("median cost", statistics.median(r["times_the_score"] for r in rows if "cost" in r))
    write(options.json, rows, environment())


if __name__ == "__main__":
    main()
