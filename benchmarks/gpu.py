"""Compare exact and estimated scores on a GPU with the CPU.

    python benchmarks/gpu.py --short

Exact scores of 20,000 samples: rows of features, a matrix, an RBF kernel, and a gradient. For
200,000 samples: the covariance of 512 features, and `method="estimate"`, which computes
similarities during multiplication. Before anything is timed, both devices must agree for 500
samples of each case, and an estimate must agree with the exact score of 4,000 samples up to four
standard errors. The values of the timed sets must also agree.

Without a GPU the script prints a message and runs nothing. `--cpu-small` checks the script without
a GPU: every case with 500 samples, with CPU tensors instead of GPU tensors. `--short` runs the
cases of `gpu_short.py` instead, in six minutes. It requires NumPy, SciPy, torch, array-api-compat,
psutil, threadpoolctl and tqdm, and the repository in PYTHONPATH.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pairs import assert_close, collect_environment, time_pair, write_results

ToDevice = Callable[[np.ndarray], Any]  # converts samples to those of a device
SMALL_SIZE, EXACT_SIZE, LARGE_SIZE = 500, 20_000, 200_000
MIN_ESTIMATED_SIZE = 4000  # smaller sets are scored exactly
NO_GPU_MESSAGE = (
    "There is no GPU that torch can use here (torch.cuda.is_available() is False): nothing was run"
)
RTOL = 0.01  # relative tolerance of estimates
SIGMA = 6.0


def make_clusters(n: int, d: int) -> np.ndarray:
    """Return n float32 rows around 50 centres."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((50, d))
    return (centres[rng.integers(0, 50, n)] + 0.5 * rng.standard_normal((n, d))).astype(np.float32)


def make_cosines(n: int, d: int) -> np.ndarray:
    X = make_clusters(n, d).astype(float)
    X /= np.linalg.norm(X, axis=1)[:, None]
    return X @ X.T


@dataclass(frozen=True)
class Case:
    """n samples with d features, and the function that scores them on either device."""

    name: str
    n: int
    d: int
    score: Callable[[Any], Any]
    samples: Callable[[int, int], np.ndarray] = make_clusters
    exact_score: Callable[[Any], Any] | None = None  # exact score, if `score` is an estimate
    gradient: bool = False

    def value(self, samples: Any) -> float:
        """Return the score; for a gradient, its norm."""
        if not self.gradient:
            result = self.score(samples)
            return float(result.detach() if hasattr(result, "detach") else result)
        leaf = samples.detach().requires_grad_()
        self.score(leaf).log().backward()
        return float(leaf.grad.double().norm())


def build_cases() -> list[Case]:
    """Return the cases: exact scores, estimates and gradients."""

    from vendiscore import compute, score, score_K, score_X

    def rbf(X: Any) -> Any:
        return score(X, "rbf", sigma=SIGMA)

    def estimate(X: Any) -> Any:
        return compute(X, k="rbf", sigma=SIGMA, method="estimate", rtol=RTOL)["VS"]

    return [
        Case("covariance", EXACT_SIZE, 384, score_X),
        Case("eigenvalues of K", EXACT_SIZE, 64, score_K, samples=make_cosines),
        Case("norm of K, q = 2", EXACT_SIZE, 64, lambda K: score_K(K, q=2), samples=make_cosines),
        Case("rbf", EXACT_SIZE, 64, rbf),
        Case("covariance, gradient", EXACT_SIZE, 384, score_X, gradient=True),
        Case("covariance", LARGE_SIZE, 512, score_X),
        Case("rbf, estimated", LARGE_SIZE, 64, estimate, exact_score=rbf),
    ]


def check_agreement(case: Case, to_device: ToDevice, to_host: ToDevice, n: int) -> None:
    """Raise unless both devices agree, and an estimate agrees with the exact score."""
    X = case.samples(n, min(case.d, n // 2))
    device_value, host_value = case.value(to_device(X)), case.value(to_host(X))
    assert_close(device_value, host_value, 1e-6 if case.exact_score is None else 2 * RTOL)
    if case.exact_score is not None:
        assert_close(device_value, float(case.exact_score(to_host(X))), 2 * RTOL)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cpu-small", action="store_true", help="test the script without a GPU")
    parser.add_argument(
        "--short", action="store_true", help="cases of gpu_short.py, in six minutes"
    )
    parser.add_argument("--no-cpu", action="store_true", help="time only the GPU")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    return parser.parse_args()


def time_case(
    case: Case, n: int, to_device: ToDevice, to_host: ToDevice, options: argparse.Namespace
) -> Any:
    """Return a row: seconds on both devices, the scores, and the peak memory of the GPU."""
    import torch

    X = case.samples(n, case.d)
    device_samples, host_samples = to_device(X), None if options.no_cpu else to_host(X)
    values = {}

    def run_on_device() -> None:
        values["ours"] = case.value(device_samples)  # reading the value waits for the device

    def run_on_host() -> None:
        values["theirs"] = case.value(device_samples if host_samples is None else host_samples)

    if gpu := getattr(device_samples, "is_cuda", False):
        torch.cuda.reset_peak_memory_stats()
    run_on_device()  # warm-up: load libraries and allocate memory
    fields = {"n": n, "d": case.d, "device": "cuda" if gpu else "cpu"}
    if gpu:
        fields["peak_gb"] = round(torch.cuda.max_memory_allocated() / 1e9, 2)
    row = time_pair(
        f"{case.name}, n = {n:,}, d = {case.d}",
        run_on_device,
        run_on_host,
        options.repeats,
        **fields,
    )
    assert_close(values["ours"], values["theirs"], 1e-6 if case.exact_score is None else 3 * RTOL)
    return row | values


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    options = parse_arguments()
    import torch

    if not options.cpu_small and not torch.cuda.is_available():
        print(NO_GPU_MESSAGE)
        return
    device = "cpu" if options.cpu_small else "cuda"
    environment_info = collect_environment("torch")
    if device == "cuda":
        environment_info["gpu"] = torch.cuda.get_device_name()
    if options.short:
        from gpu_short import run_short

        run_short(
            device,
            options.cpu_small,
            lambda rows: write_results(options.json, rows, environment_info),
        )
        return

    def to_device(X: np.ndarray) -> Any:
        return torch.as_tensor(X, device=device)

    def host_converter(case: Case) -> ToDevice:  # gradients need tensors on both devices
        return torch.as_tensor if case.gradient else np.asarray

    selected = [case for case in build_cases() if options.only in case.name]
    for case in selected:
        uses_few = options.cpu_small or case.exact_score is None
        check_agreement(
            case, to_device, host_converter(case), SMALL_SIZE if uses_few else MIN_ESTIMATED_SIZE
        )
    print(f"{len(selected)} cases agree on small sets", flush=True)
    rows = [
        time_case(
            case,
            SMALL_SIZE if options.cpu_small else case.n,
            to_device,
            host_converter(case),
            options,
        )
        for case in selected
    ]
    write_results(options.json, rows, environment_info)


if __name__ == "__main__":
    main()
