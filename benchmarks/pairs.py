"""Timing two functions against each other in one run, on a machine that may be noisy.

The two take turns (A B A B …), so that a drift of the machine's speed meets both; medians and the
median of the ratios pair by pair are reported, with the versions that were measured. Before each
turn there is a pause: the threads of one BLAS keep spinning for some milliseconds after their last
product, and would take the cores of whoever comes next.
"""

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

PAUSE = 0.1  # seconds


def compare(
    name: str, ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int = 5, **facts: Any
) -> dict[str, Any]:
    """Median seconds of both and how many times faster ours is; printed and returned."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for function, seconds in zip((ours, theirs), times, strict=True):
            time.sleep(PAUSE)
            start = time.perf_counter()
            function()
            seconds.append(time.perf_counter() - start)
    ratios = [b / a for a, b in zip(*times, strict=True)]
    row = {
        "name": name,
        **facts,
        "ours_s": statistics.median(times[0]),
        "theirs_s": statistics.median(times[1]),
        "times_faster": statistics.median(ratios),
        "ratio_range": [min(ratios), max(ratios)],
        "repeats": repeats,
    }
    print(
        f"{name:<44} ours {row['ours_s']:8.4f} s   theirs {row['theirs_s']:8.4f} s   "
        f"{row['times_faster']:7.2f} × ({min(ratios):.2f} to {max(ratios):.2f})",
        flush=True,
    )
    return row


def agree(ours: float, theirs: float, rtol: float) -> None:
    """Stop before anything is timed unless the two give the same answer."""
    np.testing.assert_allclose(ours, theirs, rtol=rtol)


def environment(*packages: str) -> dict[str, Any]:
    """What was measured on: versions, processor, threads."""
    versions = {}
    for package in ("vendiscore", "numpy", "scipy", *packages):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        **versions,
    }


def arguments(description: str | None) -> argparse.Namespace:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--repeats", type=int, default=5)
    return parser.parse_args()


def write(path: Path | None, rows: list[dict[str, Any]], environment: dict[str, Any]) -> None:
    """Print where the numbers are from and write them, if a file was asked for."""
    print(environment)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"environment": environment, "rows": rows}, indent=1)
        path.write_text(text + "\n")
