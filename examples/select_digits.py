"""Sixty digits that differ the most, beside sixty drawn at random.

    python examples/select_digits.py                          # scikit-learn's digits, scores alone
    python examples/select_digits.py mnist_test.npz out.png   # MNIST, and a picture

The file has an array `images` of shape (n, height, width).
"""

import sys
from typing import Any

import numpy as np

from vendiscore import score, select

SIZE, OF = 60, 2000


def images(path: str | None) -> Any:
    if path is None:
        from sklearn.datasets import load_digits

        return load_digits().images
    with np.load(path) as arrays:
        every = arrays["images"]
    return every[np.random.default_rng(0).permutation(len(every))[:OF]]


def draw(sets: dict[str, Any], path: str) -> None:
    """One block of ten columns for each set."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(sets), figsize=(9, 3.1))
    for ax, (name, pictures) in zip(axes, sets.items(), strict=True):
        rows = [np.hstack(list(pictures[i : i + 10])) for i in range(0, len(pictures), 10)]
        ax.imshow(np.vstack(rows), cmap="gray_r")
        ax.set_title(name)
        ax.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main() -> None:
    path, out = [*sys.argv[1:], None, None][:2]
    digits = images(path)
    X = digits.reshape(len(digits), -1).astype(float)
    drawn = np.random.default_rng(0).choice(len(X), SIZE, replace=False)
    found = select(X, SIZE, k="cosine")
    scores = {"drawn at random": score(X[drawn], "cosine"), "selected": found.scores[-1]}
    for name, value in scores.items():
        print(f"{SIZE} digits {name}: Vendi Score {value:.2f}")
    print(f"No {SIZE} of the {len(X)} score more than {found.bound:.2f}.")
    if out:
        sets = {"drawn at random": digits[drawn], "selected": digits[found.places]}
        draw({f"{name}: {scores[name]:.1f}": pictures for name, pictures in sets.items()}, out)


if __name__ == "__main__":
    main()
