"""Diversity of the subsets that several packages select, and their time.

    python benchmarks/selection.py --data ../shared/data --rivals rivals/bin/python --huge

Digits and odorants are selected by `vendiscore.select` and by other methods. The rows contain VS of
the selected samples, an upper bound for all subsets, and the seconds. Other packages are run by the
interpreter that `--rivals` names, with `pip install submodlib-py apricot-select dppy rdkit`, in
separate processes that load the similarity matrix from a file; packages that cannot be imported are
reported. The greedy selection of a determinantal point process follows Chen, Zhang & Zhou (arXiv
1709.05135) and their published code; it gets the same matrix or features as `select`, and the two
are timed alternately. Times do not include reading the samples.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pairs import assert_close, collect_environment, time_pair, write_results


def select_by_dpp(row: Callable[[int], np.ndarray], n: int, size: int) -> list[int]:
    """Select greedily by a determinantal point process, with incremental Cholesky factors."""
    rows, residuals, selected = np.zeros((size, n)), np.ones(n), [0]
    while len(selected) < size:
        m, j = len(selected) - 1, selected[-1]
        e = (row(j) - rows[:m, j] @ rows[:m]) / np.sqrt(residuals[j])
        rows[m] = e
        residuals -= e**2
        residuals[j] = -np.inf
        selected.append(int(np.argmax(residuals)))
    return selected


def select_by_peer(name: str, K: np.ndarray, size: int) -> list[int]:
    """Return the selection of another package, which is imported in its own interpreter."""
    if name == "submodlib log det":
        from submodlib.functions.logDeterminant import LogDeterminantFunction

        function = LogDeterminantFunction(
            n=len(K), mode="dense", lambdaVal=1, sijs=K.astype(np.float32)
        )
        return [index for index, _ in function.maximize(size, optimizer="NaiveGreedy")]
    if name == "submodlib facility location":
        from submodlib.functions.facilityLocation import FacilityLocationFunction

        function = FacilityLocationFunction(
            n=len(K), mode="dense", separate_rep=False, sijs=K.astype(np.float32)
        )
        return [index for index, _ in function.maximize(size, optimizer="LazyGreedy")]
    if name == "apricot facility location":
        from apricot import FacilityLocationSelection

        chosen = FacilityLocationSelection(size, metric="precomputed", optimizer="lazy").fit(K)
        return [int(index) for index in chosen.ranking]
    if name == "dppy k-DPP sample":
        from dppy.finite_dpps import FiniteDPP

        process = FiniteDPP("likelihood", L=K)
        return [int(index) for index in process.sample_exact_k_dpp(size, random_state=0)]
    if name == "RDKit MaxMin":
        from rdkit.SimDivFilters.rdSimDivPickers import MaxMinPicker

        distances = 1 - K[np.tril_indices(len(K), -1)]
        return list(MaxMinPicker().Pick(distances, len(K), size, [], 0))
    raise ValueError(name)


PEERS = (
    "submodlib log det",
    "RDKit MaxMin",
    "dppy k-DPP sample",
    "submodlib facility location",
    "apricot facility location",
)


def run_peer(python: str | None, name: str, K: Path, size: int, timeout: int) -> dict[str, Any]:
    """Return the indices and seconds of another package from a separate process."""
    if python is None:
        return {"missing": "no --rivals"}
    command = [python, __file__, "--as-rival", name, str(K), str(size)]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"missing": f"more than {timeout} s"}
    if process.returncode:
        return {"missing": (process.stderr.strip().splitlines() or ["failed"])[-1][:120]}
    return json.loads(process.stdout.splitlines()[-1])


def read_digits(data: Path, n: int) -> np.ndarray:
    with np.load(data / "mnist_test.npz") as file:
        return file["images"][:n].reshape(n, -1)


def read_molecules(data: Path) -> list[str]:
    with (data / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        return [row["smiles"] for row in csv.DictReader(file)]


def compare_methods(
    title: str, similarity: Any, size: int, options: argparse.Namespace, with_bound: bool
) -> list[dict[str, Any]]:
    """Return the rows of one table: VS and seconds of each method that selects `size` samples."""
    import vendiscore
    from vendiscore.tools.selection.candidates import Candidates

    candidates = Candidates(similarity)
    n = similarity.n
    K = candidates.rows(np.arange(n))
    if candidates.dim is None:  # all methods get the matrix
        similarity = vendiscore.MatrixSimilarity(K, psd=True)
    rows: list[dict[str, Any]] = []

    def add_row(name: str, indices: Any, seconds: float | None, **extra_fields: Any) -> None:
        """Store and print the score of a selection, and the mean similarity of all samples to their
        nearest selected sample.
        """
        submatrix = K[np.ix_(indices, indices)]
        score = vendiscore.score_K(submatrix)
        mean_nearest = float(K[indices].max(axis=0).mean())
        rows.append(
            {"table": title, "size": size, "name": name, "VS": score, "covers": mean_nearest}
            | {"seconds": seconds, **extra_fields}
        )
        seconds_text = "       –" if seconds is None else f"{seconds:8.3f}"
        print(
            f"  {name:<34} VS {score:7.2f}   covers {mean_nearest:.4f}   {seconds_text} s",
            flush=True,
        )

    def timed(name: str, select: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = select()
        add_row(name, getattr(result, "places", result), time.perf_counter() - start)
        return result

    print(f"\n{title}, {n} samples, {size} chosen", flush=True)
    best = timed("vendi", lambda: vendiscore.select(similarity, size))
    assert_close(best.scores[-1], rows[-1]["VS"], 1e-9)
    rows[-1]["swapped"] = best.swapped
    timed("vendi, swaps=False", lambda: vendiscore.select(similarity, size, swaps=False))
    timed("represent", partial(vendiscore.select, similarity, size, objective="represent"))
    timed("greedy DPP (Chen et al.)", lambda: select_by_dpp(lambda j: K[j], n, size))
    everything = np.random.default_rng(0)
    random_subsets = [everything.choice(n, size, replace=False) for _ in range(10)]
    add_row(
        "random",
        random_subsets[
            int(np.argsort([vendiscore.score_K(K[np.ix_(d, d)]) for d in random_subsets])[5])
        ],
        None,
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "K.npy"
        np.save(file, K)
        for name in PEERS:
            result = run_peer(options.rivals, name, file, size, options.limit)
            if "missing" in result:
                print(f"  {name:<34} {result['missing']}", flush=True)
                rows.append({"table": title, "size": size, "name": name, **result})
            else:
                add_row(name, result["places"], result["seconds"])
    if with_bound:
        start = time.perf_counter()
        print(
            f"  bound {best.bound:.2f}: at least {best.certified:.1%} of the maximum "
            f"({time.perf_counter() - start:.1f} s)"
        )
        rows.append(
            {
                "table": title,
                "size": size,
                "bound": best.bound,
                "certified": best.certified,
                "seconds": time.perf_counter() - start,
            }
        )
    rows += time_against_dpp(title, similarity, candidates, K, size, options.repeats)
    return rows


def time_against_dpp(
    title: str, similarity: Any, candidates: Any, K: np.ndarray, size: int, repeats: int
) -> list[dict[str, Any]]:
    """Time `select` and the greedy DPP alternately, first with one matrix, then with one feature
    array for both.
    """
    import vendiscore
    from vendiscore.tools.selection.constraints import parse_constraints
    from vendiscore.tools.selection.search import select_greedily, swap_members
    from vendiscore.tools.selection.vendi_objective import VendiObjective

    n, rows = len(K), []
    constraints = parse_constraints(n, size, [], None, None)
    forms = {"matrix": (vendiscore.MatrixSimilarity(K, psd=True), lambda j: K[j])}
    if candidates.dim is not None:
        X = candidates.features(slice(None))
        forms["features"] = (vendiscore.FeatureSimilarity(X), lambda j: X @ X[j])
    for form, (source_similarity, row) in forms.items():
        for swaps in (False, True):

            def select(similarity: Any = source_similarity, swaps: bool = swaps) -> None:
                from vendiscore.tools.selection.candidates import Candidates

                objective = VendiObjective(Candidates(similarity), constraints, 1.0)
                select_greedily(objective)
                if swaps:
                    swap_members(objective)

            name = f"{title} {size}, {form}" + (", swaps" if swaps else "")
            result = time_pair(
                name,
                select,
                lambda row=row: select_by_dpp(row, n, size),
                repeats,
                form=form,
                swaps=swaps,
            )
            # not a speed that README shows
            result["times_the_dpp"] = 1 / result.pop("times_faster")
            print(f"    = {result['times_the_dpp']:.2f} × the time of the greedy DPP")
            rows.append(result)
    return rows


def make_embeddings(kind: str, n: int, d: int = 384) -> np.ndarray:
    """Draw float32 unit rows without structure, or with a structure similar to embeddings."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(np.float32)
    falling = np.arange(1, d + 1, dtype=np.float32)
    if kind == "decaying":  # a mean, and eigenvalues that follow a power law
        X += 0.5 * rng.normal(size=d)
        X *= falling**-0.6
    elif kind == "clustered":  # 200 clusters of unequal size
        share = np.arange(1, 201) ** -1.0
        centres = 2 * rng.normal(size=(200, d)) * falling**-0.5
        X *= 0.7 * falling**-0.4
        X += centres[rng.choice(200, n, p=share / share.sum())].astype(np.float32)
    X /= np.linalg.norm(X, axis=1)[:, None]
    return X


def select_from_all_candidates(X: np.ndarray, size: int) -> list[int]:
    """Select greedily; compute the gains of all n candidates for each pick, in O(r n d · size).

    Gains are a quadrature of the entropy of order 1 with r nodes t. For a candidate x they depend
    on s_x(t) = xᵀ(A + tI)⁻¹x and on xᵀAx, where A is the sum of y yᵀ over the selected rows y.
    """
    from vendiscore.tools.selection.marginal_gains import COARSE_TOLERANCE, build_quadrature_form

    quadrature = build_quadrature_form(q=1.0, size=size, tolerance=COARSE_TOLERANCE)
    n, d = X.shape
    inverses = np.eye(d) / quadrature.t[:, None, None]  # (A + tI)⁻¹ for each node t
    s = np.repeat(1 / quadrature.t[:, None], n, axis=1)
    quadratic_forms = np.zeros(n)
    selected = [0]
    while True:
        x = X[selected[-1]].astype(np.float64)
        Y = inverses @ x / np.sqrt(1 + inverses @ x @ x)[:, None]
        inverses -= Y[:, :, None] * Y[:, None]
        s -= (X @ Y.T.astype(np.float32)).T.astype(np.float64) ** 2
        np.maximum(s, 0, out=s)
        quadratic_forms += (X @ X[selected[-1]]).astype(np.float64) ** 2
        if len(selected) == size:
            return selected
        gains = quadrature.gains(s.copy(), quadratic_forms)
        gains[selected] = -np.inf
        selected.append(int(np.argmax(gains)))


def time_bare_products(X: np.ndarray) -> None:
    """Compute the float32 products of all pairs without storing them."""
    for start in range(0, len(X), 1000):
        X[start : start + 1000] @ X.T


def measure_large_selection(repeats: int, n: int = 20_000) -> list[dict[str, Any]]:
    """Return times of selections from n rows, relative to the time of one product X Xᵀ.

    The rows also contain the Vendi Scores of the selection and of a greedy selection that evaluates
    all candidates, and for `certified` the time of the upper bound.
    """
    import vendiscore

    rows: list[dict[str, Any]] = []
    for kind in ("normals", "decaying", "clustered"):
        X = make_embeddings(kind, n)
        for size in (100, 1000):
            result = vendiscore.select(X, size, k="cosine")
            full = vendiscore.score_X(X[select_from_all_candidates(X, size)].astype(np.float64))
            assert result.scores[-1] >= 0.995 * full
            name = f"{size} of {n} × 384 {kind}"
            variants = {"": {}, ", swaps=False": {"swaps": False}}
            for suffix, options in variants.items():
                select_samples = partial(vendiscore.select, X, size, k="cosine", **options)
                row = time_pair(
                    name + suffix, select_samples, partial(time_bare_products, X), repeats
                )
                row |= {"part": "scale", "times_bare": 1 / row.pop("times_faster")}
                row |= {"VS": float(select_samples().scores[-1]), "VS_full_greedy": full}
                rows.append(row)
                print(
                    f"    = {row['times_bare']:.2f} × bare; VS {row['VS']:.2f}, greedy {full:.2f}"
                )
            start = time.perf_counter()  # `certified` computes the upper bound on first use
            row = {"part": "scale", "name": f"{name}, bound", "certified": result.certified}
            rows.append(row | {"seconds": time.perf_counter() - start})
        if kind == "decaying":
            rows.append(measure_representative_selection(X))
    return rows


def measure_representative_selection(X: np.ndarray) -> dict[str, Any]:
    """Return the time of a selection by "represent", relative to the time of one product X Xᵀ."""
    import vendiscore

    select_samples = partial(vendiscore.select, X, 100, k="cosine", objective="represent")
    name = f"100 of {len(X)} × 384 represent"
    row = time_pair(name, select_samples, partial(time_bare_products, X), 1)
    return row | {"part": "scale", "times_bare": 1 / row.pop("times_faster")}


def measure_huge_selection(n: int = 200_000) -> list[dict[str, Any]]:
    """Return the times of selections from n rows by both objectives, and of the upper bound."""
    import vendiscore

    rows: list[dict[str, Any]] = []
    X = make_embeddings("decaying", n)
    for objective, size in (("vendi", 1000), ("represent", 100)):
        start = time.perf_counter()
        result = vendiscore.select(X, size, k="cosine", objective=objective)
        row = {"part": "huge", "size": size, "objective": objective}
        row |= {"seconds": time.perf_counter() - start, "VS": result._score}
        if objective == "vendi":
            start = time.perf_counter()  # `certified` computes the upper bound on first use
            row |= {"certified": result.certified}
            row |= {"seconds_of_bound": time.perf_counter() - start}
        rows.append(row)
        print(row, flush=True)
    return rows


def measure_memory(n: int = 100_000, d: int = 256, size: int = 50) -> dict[str, Any]:
    """Return seconds and memory for a set whose matrix of all pairs would need 80 GB."""
    import vendiscore

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 3 * rng.normal(size=(500, d))[rng.integers(0, 500, n)]
    X /= np.linalg.norm(X, axis=1)[:, None]
    similarity = vendiscore.FeatureSimilarity(X)
    seconds = {}
    for swaps in (False, True):
        start = time.perf_counter()
        result = vendiscore.select(similarity, size, swaps=swaps)
        seconds[swaps] = time.perf_counter() - start
    tracemalloc.start()
    vendiscore.select(similarity, size)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    start = time.perf_counter()
    row = {
        "table": "large",
        "n": n,
        "d": d,
        "size": size,
        "VS": float(result.scores[-1]),
        "seconds": seconds[False],
        "seconds_with_swaps": seconds[True],
        "features_MB": X.nbytes / 1e6,
        "peak_beside_MB": peak / 1e6,
        "bound": result.bound,
        "certified": result.certified,
    }
    print("\n", row, f"bound in {time.perf_counter() - start:.1f} s", flush=True)
    return row


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rivals", help="the interpreter that has the other packages")
    parser.add_argument(
        "--limit", type=int, default=300, help="time limit in seconds for each package"
    )
    parser.add_argument(
        "--scale-only", action="store_true", help="only times relative to all pairs"
    )
    parser.add_argument("--huge", action="store_true", help="also select 1,000 of 200,000 × 384")
    parser.add_argument("--as-rival", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_rival:
        name, path, size = options.as_rival
        K = np.load(path)
        start = time.perf_counter()
        indices = select_by_peer(name, K, int(size))
        seconds = time.perf_counter() - start
        print("\n" + json.dumps({"places": [int(p) for p in indices], "seconds": seconds}))
        return
    import vendiscore

    vendiscore.select(np.eye(3), 2, score_X=True)  # warm-up: import modules
    rows = measure_large_selection(options.repeats)
    if options.huge:
        rows += measure_huge_selection()
    if options.scale_only:
        write_results(options.json, rows, collect_environment())
        return
    rows.append(measure_memory())
    digits_2000 = vendiscore.as_similarity(read_digits(options.data, 2000), k="cosine")
    rows += compare_methods("MNIST 2,000", digits_2000, 60, options, with_bound=True)
    odorants = vendiscore.as_similarity(read_molecules(options.data), k="morgan", n_bits=1024)
    rows += compare_methods("odours", odorants, 100, options, with_bound=True)
    digits_10000 = vendiscore.as_similarity(read_digits(options.data, 10_000), k="cosine")
    for size in (100, 300):
        rows += compare_methods("MNIST 10,000", digits_10000, size, options, with_bound=True)
    versions = {}
    if options.rivals:
        names = ("submodlib-py", "apricot-select", "dppy", "rdkit", "numpy")
        code = "import importlib.metadata as m, json, sys; " + (
            "print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
        )
        done = subprocess.run([options.rivals, "-c", code, *names], capture_output=True, text=True)
        versions = {"rivals": json.loads(done.stdout) if done.stdout else done.stderr[-200:]}
    write_results(options.json, rows, collect_environment() | versions)


if __name__ == "__main__":
    main()
