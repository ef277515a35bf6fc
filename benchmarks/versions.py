"""Two versions of the package side by side: the same calls, by turns, each in a process of its own.

git worktree add ../before COMMIT
python benchmarks/versions.py --before ../before --json versions.json

Numbers of both must agree to 1e-9 before a time is taken.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pairs import agree, environment
from pairs import compare as timed

ROOT = Path(__file__).resolve().parents[1]
TOLERANCE = 1e-9


def calls() -> dict[str, Callable[[], Any]]:
    """Return calls that both versions know, from a fraction of a millisecond to some seconds."""
    import vendiscore
    from vendiscore import compare, compute, explain, mag_area, mag_areas, score_K, score_X, select

    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(3000)]
    texts = [" ".join(rng.choice(words, 30)) for _ in range(1500)]
    rare = 1 / np.arange(1, 20_001)
    ranks = rng.choice(20_000, (8000, 60), p=rare / rare.sum())
    many_texts = [" ".join(f"w{rank}" for rank in row) for row in ranks.tolist()]
    few, narrow, wide = (rng.normal(size=shape) for shape in ((10, 3), (2000, 8), (2000, 256)))
    many, tall = rng.normal(size=(5000, 64)), rng.normal(size=(50_000, 256)).astype(np.float32)
    K = 0.5 * np.corrcoef(rng.normal(size=(1500, 60))) + 0.5 * np.eye(1500)
    images = rng.integers(0, 255, (2000, 28, 28), dtype=np.uint8)
    images[:, :4] = images[:, :, :4] = 0
    bits = (rng.random((2000, 1024)) < 0.05).astype(np.uint8)
    metric, magnitude = vendiscore.load("vendiscore"), vendiscore.load("magnitude")
    records = {"text": texts[:800], "place": narrow[:800].tolist()}
    neighbours = ["Precision", "Recall", "Density", "Coverage"]
    mixed = {"ngram_overlap:text": 0.5, "rbf:place": 0.5}
    return {
        "ten vectors, 200 times": lambda: again(200, lambda: compute(few, k="cosine")),
        "metric, 20 texts, 30 times": lambda: again(
            30, lambda: metric.compute(samples=texts[:20], q=2)
        ),
        "metric magnitude, 50 times": lambda: again(
            50, lambda: magnitude.compute(samples=few, t=1.0)
        ),
        "n-grams of 1,500": lambda: compute(texts, k="ngram_overlap"),
        "n-grams of 1,500, q=2": lambda: compute(texts, k="ngram_overlap", q=2),
        "cosine, 2,000 × 256": lambda: compute(wide, k="cosine"),
        "rbf, 2,000 × 8": lambda: compute(narrow, k="rbf"),
        "rbf, 2,000 × 256, q=2": lambda: compute(wide, k="rbf", q=2),
        "rbf, 5,000 × 64, q=2": lambda: compute(many, k="rbf", q=2),
        "laplacian, 2,000 × 8, q=2": lambda: compute(narrow, k="laplacian", q=2),
        "X, 50,000 × 256, single": lambda: score_X(tall),
        "K of 8, 500 times": lambda: again(500, lambda: score_K(K[:8, :8])),
        "K of 100, 100 times": lambda: again(100, lambda: score_K(K[:100, :100])),
        "K of 1,500, q=2": lambda: score_K(K, q=2),
        "K of 1,500": lambda: score_K(K),
        "K of 1,500, q=inf": lambda: score_K(K, q="inf"),
        "2,000 images with margins": lambda: compute(list(images), k="pixels", size=None, mode="L"),
        "Tanimoto, 2,000 × 1,024": lambda: compute(bits, k="tanimoto"),
        "Tanimoto, q=2": lambda: compute(bits, k="tanimoto", q=2),
        "BLEU of 150": lambda: compute(texts[:150], k="bleu", psd="clip"),
        "mag_area, 2,000 × 8": lambda: mag_area(narrow),
        "mag_area, cosine, 1,000": lambda: mag_area(wide[:1000], k="cosine"),
        "mag_areas of two, 2,000 × 8": lambda: mag_areas([narrow[:1000], narrow[1000:]])[0],
        "precision and the like, 2,000": lambda: compute(
            wide, references=wide + 0.1, k="cosine", measures=neighbours
        ),
        "what 400 samples add": lambda: explain(wide[:400], k="cosine").score,
        "1,000 groups of 8 texts of 60 words": lambda: compute(
            [many_texts[i : i + 8] for i in range(0, 8000, 8)]
        ),
        "area of one set of 200": lambda: compute(narrow[:200], k="rbf", measures="MagArea"),
        "100 of 2,000 × 256 selected": lambda: select(wide, 100, k="cosine").scores[-1],
        "50 of 2,000 × 256 represent all": lambda: (
            select(wide, 50, k="cosine", objective="represent").places
        ),
        "200 groups of 8 texts": lambda: compute([texts[i : i + 8] for i in range(0, 1500, 8)]),
        "two sets of 100 texts": lambda: compare(texts[:100], texts[100:200]).sets[0].score,
        "mixture of 800 records": lambda: compute(records, k=mixed),
        "four measures, 1,000 × 8": lambda: compute(
            narrow[:1000], k="rbf", measures=["VS", "IntDiv", "LC", "MagArea"]
        ),
        "a function of 200": lambda: compute(range(200), k=lambda a, b: 2.0 ** -abs(a - b)),
    }


def again(times: int, call: Callable[[], Any]) -> Any:
    """Return the result of the last of several calls that take little time each."""
    for _ in range(times):
        result = call()
    return result


def work(folder: str) -> None:
    """Answer names of calls, line by line, with their numbers."""
    sys.path.insert(0, folder)
    warnings.simplefilter("ignore")
    import vendiscore

    if not vendiscore.__path__[0].startswith(folder):
        raise SystemExit(f"{vendiscore.__path__[0]} is not the package in {folder}")
    known = calls()
    print(json.dumps(list(known)), flush=True)
    for line in sys.stdin:
        found = known[line.strip()]()
        numbers = list(found.values()) if isinstance(found, dict) else np.ravel(found)
        print(json.dumps([float(number) for number in numbers]), flush=True)


class Version:
    """A checkout, at work in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--work", str(folder.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=folder,
        )
        self.calls: list[str] = self.read()

    def read(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def answer(self, name: str) -> Any:
        assert self.process.stdin
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        return self.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--before", type=Path, help="a checkout of the other version")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="", help="calls whose name has this in it")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.work)
        return
    before, after = Version(arguments.before), Version(ROOT)
    rows = []
    for name in (name for name in before.calls if arguments.only in name):
        agree(after.answer(name), before.answer(name), rtol=TOLERANCE)
        ours, theirs = partial(after.answer, name), partial(before.answer, name)
        rows.append(timed(name, ours, theirs, arguments.repeats))
    if arguments.json:
        report = {"environment": environment(), "results": rows}
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
