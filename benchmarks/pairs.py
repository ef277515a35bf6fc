"""Time two functions against each other, and write result files.

The two functions are called alternately (A B A B …), so changes of the machine's speed affect both.
The results are the medians of the times and of the ratios of consecutive calls. There is a pause
before each call, because BLAS threads keep spinning for some milliseconds after a product, and
would use the cores that the next call needs.
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
    """Time two functions alternately; print and return their median seconds, and how many times
    faster `ours` is. For short functions, `calls` is the number of calls that are timed together.
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
    """Raise an AssertionError unless two values agree, before anything is timed."""
    np.testing.assert_allclose(ours, theirs, rtol=rtol)


def collect_environment(*packages: str) -> dict[str, Any]:
    """Return the versions, commit, machine and number of threads that a result file records."""
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
    """Return the processor, the memory, the operating system, and the BLAS libraries."""
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
    """Return the peak memory of a call in a fresh process, in MB above the memory before the call.
    `prepare(*arguments)` makes the input in this process. It returns two functions: a small call as
    a warm-up, which imports modules and allocates buffers of BLAS, and the call that is measured.
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
    """Send the peak memory of a call, minus the peak memory of its warm-up."""
    warm_up, call = prepare(*arguments)
    warm_up()
    before = peak_process_memory()
    call()
    sender.send(peak_process_memory() - before)


def peak_process_memory() -> float:
    """Return the peak memory of this process so far, in MB. `ru_maxrss` is not used, because it
    starts with the memory of the parent process.
    """
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError("no VmHWM in /proc/self/status")


def parse_arguments(description: str | None) -> argparse.Namespace:
    """Parse the command-line options that all benchmarks have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--repeats", type=int, default=5)
    return parser.parse_args()


def run_with_threads(
    script: str, threads: Iterable[int], options: Iterable[str], settings: Mapping[str, str]
) -> Rows:
    """Run `script --job --json FILE` with each number of threads; return the rows of all runs. If a
    process ends early, the rows that it wrote are kept, and a row with the error is added.
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
    """Print the environment, and write it with the rows if a path is passed."""
    if environment_info:
        print(environment_info)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"environment": environment_info, "rows": rows}, indent=1)
        path.write_text(text + "\n")
