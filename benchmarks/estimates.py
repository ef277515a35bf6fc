"""Errors of `method="estimate"`, how well it reports them, and its time.

    python benchmarks/estimates.py --data ../shared/data --only coverage \\
        --json benchmarks/results/estimates.json

Without `--only coverage`, estimates of 10,000 to 100,000 samples are measured as well. Needs
`leffingwell_odors.csv`, `trec_questions.tsv` and `mnist_test.npz`, which the README of the tests
describes. For other sizes, samples are drawn with replacement and modified, so no two are
identical. In a fingerprint, each bit is removed with probability 1/20, and bits of another molecule
are added with the same probability. In a question, each word is replaced with probability 1/5 by a
word of all questions. Pixels of a digit get normal noise with standard deviation 0.05. Each large
set is scored in a separate process, which reports its time and its peak memory. The largest sets
are compared with the float32 products of all pairs of rows, in as many threads. Times are also
reported in core seconds, which other programs on the machine hardly affect.
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
from pairs import collect_environment, peak_process_memory, write_results

import vendiscore
from vendiscore.similarity.base import Similarity
from vendiscore.similarity.bit_sets import BitSimilarity
from vendiscore.spectral.estimate import EstimateOptions
from vendiscore.spectral.vendi_scores import compute_vendi_scores
from vendiscore.support.namespace import row_blocks
from vendiscore.support.parallel import run_parallel

SEEDS = 100
ORDERS = (1.0, 1.5)
NARROW_SIGMA, WIDE_SIGMA = 3.0, 10.0  # for digits, whose median distance is 10.4
N_LOW_COMPONENTS = 4  # number of principal components of digits
N_LARGE_COMPONENTS = 64  # and for large sets, whose K is recomputed in each product


def make_odorants(data: Path, n: int, rng: np.random.Generator) -> Similarity:
    """Return the Tanimoto similarity of the odorants, or of n variants of them if n > 0.

    A variant is the fingerprint of an odorant, without 5 % of its bits, and with 5 % of the bits of
    another odorant.
    """
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
    own_bits, other_bits = (bits[rng.integers(0, len(bits), n)] for _ in range(2))
    retained_bits = own_bits & (rng.random(own_bits.shape, dtype=np.float32) > 0.05)
    return BitSimilarity(
        retained_bits | (other_bits & (rng.random(own_bits.shape, dtype=np.float32) < 0.05))
    )


def make_questions(data: Path, n: int, rng: np.random.Generator) -> Similarity:
    """Return the n-gram similarity of the questions, or of n variants of them if n > 0.

    In a variant, 20 % of the words are replaced by words that are drawn from all questions.
    """
    with (data / "trec_questions.tsv").open(encoding="utf-8") as file:
        texts = [row["question"] for row in csv.DictReader(file, delimiter="\t")]
    if not n:
        return vendiscore.as_similarity(texts, k="ngram_overlap", analyzer="word")
    words = [text.split() for text in texts]
    all_words = [word for text in words for word in text]
    changed_texts = []
    for i in rng.integers(0, len(words), n):
        replaced = rng.random(len(words[i])) < 0.2
        word_indices = rng.integers(0, len(all_words), len(words[i]))
        pairs = zip(words[i], replaced, word_indices, strict=True)
        changed_texts.append(" ".join(all_words[d] if r else word for word, r, d in pairs))
    return vendiscore.as_similarity(
        changed_texts, k="ngram_overlap", analyzer="word", tokenizer=str.split
    )


def make_digits(sigma: float, components: int = 0) -> Callable[..., Similarity]:
    """Return a function that returns the RBF similarity of n digits, by default of 5,000.

    With `components`, the images are projected on this number of principal components. If n exceeds
    the number of images, noisy copies of them are used.
    """

    def make(data: Path, n: int, rng: np.random.Generator) -> Similarity:
        """Compare n MNIST images; if there are fewer, use noisy copies of random images."""
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
    "Tanimoto of odorants": make_odorants,
    "n-grams of questions": make_questions,
    "narrow RBF of digits": make_digits(NARROW_SIGMA),
    "wide RBF of digits": make_digits(WIDE_SIGMA),
    f"RBF of digits in {N_LOW_COMPONENTS} dimensions": make_digits(NARROW_SIGMA, N_LOW_COMPONENTS),
}
LARGER_SETS: dict[str, Callable[..., Similarity]] = {
    "n-grams of questions": make_questions,
    f"narrow RBF of digits on {N_LARGE_COMPONENTS} components": make_digits(
        NARROW_SIGMA, N_LARGE_COMPONENTS
    ),
}


def compute_coverage(
    data: Path, sets: dict[str, Callable[..., Similarity]], seeds: int, rtol: float, n: int = 0
) -> list[dict[str, Any]]:
    """Return errors of estimates, and how often they are below two standard errors."""
    rows = []
    for name, make in sets.items():
        similarity = make(data, n, np.random.default_rng(0))
        exact = dict(zip(ORDERS, compute_vendi_scores(similarity, ORDERS).values, strict=True))
        for q in ORDERS:
            log_ratios, relative_errors, routes = [], [], set()
            start_seconds = time.process_time()
            for seed in range(seeds):
                estimate_options = EstimateOptions(rtol, seed)
                (result,) = compute_vendi_scores(
                    similarity, [q], estimate_options=estimate_options
                ).estimates
                log_ratios.append(math.log(result.value / exact[q]))
                relative_errors.append(result.error / result.value)
                routes.add(result.route)
            log_errors, reported_errors = np.array(log_ratios), np.array(relative_errors)
            row = {
                "name": f"{name}, q = {q:g}",
                "n": similarity.n,
                "rtol": rtol,
                "exact": exact[q],
                "routes": sorted(routes),
                "why": result.reason,
                "rmse": float(np.sqrt(np.mean(log_errors**2))),
                "largest": float(np.abs(log_errors).max()),
                "said": float(reported_errors.mean()),
                "within_2_se": float(np.mean(np.abs(log_errors) <= 2 * reported_errors)),
                "seeds": seeds,
                "core_s": (time.process_time() - start_seconds) / seeds,
            }
            rows.append(row)
            print(
                f"{row['name']:<44} exact {exact[q]:9.3f}  rmse {row['rmse']:.5%}  "
                f"said {row['said']:.5%}  within 2 se {row['within_2_se']:6.1%}  "
                f"{row['core_s']:.2f} core s  {result.reason}",
                flush=True,
            )
    return rows


def run_job(data: Path, name: str, n: int, rtol: float, seed: int) -> None:
    """Score one set in this process and print the result; an `rtol` of 0 means the exact score."""
    rng = np.random.default_rng(0)
    similarity = (SETS | LARGER_SETS)[name](data, n, rng)
    bare_before = time_bare_products(n, N_LARGE_COMPONENTS) if name in LARGER_SETS else 0.0
    start, start_cores = time.perf_counter(), time.process_time()
    estimate_options = EstimateOptions(rtol=rtol, seed=seed) if rtol else None
    (result,) = compute_vendi_scores(similarity, [1.0], estimate_options=estimate_options).estimates
    seconds, cores = time.perf_counter() - start, time.process_time() - start_cores
    record = {"value": result.value, "error": result.error}
    record |= {
        "seconds": seconds,
        "core_s": cores,
        "GB": peak_process_memory() / 1e3,
        "why": result.reason,
    }
    if name in LARGER_SETS:
        record["bare_core_s"] = statistics.median(
            [
                bare_before,
                time_bare_products(n, N_LARGE_COMPONENTS),
                time_bare_products(n, N_LARGE_COMPONENTS),
            ]
        )
        record["bare_products"] = cores / record["bare_core_s"]
    print(json.dumps(record))


def time_bare_products(n: int, d: int) -> float:
    """Return the core seconds for the float32 products of all pairs of n rows with d columns."""
    n_rows = min(n, 20_000)
    X = np.random.default_rng(0).standard_normal((n_rows, d)).astype(np.float32)

    def multiply(block: slice) -> None:
        X[block] @ X[block.start :].T

    start_cores = time.process_time()
    run_parallel(multiply, row_blocks(n_rows, 4 * d))
    return (time.process_time() - start_cores) * (n / n_rows) ** 2


def run_in_process(data: Path, name: str, n: int, rtol: float, seed: int = 0) -> dict[str, Any]:
    """Return the result of `--job` for one set: its value, time and peak memory."""
    job_arguments = [name, str(n), str(rtol), str(seed)]
    process = subprocess.run(
        [sys.executable, __file__, "--data", str(data), "--job", *job_arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(process.stdout.splitlines()[-1])


def compare_with_exact(
    data: Path, n: int, names: list[str], seeds: int, rtol: float = 2e-3
) -> list[dict[str, Any]]:
    """Compare estimates with the exact scores of sets of n samples, each in a separate process."""
    rows = []
    for name in names:
        exact = run_in_process(data, name, n, 0.0)
        estimates = [run_in_process(data, name, n, rtol, seed) for seed in range(seeds)]
        log_errors = [math.log(estimate["value"] / exact["value"]) for estimate in estimates]
        seconds, cores = (
            float(np.median([f[c] for f in estimates])) for c in ("seconds", "core_s")
        )
        row = {
            "name": f"{name}, n = {n:,}",
            "rtol": rtol,
            "exact": exact["value"],
            "exact_s": exact["seconds"],
            "exact_core_s": exact["core_s"],
            "exact_GB": exact["GB"],
            "estimate_s": seconds,
            "estimate_core_s": cores,
            "estimate_GB": max(estimate["GB"] for estimate in estimates),
            "faster": exact["core_s"] / cores,
            "rmse": float(np.sqrt(np.mean(np.square(log_errors)))),
            "why": estimates[0]["why"],
        }
        rows.append(row)
        print(
            f"{row['name']:<46} exact {exact['core_s']:7.1f} core s {exact['GB']:5.1f} GB   "
            f"estimate {cores:6.2f} core s {row['estimate_GB']:4.1f} GB   {row['faster']:5.1f} ×   "
            f"rmse {row['rmse']:.4%}   {row['why']}",
            flush=True,
        )
    return rows


def estimate_larger_sets(data: Path, n: int) -> list[dict[str, Any]]:
    """Estimate the scores of sets whose exact scores do not fit in memory."""
    rows = []
    for name in LARGER_SETS:
        for rtol in (1e-2, 5e-3):
            result = run_in_process(data, name, n, rtol)
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
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--only", nargs="*", help="parts: coverage, ten, twenty, hundred")
    parser.add_argument("--job", nargs=4, help="internal: NAME N RTOL SEED")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    if options.job:
        name, n, rtol, seed = options.job
        run_job(options.data, name, int(n), float(rtol), int(seed))
        return
    dense_sets = ["Tanimoto of odorants", "narrow RBF of digits", "wide RBF of digits"]
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "coverage": lambda: compute_coverage(options.data, SETS, options.seeds, 2e-3),
        "ten": lambda: compare_with_exact(options.data, 10_000, list(SETS)[:4], 5),
        "twenty": lambda: compare_with_exact(options.data, 20_000, dense_sets[:2], 3, rtol=1e-2),
        "hundred": lambda: estimate_larger_sets(options.data, 100_000),
    }
    rows: list[dict[str, Any]] = []
    if options.only and options.json and options.json.exists():  # keep the results of other parts
        earlier_rows = json.loads(options.json.read_text(encoding="utf-8"))["rows"]
        rows = [row for row in earlier_rows if row["part"] not in options.only]
    for part, run in parts.items():
        if not options.only or part in options.only:
            rows += [{"part": part, **row} for row in run()]
    write_results(options.json, rows, collect_environment())


if __name__ == "__main__":
    main()
