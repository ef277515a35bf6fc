"""Mode dropping on MNIST pixels: Limbeck et al., arXiv 2311.16054, Figure 5.

The references contain 100 images of each digit. The samples are other images; they lose the nine
digits other than the most common one, either one after another or all at once by a ninth per step,
and images of the remaining digit replace them. Both schedules lose the same number of samples at
each step. MagDiff should decrease equally, whereas recall and coverage (k nearest neighbours, arXiv
2002.09797) should hardly detect modes that become rare. Figure S.15 also shows VS, without values.
The script checks the claim of Figure 5 also for VS with cosines of pixels, and for the magnitude at
half of the convergence scale of the references. Distances are Euclidean distances of pixels.
"""

from pathlib import Path

import numpy as np
from findings import Finding, Group, claim, run
from sklearn.metrics import euclidean_distances

from vendiscore import compute
from vendiscore.magnitude.area import mag_diff
from vendiscore.magnitude.magnitude_functions import convergence_scale, magnitude
from vendiscore.magnitude.metric_space_builder import as_space

STEPS = 9
KEPT_DIGIT = 1  # the digit with more than 1,100 images
DRAWS, IMAGES_PER_DIGIT, NEIGHBOURS = 20, 100, 5
MEASURES = ("MagDiff", "Mag(0.5 t_ref)", "VS", "recall", "coverage")
MAX_EQUAL_GAP = 0.1  # smaller gaps count as equal; recall and coverage have much larger ones

GROUP = Group(
    name="magnitude_mode_dropping",
    title="Modes dropped one by one and all at once",
    source="Limbeck et al., arXiv 2311.16054, Figures 5 and S.15",
    method=f"References: {IMAGES_PER_DIGIT} MNIST test digits of each kind; samples lose nine "
    "kinds in "
    f"{STEPS} steps, one after another or all at once, {DRAWS} draws. Pixels, Euclidean "
    f"distances, cosines for VS; recall and coverage have {NEIGHBOURS} neighbours. The gap is the "
    "largest distance between the two ways' means, as a share of the whole fall; 0 is alike.",
    agrees=(
        "MagDiff decreases equally if modes are dropped one by one or all at once, and so "
        "does VS. Recall and coverage do not."
    ),
    needs=("mnist_test.npz",),
    packages=("scikit-learn",),
)


def draw_indices(
    labels: np.ndarray, per_digit: int, rng: np.random.Generator
) -> tuple[np.ndarray, dict[str, list[np.ndarray]]]:
    """Draw indices of the references, and of the samples at each step of both schedules."""
    order = {c: rng.permutation(np.flatnonzero(labels == c)) for c in range(10)}
    references = np.concatenate([order[c][:per_digit] for c in range(10)])
    pool = {c: order[c][per_digit:] for c in range(10)}
    dropped = [c for c in range(10) if c != KEPT_DIGIT]
    indices_by_schedule: dict[str, list[np.ndarray]] = {"sequential": [], "simultaneous": []}
    for step in range(STEPS + 1):
        counts = {
            "sequential": {c: per_digit * (i >= step) for i, c in enumerate(dropped)},
            "simultaneous": {c: round(per_digit * (1 - step / STEPS)) for c in dropped},
        }
        for schedule, count in counts.items():
            count[KEPT_DIGIT] = 10 * per_digit - sum(count.values())
            indices_by_schedule[schedule].append(
                np.concatenate([pool[c][:m] for c, m in count.items()])
            )
    return references, indices_by_schedule


def recall_and_coverage(real: np.ndarray, fake: np.ndarray, k: int) -> tuple[float, float]:
    """Return two proportions of the real samples: recall and coverage.

    Recall counts real samples inside the k-NN ball of at least one fake sample. Coverage counts
    real samples whose own k-NN ball contains a fake sample.
    """
    across = euclidean_distances(real, fake)
    radii = [np.partition(euclidean_distances(S), k, axis=1)[:, k] for S in (real, fake)]
    recall = (across <= radii[1][None, :]).any(axis=1).mean()
    coverage = (across.min(axis=1) <= radii[0]).mean()
    return float(recall), float(coverage)


def compute_curves(images: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return all measures at each step, shape (draws, schedules, steps, measures).

    The schedules are those of `draw_indices`: modes are dropped sequentially or simultaneously.
    """
    result = np.empty((DRAWS, 2, STEPS + 1, len(MEASURES)))  # step 0 is before any drop
    for i in range(DRAWS):
        references, indices_by_schedule = draw_indices(
            labels, IMAGES_PER_DIGIT, np.random.default_rng(i)
        )
        real = images[references]
        space = as_space(real)
        t_cut = convergence_scale(space)
        for schedule, indices_by_step in enumerate(indices_by_schedule.values()):
            for step, indices in enumerate(indices_by_step):
                fake = images[indices]
                difference = mag_diff(fake, space, t_cut=t_cut, relative=True)
                result[i, schedule, step] = (
                    difference,
                    magnitude(fake, t=t_cut / 2),
                    compute(fake, k="cosine")["VS"],
                    *recall_and_coverage(real, fake, NEIGHBOURS),
                )
    return result


def compute_gaps(values: np.ndarray) -> np.ndarray:
    """Return, for each measure, the largest distance between both schedules relative to the total
    decrease.
    """
    means = values.mean(axis=0)
    fall = np.abs(means[:, 0] - means[:, -1]).max(axis=0)
    return np.abs(means[0] - means[1]).max(axis=0) / fall


def findings(data: Path) -> list[Finding]:
    """Check how measures change while nine of ten digits disappear from the samples."""
    with np.load(data / "mnist_test.npz") as arrays:
        images = arrays["images"].reshape(len(arrays["labels"]), -1) / 255.0
        labels = arrays["labels"]
    result = compute_curves(images, labels)
    gap = dict(zip(MEASURES, compute_gaps(result), strict=True))
    gaps_without_each = [compute_gaps(np.delete(result, i, axis=0)) for i in range(DRAWS)]
    error = dict(zip(MEASURES, np.std(gaps_without_each, axis=0) * (DRAWS - 1) ** 0.5, strict=True))
    gap_texts = {name: f"gap {gap[name]:.3f} ± {error[name]:.3f}" for name in MEASURES}
    steps = np.diff(result[..., 0].mean(axis=0), axis=1)
    first, last = result[:, :, 0, 0].mean(), result[:, :, -1, 0].mean()
    thin = result[:, 1, -2].mean(axis=0)  # nine digits have a ninth of their images left
    rows = [
        claim(
            "MagDiff decreases equally if modes are dropped one by one or all at once",
            "yes",
            gap["MagDiff"] < MAX_EQUAL_GAP,
            f"{gap_texts['MagDiff']}; from {first:.3f} with nothing dropped to {last:.2f}",
        ),
        claim(
            "MagDiff decreases at every step, if modes are dropped one by one or all at once",
            "yes",
            bool((steps < 0).all()),
            f"{int((steps < 0).sum())} of {steps.size} steps",
        ),
    ]
    for m, name in enumerate(MEASURES[1:3], start=1):
        falls = np.diff(result[..., m].mean(axis=0), axis=1) < 0
        first, last = result[:, :, 0, m].mean(), result[:, :, -1, m].mean()
        rows.append(
            claim(
                f"{name} decreases equally if modes are dropped one by one or all at once",
                "this claim, but about MagDiff",
                gap[name] < MAX_EQUAL_GAP and bool(falls.all()),
                f"{gap_texts[name]}; from {first:.1f} with nothing dropped to {last:.1f}, in "
                f"{int(falls.sum())} of {falls.size} steps",
                why="mean curves of both schedules, as fractions of the total decrease, differ by "
                f"up to {gap[name]:.2f}; those of MagDiff by {gap['MagDiff']:.2f}, and those of "
                f"recall by {gap['recall']:.3f}; the mean of {name} decreases in "
                f"{int(falls.sum())} of {falls.size} steps",
            )
        )
    for m, name in enumerate(MEASURES[3:], start=3):
        fraction = (result[:, 1, 0, m].mean() - thin[m]) / (
            result[:, 1, 0, m].mean() - result[:, 1, -1, m].mean()
        )
        rows.append(
            claim(
                f"{name} depends on how modes are dropped",
                "yes",
                gap[name] > 0.2 and gap[name] > 3 * gap["MagDiff"],
                f"{gap_texts[name]}; with all kinds thinned to a ninth it has fallen by "
                f"{100 * fraction:.0f} % of its fall",
            )
        )
    return rows


if __name__ == "__main__":
    run(GROUP, findings)
