"""The GPU in six minutes, for `python benchmarks/gpu.py --short`: time, memory and host reads.

Covariances, groups, losses, eigenvalues and explanations. In each, devices must agree on few
samples before anything is timed. Memory is the largest that torch had at once, above what was
there before, next to what `vendiscore` requires or foretells for the same set. A case that would
outlast the time that is left, by the time of smaller ones, is left out, and says so.
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
from pairs import agree

Row = dict[str, Any]
SECONDS = 330.0  # of six minutes, of which the start takes some
FEW = 300  # samples that devices agree on
REPEATS = 5
ON_HOST = 5000  # larger matrices are not decomposed on the host
# Cases in full, and as small ones that try the script.
COVARIANCES = ((20_000, 384), (200_000, 512))
GROUPS = (10_000, 8, 384)
BATCHES = ((256, 384), (1024, 384), (4096, 768))
SIZES = (2000, 5000, 10_000, 20_000)
EXPLAINED = ((20_000, 64), (200_000, 64))
SMALL = {"covariances": ((400, 16),), "groups": (20, 8, 16), "batches": ((8, 16), (40, 16))}
SMALL |= {"sizes": (40, 80), "explained": ((100, 8), (300, 8))}
FULL = {"covariances": COVARIANCES, "groups": GROUPS, "batches": BATCHES}
FULL |= {"sizes": SIZES, "explained": EXPLAINED}
DTYPES = (torch.float32, torch.float64)


def rows_of(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Return n rows whose columns fall as exp(−i/60), in single precision."""
    X = np.random.default_rng(seed).standard_normal((n, d), dtype=np.float32)
    return X * np.exp(-np.arange(d, dtype=np.float32) / 60)


@dataclass
class Run:
    """Rows measured on a device, until the time is up."""

    device: str
    cases: dict[str, Any]
    seconds: float = SECONDS
    rows: list[Row] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float:
        return self.seconds - (time.perf_counter() - self.began)

    def tensor(self, X: np.ndarray, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.as_tensor(X, dtype=dtype, device=self.device)

    def wait(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()

    def measure(
        self, name: str, call: Callable[[], Any], repeats: int = REPEATS, **facts: Any
    ) -> Row:
        """Add a row: the median time of a call after a first one, its memory, and the facts."""
        before = 0
        if self.device == "cuda":
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
        first = self.time(call)
        row: Row = {"name": name, "device": self.device, **facts}
        if self.device == "cuda":
            row["peak_gb"] = (torch.cuda.max_memory_allocated() - before) / 1e9
        times = [first]
        if first * repeats < self.left / 4:
            times = [self.time(call) for _ in range(repeats)]
        row |= {"first_s": first, "seconds": statistics.median(times), "repeats": len(times)}
        self.rows.append(row)
        shown = {key: value for key, value in row.items() if key.endswith(("_gb", "_s", "reads"))}
        print(f"{name:<52}{row['seconds']:9.4f} s  {shown}  {self.left:.0f} s left", flush=True)
        return row

    def time(self, call: Callable[[], Any]) -> float:
        self.wait()
        start = time.perf_counter()
        call()
        self.wait()
        return time.perf_counter() - start

    def leave_out(self, name: str, why: str) -> None:
        self.rows.append({"name": name, "device": self.device, "left_out": why})
        print(f"{name:<52}left out: {why}", flush=True)

    def has_time(self, name: str, seconds: float) -> bool:
        """Return whether a case that takes about so many seconds may begin."""
        if seconds < self.left:
            return True
        self.leave_out(name, f"about {seconds:.0f} s, and {self.left:.0f} s are left")
        return False


def number(value: Any) -> float:
    return float(value.detach() if hasattr(value, "detach") else value)


def check_scores(run: Run) -> None:
    """Stop unless the device and NumPy agree on few samples."""
    from vendiscore import score_X

    for dtype in DTYPES:
        there = run.tensor(rows_of(FEW, 32), dtype)
        agree(number(score_X(there)), score_X(there.cpu().numpy()), 1e-6)


def step(X: torch.Tensor) -> Callable[[], tuple[float, torch.Tensor]]:
    """Return a step of training: the loss of a batch and its gradient."""
    from vendiscore.tools.integrations.loss import VendiLoss

    loss = VendiLoss()

    def call() -> tuple[float, torch.Tensor]:
        leaf = X.detach().requires_grad_()
        value = loss(leaf)
        value.backward()
        return number(value), leaf.grad

    return call


def covariances(run: Run) -> None:
    from vendiscore import as_similarity, score_X
    from vendiscore.spectral.routes import select_spectrum_route

    check_scores(run)
    for n, d in run.cases["covariances"]:
        X = rows_of(n, d)
        for dtype in DTYPES:
            there = run.tensor(X, dtype)
            K = as_similarity(there, score_X=True, normalize=True)
            name = f"score_X, {n:,} × {d}, {str(dtype).removeprefix('torch.')}"
            with HostReads() as reads:
                value = number(score_X(there))
            facts = {"n": n, "d": d, "host_reads": reads.total - 1, "waits": reads.waits}
            facts["foretold_gb"] = select_spectrum_route(K).cost(K).bytes / 1e9
            row = run.measure(name, partial(read_score, there), **facts)
            here = there.cpu().numpy()
            agree(value, score_X(here), 2e-5)
            row["numpy_s"] = run.time(partial(score_X, here))


def read_score(X: Any) -> float:
    from vendiscore import score_X

    return number(score_X(X))


def groups(run: Run) -> None:
    from vendiscore import compute

    def mean(X: Any, sets: int, size: int) -> float:
        labels = np.repeat(np.arange(sets), size)
        return number(compute(X, k="cosine", groups=labels)["VS"])

    g, m, d = run.cases["groups"]
    X = rows_of(g * m, d)
    there = run.tensor(X)
    some = 20 * m
    agree(mean(there[:some], 20, m), mean(X[:some], 20, m), 1e-6)
    name = f"groups, {g:,} × {m} × {d}"
    row = run.measure(name, partial(mean, there, g, m), n=g * m, d=d)
    row["numpy_s"] = run.time(partial(mean, X, g, m))


def losses(run: Run) -> None:
    from vendiscore import score_X

    X = rows_of(40, 64)
    loss, gradient = step(run.tensor(X))()
    agree(loss, -np.log(score_X(X)), 1e-5)
    if not gradient.isfinite().all():
        raise AssertionError("the gradient of the loss is not finite")
    for n, d in run.cases["batches"]:
        call = step(run.tensor(rows_of(n, d)))
        call()
        with HostReads() as reads:
            call()
        facts = {"n": n, "d": d, "host_reads": reads.total - 1, "waits": reads.waits - 1}
        # One read is the caller's, who reads the loss.
        run.measure(f"loss and gradient, {n:,} × {d}", call, 20, **facts, read=dict(reads.count))


def eigenvalues(run: Run) -> None:
    from vendiscore.spectral.eigendecomposition import decompose

    for dtype in DTYPES:
        K = rows_of(FEW, 32)
        K = K @ K.T / FEW
        few = torch.linalg.eigvalsh(run.tensor(K, dtype)).cpu().numpy()
        np.testing.assert_allclose(few, np.linalg.eigvalsh(K.astype(float)), atol=1e-4)
        last, size = 0.0, 1
        for n in run.cases["sizes"]:
            name = f"eigvalsh, {n:,}, {str(dtype).removeprefix('torch.')}"
            if not run.has_time(name, 2 * last * (n / size) ** 3):
                continue
            A = torch.randn(n, n, dtype=dtype, device=run.device)
            A = A + A.T
            row = run.measure(name, partial(torch.linalg.eigvalsh, A), 3, n=n)
            last, size = row["seconds"], n
            if dtype == torch.float64 and n <= ON_HOST:
                row["numpy_s"] = run.time(partial(decompose, A.cpu().numpy(), str))


def explanations(run: Run) -> None:
    from vendiscore import explain

    def adds(X: Any) -> np.ndarray:
        return np.asarray(explain(X, k="cosine").adds)

    X = rows_of(FEW, 32)
    np.testing.assert_allclose(adds(run.tensor(X)), adds(X), atol=1e-5)
    last, size = 0.0, 1
    for n, d in run.cases["explained"]:
        X = rows_of(n, d)
        name = f"explain, {n:,} × {d}"
        if run.has_time(name, 4 * last * (n / size) ** 2):
            row = run.measure(name, partial(adds, run.tensor(X)), 1, n=n, d=d)
            row["numpy_s"] = run.time(partial(adds, X))
            last, size = row["seconds"], n


def short(device: str, small: bool, save: Callable[[list[Row]], None]) -> None:
    """Measure all cases, in full or small; `save` gets the rows after each kind."""
    run = Run(device, SMALL if small else FULL)
    for part in (covariances, groups, losses, explanations, eigenvalues):
        try:
            part(run)
        except Exception as error:  # of one part, on a machine that is lent for minutes
            if small:
                raise
            traceback.print_exc()
            run.leave_out(part.__name__, f"{type(error).__name__}: {str(error)[:300]}")
        save(run.rows)
