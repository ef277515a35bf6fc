"""Published examples of vendi_score, its metric card, its R package, qVS and sentropy.

Each example is small enough to be included here. A printed value that is truncated instead of
rounded, such as "2.9999", is reproduced if our value begins with the same digits. Some examples
would also pass with a wrong order, so each finding shows the value of order 2 for comparison.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from findings import Finding, Group, cannot, claim, compare_number, run

from vendiscore import compute

GROUP = Group(
    name="cards",
    title="Worked examples of published cards and READMEs",
    source="READMEs of Vendi-Score, Vendi-Score-R, Quality-Weighted-Vendi-Score (vertaix) and "
    "sentropy; the metric's card",
    method="Every printed example that needs no model's weights, from the inputs as printed; "
    "beside each what order 2 gives. The first example does not tell orders apart.",
    agrees="All other printed examples are reproduced from the printed inputs.",
    packages=("scikit-learn",),
)

SENTENCES = ["Look, Jane.", "See Spot.", "See Spot run.", "Run, Spot, run.", "Jane sees Spot run."]
BLOCKS = [[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]]
TWINS = [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
NEARLY_TWO = [[100, 0], [99, 1], [1, 99], [0, 100]]
NEEDS_WEIGHTS = "needs a model's weights, which are not downloaded here"


def exponential_similarity(a: float, b: float) -> float:
    return float(np.exp(-abs(a - b)))


def compute_value(q: float | str = 1, **options: object) -> float:
    samples = options.pop("samples")
    return float(next(iter(compute(samples, q=q, **options).values())))


def check_number(what: str, paper: str, why: str = "", **options: object) -> Finding:
    """Compare a value with the printed one, and show the value of order 2."""
    finding = compare_number(what, paper, compute_value(**options), why=why)
    return with_order_2(finding, options)


def check_digits(what: str, paper: str, why: str = "", **options: object) -> Finding:
    """Check whether a value begins with the printed digits, and show the value of order 2."""
    ours = compute_value(**options)
    digits = paper.partition(" ")[0].rstrip("….")
    return with_order_2(
        claim(what, paper, str(ours).startswith(digits), f"{ours:.11g}", why), options
    )


def with_order_2(finding: Finding, options: dict[str, object]) -> Finding:
    numbers = f"{finding.ours} (order 2: {compute_value(2, **options):.10g})"
    return Finding(finding.what, finding.paper, numbers, finding.verdict, finding.why)


def quality_options(samples: list[int]) -> dict[str, object]:
    """Return options for qVS of the example, whose quality is the similarity to the number 2."""
    return {
        "samples": samples,
        "k": exponential_similarity,
        "measures": "qVS",
        "quality": [exponential_similarity(a, 2) for a in samples],
    }


def select_greedily(samples: list[int], size: int, gain: Callable[[list[int]], float]) -> list[int]:
    """Select greedily; among equal gains, the first sample is taken, as in the README."""
    remaining, chosen = list(samples), []
    while len(chosen) < size:
        gains = [gain([*chosen, sample]) for sample in remaining]
        chosen.append(remaining.pop(int(np.argmax(np.round(gains, 12)))))
    return chosen


def findings(data: Path) -> list[Finding]:
    """Compute each published example again, and compare the values with the printed ones."""
    from sklearn.datasets import load_iris

    iris = load_iris().data
    rows = [
        check_digits(
            "vendi_score: [0, 0, 10, 10, 20, 20], exp(−|a − b|)",
            "2.9999 (cut off)",
            samples=[0, 0, 10, 10, 20, 20],
            k=exponential_similarity,
        ),
        check_number(
            "vendi_score: three samples, K₁₂ = 0.9", "2.1573", samples=BLOCKS, score_K=True
        ),
        check_number(
            "vendi_score: five sentences, n-grams of 1 and 2",
            "3.91",
            samples=SENTENCES,
            k="ngram_overlap",
            ns=[1, 2],
        ),
        check_digits(
            "card: five sentences, n-grams of 1 and 2",
            "3.90657…",
            samples=SENTENCES,
            k="ngram_overlap",
            ns=[1, 2],
        ),
        check_digits(
            "card: four rows near two axes, dual",
            "1.9989…",
            "a digit 9 is missing in the printed number: the eigenvalues of XᵀX / 4 by NumPy also "
            f"give {score_by_numpy(NEARLY_TWO):.9f}",
            samples=NEARLY_TWO,
            score_dual=True,
            normalize=True,
        ),
        check_number(
            "Vendi-Score-R: iris, exp(−0.1 |a − b|²)",
            "3.169735",
            samples=iris,
            k="rbf",
            sigma=5**0.5,
        ),
        check_number("Vendi-Score-R: iris, cosine", "1.20783", samples=iris, k="cosine"),
        check_number(
            "Vendi-Score-R: three samples, two the same", "1.88988", samples=TWINS, score_K=True
        ),
        check_number(
            "qVS: [0, 0, 2], quality exp(−|a − 2|)",
            "0.793705659274703",
            **quality_options([0, 0, 2]),
        ),
    ]
    chosen = select_greedily(
        [0, 0, 2, 2, 4, 4], 3, lambda subset: compute_value(**quality_options(subset))
    )
    rows.append(
        claim(
            "qVS: the greedy three of [0, 0, 2, 2, 4, 4]",
            "[2, 0, 2]",
            chosen == [2, 0, 2],
            str(chosen),
        )
    )
    rows.append(
        check_number(
            "qVS: the score of those three",
            "1.2551553872451062",
            "the printed number is the score of the last candidate, [2, 0, 4], which is "
            f"{compute_value(**quality_options([2, 0, 4])):.10f} here too; the selected samples, "
            "[2, 0, 2], have a higher score",
            **quality_options(chosen),
        )
    )
    species = {"samples": [[1, 0.2], [0.2, 1]], "score_K": True, "p": [0.7, 0.3]}
    for q, paper in ((0, "1.60"), (1, "1.55"), (2, "1.51"), ("inf", "1.32")):
        order = "∞" if q == "inf" else q
        ours, vendi = compute_value(q, measures="LC", **species), compute_value(q, **species)
        finding = compare_number(f"sentropy: two species, order {order}", paper, ours)
        numbers = f"{finding.ours} (Vendi Score: {vendi:.3f})"
        rows.append(Finding(finding.what, paper, numbers, finding.verdict, finding.why))
    rows.append(
        cannot("vendi_score: five sentences with BERT and with SimCSE", "1.21; 2.81", NEEDS_WEIGHTS)
    )
    return rows


def score_by_numpy(X: list[list[int]]) -> float:
    rows = np.array(X) / np.linalg.norm(X, axis=1, keepdims=True)
    shares = np.linalg.eigvalsh(rows.T @ rows / len(rows))
    return float(np.exp(-(shares * np.log(shares)).sum()))


if __name__ == "__main__":
    run(GROUP, findings)
