"""Time, memory and host reads on a GPU in six minutes, for `python benchmarks/gpu.py --short`.

The cases are covariances, groups, losses, eigenvalues and explanations. In each case, both devices
must agree for few samples before anything is timed. Memory is the peak that torch allocated, minus
the memory before the call; it is compared with the prediction of vendiscore. A case is skipped with
a note if it would exceed the remaining time, judging by smaller cases.
"""

from __future__ import annotations

import statistics
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from host_reads import HostReads
from pairs import assert_close

Row = dict[str, Any]
TIME_LIMIT = 330.0  # less than six minutes, because the start takes some
CHECK_SIZE = 300  # samples with which the devices are compared
REPEATS = 5
MAX_HOST_SIZE = 5000  # largest matrix that is decomposed on the host
# Cases of full size, and small ones that only test the script.
COVARIANCES = ((20_000, 384), (200_000, 512))
GROUPS = (10_000, 8, 384)
BATCHES = ((256, 384), (1024, 384), (4096, 768))
SIZES = (2000, 5000, 10_000, 20_000)
EXPLAIN_SHAPES = ((20_000, 64), (200_000, 64))
SMALL_CASES = {"covariances": ((400, 16),), "groups": (20, 8, 16), "batches": ((8, 16), (40, 16))}
SMALL_CASES |= {"sizes": (40, 80), "explained": ((100, 8), (300, 8))}
FULL_CASES = {"covariances": COVARIANCES, "groups": GROUPS, "batches": BATCHES}
FULL_CASES |= {"sizes": SIZES, "explained": EXPLAIN_SHAPES}
DTYPES = (torch.float32, torch.float64)


def make_rows(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Return n float32 rows whose columns decrease like exp(−i/60)."""
    X = np.random.default_rng(seed).standard_normal((n, d), dtype=np.float32)
    return X * np.exp(-np.arange(d, dtype=np.float32) / 60)


@dataclass
class Run:
    """Rows of results that are measured on a device within a time limit."""

    device: str
    cases: dict[str, Any]
    seconds: float = TIME_LIMIT
    rows: list[Row] = field(default_factory=list)
    start: float = field(default_factory=time.perf_counter)

    @property
    def seconds_left(self) -> float:
        return self.seconds - (time.perf_counter() - self.start)

    def tensor(self, X: np.ndarray, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.as_tensor(X, dtype=dtype, device=self.device)

    def wait(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()

    def add_row(
        self, name: str, call: Callable[[], Any], repeats: int = REPEATS, **fields: Any
    ) -> Row:
        """Add a row: the median time of a call after the first call, its memory, and further
        fields.
        """
        before = 0
        if self.device == "cuda":
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
        first = self.time(call)
        row: Row = {"name": name, "device": self.device, **fields}
        if self.device == "cuda":
            row["peak_gb"] = (torch.cuda.max_memory_allocated() - before) / 1e9
        times = [first]
        if first * repeats < self.seconds_left / 4:
            times = [self.time(call) for _ in range(repeats)]
        row |= {"first_s": first, "seconds": statistics.median(times), "repeats": len(times)}
        self.rows.append(row)
        printed_fields = {
            key: value for key, value in row.items() if key.endswith(("_gb", "_s", "reads"))
        }
        print(
            f"{name:<52}{row['seconds']:9.4f} s  {printed_fields}  {self.seconds_left:.0f} s left",
            flush=True,
        )
        return row

    def time(self, call: Callable[[], Any]) -> float:
        self.wait()
        start = time.perf_counter()
        call()
        self.wait()
        return time.perf_counter() - start

    def skip(self, name: str, reason: str) -> None:
        self.rows.append({"name": name, "device": self.device, "left_out": reason})
        print(f"{name:<52}left out: {reason}", flush=True)

    def has_time(self, name: str, seconds: float) -> bool:
        """Return whether a case that takes about this many seconds can start; otherwise skip it."""
        if seconds < self.seconds_left:
            return True
        self.skip(name, f"about {seconds:.0f} s, and {self.seconds_left:.0f} s are left")
        return False


def to_float(value: Any) -> float:
    return float(value.detach() if hasattr(value, "detach") else value)


def check_scores(run: Run) -> None:
    """Raise unless the device and NumPy agree for few samples."""
    from vendiscore import score_X

    for dtype in DTYPES:
        device_rows = run.tensor(make_rows(CHECK_SIZE, 32), dtype)
        assert_close(to_float(score_X(device_rows)), score_X(device_rows.cpu().numpy()), 1e-6)


def make_training_step(X: torch.Tensor) -> Callable[[], tuple[float, torch.Tensor]]:
    """Return a training step, which computes the loss of a batch and its gradient."""
    from vendiscore.tools.integrations.loss import VendiLoss

    loss = VendiLoss()

    def call() -> tuple[float, torch.Tensor]:
        leaf = X.detach().requires_grad_()
        value = loss(leaf)
        value.backward()
        return to_float(value), leaf.grad

    return call


def run_covariances(run: Run) -> None:
    """Time `score_X` of float32 and float64 rows, with the predicted memory."""

    from vendiscore import as_similarity, score_X
    from vendiscore.spectral.routes import select_spectrum_route

    check_scores(run)
    for n, d in run.cases["covariances"]:
        X = make_rows(n, d)
        for dtype in DTYPES:
            device_rows = run.tensor(X, dtype)
            K = as_similarity(device_rows, score_X=True, normalize=True)
            name = f"score_X, {n:,} × {d}, {str(dtype).removeprefix('torch.')}"
            with HostReads() as reads:
                value = to_float(score_X(device_rows))
            fields = {"n": n, "d": d, "host_reads": reads.total - 1, "waits": reads.waits}
            fields["foretold_gb"] = select_spectrum_route(K).cost(K).bytes / 1e9
            row = run.add_row(name, partial(read_score, device_rows), **fields)
            host_rows = device_rows.cpu().numpy()
            assert_close(value, score_X(host_rows), 2e-5)
            row["numpy_s"] = run.time(partial(score_X, host_rows))


def read_score(X: Any) -> float:
    from vendiscore import score_X

    return to_float(score_X(X))


def run_groups(run: Run) -> None:
    """Time the mean score of many small groups."""

    from vendiscore import compute

    def mean(X: Any, sets: int, size: int) -> float:
        labels = np.repeat(np.arange(sets), size)
        return to_float(compute(X, k="cosine", groups=labels)["VS"])

    g, m, d = run.cases["groups"]
    X = make_rows(g * m, d)
    device_rows = run.tensor(X)
    n_checked = 20 * m
    assert_close(mean(device_rows[:n_checked], 20, m), mean(X[:n_checked], 20, m), 1e-6)
    name = f"groups, {g:,} × {m} × {d}"
    row = run.add_row(name, partial(mean, device_rows, g, m), n=g * m, d=d)
    row["numpy_s"] = run.time(partial(mean, X, g, m))


def run_losses(run: Run) -> None:
    """Time the loss and its gradient for training batches, and count reads by the host."""

    from vendiscore import score_X

    X = make_rows(40, 64)
    loss, gradient = make_training_step(run.tensor(X))()
    assert_close(loss, -np.log(score_X(X)), 1e-5)
    if not gradient.isfinite().all():
        raise AssertionError("the gradient of the loss is not finite")
    for n, d in run.cases["batches"]:
        call = make_training_step(run.tensor(make_rows(n, d)))
        call()
        with HostReads() as reads:
            call()
        fields = {"n": n, "d": d, "host_reads": reads.total - 1, "waits": reads.waits - 1}
        # One read is subtracted, because the caller reads the loss.
        run.add_row(f"loss and gradient, {n:,} × {d}", call, 20, **fields, read=dict(reads.count))


def run_eigenvalues(run: Run) -> None:
    """Time `torch.linalg.eigvalsh` by size, while time remains."""

    from vendiscore.spectral.eigendecomposition import decompose

    for dtype in DTYPES:
        K = make_rows(CHECK_SIZE, 32)
        K = K @ K.T / CHECK_SIZE
        values = torch.linalg.eigvalsh(run.tensor(K, dtype)).cpu().numpy()
        np.testing.assert_allclose(values, np.linalg.eigvalsh(K.astype(float)), atol=1e-4)
        last_seconds, last_size = 0.0, 1
        for n in run.cases["sizes"]:
            name = f"eigvalsh, {n:,}, {str(dtype).removeprefix('torch.')}"
            if not run.has_time(name, 2 * last_seconds * (n / last_size) ** 3):
                continue
            A = torch.randn(n, n, dtype=dtype, device=run.device)
            A = A + A.T
            row = run.add_row(name, partial(torch.linalg.eigvalsh, A), 3, n=n)
            last_seconds, last_size = row["seconds"], n
            if dtype == torch.float64 and n <= MAX_HOST_SIZE:
                row["numpy_s"] = run.time(partial(decompose, A.cpu().numpy()))


def run_explanations(run: Run) -> None:
    """Time leave-one-out contributions by size, while time remains."""

    from vendiscore import explain

    def contributions(X: Any) -> np.ndarray:
        return np.asarray(explain(X, k="cosine").adds)

    X = make_rows(CHECK_SIZE, 32)
    np.testing.assert_allclose(contributions(run.tensor(X)), contributions(X), atol=1e-5)
    last_seconds, last_size = 0.0, 1
    for n, d in run.cases["explained"]:
        X = make_rows(n, d)
        name = f"explain, {n:,} × {d}"
        if run.has_time(name, 4 * last_seconds * (n / last_size) ** 2):
            row = run.add_row(name, partial(contributions, run.tensor(X)), 1, n=n, d=d)
            row["numpy_s"] = run.time(partial(contributions, X))
            last_seconds, last_size = row["seconds"], n


def run_short(device: str, small: bool, save_rows: Callable[[list[Row]], None]) -> None:
    """Run all cases, in full or in small size; `save_rows` is called with all rows after each
    part.
    """
    run = Run(device, SMALL_CASES if small else FULL_CASES)
    for run_part in (run_covariances, run_groups, run_losses, run_explanations, run_eigenvalues):
        try:
            run_part(run)
        except Exception as error:  # other parts still run, since GPU time is limited
            if small:
                raise
            traceback.print_exc()
            run.skip(run_part.__name__, f"{type(error).__name__}: {str(error)[:300]}")
        save_rows(run.rows)
