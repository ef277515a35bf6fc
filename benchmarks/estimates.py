"""Estimates and exact scores: how far off, how often within what they say, and how long.

    python benchmarks/estimates.py --data ../shared/data --json benchmarks/results/estimates.json

Needs `leffingwell_odors.csv`, `trec_questions.tsv` and `mnist_test.npz`; README of the tests says
what they are. Sets of another size than theirs are resampled with replacement and perturbed, so
that no two samples are the same: of a fingerprint each bit is dropped with a chance of 1/20 and
bits of another molecule are added with the same chance; of a question each word is replaced, with
a chance of 1/5, by one drawn from all questions; a digit gets normal noise of 0.05 in each pixel.
Each large set runs in a process of its own, which tells its time and its peak memory. The largest
are timed next to the product of all pairs of rows in float32, in as many threads. Costs are
seconds of one core too, which other work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pairs import environment, record_mb, write

import vendiscore
from vendiscore.similarity.base import Similarity
from vendiscore.similarity.bit_sets import BitSimilarity
from vendiscore.spectral.estimate import EstimateOptions
from vendiscore.spectral.vendi_scores import compute_vendi_scores
from vendiscore.support.namespace import row_blocks
from vendiscore.support.parallel import run_parallel

SEEDS = 100
ORDERS = (1.0, 1.5)
NARROW, WIDE = 3.0, 10.0  # of digits, whose median distance is 10.4
LOW = 4  # principal components of digits
FEWER = 64  # and where each product makes K anew


def odorants(data: Path, n: int, rng: np.random.Generator) -> Similarity:
    from rdkit import Chem, DataStructs
    from rdkit.Chem import rdFingerprintGenerator

    with (data / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        smiles = [row["smiles"] for row in csv.DictReader(file)]
    if not n:
        return vendiscore.as_similarity(smiles, k="morgan", n_bits=1024)
    maker = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    bits = np.zeros((len(smiles), 2048), np.uint8)
    for row, text in zip(bits, smiles, strict=True):
        DataStructs.ConvertToNumpyArray(maker.GetFingerprint(Chem.MolFromSmiles(text)), row)
    own, other = (bits[rng.integers(0, len(bits), n)] for _ in range(2))
    kept = own & (rng.random(own.shape, dtype=np.float32) > 0.05)
    return BitSimilarity(kept | (other & (rng.random(own.shape, dtype=np.float32) < 0.05)))


def questions(data: Path, n: int, rng: np.random.Generator) -> Similarity:
    with (data / "trec_questions.tsv").open(encoding="utf-8") as file:
        texts = [row["question"] for row in csv.DictReader(file, delimiter="\t")]
    if not n:
        return vendiscore.as_similarity(texts, k="ngram_overlap", analyzer="word")
    words = [text.split() for text in texts]
    every = [word for text in words for word in text]
    chosen = []
    for i in rng.integers(0, len(words), n):
        replaced = rng.random(len(words[i])) < 0.2
        drawn = rng.integers(0, len(every), len(words[i]))
        pairs = zip(words[i], replaced, drawn, strict=True)
        chosen.append(" ".join(every[d] if r else word for word, r, d in pairs))
    return vendiscore.as_similarity(chosen, k="ngram_overlap", analyzer="word", tokenizer=str.split)


def digits(sigma: float, components: int = 0) -> Callable[..., Similarity]:
    def make(data: Path, n: int, rng: np.random.Generator) -> Similarity:
        with np.load(data / "mnist_test.npz") as file:
            X = file["images"].reshape(-1, 784) / 255
        n = n or 5000
        if n > len(X):
            X = X[rng.integers(0, len(X), n)] + 0.05 * rng.standard_normal((n, 784))
        X = X[:n]
        if components:
            X = X - X.mean(axis=0)
            X = X @ np.linalg.eigh(X.T @ X)[1][:, -components:]
        return vendiscore.as_similarity(X, k="rbf", sigma=sigma)

    return make


SETS: dict[str, Callable[..., Similarity]] = {
    "Tanimoto of odorants": odorants,
    "n-grams of questions": questions,
    "narrow RBF of digits": digits(NARROW),
    "wide RBF of digits": digits(WIDE),
    f"RBF of digits in {LOW} dimensions": digits(NARROW, LOW),
}
LARGER: dict[str, Callable[..., Similarity]] = {
    "n-grams of questions": questions,
    f"narrow RBF of digits on {FEWER} components": digits(NARROW, FEWER),
}


def coverage(
    data: Path, sets: dict[str, Callable[..., Similarity]], seeds: int, rtol: float, n: int = 0
) -> list[dict[str, Any]]:
    """Return how often an estimate is within two standard errors."""
    rows = []
    for name, make in sets.items():
        similarity = make(data, n, np.random.default_rng(0))
        exact = dict(zip(ORDERS, compute_vendi_scores(similarity, ORDERS).values, strict=True))
        for q in ORDERS:
            logs, errors, ways = [], [], set()
            used = time.process_time()
            for seed in range(seeds):
                how = EstimateOptions(rtol, seed)
                (result,) = compute_vendi_scores(similarity, [q], estimate_options=how).estimates
                logs.append(math.log(result.value / exact[q]))
                errors.append(result.error / result.value)
                ways.add(result.route)
            off, said = np.array(logs), np.array(errors)
            row = {
                "name": f"{name}, q = {q:g}",
                "n": similarity.n,
                "rtol": rtol,
                "exact": exact[q],
                "routes": sorted(ways),
                "why": result.reason,
                "rmse": float(np.sqrt(np.mean(off**2))),
                "largest": float(np.abs(off).max()),
                "said": float(said.mean()),
                "within_2_se": float(np.mean(np.abs(off) <= 2 * said)),
                "seeds": seeds,
                "core_s": (time.process_time() - used) / seeds,
            }
            rows.append(row)
            print(
                f"{row['name']:<44} exact {exact[q]:9.3f}  rmse {row['rmse']:.5%}  "
                f"said {row['said']:.5%}  within 2 se {row['within_2_se']:6.1%}  "
                f"{row['core_s']:.2f} core s  {result.reason}",
                flush=True,
            )
    return rows


def job(data: Path, name: str, n: int, rtol: float, seed: int) -> None:
    """Estimate one set in this process; `rtol` of 0 means exact."""
    rng = np.random.default_rng(0)
    similarity = (SETS | LARGER)[name](data, n, rng)
    before = bare(n, FEWER) if name in LARGER else 0.0
    start, used = time.perf_counter(), time.process_time()
    how = EstimateOptions(rtol=rtol, seed=seed) if rtol else None
    (result,) = compute_vendi_scores(similarity, [1.0], estimate_options=how).estimates
    seconds, cores = time.perf_counter() - start, time.process_time() - used
    told = {"value": result.value, "error": result.error}
    told |= {"seconds": seconds, "core_s": cores, "GB": record_mb() / 1e3, "why": result.reason}
    if name in LARGER:
        told["bare_core_s"] = statistics.median([before, bare(n, FEWER), bare(n, FEWER)])
        told["bare_products"] = cores / told["bare_core_s"]
    print(json.dumps(told))


def bare(n: int, d: int) -> float:
    """Return seconds of a core for products of all pairs of n rows of d columns in float32."""
    few = min(n, 20_000)
    X = np.random.default_rng(0).standard_normal((few, d)).astype(np.float32)

    def multiply(block: slice) -> None:
        X[block] @ X[block.start :].T

    used = time.process_time()
    run_parallel(multiply, row_blocks(few, 4 * d))
    return (time.process_time() - used) * (n / few) ** 2


def in_process(data: Path, name: str, n: int, rtol: float, seed: int = 0) -> dict[str, Any]:
    given = [name, str(n), str(rtol), str(seed)]
    done = subprocess.run(
        [sys.executable, __file__, "--data", str(data), "--job", *given],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def against_exact(
    data: Path, n: int, names: list[str], seeds: int, rtol: float = 2e-3
) -> list[dict[str, Any]]:
    """Return estimates and the exact score of sets of n, each in a process of its own."""
    rows = []
    for name in names:
        exact = in_process(data, name, n, 0.0)
        result = [in_process(data, name, n, rtol, seed) for seed in range(seeds)]
        off = [math.log(each["value"] / exact["value"]) for each in result]
        seconds, cores = (float(np.median([f[c] for f in result])) for c in ("seconds", "core_s"))
        row = {
            "name": f"{name}, n = {n:,}",
            "rtol": rtol,
            "exact": exact["value"],
            "exact_s": exact["seconds"],
            "exact_core_s": exact["core_s"],
            "exact_GB": exact["GB"],
            "estimate_s": seconds,
            "estimate_core_s": cores,
            "estimate_GB": max(each["GB"] for each in result),
            "faster": exact["core_s"] / cores,
            "rmse": float(np.sqrt(np.mean(np.square(off)))),
            "why": result[0]["why"],
        }
        rows.append(row)
        print(
            f"{row['name']:<46} exact {exact['core_s']:7.1f} core s {exact['GB']:5.1f} GB   "
            f"estimate {cores:6.2f} core s {row['estimate_GB']:4.1f} GB   {row['faster']:5.1f} ×   "
            f"rmse {row['rmse']:.4%}   {row['why']}",
            flush=True,
        )
    return rows


def larger(data: Path, n: int) -> list[dict[str, Any]]:
    """Return estimates of sets whose exact score does not fit anywhere."""
    rows = []
    for name in LARGER:
        for rtol in (1e-2, 5e-3):
            result = in_process(data, name, n, rtol)
            rows.append({"name": f"{name}, n = {n:,}", "rtol": rtol, **result})
            print(
                f"{rows[-1]['name']:<56} rtol {rtol:g} {result['value']:10.2f} ± "
                f"{result['error']:.2g}   {result['seconds']:6.1f} s, {result['core_s']:.0f} of a "
                f"core, {result['bare_products']:.0f} bare products   {result['GB']:4.1f} GB   "
                f"{result['why']}",
                flush=True,
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--only", nargs="*", help="coverage, ten, twenty, hundred")
    parser.add_argument("--job", nargs=4, help="of this script itself: NAME N RTOL SEED")
    given = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    if given.job:
        name, n, rtol, seed = given.job
        job(given.data, name, int(n), float(rtol), int(seed))
        return
    dense = ["Tanimoto of odorants", "narrow RBF of digits", "wide RBF of digits"]
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "coverage": lambda: coverage(given.data, SETS, given.seeds, 2e-3),
        "ten": lambda: against_exact(given.data, 10_000, list(SETS)[:4], 5),
        "twenty": lambda: against_exact(given.data, 20_000, dense[:2], 3, rtol=1e-2),
        "hundred": lambda: larger(given.data, 100_000),
    }
    rows: list[dict[str, Any]] = []
    if given.only and given.json and given.json.exists():  # results of the other parts stay
        known = json.loads(given.json.read_text(encoding="utf-8"))["rows"]
        rows = [row for row in known if row["part"] not in given.only]
    for part, run in parts.items():
        if not given.only or part in given.only:
            rows += [{"part": part, **row} for row in run()]
    write(given.json, rows, environment())


if __name__ == "__main__":
    main()
