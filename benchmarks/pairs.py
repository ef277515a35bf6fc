"""Timing two functions against each other in one run, on a machine that may be noisy.

The two take turns (A B A B …), so that a drift of the machine's speed meets both; medians and the
median of the ratios pair by pair are reported, with the versions that were measured. Before each
turn there is a pause: the threads of one BLAS keep spinning for some milliseconds after their last
product, and would take the cores of whoever comes next.
"""

import argparse
import json
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from provenance import collect_provenance

Rows: TypeAlias = list[dict[str, Any]]
ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("VENDISCORE_DATA", ROOT.parent / "shared" / "data"))
PAUSE = 0.1  # seconds


def time_pair(
    name: str,
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    repeats: int = 5,
    calls: int = 1,
    pause: float = PAUSE,
    **extra_fields: Any,
) -> dict[str, Any]:
    """Return median seconds of a call of both and how many times faster ours is; print them.

    A turn has so many calls, of what is too short to be timed once.
    """
    seconds_of_both: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for function, seconds in zip((ours, theirs), seconds_of_both, strict=True):
            time.sleep(pause)
            start = time.perf_counter()
            for _ in range(calls):
                function()
            seconds.append((time.perf_counter() - start) / calls)
    ratios = [b / a for a, b in zip(*seconds_of_both, strict=True)]
    row = {
        "name": name,
        **extra_fields,
        "ours_s": statistics.median(seconds_of_both[0]),
        "theirs_s": statistics.median(seconds_of_both[1]),
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


def assert_close(ours: float, theirs: float, rtol: float) -> None:
    """Stop before anything is timed unless the two give the same answer."""
    np.testing.assert_allclose(ours, theirs, rtol=rtol)


def collect_environment(*packages: str) -> dict[str, Any]:
    """Return what was measured on: versions, the commit, the machine, threads."""
    package_versions = {}
    for package in ("numpy", "scipy", *packages):
        try:
            package_versions[package] = version(package)
        except PackageNotFoundError:
            package_versions[package] = "not installed"
    return {
        **collect_provenance(),
        "cpus": os.cpu_count(),
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        **package_versions,
        "machine": describe_machine(),
    }


def describe_machine() -> dict[str, Any]:
    """Return processor, memory, operating system, and the libraries that multiply matrices."""
    import psutil

    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        model = names[0] if names else model
    try:
        from threadpoolctl import threadpool_info

        blas = sorted(
            f"{result['internal_api']} {result['version']} ({result.get('architecture', '?')}), "
            f"threads: {result['num_threads']}"
            for result in threadpool_info()
            if result["user_api"] == "blas"
        )
    except ImportError:
        built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        blas = [f"{built['name']} {built['version']}"]
    return {
        "processor": model,
        "cores": psutil.cpu_count(logical=False),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "system": platform.platform(),
        "blas": blas,
    }


def measure_peak_memory(
    prepare: Callable[..., tuple[Callable[[], Any], ...]], *arguments: Any
) -> float:
    """Return MB that a function takes at most above what it starts from, in a fresh process.

    `prepare(*given)` makes its input there, and gives a call of little, for imports and what BLAS
    keeps, and the one that is measured.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe()
    process = context.Process(target=_send_peak_memory, args=(sender, prepare, *arguments))
    process.start()
    result: float = receiver.recv()
    process.join()
    return result


def _send_peak_memory(
    sender: Any, prepare: Callable[..., tuple[Callable[[], Any], ...]], *arguments: Any
) -> None:
    warm_up, call = prepare(*arguments)
    warm_up()
    before = peak_process_memory()
    call()
    sender.send(peak_process_memory() - before)


def peak_process_memory() -> float:
    """Return MB that this process had at most, so far.

    Not `ru_maxrss`, which begins with what the process had that started this one.
    """
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError("no VmHWM in /proc/self/status")


def parse_arguments(description: str | None) -> argparse.Namespace:
    """Return the options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--repeats", type=int, default=5)
    return parser.parse_args()


def run_with_threads(
    script: str, threads: Iterable[int], options: Iterable[str], settings: Mapping[str, str]
) -> Rows:
    """Run `script --job --json FILE` with each number of threads, and return the rows of all.

    A process that ends before it should leaves the rows that it has written, and one with an error.
    """
    rows: Rows = []
    for count in map(str, threads):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.json"
            limits = {"OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count, **settings}
            command = [sys.executable, script, "--job", "--json", str(path), *options]
            process = subprocess.run(command, env=os.environ | limits, check=False)
            if path.exists():
                rows += json.loads(path.read_text(encoding="utf-8"))["rows"]
            if process.returncode:
                error = f"the process ended with exit status {process.returncode}"
                rows.append({"name": Path(script).name, "threads": int(count), "error": error})
    return rows


def write_results(
    path: Path | None, rows: list[dict[str, Any]], environment_info: dict[str, Any]
) -> None:
    """Print where the numbers are from and write them, if a file was asked for."""
    if environment_info:
        print(environment_info)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"environment": environment_info, "rows": rows}, indent=1)
        path.write_text(text + "\n")
