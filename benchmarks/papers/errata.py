"""Errata of two papers, the metric card and a README, each with a proof.

An entry quotes the printed words or formula exactly, with the section and the correct formula.
Statements that could only be paraphrased are not listed. The proof is an example that can be
computed by hand; it is computed here. Differences whose proof needs data, such as the sample size
of Table 4, are findings of their group.
"""

import math
from collections import Counter
from pathlib import Path

import numpy as np
from findings import Finding, Group, claim, run
from scipy.optimize import brentq

from vendiscore import compute
from vendiscore.magnitude.area import mag_diff
from vendiscore.magnitude.magnitude_functions import convergence_scale, magnitude_function

VENDI = "2210.02410"
MAGNITUDE = "2311.16054"
GROUP = Group(
    name="errata",
    title="Errata",
    source="Errata: Friedman & Dieng, arXiv 2210.02410; Limbeck et al., arXiv 2311.16054; the "
    "metric's card; README of vertaix/Vendi-Score",
    method="What is printed, what is correct, and a proof that can be done by hand.",
)
README = """print(f"N-grams: {ngram_vs:.02f}, BERT: {bert_vs:.02f}, SimCSE: {simcse_vs:.02f})"""


def make_erratum(location: str, printed: str, correct: str, is_proved: bool, proof: str) -> Finding:
    """Return a printed statement with the correct one, as a finding that differs if the proof
    holds.
    """
    return claim(location, printed, not is_proved, correct, proof)


def bleu(text: str, reference: str) -> float:
    """Return BLEU of n-grams of 1 to 4, without smoothing."""
    words_of_text, words_of_reference = text.split(), reference.split()
    precisions = []
    for n in range(1, 5):
        grams, reference_counts = (
            Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
            for words in (words_of_text, words_of_reference)
        )
        precisions.append((grams & reference_counts).total() / grams.total())
    brevity = min(1.0, math.exp(1 - len(words_of_reference) / len(words_of_text)))
    return brevity * float(np.prod(precisions)) ** 0.25


def check_formulas() -> list[Finding]:
    """Return errata of formulas."""
    root = math.exp(0.5)
    return [
        make_erratum(
            f"{VENDI}, §4.1",
            "k(x, x′) = exp(‖x − x′‖²/2σ²)",
            "exp(−‖x − x′‖²/2σ²)",
            1 - root < 0,
            "two samples at distance σ would have K₁₂ = e^½ and an eigenvalue 1 − e^½ = "
            f"{1 - root:.2f}",
        ),
    ]


def check_captions() -> list[Finding]:
    """Return errata of captions."""
    short, long = "the cat sat on the mat", "the cat sat on the mat today"
    forth, back = bleu(short, long), bleu(long, short)
    X = np.random.default_rng(0).standard_normal((200, 8))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    highest = float((X @ X.T).max())
    return [
        make_erratum(
            f"{VENDI}, caption of Table 3",
            "VS “using a BLEU score kernel”",
            "the mean of the n-gram overlaps for n = 1 to 4, as in §4.5",
            abs(forth - back) > 0.01,
            f"BLEU is not symmetric: “{short}” compared with “{long}” has {forth:.3f}, and the "
            f"reverse {back:.3f}",
        ),
        make_erratum(
            f"{VENDI}, §4.4",
            "“the highest possible similarity score is 2048”",
            "the highest possible VS is 2048",
            highest < 1 + 1e-12 and compute(X, score_dual=True)["VS"] < 8,
            "a cosine is at most 1; VS is at most the number of features, here 2,048",
        ),
    ]


def mag_diff_of_spacing(spacing: float) -> float:
    """Return MagDiff of two points at distance 1 and three points at distance `spacing`."""
    pair, three = np.array([[0.0], [1.0]]), spacing * np.eye(3) / math.sqrt(2)
    return mag_diff(pair, three, t_cut=convergence_scale(pair))


def check_sign() -> Finding:
    """Return the erratum about the sign of MagDiff."""
    spacing = brentq(mag_diff_of_spacing, 0.05, 0.7)
    pair, three = np.array([[0.0], [1.0]]), spacing * np.eye(3) / math.sqrt(2)
    scales = np.linspace(0, convergence_scale(pair), 30)
    gap = magnitude_function(pair, scales=scales)[1] - magnitude_function(three, scales=scales)[1]
    area = float(np.trapezoid(np.abs(gap), scales))
    return make_erratum(
        f"{MAGNITUDE}, Definition 3.4",
        "MagDiff, ∫ (Mag_X − Mag_Y), is “the area between two magnitude functions” (Figure 1)",
        "the area is ∫ |Mag_X − Mag_Y|; the integral changes its sign if X and Y are exchanged",
        abs(mag_diff_of_spacing(spacing)) < 1e-9 < 0.01 < area,
        f"for two points at distance 1 and three points at distance {spacing:.3f}, the functions "
        f"cross: the integral is 0, and the area is {area:.3f}",
    )


def check_cards() -> list[Finding]:
    """Return errata of the metric card and the README."""
    K = np.eye(3) / 3
    trace = math.exp(float(np.trace(K @ np.diag(np.log(np.diag(K))))))
    X = np.array([[100, 0], [99, 1], [1, 99], [0, 100]])
    try:
        compile(README, "README", "exec")
    except SyntaxError:
        broken = True
    else:
        broken = False
    return [
        make_erratum(
            "card, description",
            "exp(tr(K/n @ log(K/n))) = exp(−Σ λ log λ)",
            "exp(−tr(K/n @ log(K/n)))",
            abs(trace - 1 / 3) < 1e-12,
            f"for three samples without similarity, the printed trace gives {trace:.3f}, the sum 3",
        ),
        make_erratum(
            "card, “score_dual”",
            "the covariance matrix, X @ X.T",
            "X.T @ X / n",
            (X @ X.T).shape == (4, 4) and (X.T @ X).shape == (2, 2),
            "in its example, X has shape 4 × 2, and X @ X.T is 4 × 4: the similarity matrix",
        ),
        make_erratum(
            "README of Vendi-Score, example of texts",
            "…SimCSE: {simcse_vs:.02f})",
            '…SimCSE: {simcse_vs:.02f}")',
            broken,
            "the string is not closed: Python raises a SyntaxError at line 1",
        ),
        make_erratum(
            "README of Vendi-Score, example of images",
            "{ivs:02f} prints 3.45",
            "{ivs:.02f}",
            f"{3.45:02f}" != "3.45",
            f"without the point, it prints {3.45:02f}",
        ),
    ]


def findings(data: Path) -> list[Finding]:
    return [*check_formulas(), *check_captions(), check_sign(), *check_cards()]


if __name__ == "__main__":
    run(GROUP, findings)
