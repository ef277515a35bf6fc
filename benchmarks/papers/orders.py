"""Orders of the Vendi Score on known classes: Pasarkar & Dieng, arXiv 2310.12952, Figure 1.

In the synthetic setting of the paper, samples are identical within a class and different between
classes (similarity 1 and 0), so the score is the Hill number of the proportions of classes. The
claims: for balanced sets, every order gives the number of classes. For imbalanced sets, orders
below 1 detect a rare class that hardly affects order 1 (about 3 of 4 classes), order ∞ depends only
on the most common class, and scores decrease with the order. The paper does not state the
proportions. Null cases, in which these effects must not occur, are a fourth class as common as the
others, and members of a class that differ slightly, in which case order 0 counts samples.
"""

from pathlib import Path

import numpy as np
from findings import Finding, Group, claim, run

from vendiscore import compute

ORDERS: tuple[float | str, ...] = (0, 0.1, 0.5, 1, 1.5, 2, 5, "inf")
COMMON, RARE = 330, 10  # three classes of 330, and a rare one of 10 (1 %)
MAX_CLASSES = 20

GROUP = Group(
    name="orders",
    title="What different orders of the Vendi Score measure",
    source="Pasarkar & Dieng, arXiv 2310.12952, Figure 1",
    method=f"Samples of known classes, similarity 1 within a class and 0 between: balanced sets of "
    f"1 to {MAX_CLASSES} classes, and three classes of {COMMON} samples beside a rare one of "
    f"{RARE}. "
    "Orders 0, 0.1, 0.5, 1, 1.5, 2, 5 and ∞; nothing is drawn. The "
    "paper leaves the shares open.",
    agrees=(
        "At every order, the score is the number of balanced classes. Small orders detect "
        "rare classes whose members are similar."
    ),
)


def scores(sizes: list[int]) -> np.ndarray:
    labels = [f"class {i}" for i, size in enumerate(sizes) for _ in range(size)]
    return np.array(list(compute(labels, k="labels", q=list(ORDERS)).values()))


def hill_number(sizes: list[int], q: float | str) -> float:
    """Return the Hill number of the proportions of classes, from its definition."""
    p = np.array(sizes) / sum(sizes)
    if q == "inf":
        return 1 / p.max()
    if q == 1:
        return float(np.exp(-(p * np.log(p)).sum()))
    return float((p ** float(q)).sum() ** (1 / (1 - float(q))))


def format_values(values: np.ndarray, digits: int = 2) -> str:
    labelled = (
        ("∞" if q == "inf" else f"{q:g}", value) for q, value in zip(ORDERS, values, strict=True)
    )
    return ", ".join(f"{value:.{digits}f} at {q}" for q, value in labelled)


def findings(data: Path) -> list[Finding]:
    """Check how scores of several orders depend on the number and proportions of classes."""
    index_of_order = {q: i for i, q in enumerate(ORDERS)}
    max_error = max(np.abs(scores([5] * c) / c - 1).max() for c in range(1, MAX_CLASSES + 1))
    doubled = scores([10, 5, 5, 5])
    before, after = scores([COMMON] * 3), scores([COMMON] * 3 + [RARE])
    rise = after / before - 1
    fourth = scores([COMMON] * 4) / before - 1
    truth = np.array([hill_number([COMMON] * 3 + [RARE], q) for q in ORDERS])
    scores_at_small_order = [scores([990 - r, r])[index_of_order[0.1]] for r in (1, 10, 100)]
    half_in_one_class = [
        scores(sizes) for sizes in ([500, 250, 250], [500, 490, 10], [500] + [5] * 100)
    ]
    last = [values[index_of_order["inf"]] for values in half_in_one_class]
    first = [values[index_of_order[1]] for values in half_in_one_class]
    return [
        claim(
            f"balanced, 1 to {MAX_CLASSES} classes: every order gives their number",
            "yes",
            bool(max_error < 1e-9 and np.ptp(doubled) > 1),
            f"largest relative difference {max_error:.0e}; with one of four classes twice as large "
            f"{format_values(doubled)}",
        ),
        claim(
            "a rare fourth class: order 1 stays near 3",
            "≈ 3 with 4 classes",
            bool(abs(after[index_of_order[1]] - 3) < 0.5),
            f"{before[index_of_order[1]]:.2f} before, {after[index_of_order[1]]:.3f} with it; "
            f"{scores([COMMON] * 4)[index_of_order[1]]:.2f} if it is as common as the others",
        ),
        claim(
            "smaller orders are more sensitive to the rare class",
            "yes",
            bool((np.diff(rise) < 0).all() and np.ptp(fourth) < 1e-9),
            f"it raises the score by {format_rises(rise)}; a fourth class as common raises all "
            "orders "
            f"by {100 * fourth.mean():.0f} %",
        ),
        claim(
            "orders below 1 come near the number of classes",
            "yes",
            bool(np.abs(after[index_of_order[0.1]] - 4) < 0.4),
            f"of 4: {format_values(after)}; at 0.1, {scores_at_small_order[0]:.2f}, "
            f"{scores_at_small_order[1]:.2f} and {scores_at_small_order[2]:.2f} of 2 "
            "for 1, 10 and 100 of 990",
        ),
        claim(
            "the score never rises with the order",
            "yes",
            bool((np.diff(after) <= 0).all() and (np.diff(doubled) <= 0).all()),
            f"and is the Hill number to {np.abs(after / truth - 1).max():.0e}",
        ),
        claim(
            "order ∞ depends on the largest class alone",
            "yes",
            bool(np.ptp(last) < 1e-9 < 1 < np.ptp(first)),
            f"{last[0]:.3f} three times with half of the samples in one class, whatever the other "
            f"half; order 1: {first[0]:.2f}, {first[1]:.2f}, {first[2]:.2f}",
        ),
        check_similar_members(),
    ]


def format_rises(rise: np.ndarray) -> str:
    labelled = zip(ORDERS, rise, strict=True)
    return ", ".join(f"{100 * r:.1f} % at {'∞' if q == 'inf' else f'{q:g}'}" for q, r in labelled)


def check_similar_members() -> Finding:
    """Compare how much a rare class increases scores, if members of a class are less and less
    similar.
    """
    rises = {}
    for similarity in (1.0, 0.9, 0.5):
        scores_by_sizes = []
        for sizes in ([COMMON // 3] * 3, [COMMON // 3] * 3 + [RARE // 3]):
            class_codes = np.repeat(np.arange(len(sizes)), sizes)
            K = np.where(class_codes[:, None] == class_codes, similarity, 0.0)
            np.fill_diagonal(K, 1)
            result = compute(K, score_K=True, q=[0.1, 0.5, 1])
            scores_by_sizes.append(list(result.values()))
        scores_without_rare, scores_with_rare = scores_by_sizes
        rises[similarity] = 100 * (np.divide(scores_with_rare, scores_without_rare) - 1)
    text = "; ".join(
        f"similarity {similarity:g} within a class: "
        + ", ".join(f"{rise:.1f} %" for rise in percentages)
        for similarity, percentages in rises.items()
    )
    return claim(
        "small orders see a rare class where members of a class are alike",
        "only there",
        bool(rises[1.0][0] > rises[1.0][2] and rises[0.5][0] < rises[0.5][2]),
        f"it raises orders 0.1, 0.5 and 1 as follows: {text}",
    )


if __name__ == "__main__":
    run(GROUP, findings)
