"""Modes from the probabilities of a classifier: Friedman & Dieng, arXiv 2210.02410, Table 1.

See also §4.3 and §8.1. Stacked MNIST has three digits in three channels, so 1,000 classes, whose
probabilities are products of those of a digit classifier for each channel. The number of modes
(NOM) counts predicted classes, mode diversity is exp(H) of the mean probabilities, and VS uses the
probability product kernel Σ √(p(y|x) p(y|x')).

The generators and the classifier of the paper are not available here. A classifier is trained on
one half of MNIST's test digits; digits of the other half are the original data. Two substitutes for
generators have every mode: mixtures of two digits, whose classes are less certain, and digits with
unequal frequencies. Null cases are another draw of the same digits, and probabilities that are
rounded to classes.
"""

from pathlib import Path

import numpy as np
from findings import Finding, Group, claim, compare_number, run
from sklearn.neural_network import MLPClassifier

from vendiscore import compute

SIZE = 10_000  # number of images of a set, as in the paper
DRAWS = 20

GROUP = Group(
    name="class_probabilities",
    title="Modes by a classifier's probabilities",
    source="Friedman & Dieng, arXiv 2210.02410, §4.3, §8.1 and Table 1",
    method=f"{SIZE:,} stacked images a set, of three MNIST test digits each; a network of 100 "
    "units trained on 5,000 other test digits. The generators and the classifier of the paper are "
    "not available; mixed digits and digits of uneven frequency are used instead of generators.",
    agrees=(
        "Sets that contain every mode differ in VS. That VS is smaller than mode diversity is "
        "a theorem, which holds for any set."
    ),
    needs=("mnist_test.npz",),
    packages=("scikit-learn",),
)


def multiply_channels(probabilities: np.ndarray) -> np.ndarray:
    """Return the probabilities of 1,000 classes for n images, shape (n, 1000).

    They are products of the probabilities of ten digits in three channels, shape (n, 3, 10).
    """
    first, second, third = (probabilities[:, c] for c in range(3))
    return np.einsum("ni,nj,nk->nijk", first, second, third).reshape(len(first), -1)


def compute_scores(p: np.ndarray) -> tuple[int, float, float]:
    """Return the number of modes, the mode diversity, and VS with the probability product
    kernel.
    """
    modes = len(np.unique(p.argmax(axis=1)))
    return modes, exp_entropy(p.mean(axis=0)), compute(np.sqrt(p), score_dual=True)["VS"]


def exp_entropy(p: np.ndarray) -> float:
    p = p[p > 0] / p.sum()
    return float(np.exp(-(p * np.log(p)).sum()))


def format_scores(scores: tuple[int, float, float]) -> str:
    return f"{scores[0]} modes, mode diversity {scores[1]:.1f}, VS {scores[2]:.1f}"


def findings(data: Path) -> list[Finding]:
    """Check how VS of class probabilities depends on missing and repeated classes of digits."""
    with np.load(data / "mnist_test.npz") as arrays:
        images = arrays["images"].reshape(len(arrays["labels"]), -1) / 255.0
        labels = arrays["labels"].astype(int)
    order = np.random.default_rng(0).permutation(len(labels))
    training_indices, test_indices = order[:5000], order[5000:]
    network = MLPClassifier(100, random_state=0, max_iter=60, early_stopping=True)
    network.fit(images[training_indices], labels[training_indices])
    right = network.score(images[test_indices], labels[test_indices])

    rng = np.random.default_rng(1)
    indices_by_digit = [test_indices[labels[test_indices] == c] for c in range(10)]

    def draw_images(kind: np.ndarray) -> np.ndarray:
        return np.array([rng.choice(indices_by_digit[c]) for c in kind.ravel()]).reshape(kind.shape)

    def class_probabilities(pixels: np.ndarray) -> np.ndarray:
        return multiply_channels(network.predict_proba(pixels.reshape(-1, 784)).reshape(-1, 3, 10))

    labels_even = rng.integers(10, size=(SIZE, 3))
    shifted = (labels_even + rng.integers(1, 10, size=labels_even.shape)) % 10
    frequencies = np.linspace(2, 1, 10)
    uneven = rng.choice(10, size=(SIZE, 3), p=frequencies / frequencies.sum())
    digits, partners = images[draw_images(labels_even)], images[draw_images(shifted)]
    p = {
        "the original": class_probabilities(digits),
        "drawn again": class_probabilities(images[draw_images(rng.integers(10, size=(SIZE, 3)))]),
        "mixed digits": class_probabilities(0.7 * digits + 0.3 * partners),
        "uneven frequencies": class_probabilities(images[draw_images(uneven)]),
    }
    result = {name: compute_scores(probabilities) for name, probabilities in p.items()}
    original, redrawn, mixed, rare = result.values()
    sharp = compute_scores(np.eye(1000)[p["mixed digits"].argmax(axis=1)])

    counts = [np.bincount(rng.integers(1000, size=SIZE), minlength=1000) for _ in range(DRAWS)]
    labelled = np.array([exp_entropy(count / SIZE) for count in counts])

    few_probabilities = network.predict_proba(images[test_indices[:300]]).reshape(100, 3, 10)
    kernels = [
        np.sqrt(few_probabilities[:, c]) @ np.sqrt(few_probabilities[:, c]).T for c in range(3)
    ]
    joint = (
        np.sqrt(multiply_channels(few_probabilities))
        @ np.sqrt(multiply_channels(few_probabilities)).T
    )
    product_error = float(np.abs(joint - kernels[0] * kernels[1] * kernels[2]).max())
    mean_error = float(np.abs(joint - sum(kernels) / 3).max())

    gaps = []
    for _ in range(DRAWS):
        sets = rng.dirichlet(np.full(12, rng.choice([0.05, 0.3, 2.0])), size=200)
        _, diversity, vs = compute_scores(sets)
        gaps.append(vs / diversity)
    return [
        compare_number(
            "the original: mode diversity, of a draw of its labels",
            "950.8",
            labelled.mean(),
            labelled.std(ddof=1),
        ),
        compare_number(
            "the original: VS",
            "943.7",
            original[2],
            why="VS depends on how certain the classifier is: ours, which was trained with 5,000 "
            f"digits and is right for {100 * right:.1f} %, gives {original[2]:.1f}; its predicted "
            "classes without their probabilities give "
            f"{score_predicted_classes(p['the original']):.1f}",
        ),
        claim(
            "products of class probabilities (§8.1): their kernel",
            "the tensor product of three probability vectors",
            product_error < 1e-12 < 1e-3 < mean_error,
            f"is the product of the channels' kernels, to {product_error:.0e}; their mean is up to "
            f"{mean_error:.2f} off",
        ),
        claim(
            "sets with all 1000 modes",
            "the number of modes is the same, VS tells them apart and is highest for the original",
            original[0] == mixed[0] == rare[0] == 1000
            and max(mixed[2], rare[2]) < 0.97 * original[2]
            and abs(redrawn[2] / original[2] - 1) < 0.01,
            "; ".join(
                f"{name}: {format_scores(probabilities)}" for name, probabilities in result.items()
            ),
            why="; ".join(
                f"{name}: {format_scores(probabilities)}" for name, probabilities in result.items()
            ),
        ),
        claim(
            "generators score lower on VS than on mode diversity",
            "so low scores are not wholly a matter of uneven modes",
            mixed[2] < mixed[1] and max(gaps) <= 1 + 1e-12 and abs(sharp[2] / sharp[1] - 1) < 1e-9,
            f"mixed digits: VS {mixed[2]:.1f}, mode diversity {mixed[1]:.1f}. It holds of every "
            f"set ({DRAWS} random ones: {min(gaps):.2f} to {max(gaps):.2f} of it), as mode "
            "diversity is exp(H) of a diagonal of which VS has the eigenvalues (Schur–Horn): the "
            f"gap is the classifier's doubt, and without probabilities it is 0 ({sharp[2]:.1f} "
            f"and {sharp[1]:.1f})",
        ),
    ]


def score_predicted_classes(p: np.ndarray) -> float:
    return compute_scores(np.eye(p.shape[1])[p.argmax(axis=1)])[2]


if __name__ == "__main__":
    run(GROUP, findings)
