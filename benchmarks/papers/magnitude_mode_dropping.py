"""Mode dropping on MNIST pixels: Limbeck et al., arXiv 2311.16054, Figure 5.

References have 100 images of each digit. Samples, other images, lose the nine digits other than
the commonest either one after another or all at once, a ninth at a time; images of the one that
stays take their places. Both ways lose the same number of samples at each step, and MagDiff falls
alike; recall and coverage (k nearest neighbours, arXiv 2002.09797) hardly see modes that get thin.

python benchmarks/papers/magnitude_mode_dropping.py mnist_test.npz --json …/mode_dropping.json
"""

import argparse
import time
from pathlib import Path

import numpy as np
from common import write
from sklearn.metrics import euclidean_distances

from vendiscore.magnitude.area import mag_diff
from vendiscore.magnitude.distances import as_space
from vendiscore.magnitude.function import convergence_scale

STEPS = 9
KEPT = 1  # the digit with more than 1,100 images


def draw(
    labels: np.ndarray, each: int, rng: np.random.Generator
) -> tuple[np.ndarray, dict[str, list[np.ndarray]]]:
    """Indices of the references, and of the samples at each step of both ways of dropping."""
    order = {c: rng.permutation(np.flatnonzero(labels == c)) for c in range(10)}
    references = np.concatenate([order[c][:each] for c in range(10)])
    pool = {c: order[c][each:] for c in range(10)}
    dropped = [c for c in range(10) if c != KEPT]
    ways: dict[str, list[np.ndarray]] = {"sequential": [], "simultaneous": []}
    for step in range(STEPS + 1):
        counts = {
            "sequential": {c: each * (i >= step) for i, c in enumerate(dropped)},
            "simultaneous": {c: round(each * (1 - step / STEPS)) for c in dropped},
        }
        for way, count in counts.items():
            count[KEPT] = 10 * each - sum(count.values())
            ways[way].append(np.concatenate([pool[c][:m] for c, m in count.items()]))
    return references, ways


def recall_and_coverage(real: np.ndarray, fake: np.ndarray, k: int) -> tuple[float, float]:
    """Shares of real samples within a fake's k-NN ball, and with a fake in their own."""
    across = euclidean_distances(real, fake)
    radii = [np.partition(euclidean_distances(S), k, axis=1)[:, k] for S in (real, fake)]
    recall = (across <= radii[1][None, :]).any(axis=1).mean()
    coverage = (across.min(axis=1) <= radii[0]).mean()
    return float(recall), float(coverage)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mnist", type=Path, help="images and labels of the MNIST test split")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--each", type=int, default=100)
    parser.add_argument("--k", type=int, default=5)
    options = parser.parse_args()
    with np.load(options.mnist) as arrays:
        images = arrays["images"].reshape(len(arrays["labels"]), -1) / 255.0
        labels = arrays["labels"]
    start = time.perf_counter()
    measures = ("MagDiff", "recall", "coverage")
    found = np.empty((options.draws, 2, STEPS + 1, len(measures)))
    for i in range(options.draws):
        references, ways = draw(labels, options.each, np.random.default_rng(i))
        real = images[references]
        space = as_space(real)
        t_cut = convergence_scale(space)
        for w, sets in enumerate(ways.values()):
            for step, index in enumerate(sets):
                fake = images[index]
                difference = mag_diff(fake, space, t_cut=t_cut, relative=True)
                found[i, w, step] = difference, *recall_and_coverage(real, fake, options.k)
    seconds = time.perf_counter() - start
    print(f"{options.draws} draws, {options.each} images a digit, {seconds:.0f} s; means by step")
    rows = []
    for m, name in enumerate(measures):
        for w, way in enumerate(("sequential", "simultaneous")):
            mean, std = found[:, w, :, m].mean(axis=0), found[:, w, :, m].std(axis=0)
            rows.append({"name": name, "way": way, "mean": list(mean), "std": list(std)})
            print(f"{name:<9}{way:<13}" + " ".join(f"{value:7.3f}" for value in mean))
        # How far from a straight fall, as a share of it: 0 is alike for every sample dropped.
        means = found[:, :, :, m].mean(axis=0)
        fall = means[:, :1] - means[:, -1:]
        gap = np.abs(means[0] - means[1]).max() / np.abs(fall).max()
        print(f"{name:<9}largest gap between the two ways, as a share of the fall: {gap:.2f}")
        rows.append({"name": name, "largest_gap": gap})
    write(options.json, rows, draws=options.draws, each=options.each, k=options.k, seconds=seconds)


if __name__ == "__main__":
    main()
