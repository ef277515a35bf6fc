"""What numbers say, in plain sentences."""

from __future__ import annotations

from ..explanation.analysis import Analysis

_SAME = 1 - 1e-9  # similarity, to rounding


def sentence(analysis: Analysis, what: str) -> str:
    """The result in one plain sentence."""
    n, share = analysis.n, 100 * float(analysis.shares[0])
    if n == 1:
        return "One sample alone is exactly one; add more to compare."
    if analysis.score < 1.05:
        return f"These {n} {what} are, to this kernel, all but the same."
    said = (
        f"This set of {n} {what} is as diverse as {analysis.score:.1f} that have nothing in "
        f"common; its main direction makes up {share:.0f} % of it."
    )
    if analysis.score > 0.95 * n:
        neighbours = analysis.neighbours
        closest = neighbours.similarity
        said = (
            f"These {n} {what} count as nearly all different: any two are "
            f"{neighbours.mean.mean():.2f} alike on average, the closest two "
            f"{closest.max():.2f}."
        )
        if same := int((closest > _SAME).sum()):
            said += f" But {same} of them are, to this kernel, the same as another."
    return said
