"""Orders that detect copies among images: Pasarkar & Dieng, arXiv 2310.12952, generative models.

The paper compares scores of images of many generative models with human ratings and with measures
of memorised and duplicated images, and recommends order ∞ for them. Neither images nor ratings are
available here. Copies with little noise replace some of 500 MNIST digits: copies of one image, as
if a model has memorised it, or one copy of each of several images, as if samples are duplicated. An
order detects the copies if its score decreases by more than the standard deviation of scores of
sets without copies. As a null case, new digits replace the same number of digits.
"""

from pathlib import Path
from typing import Any

import numpy as np
from findings import Finding, Group, claim, run

from vendiscore import compute

ORDERS: tuple[float | str, ...] = (0.1, 0.5, 1, 2, 5, "inf")
SIZE, DRAWS, COPIES = 500, 20, 50
KERNELS = {"cosine": {"k": "cosine"}, "RBF of σ = 5": {"k": "rbf", "sigma": 5.0}}

GROUP = Group(
    name="memorised",
    title="Copies among images, by order",
    source="Pasarkar & Dieng, arXiv 2310.12952, experiments on generative models",
    method=f"{SIZE} MNIST digits; {COPIES} of them are copies with noise, either all of one digit "
    f"or each of another digit; {DRAWS} draws. Decreases of the mean of log VS are in standard "
    "deviations of log VS of sets without copies. Images of generative models and human ratings "
    "are not available.",
    agrees="New digits instead of copies do not change the score at any order.",
    needs=("mnist_test.npz",),
)


def compute_falls(
    images: np.ndarray, kernel_options: dict[str, object]
) -> tuple[dict[str, Any], dict[str, float]]:
    """Return how far log VS decreases at each order, in standard deviations, and the largest
    eigenvalue of K/n. Both are given for each type of replacements.
    """
    logs: dict[str, list[np.ndarray]] = {}
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        X, new_images = np.split(
            images[rng.choice(len(images), SIZE + COPIES, replace=False)], [SIZE]
        )
        retained = X[: SIZE - COPIES]
        noise = rng.normal(0, 0.05, new_images.shape)
        for kind, replacements in (
            ("none", X[SIZE - COPIES :]),
            ("one", retained[:1] + noise),
            ("each", retained[:COPIES] + noise),
            ("new", new_images),
        ):
            images_of_set = np.concatenate([retained, np.clip(replacements, 0, 1)])
            result = compute(images_of_set, q=list(ORDERS), **kernel_options)
            logs.setdefault(kind, []).append(np.log(list(result.values())))
    largest = {
        kind: float(np.exp(-np.array(log_scores)[:, -1]).mean())
        for kind, log_scores in logs.items()
    }
    none = np.array(logs.pop("none"))
    fall = {
        kind: (none.mean(0) - np.mean(log_scores, axis=0)) / none.std(axis=0, ddof=1)
        for kind, log_scores in logs.items()
    }
    return fall, largest


def findings(data: Path) -> list[Finding]:
    """Check which orders decrease most if images are replaced by copies."""
    with np.load(data / "mnist_test.npz") as file:
        images = file["images"].reshape(len(file["images"]), -1) / 255
    result = []
    for name, kernel_options in KERNELS.items():
        fall, largest = compute_falls(images, kernel_options)

        def listed(kind: str, fall: dict[str, np.ndarray] = fall) -> str:
            return ", ".join(
                f"{value:.1f} at {'∞' if q == 'inf' else f'{q:g}'}"
                for q, value in zip(ORDERS, fall[kind], strict=True)
            )

        for kind, label in (
            ("one", f"{COPIES} copies of one image"),
            ("each", f"one copy of each of {COPIES} images"),
        ):
            result.append(
                claim(
                    f"{label}, {name}: decrease of the score",
                    "order ∞ agrees best with measures of memorised and duplicated images",
                    int(np.argmax(fall[kind])) == len(ORDERS) - 1,
                    listed(kind),
                    why="order ∞ depends only on the largest eigenvalue, which is "
                    f"{100 * largest['none']:.2f} % of the sum without copies and "
                    f"{100 * largest[kind]:.2f} % with copies; log VS decreases by "
                    f"{fall[kind][-1]:.1f} standard deviations, and at order "
                    f"{ORDERS[int(np.argmax(fall[kind]))]} by {fall[kind].max():.1f}",
                )
            )
        result.append(
            claim(
                f"null: new digits instead of copies, {name}",
                "no decrease",
                bool(np.abs(fall["new"]).max() < 1),
                listed("new"),
            )
        )
    return result


if __name__ == "__main__":
    run(GROUP, findings)
