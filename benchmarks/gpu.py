"""Scores on a GPU compared with the CPU, exact and estimated: `python benchmarks/gpu.py`.

Exact for 20,000 samples: rows of features, a matrix, similarities of vectors, and the gradient;
for 200,000: the covariance of 512 features and, with `method="estimate"`, similarities that are
computed as they are multiplied. Both devices must agree on 500 samples of each case before any is
timed, estimates with the exact number of 4,000 to within four standard errors, and on the sets that
are timed after.

Without a GPU it says so and runs nothing. `--cpu-small` tries it all: every case with 500
samples, tensors of the CPU instead of the GPU, and NumPy arrays to compare. `--short` runs the
cases of `gpu_short.py` instead, in six minutes; NumPy, SciPy, torch, array-api-compat, psutil,
threadpoolctl and tqdm will do, and this folder's parent in PYTHONPATH.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pairs import agree, compare, environment, write

Device = Callable[[np.ndarray], Any]  # samples, as a device gets them
SMALL, EXACT, LARGE = 500, 20_000, 200_000
ESTIMATED = 4000  # fewer are scored exactly, since that costs no more
NO_GPU = (
    "There is no GPU that torch can use here (torch.cuda.is_available() is False): nothing was run"
)
RTOL = 0.01  # of estimates
SIGMA = 6.0


def clusters(n: int, d: int) -> np.ndarray:
    """Return n rows around 50 centres, in single precision."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((50, d))
    return (centres[rng.integers(0, 50, n)] + 0.5 * rng.standard_normal((n, d))).astype(np.float32)


def cosines(n: int, d: int) -> np.ndarray:
    X = clusters(n, d).astype(float)
    X /= np.linalg.norm(X, axis=1)[:, None]
    return X @ X.T


@dataclass(frozen=True)
class Case:
    """A case: samples (n, d), as both devices get them, and the way to score them."""

    name: str
    n: int
    d: int
    score: Callable[[Any], Any]
    samples: Callable[[int, int], np.ndarray] = clusters
    exact: Callable[[Any], Any] | None = None  # of an estimate
    gradient: bool = False

    def value(self, samples: Any) -> float:
        """Return the number; where a gradient is asked for, its norm."""
        if not self.gradient:
            result = self.score(samples)
            return float(result.detach() if hasattr(result, "detach") else result)
        leaf = samples.detach().requires_grad_()
        self.score(leaf).log().backward()
        return float(leaf.grad.double().norm())


def cases() -> list[Case]:
    from vendiscore import compute, score, score_K, score_X

    def rbf(X: Any) -> Any:
        return score(X, "rbf", sigma=SIGMA)

    def estimate(X: Any) -> Any:
        return compute(X, k="rbf", sigma=SIGMA, method="estimate", rtol=RTOL)["VS"]

    return [
        Case("covariance", EXACT, 384, score_X),
        Case("eigenvalues of K", EXACT, 64, score_K, samples=cosines),
        Case("norm of K, q = 2", EXACT, 64, lambda K: score_K(K, q=2), samples=cosines),
        Case("rbf", EXACT, 64, rbf),
        Case("covariance, gradient", EXACT, 384, score_X, gradient=True),
        Case("covariance", LARGE, 512, score_X),
        Case("rbf, estimated", LARGE, 64, estimate, exact=rbf),
    ]


def check(case: Case, ours: Device, theirs: Device, n: int) -> None:
    """Stop if the two devices differ, or an estimate from the exact number."""
    X = case.samples(n, min(case.d, n // 2))
    there, here = case.value(ours(X)), case.value(theirs(X))
    agree(there, here, 1e-6 if case.exact is None else 2 * RTOL)
    if case.exact is not None:
        agree(there, float(case.exact(theirs(X))), 2 * RTOL)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cpu-small", action="store_true", help="try it all, without a GPU")
    parser.add_argument("--short", action="store_true", help="six minutes: time, memory, reads")
    parser.add_argument("--no-cpu", action="store_true", help="time the GPU alone")
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    return parser.parse_args()


def timed(case: Case, n: int, ours: Device, theirs: Device, given: argparse.Namespace) -> Any:
    """Return a row of the results: seconds on both devices, the scores, and the GPU's memory."""
    import torch

    X = case.samples(n, case.d)
    there, here = ours(X), None if given.no_cpu else theirs(X)
    values = {}

    def own() -> None:
        values["ours"] = case.value(there)  # to read the number is to wait for the device

    def other() -> None:
        values["theirs"] = case.value(there if here is None else here)

    if gpu := getattr(there, "is_cuda", False):
        torch.cuda.reset_peak_memory_stats()
    own()  # libraries are loaded, and memory is taken, before the clock starts
    facts = {"n": n, "d": case.d, "device": "cuda" if gpu else "cpu"}
    if gpu:
        facts["peak_gb"] = round(torch.cuda.max_memory_allocated() / 1e9, 2)
    row = compare(f"{case.name}, n = {n:,}, d = {case.d}", own, other, given.repeats, **facts)
    agree(values["ours"], values["theirs"], 1e-6 if case.exact is None else 3 * RTOL)
    return row | values


def main() -> None:
    given = arguments()
    import torch

    if not given.cpu_small and not torch.cuda.is_available():
        print(NO_GPU)
        return
    device = "cpu" if given.cpu_small else "cuda"
    setting = environment("torch")
    if device == "cuda":
        setting["gpu"] = torch.cuda.get_device_name()
    if given.short:
        from gpu_short import short

        short(device, given.cpu_small, lambda rows: write(given.json, rows, setting))
        return

    def ours(X: np.ndarray) -> Any:
        return torch.as_tensor(X, device=device)

    def other(case: Case) -> Device:  # a gradient is torch's anywhere
        return torch.as_tensor if case.gradient else np.asarray

    chosen = [case for case in cases() if given.only in case.name]
    for case in chosen:
        few = given.cpu_small or case.exact is None
        check(case, ours, other(case), SMALL if few else ESTIMATED)
    print(f"{len(chosen)} cases agree on small sets", flush=True)
    rows = [
        timed(case, SMALL if given.cpu_small else case.n, ours, other(case), given)
        for case in chosen
    ]
    write(given.json, rows, setting)


if __name__ == "__main__":
    main()
