"""VS of the ten kinds of MNIST test digits: the README of vertaix/Vendi-Score.

All test images of a digit, brought to 32 × 32, cosine similarity of the pixels. The README prints
two columns, pixels and Inception features; the second needs weights that are not downloaded. As a
null, as many images of all digits, which have to score more than any one digit. Its notebooks
score CIFAR-100, MultiNLI and MOSES, none of which is at hand.
"""

from pathlib import Path

import numpy as np
from findings import Finding, Group, cannot, claim, number, run

from vendiscore import compute

PIXELS = ("7.68", "5.31", "12.18", "9.97", "11.10", "13.51", "9.06", "9.58", "9.69", "8.56")
INCEPTION = ("3.45", "3.50", "3.62", "2.97", "3.75", "3.16", "3.63", "4.07", "3.74", "3.43")

GROUP = Group(
    name="digits",
    title="The ten MNIST digits",
    source="README of vertaix/Vendi-Score, “Images”",
    method="All 10,000 images of the test split by digit, 32 × 32 pixels, cosine similarity, order "
    "1. Nothing is drawn; the numbers have no error.",
    needs=("mnist_test.npz",),
    packages=("pillow",),
)


def findings(data: Path) -> list[Finding]:
    with np.load(data / "mnist_test.npz") as file:
        images, labels = file["images"], file["labels"]
    scores = [compute(images[labels == digit], k="pixels")["VS"] for digit in range(10)]
    rows = [number(f"pixels, {digit}", paper, scores[digit]) for digit, paper in enumerate(PIXELS)]
    some = np.random.default_rng(0).choice(len(images), len(images) // 10, replace=False)
    mixed = compute(images[some], k="pixels")["VS"]
    raw = [compute(images[labels == digit], k="pixels", size=None)["VS"] for digit in range(10)]
    off = max(abs(a - float(b)) for a, b in zip(raw, PIXELS, strict=True))
    rows.append(
        claim(
            "the most diverse digit is 5, the least 1",
            "13.51, 5.31",
            (int(np.argmax(scores)), int(np.argmin(scores))) == (5, 1) and mixed > max(scores),
            f"5 and 1; 1,000 images of all digits have {mixed:.2f}; without bringing images to "
            f"32 × 32 the numbers are up to {off:.2f} off",
        )
    )
    rows.append(
        cannot(
            "Inception features, 0 to 9",
            ", ".join(INCEPTION),
            "needs the weights of Inception v3, which are not downloaded here; the README's code "
            "also feeds them images without the normalisation that they expect",
        )
    )
    return rows


if __name__ == "__main__":
    run(GROUP, findings)
