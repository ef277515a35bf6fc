"""What numbers say, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays.namespace import scalar
from ..comparison import MORE, Comparison
from ..comparison.growth import Growth
from ..magnitude.curve import Curve
from .nearest_samples import Neighbours

_SAME = 1 - 1e-9  # similarity, to rounding
# Growth by doubling the samples below which they are said to be enough, and nearly so.
ENOUGH, NEARLY = 0.02, 0.1
# Up to which share of all samples a score is called what.
VERDICTS = (
    (0.35, "repeats itself a lot"),
    (0.65, "repeats itself"),
    (0.95, "mostly different"),
    (1.0, "nearly all different"),
)
# A score below this counts as that of one sample.
ONE = 1.05


def diversity(
    n: int, score: float, share: float, what: str, neighbours: Callable[[], Neighbours]
) -> str:
    """A Vendi Score of n samples, the largest share of their spectrum, and what they are called."""
    if n == 1:
        return "One sample alone is exactly one; add more to compare."
    if score < ONE:
        return f"These {n} {what} are, to this kernel, all but the same."
    said = (
        f"This set of {n} {what} is as diverse as {score:.1f} that have nothing in "
        f"common; its main direction makes up {100 * share:.0f} % of it."
    )
    if score > 0.95 * n:
        found = neighbours()
        closest = found.similarity
        said = (
            f"These {n} {what} count as nearly all different: any two are "
            f"{found.mean.mean():.2f} alike on average, the closest two "
            f"{closest.max():.2f}."
        )
        if same := int((closest > _SAME).sum()):
            said += f" But {same} of them are, to this kernel, the same as another."
    return said


def verdict(n: float, score: float) -> str:
    """A Vendi Score of n samples in three words; for groups, n is their mean size.

    >>> verdict(20, 5.9), verdict(20, 19.5)
    ('repeats itself a lot', 'nearly all different')
    """
    if n <= 1:
        return "one sample"
    if score < ONE:
        return "all but the same"
    return next((said for most, said in VERDICTS if score <= most * n), VERDICTS[-1][1])


def by(comparison: str, said: str) -> str:
    """A sentence about samples, with how they were compared first.

    >>> by("By what they mean", "These 5 texts are all but the same.")
    'By what they mean, these 5 texts are all but the same.'
    """
    return f"{comparison}, {said[0].lower()}{said[1:]}"


def looked_at(n: int, total: int) -> str:
    """Of how many samples pairs were looked at; empty if of all."""
    if n == total:
        return ""
    return f"Pairs were looked at of {n:,} of {total:,}, drawn at random."


def adding(q: float, of_adds: float) -> str:
    """At which order it is told what samples add, where not at that of the score.

    >>> adding(3, 2)
    'What each adds is told at order 2: at order 3 it would take too long.'
    """
    if of_adds == q or not q:
        return ""
    return f"What each adds is told at order {of_adds:g}: at order {q:g} it would take too long."


def magnitude(curve: Curve, what: str) -> str:
    """What a magnitude function of the distances of a kernel says."""
    return (
        f"Their magnitude, how many can be told apart at a scale, is {curve.at(1.0):.1f} at t = 1 "
        f"(distances √(2 − 2k) as they are). To tell 95 % of the {curve.distinct:,} distinct "
        f"{what} apart takes t = {curve.convergence:.3g}, and more the closer they lie."
    )


def of_groups(sizes: list[int], score: float, se: float | None, what: str) -> str:
    """The mean Vendi Score of groups of some sizes, and its standard error."""
    if se is None:
        return (
            f"These {sizes[0]} {what} are one group, whose score this is; with more groups there "
            f"is a mean, and a standard error of it."
        )
    least, most = min(sizes), max(sizes)
    size = str(least) if least == most else f"{least} to {most}"
    return (
        f"Of {size} {what} in a group, {score:.2f} ± {se:.2f} are effectively "
        f"different on average. ± is one standard error over {len(sizes):,} groups: what other "
        f"groups of the same source might change."
    )


def copies(n: int, distinct: int, what: str, where: str = "") -> str:
    """How many samples are identical with others, perhaps only of those `where`.

    >>> copies(5, 3, "texts")
    'Of 5 texts 3 are distinct: 2 are, to this kernel, exact copies of others.'
    """
    again = n - distinct
    if n == 1:
        return ""
    if again == 0:
        return f"All {n:,} {what} are distinct{where}."
    said = (
        "is, to this kernel, an exact copy" if again == 1 else "are, to this kernel, exact copies"
    )
    are = "is" if distinct == 1 else "are"
    return f"Of {n:,} {what} {distinct:,} {are} distinct: {again:,} {said} of others{where}."


def interval(n: int, level: float, low: float, high: float, se: float, what: str) -> str:
    """The interval of a score of n samples."""
    about = short(se) if se >= 1 else f"{se:.2g}"
    return (
        f"{100 * level:g} % interval: {short(low)} to {short(high)}. Another {n:,} {what} of the "
        f"same source would score about {about} from it (one standard error)."
    )


def short(value: Any) -> str:
    """A number for readers: two decimals, or four digits where it is small or very large.

    >>> short(12.3456), short(0.0123456)
    ('12.35', '0.01235')
    """
    number = float(scalar(value))
    return f"{number:,.2f}" if 1 <= abs(number) < 1e6 else f"{number:.4g}"


def order(q: float) -> str:
    """What an order does.

    >>> order(2)
    'Order q = 2 counts the common more than the rare.'
    """
    known = {
        0.0: "counts every direction in full, however rare: the rank of the set",
        1.0: "weighs every direction by its share: the usual Vendi Score",
        2.0: "counts the common more than the rare",
        math.inf: "looks at the commonest direction alone",
    }
    said = "counts the rare more than q = 1 does" if q < 1 else known[2.0]
    return f"Order q = {'∞' if q == math.inf else f'{q:g}'} {known.get(q, said)}."


def kernel(name: str, summary: str, options: Mapping[str, object]) -> str:
    """How samples were compared, from the name of a kernel, its first line, and its options."""
    said = ", ".join(
        f"{key}={value!r}" for key, value in options.items() if value is not None and value != ""
    )
    what = f" {summary.rstrip('.')}." if summary else ""
    return f"Compared by {name}{f' ({said})' if said else ''}.{what}"


def standing(comparison: Comparison) -> str:
    """Which of several sets are more diverse than which, without numbers."""
    names = comparison.names
    below = {
        a: tuple(b for b in names if b != a and comparison.verdict(a, b) == MORE) for a in names
    }
    told: dict[tuple[str, ...], list[str]] = {}
    for a, others in below.items():
        if others:
            told.setdefault(others, []).append(a)
    if not told:
        return f"No difference larger than chance between {listed(names)}."
    parts = [
        f"{listed(more)} {'is' if len(more) == 1 else 'are'} more diverse than {listed(less)}"
        for less, more in told.items()
    ]
    return f"{'; '.join(parts)}."


def growing(found: Growth) -> str:
    """Whether more samples of the source would add much to their score."""
    by_size = dict(zip(found.sizes, found.scores, strict=True))
    n = found.n
    if n // 2 not in by_size:
        return f"{n:,} samples score {short(by_size[n])}."
    more = 2 * n
    past = by_size[n] / by_size[n // 2] - 1
    coming = by_size[more] / by_size[n] - 1 if more in by_size else past
    if coming < ENOUGH:
        verdict = "Saturated: more samples of the same source would add little"
    elif coming < NEARLY:
        verdict = "Nearly saturated: more samples of the same source would add some"
    else:
        verdict = "Not saturated: more samples of the same source would still add much"
    said = (
        f"{verdict}. The second half of the {n:,} took the score from "
        f"{short(by_size[n // 2])} to {short(by_size[n])} ({100 * past:+.0f} %)"
    )
    if more not in by_size:
        return f"{said}."
    i = found.sizes.index(more)
    return (
        f"{said}; {more:,} are expected to score {short(by_size[more])} ({100 * coming:+.0f} %; "
        f"{100 * found.level:g} % interval {short(found.low[i])} to {short(found.high[i])})."
    )


def near_duplicates(groups: int, removed: int, threshold: float, left: float, n: int) -> str:
    """How many near-duplicates there are, and the score of the n samples left without."""
    if not groups:
        return f"No two are as similar as {threshold:g}: there are no near-duplicates."
    one = f"1 group of near-duplicates, in which {removed:,} repeat{'s' if removed == 1 else ''}"
    many = f"{groups:,} groups of near-duplicates, in which {removed:,} repeat"
    return (
        f"{one if groups == 1 else many} another (similarity {threshold:g} or more). Without "
        f"these, {n:,} {'is' if n == 1 else 'are'} left and the score is {short(left)}."
    )


def listed(names: Sequence[str]) -> str:
    """Names as one says them: "A, B and C"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def heat(K: np.ndarray) -> str:
    """What a heat map of similarities shows."""
    n = len(K)
    if n == 1:
        return "Similarities: one sample, which is all like itself"
    mean = (K.sum() - np.trace(K)) / (n * (n - 1))
    return f"Similarities of {n} samples, {mean:.2f} on average between two"
