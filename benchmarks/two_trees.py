"""Time common calls of two checkouts of the package alternately, on one thread.

    python benchmarks/two_trees.py BEFORE AFTER --repeats 25

BEFORE and AFTER are folders that contain `vendiscore/`, such as worktrees of two commits. Each is
imported in a separate process, and calls of both alternate. The values are compared before a call
is timed. Short calls are repeated within a turn. A row contains both medians in milliseconds, the
ratio of the medians, and the quartiles of the ratios of pairs.
"""

import argparse
import csv
import json
import math
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

TURN = 0.02  # minimum seconds of a turn
DATA = Path(__file__).resolve().parents[1] / "docs" / "tutorials" / "data" / "answers.csv"


def build_calls() -> dict[str, Callable[[], object]]:
    """Return common calls by name."""
    import numpy as np

    import vendiscore

    generator = np.random.default_rng(0)

    def rows(n: int, d: int) -> np.ndarray:
        X = generator.standard_normal((n, d))
        return X / np.linalg.norm(X, axis=1)[:, None]

    matrices = {}
    for n in (8, 100, 1000):
        X = rows(n, 2 * n)
        matrices[n] = X @ X.T
    features = rows(5000, 384)
    single = features.astype(np.float32)
    with DATA.open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    texts = [row["answer"] for row in table]
    prompts = [row["prompt"] for row in table]
    sources = [row["source"] for row in table]
    sets = {name: [t for t, s in zip(texts, sources, strict=True) if s == name] for name in sources}
    words = [row["answer"] for row in table if row["answer"].strip()]
    thousand_texts = [f"{a} {b}" for a, b in zip(words, words[7:], strict=False)][:1000]
    thousand_texts += [f"{a} {b}" for a, b in zip(words, words[13:], strict=False)][
        : 1000 - len(thousand_texts)
    ]
    groups = [f"{i // 8}" for i in range(8000)]
    grouped = rows(8000, 64)
    first = dict(list(sets.items())[:2])
    calls: dict[str, Callable[[], object]] = {
        f"score_K({n})": lambda n=n: vendiscore.score_K(matrices[n]) for n in matrices
    }
    calls |= {
        "score_K(100), q=2": lambda: vendiscore.score_K(matrices[100], q=2),
        "compute(K of 100)": lambda: vendiscore.compute(matrices[100], score_K=True),
        "score_X(5,000 × 384)": lambda: vendiscore.score_X(features),
        "score_X(5,000 × 384, float32)": lambda: vendiscore.score_X(single),
        "compute(8 texts)": lambda: vendiscore.compute(texts[:8]),
        "compute(1,000 texts)": lambda: vendiscore.compute(thousand_texts),
        "compute(1,000 groups of 8)": lambda: vendiscore.compute(
            grouped, k="cosine", groups=groups
        ),
        "compare": lambda: vendiscore.compare(first, permutations=99),
        "explain": lambda: vendiscore.explain(texts[:200]),
        "sources": lambda: vendiscore.sources(texts, prompts, by=sources),
        "growth": lambda: vendiscore.growth(texts[:200]),
    }
    return calls


def run_worker() -> None:
    """Read requests of the parent process, a call and a number of repeats; print seconds and the
    value.
    """
    warnings.simplefilter("ignore")
    calls = build_calls()
    print(json.dumps(list(calls)), flush=True)
    for line in sys.stdin:
        name, times = json.loads(line)
        start = time.perf_counter()
        for _ in range(times):
            value = calls[name]()
        seconds = (time.perf_counter() - start) / times
        print(json.dumps([seconds, str(value)]), flush=True)


def are_equal(before: str, after: str) -> bool:
    """Return whether two values are equal, numbers up to rounding errors."""
    try:
        return math.isclose(float(before), float(after), rel_tol=1e-10)
    except ValueError:
        return before == after


class Worker:
    """A process that imports the package of one folder."""

    def __init__(self, folder: Path) -> None:
        """Start the process, and read the names of the calls that it can time."""
        environment = {**os.environ, "PYTHONPATH": str(folder.resolve())}
        environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).resolve()), "--worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        self.names: list[str] = self.receive()

    def receive(self) -> list:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def run(self, name: str, times: int = 1) -> list:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, times]) + "\n")
        self.process.stdin.flush()
        return self.receive()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", nargs="?", type=Path)
    parser.add_argument("after", nargs="?", type=Path)
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--only", nargs="+", help="names of calls (default: all)")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        run_worker()
        return
    workers = [Worker(options.before), Worker(options.after)]
    different_calls = []
    for name in options.only or workers[0].names:
        values = [worker.run(name)[1] for worker in workers]
        seconds = max(worker.run(name)[0] for worker in workers)
        times = max(1, round(TURN / seconds))
        pairs = []
        for turn in range(options.repeats):
            order = [0, 1] if turn % 2 else [1, 0]
            pair = [0.0, 0.0]
            for i in order:
                pair[i] = workers[i].run(name, times)[0]
            pairs.append(pair)
        before, after = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
        low, _, high = statistics.quantiles([pair[1] / pair[0] for pair in pairs], n=4)
        same = "equal" if are_equal(*values) else f"{values[0][:60]!r} != {values[1][:60]!r}"
        if not are_equal(*values):
            different_calls.append(name)
        print(
            f"{name:32}{1e3 * before:10.3f}{1e3 * after:10.3f} ms  ratio {after / before:.3f} "
            f"({low:.2f} to {high:.2f})  {same}",
            flush=True,
        )
    if different_calls:
        sys.exit(f"values differ: {', '.join(different_calls)}")


if __name__ == "__main__":
    main()
