"""How diverse are the subsets that different tools choose, and how long do they take?

    python benchmarks/selection.py --data ../shared/data --rivals rivals/bin/python --huge

Chooses digits and odorous molecules by `vendiscore.select` and by others, and prints VS of what was
chosen, the proved upper bound on any choice, and seconds. Rivals are run by the Python that
`--rivals` names, one with `pip install submodlib-py apricot-select dppy rdkit`, in a process of
their own that is given the similarity matrix as a file; packages that cannot be imported there are
reported. Greedy choice of a determinantal process follows Chen, Zhang & Zhou (arXiv 1709.05135),
written after their published code, given the same matrix or features as ours; it and ours take
turns. Seconds are of choosing, from samples that have been read.
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
from pairs import agree, compare, environment, write


def dpp(row: Callable[[int], np.ndarray], n: int, size: int) -> list[int]:
    """Return greedy choice of a determinantal process, by incremental Cholesky factors."""
    rows, left, places = np.zeros((size, n)), np.ones(n), [0]
    while len(places) < size:
        m, j = len(places) - 1, places[-1]
        e = (row(j) - rows[:m, j] @ rows[:m]) / np.sqrt(left[j])
        rows[m] = e
        left -= e**2
        left[j] = -np.inf
        places.append(int(np.argmax(left)))
    return places


def rival(name: str, K: np.ndarray, size: int) -> list[int]:
    """Return what another package chooses; imported here, in its own Python."""
    if name == "submodlib log det":
        from submodlib.functions.logDeterminant import LogDeterminantFunction

        function = LogDeterminantFunction(
            n=len(K), mode="dense", lambdaVal=1, sijs=K.astype(np.float32)
        )
        return [place for place, _ in function.maximize(size, optimizer="NaiveGreedy")]
    if name == "submodlib facility location":
        from submodlib.functions.facilityLocation import FacilityLocationFunction

        function = FacilityLocationFunction(
            n=len(K), mode="dense", separate_rep=False, sijs=K.astype(np.float32)
        )
        return [place for place, _ in function.maximize(size, optimizer="LazyGreedy")]
    if name == "apricot facility location":
        from apricot import FacilityLocationSelection

        chosen = FacilityLocationSelection(size, metric="precomputed", optimizer="lazy").fit(K)
        return [int(place) for place in chosen.ranking]
    if name == "dppy k-DPP sample":
        from dppy.finite_dpps import FiniteDPP

        process = FiniteDPP("likelihood", L=K)
        return [int(place) for place in process.sample_exact_k_dpp(size, random_state=0)]
    if name == "RDKit MaxMin":
        from rdkit.SimDivFilters.rdSimDivPickers import MaxMinPicker

        distances = 1 - K[np.tril_indices(len(K), -1)]
        return list(MaxMinPicker().Pick(distances, len(K), size, [], 0))
    raise ValueError(name)


RIVALS = (
    "submodlib log det",
    "RDKit MaxMin",
    "dppy k-DPP sample",
    "submodlib facility location",
    "apricot facility location",
)


def asked(python: str | None, name: str, K: Path, size: int, limit: int) -> dict[str, Any]:
    """Return a rival's places and seconds, from its own process."""
    if python is None:
        return {"missing": "no --rivals"}
    command = [python, __file__, "--as-rival", name, str(K), str(size)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"missing": f"more than {limit} s"}
    if done.returncode:
        return {"missing": (done.stderr.strip().splitlines() or ["failed"])[-1][:120]}
    return json.loads(done.stdout.splitlines()[-1])


def digits(data: Path, n: int) -> np.ndarray:
    with np.load(data / "mnist_test.npz") as file:
        return file["images"][:n].reshape(n, -1)


def molecules(data: Path) -> list[str]:
    with (data / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        return [row["smiles"] for row in csv.DictReader(file)]


def measure(
    title: str, similarity: Any, size: int, given: argparse.Namespace, bounded: bool
) -> list[dict[str, Any]]:
    """Return rows of one table: VS and seconds of each way of choosing `size` samples."""
    import vendiscore
    from vendiscore.tools.selection.candidates import Candidates

    candidates = Candidates(similarity)
    n = similarity.n
    K = candidates.rows(np.arange(n))
    if candidates.dim is None:  # all are given the matrix
        similarity = vendiscore.MatrixSimilarity(K, psd=True)
    rows: list[dict[str, Any]] = []

    def told(name: str, places: Any, seconds: float | None, **more: Any) -> None:
        part = K[np.ix_(places, places)]
        score = vendiscore.score_K(part)
        cover = float(K[places].max(axis=0).mean())
        rows.append(
            {"table": title, "size": size, "name": name, "VS": score, "covers": cover}
            | {"seconds": seconds, **more}
        )
        shown = "       –" if seconds is None else f"{seconds:8.3f}"
        print(f"  {name:<34} VS {score:7.2f}   covers {cover:.4f}   {shown} s", flush=True)

    def timed(name: str, choose: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = choose()
        told(name, getattr(result, "places", result), time.perf_counter() - start)
        return result

    print(f"\n{title}, {n} samples, {size} chosen", flush=True)
    best = timed("vendi", lambda: vendiscore.select(similarity, size))
    agree(best.scores[-1], rows[-1]["VS"], 1e-9)
    rows[-1]["swapped"] = best.swapped
    timed("vendi, swaps=False", lambda: vendiscore.select(similarity, size, swaps=False))
    timed("represent", partial(vendiscore.select, similarity, size, objective="represent"))
    timed("greedy DPP (Chen et al.)", lambda: dpp(lambda j: K[j], n, size))
    everything = np.random.default_rng(0)
    drawn = [everything.choice(n, size, replace=False) for _ in range(10)]
    told(
        "random",
        drawn[int(np.argsort([vendiscore.score_K(K[np.ix_(d, d)]) for d in drawn])[5])],
        None,
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "K.npy"
        np.save(file, K)
        for name in RIVALS:
            result = asked(given.rivals, name, file, size, given.limit)
            if "missing" in result:
                print(f"  {name:<34} {result['missing']}", flush=True)
                rows.append({"table": title, "size": size, "name": name, **result})
            else:
                told(name, result["places"], result["seconds"])
    if bounded:
        start = time.perf_counter()
        print(
            f"  bound {best.bound:.2f}: at least {best.certified:.1%} of what is possible "
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
    rows += turns(title, similarity, candidates, K, size, given.repeats)
    return rows


def turns(
    title: str, similarity: Any, candidates: Any, K: np.ndarray, size: int, repeats: int
) -> list[dict[str, Any]]:
    """Return ours and greedy DPP in turn, from the same matrix and from the same features."""
    import vendiscore
    from vendiscore.tools.selection.constraints import parse_constraints
    from vendiscore.tools.selection.search import select_greedily, swap_members
    from vendiscore.tools.selection.vendi_objective import VendiObjective

    n, found = len(K), []
    constraints = parse_constraints(n, size, [], None, None)
    forms = {"matrix": (vendiscore.MatrixSimilarity(K, psd=True), lambda j: K[j])}
    if candidates.dim is not None:
        X = candidates.features(slice(None))
        forms["features"] = (vendiscore.FeatureSimilarity(X), lambda j: X @ X[j])
    for form, (given, row) in forms.items():
        for swaps in (False, True):

            def choose(given: Any = given, swaps: bool = swaps) -> None:
                from vendiscore.tools.selection.candidates import Candidates

                objective = VendiObjective(Candidates(given), constraints, 1.0)
                select_greedily(objective)
                if swaps:
                    swap_members(objective)

            name = f"{title} {size}, {form}" + (", swaps" if swaps else "")
            result = compare(
                name, choose, lambda row=row: dpp(row, n, size), repeats, form=form, swaps=swaps
            )
            result["times_the_dpp"] = 1 / result.pop("times_faster")  # no row of the README
            print(f"    = {result['times_the_dpp']:.2f} × the time of the greedy DPP")
            found.append(result)
    return found


def embeddings(kind: str, n: int, d: int = 384) -> np.ndarray:
    """Draw rows of unit length in single precision, without structure or with an embedding's."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(np.float32)
    falling = np.arange(1, d + 1, dtype=np.float32)
    if kind == "decaying":  # a mean, and eigenvalues that fall like a power
        X += 0.5 * rng.normal(size=d)
        X *= falling**-0.6
    elif kind == "clustered":  # 200 clusters of unequal size
        share = np.arange(1, 201) ** -1.0
        centres = 2 * rng.normal(size=(200, d)) * falling**-0.5
        X *= 0.7 * falling**-0.4
        X += centres[rng.choice(200, n, p=share / share.sum())].astype(np.float32)
    X /= np.linalg.norm(X, axis=1)[:, None]
    return X


def full_greedy(X: np.ndarray, size: int) -> list[int]:
    """Choose greedily, from all candidates for each pick, in O(ridges · n d · size)."""
    from vendiscore.tools.selection.marginal_gains import COARSE_TOLERANCE, build_quadrature_form

    form = build_quadrature_form(1.0, size, COARSE_TOLERANCE)
    n, d = X.shape
    inverse = np.eye(d) / form.t[:, None, None]
    s, squares = np.repeat(1 / form.t[:, None], n, axis=1), np.zeros(n)
    places = [0]
    while True:
        x = X[places[-1]].astype(np.float64)
        Y = inverse @ x / np.sqrt(1 + inverse @ x @ x)[:, None]
        inverse -= Y[:, :, None] * Y[:, None]
        s -= (X @ Y.T.astype(np.float32)).T.astype(np.float64) ** 2
        np.maximum(s, 0, out=s)
        squares += (X @ X[places[-1]]).astype(np.float64) ** 2
        if len(places) == size:
            return places
        gains = form.gains(s.copy(), squares)
        gains[places] = -np.inf
        places.append(int(np.argmax(gains)))


def bare(X: np.ndarray) -> None:
    """Compute all products of pairs, in single precision, and keep none."""
    for start in range(0, len(X), 1000):
        X[start : start + 1000] @ X.T


def scale(repeats: int, huge: bool) -> list[dict[str, Any]]:
    """Time of choosing as a multiple of the bare products of all pairs, and VS of full greedy."""
    import vendiscore

    rows: list[dict[str, Any]] = []
    n = 20_000
    for kind in ("normals", "decaying", "clustered"):
        X = embeddings(kind, n)
        for size in (100, 1000):
            result = vendiscore.select(X, size, k="cosine")
            full = vendiscore.score_X(X[full_greedy(X, size)].astype(np.float64))
            assert result.scores[-1] >= 0.995 * full
            name = f"{size} of {n} × 384 {kind}"
            ways = {"": {}, ", swaps=False": {"swaps": False}}
            for words, how in ways.items():
                chosen = partial(vendiscore.select, X, size, k="cosine", **how)
                row = compare(name + words, chosen, partial(bare, X), repeats)
                row |= {"part": "scale", "times_bare": 1 / row.pop("times_faster")}
                row |= {"VS": float(chosen().scores[-1]), "VS_full_greedy": full}
                rows.append(row)
                print(
                    f"    = {row['times_bare']:.2f} × bare; VS {row['VS']:.2f}, greedy {full:.2f}"
                )
            start = time.perf_counter()
            row = {"part": "scale", "name": f"{name}, bound", "certified": result.certified}
            rows.append(row | {"seconds": time.perf_counter() - start})
        if kind == "decaying":
            chosen = partial(vendiscore.select, X, 100, k="cosine", objective="represent")
            row = compare(f"100 of {n} × 384 represent", chosen, partial(bare, X), 1)
            rows.append(row | {"part": "scale", "times_bare": 1 / row.pop("times_faster")})
    if huge:
        X = embeddings("decaying", 200_000)
        for objective in ("vendi", "represent"):
            size = 100 if objective == "represent" else 1000
            start = time.perf_counter()
            result = vendiscore.select(X, size, k="cosine", objective=objective)
            row = {"part": "huge", "size": size, "objective": objective}
            row |= {"seconds": time.perf_counter() - start, "VS": result._score}
            if objective == "vendi":
                start = time.perf_counter()
                row |= {"certified": result.certified}
                row |= {"seconds_of_bound": time.perf_counter() - start}
            rows.append(row)
            print(row, flush=True)
    return rows


def large(n: int = 100_000, d: int = 256, size: int = 50) -> dict[str, Any]:
    """Return seconds and memory without the features; a matrix of all pairs would be 80 GB."""
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rivals", help="the Python that has the other packages")
    parser.add_argument("--limit", type=int, default=300, help="seconds for each rival")
    parser.add_argument("--scale-only", action="store_true", help="only multiples of all pairs")
    parser.add_argument("--huge", action="store_true", help="also 1,000 of 200,000 × 384")
    parser.add_argument("--as-rival", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.as_rival:
        name, path, size = given.as_rival
        K = np.load(path)
        start = time.perf_counter()
        places = rival(name, K, int(size))
        seconds = time.perf_counter() - start
        print("\n" + json.dumps({"places": [int(p) for p in places], "seconds": seconds}))
        return
    import vendiscore

    vendiscore.select(np.eye(3), 2, score_X=True)  # all is imported before anything is timed
    rows = scale(given.repeats, given.huge)
    if given.scale_only:
        write(given.json, rows, environment())
        return
    rows.append(large())
    few = vendiscore.as_similarity(digits(given.data, 2000), k="cosine")
    rows += measure("MNIST 2,000", few, 60, given, True)
    smells = vendiscore.as_similarity(molecules(given.data), k="morgan", n_bits=1024)
    rows += measure("odours", smells, 100, given, True)
    many = vendiscore.as_similarity(digits(given.data, 10_000), k="cosine")
    for size in (100, 300):
        rows += measure("MNIST 10,000", many, size, given, True)
    versions = {}
    if given.rivals:
        names = ("submodlib-py", "apricot-select", "dppy", "rdkit", "numpy")
        code = "import importlib.metadata as m, json, sys; " + (
            "print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
        )
        done = subprocess.run([given.rivals, "-c", code, *names], capture_output=True, text=True)
        versions = {"rivals": json.loads(done.stdout) if done.stdout else done.stderr[-200:]}
    write(given.json, rows, environment() | versions)


if __name__ == "__main__":
    main()
