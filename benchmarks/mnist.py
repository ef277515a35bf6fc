"""VS of the MNIST test digits under `pixels`: the published table, and the time of vendi_score.

The peer's route is the one of its README: `get_pixel_vectors` of PIL images, then `score_dual`.
Both get the same list of PIL images, in turn, in one process; `array` is ours given the (n, 28, 28)
array instead. The scores must agree before anything is timed.

    python benchmarks/mnist.py --data mnist_test.npz --json mnist.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from PIL import Image
from vendi_score import image_utils, vendi

from vendiscore import compute

PUBLISHED = [7.68, 5.31, 12.18, 9.97, 11.10, 13.51, 9.06, 9.58, 9.69, 8.56]
RELATIVE = 1e-8  # how closely the scores must agree


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", required=True, help="mnist_test.npz: images, labels")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", help="where to write the numbers")
    arguments = parser.parse_args()
    with np.load(arguments.data) as file:
        images, labels = file["images"], file["labels"]
    setting = {
        "threads": os.environ.get("OMP_NUM_THREADS", f"all of {os.cpu_count()}"),
        "python": platform.python_version(),
        **{p: version(p) for p in ("vendiscore", "vendi-score", "numpy", "scipy", "pillow")},
    }
    print(setting)

    print("| digit | published | ours | images |\n|---|---|---|---|")
    digits = []
    for digit in range(10):
        chosen = images[labels == digit]
        digits.append(compute(chosen, k="pixels")["VS"])
        print(f"| {digit} | {PUBLISHED[digit]:.2f} | {digits[-1]:.2f} | {len(chosen)} |")
        assert f"{digits[-1]:.2f}" == f"{PUBLISHED[digit]:.2f}"

    pictures = [Image.fromarray(image) for image in images]
    ways: dict[str, Callable[[], float]] = {
        "vendi_score": lambda: float(vendi.score_dual(image_utils.get_pixel_vectors(pictures))),
        "vendiscore": lambda: compute(pictures, k="pixels")["VS"],
        "vendiscore, array": lambda: compute(images, k="pixels")["VS"],
    }
    scores = {name: way() for name, way in ways.items()}  # also warms up
    for name, score in scores.items():
        assert abs(score / scores["vendi_score"] - 1) < RELATIVE, (name, scores)
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(arguments.repeats):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - start)

    n, size = len(images), 32
    print(
        f"{n} digits resized to {size} × {size} ({images.dtype} in, d = {size**2}), VS = "
        f"{scores['vendiscore']:.6f}; {arguments.repeats} repeats"
    )
    print("| route | median s | least s | times as fast as vendi_score (median of pairs) |")
    print("|---|---|---|---|")
    ratios = {}
    for name, times in seconds.items():
        ratios[name] = statistics.median(
            a / b for a, b in zip(seconds["vendi_score"], times, strict=True)
        )
        median = statistics.median(times)
        print(f"| {name} | {median:.3f} | {min(times):.3f} | {ratios[name]:.2f} |")
    if arguments.json:
        result = {"digits": digits, "scores": scores, "seconds": seconds, "ratios": ratios}
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"n": n, "d": size**2, **setting, **result}, file, indent=1)


if __name__ == "__main__":
    main()
