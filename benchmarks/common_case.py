"""Eight answers to each of a thousand prompts: vectors, texts, rewards, and the first second.

python benchmarks/common_case.py --json benchmarks/results/common_case.json

Compared with a loop over `vendi_score` 0.0.3, the least that NumPy takes for the same numbers, and
what a process needs for `import numpy` and `import evaluate`. Words are drawn by Zipf's law.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from nltk.tokenize import NLTKWordTokenizer
from pairs import ROOT, agree, arguments, compare, environment, peak, write
from vendi_score import vendi

from kernels import their_score
from vendiscore import compute, group_rewards
from vendiscore.encoders.treebank import tokenize

PROMPTS, ANSWERS, DIMENSIONS, WORDS = 1000, 8, 384, 60
VOCABULARY = 20_000
AGREE = 1e-9
# Names of processes, and what they run; `{root}` is the clone.
PROCESSES = {
    "import numpy": "import numpy",
    "import vendiscore, and score two texts": (
        "import vendiscore; vendiscore.compute(['a b', 'c d'])"
    ),
    "import evaluate": "import evaluate",
    "evaluate.load, and score two texts": (
        "import evaluate; evaluate.load('{root}/vendiscore.py').compute(samples=['a b', 'c d'])"
    ),
}


def vectors(prompts: int) -> np.ndarray:
    shape = (prompts, ANSWERS, DIMENSIONS)
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def texts(prompts: int) -> list[list[str]]:
    shares = 1 / np.arange(1, VOCABULARY + 1)
    rng = np.random.default_rng(0)
    drawn = rng.choice(VOCABULARY, (prompts, ANSWERS, WORDS), p=shares / shares.sum())
    return [[" ".join(f"w{word}" for word in one) + "." for one in group] for group in drawn]


def bare(X: np.ndarray) -> float:
    """Return the mean score of stacked vectors, with nothing looked at but the numbers."""
    wide = X.astype(np.float64)
    wide /= np.linalg.norm(wide, axis=2, keepdims=True)
    shares = np.linalg.eigvalsh(wide @ wide.swapaxes(1, 2) / X.shape[1])
    shares = np.clip(shares, 1e-15, None)
    return float(np.exp(-(shares * np.log(shares)).sum(axis=1)).mean())


def ours(samples: Any) -> float:
    return float(compute(samples, k="cosine")["VS"])


def theirs(X: np.ndarray) -> float:
    return float(np.mean([vendi.score_X(own, normalize=True) for own in X]))


def ready(prompts: int) -> tuple[Callable[[], Any], ...]:
    """Return what `peak` measures: a score of few groups, and one of all."""
    X = vectors(prompts)
    return lambda: ours(X[:8]), lambda: ours(X)


def of_vectors(repeats: int) -> list[dict[str, Any]]:
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    X, many = vectors(PROMPTS), vectors(10 * PROMPTS)
    agree(ours(X), theirs(X), 1e-6)  # theirs is in single precision
    agree(ours(X), bare(X), AGREE)
    agree(float(ours(torch.from_numpy(X))), ours(X), AGREE)
    facts = {"prompts": PROMPTS, "answers": ANSWERS, "d": DIMENSIONS}
    name = f"{PROMPTS:,} × {ANSWERS} × {DIMENSIONS}"
    rows = [
        compare(f"{name} vectors, a score each", lambda: ours(X), lambda: theirs(X), repeats),
        compare(f"{name}, beside NumPy alone", lambda: ours(X), lambda: bare(X), repeats),
    ]
    tensor = torch.from_numpy(many)
    ten = f"{10 * PROMPTS:,} × {ANSWERS} × {DIMENSIONS} of torch, beside NumPy"
    rows.append(compare(ten, lambda: ours(tensor), lambda: ours(many), repeats))
    rows[-1]["peak_mb"] = peak(ready, 10 * PROMPTS)
    print(f"{ten}, above the vectors: {rows[-1]['peak_mb']:.0f} MB")
    return [{**facts, **row} for row in rows]


def of_texts(repeats: int) -> list[dict[str, Any]]:
    groups = texts(PROMPTS)
    flat = [text for group in groups for text in group]
    split = NLTKWordTokenizer().tokenize
    for text in flat[:1000]:
        assert tokenize(text) == split(text), text
    agree(compute(groups)["VS"], float(np.mean([their_score(group) for group in groups])), AGREE)
    facts = {"prompts": PROMPTS, "answers": ANSWERS, "words": WORDS}
    rows = [
        compare(
            f"n-grams of {PROMPTS:,} × {ANSWERS} texts of {WORDS} words",
            lambda: compute(groups)["VS"],
            lambda: [their_score(group) for group in groups],
            repeats,
        ),
        compare(
            "tokens of these texts, beside NLTK's",
            lambda: [tokenize(text) for text in flat],
            lambda: [split(text) for text in flat],
            repeats,
        ),
    ]
    rows[0]["tokenizing"] = rows[1]["ours_s"] / rows[0]["ours_s"]
    print(f"of a score of texts, tokenizing takes {rows[0]['tokenizing']:.0%}")
    return [{**facts, **row} for row in rows]


def of_rewards(repeats: int) -> dict[str, Any]:
    X, groups = vectors(64).reshape(-1, DIMENSIONS), np.repeat(np.arange(64), ANSWERS)

    def timed(credit: Any) -> float:
        seconds = []
        for _ in range(20 * repeats):
            start = time.perf_counter()
            group_rewards(X, groups=groups, k="cosine", credit=credit)
            seconds.append(time.perf_counter() - start)
        return statistics.median(seconds)

    row = {credit: timed(credit) for credit in ("surprise", "leave_one_out")}
    told = ", ".join(f"{name} {1e3 * seconds:.2f} ms" for name, seconds in row.items())
    print(f"rewards of 64 × {ANSWERS} vectors of {DIMENSIONS}: {told}", flush=True)
    return {"name": "rewards of 64 groups", **row}


def of_processes(repeats: int) -> list[dict[str, Any]]:
    """Measure seconds and MB of whole processes, whose bytecode is kept, in turns."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    kept |= {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    told = "; print(*[line for line in open('/proc/self/status') if line.startswith('VmHWM')])"
    seconds: dict[str, list[float]] = {name: [] for name in PROCESSES}
    megabytes: dict[str, list[float]] = {name: [] for name in PROCESSES}
    for turn in range(repeats + 1):
        for name, code in PROCESSES.items():
            command = [sys.executable, "-W", "ignore", "-c", code.format(root=ROOT) + told]
            start = time.perf_counter()
            done = subprocess.run(command, env=kept, capture_output=True, text=True, check=True)
            if turn:  # the first writes bytecode
                seconds[name].append(time.perf_counter() - start)
                megabytes[name].append(int(done.stdout.split()[-2]) * 1024 / 1e6)
    rows = []
    for name in PROCESSES:
        row = {"name": name, "seconds": statistics.median(seconds[name])}
        row["megabytes"] = statistics.median(megabytes[name])
        print(f"{name:<44} {row['seconds']:6.3f} s {row['megabytes']:6.0f} MB", flush=True)
        rows.append(row)
    ratios = [b / a for a, b in zip(*[*seconds.values()][2:], strict=True)]
    print(f"beside the import of evaluate alone: {statistics.median(ratios):.2f} ×")
    return [*rows, {"name": "beside import evaluate", "ratio": statistics.median(ratios)}]


def main() -> None:
    given = arguments(__doc__)
    about = environment("vendi-score", "nltk", "torch", "evaluate")
    processes = of_processes(given.repeats)
    rows = of_vectors(given.repeats) + of_texts(given.repeats)
    rewards = of_rewards(given.repeats)
    write(given.json, [*rows, *processes, rewards], about)


if __name__ == "__main__":
    main()
