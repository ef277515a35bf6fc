"""The time of the command `vendiscore x.txt` from start to end, on a thousand questions.

python benchmarks/cli.py --json benchmarks/results/cli.json

A process each time, with everything that it imports. Theirs is what `vendi_score` 0.0.3 has people
run: `from vendi_score import text_utils`, which imports torch, transformers and datasets, then the
algorithm of `ngram_vendi_score`, which itself does not run on SciPy ≥ 1.14; and the same algorithm
with no more imports than it needs. The times of an empty process, and of one with the imports of
any score of ours, are included.
"""

from __future__ import annotations

import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pairs import DATA, ROOT, agree, arguments, compare, environment, write

N = 1_000
ALGORITHM = """
import sys
import numpy as np
from nltk.tokenize import NLTKWordTokenizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from vendi_score import vendi
texts = open(sys.argv[1], encoding="utf-8").read().splitlines()
Ks = []
for n in (1, 2, 3, 4):
    count = CountVectorizer(
        tokenizer=NLTKWordTokenizer().tokenize, token_pattern=None, ngram_range=(n, n),
        lowercase=False)
    X = normalize(count.fit_transform(texts))
    Ks.append((X @ X.T).toarray())
print(repr(float(vendi.score_K(np.stack(Ks).mean(axis=0), normalize=True))))
"""
PROCESSES = {
    "an empty process": "",
    "imports of NumPy, SciPy's sparse matrices and linear algebra": (
        "import scipy.sparse, scipy.linalg"
    ),
    "import vendiscore": "import vendiscore",
}


def run(*command: str) -> str:
    """Return what a new process prints; its bytecode is kept, as for installed packages."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, *command],
        env=kept | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def alone(code: str, repeats: int) -> float:
    """Return median seconds of a process."""
    run("-c", code)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run("-c", code)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main() -> None:
    options = arguments(__doc__)
    with (DATA / "trec_questions.tsv").open(encoding="utf-8") as file:
        questions = [row["question"] for row in csv.DictReader(file, delimiter="\t")][:N]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "x.txt"))
        Path(path).write_text("\n".join(questions) + "\n", encoding="utf-8")
        ours = ("-m", "vendiscore", path, "-b")
        theirs = {
            "as they are imported": f"from vendi_score import text_utils\n{ALGORITHM}",
            "with no more imports than needed": ALGORITHM,
        }
        for name, code in theirs.items():
            agree(float(run(*ours)), float(run("-c", code, path)), rtol=1e-9)
            rows.append(
                compare(
                    f"n-grams of {N:,} texts from a file, {name}",
                    lambda: run(*ours),
                    lambda code=code: run("-c", code, path),
                    options.repeats,
                    n=N,
                )
            )
    beside = {name: alone(code, options.repeats) for name, code in PROCESSES.items()}
    for name, seconds in beside.items():
        print(f"{name:<64} {seconds:8.4f} s", flush=True)
    rows += [{"name": name, "seconds": seconds} for name, seconds in beside.items()]
    write(options.json, rows, environment("vendi-score", "nltk", "scikit-learn", "torch"))


if __name__ == "__main__":
    main()
