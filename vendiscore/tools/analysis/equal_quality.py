"""Diversity at equal quality: is a set narrower, or does it only contain fewer mistakes?

For each prompt, the same number m of answers is scored of both sets, among all answers and among
correct ones. The score is the mean of log VS over subsets of m answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from operator import ge

import numpy as np

from ...core.eigenvalues import PSD
from ...scoring.subsampling import MIN_VALUES, bounded_mean_interval
from ...similarity.base import Similarity
from ...similarity.group_indices import submatrices
from ...spectral.stacked_spectra import StackedSpectra
from ...support.arguments import DEFAULT_ORDER
from ...support.namespace import row_blocks, to_host
from ...support.summary import SummaryMixin, format_value
from ...support.types import Axes
from .. import plots

MIN_QUALITY_SIZE = 2  # the score of a single answer is always 1
DEFAULT_QUALITY_SIZE = 4
_MIN_PROPORTION = 0.5  # of prompts that enter, from which a size is used by default
# All subsets are scored if there are at most this many (495 of 4 of 12 answers), otherwise this
# many random ones.
MAX_SUBSETS = 500
_ROUNDING = 1e-13  # log VS that differ by less are equal
_PARTS = ("total", "among_correct", "from_failures")
_PART_LABELS = ("total", "among correct answers", "from failures")


@dataclass(frozen=True, repr=False)
class QualityParts(SummaryMixin):
    """Parts of the difference in diversity of two sets, a and b: correct answers, and failures.

    All values are differences of log VS, a minus b, of `size` answers to a prompt, as means over
    prompts. A difference of -0.1 means about 10 % fewer effective answers. `total` is the sum of
    `among_correct` and `from_failures`.

    Attributes
    ----------
    a : str
        Name of the first set.
    b : str
        Name of the second set.
    size : int
        Number of answers that are scored for each prompt.
    prompts : int
        Number of prompts with at least `size` correct answers of both sets; only these enter.
    all_prompts : int
        Number of prompts that both sets answered.
    total : float
        Difference among all answers.
    total_low : float
        Lower end of the interval of `total`.
    total_high : float
        Upper end of the interval of `total`.
    among_correct : float
        Difference among correct answers; negative if a is narrower.
    among_correct_low : float
        Lower end of the interval of `among_correct`.
    among_correct_high : float
        Upper end of the interval of `among_correct`.
    from_failures : float
        Difference of what failures add: (all a - correct a) - (all b - correct b); negative if a
        has fewer or more similar failures.
    from_failures_low : float
        Lower end of the interval of `from_failures`.
    from_failures_high : float
        Upper end of the interval of `from_failures`.
    level : float
        Level of the intervals: 1 - (1 - L) / m for m pairs of sets, where L is the argument `level`
        of `compare`.

    See Also
    --------
    vendiscore.compare : Compare sets.

    Examples
    --------
    >>> from vendiscore import compare
    >>> new = [list("aabx"), list("aaax"), list("abbx"), list("abcx")]
    >>> old = [list("abcx"), list("aabx"), list("abcx"), list("abcx")]
    >>> correct = [[[True, True, True, False]] * 4] * 2  # x is wrong
    >>> result = compare(new, old, correct=correct, k="labels", permutations=19, size=3)
    >>> parts = result.quality_parts[0]
    >>> round(parts.total, 3), round(parts.among_correct, 3), round(parts.from_failures, 3)
    (-0.213, -0.39, 0.177)
    """

    _repr_attributes = ("a", "b", "size", "total", "among_correct", "from_failures")

    a: str
    b: str
    size: int
    prompts: int
    all_prompts: int
    total: float
    total_low: float
    total_high: float
    among_correct: float
    among_correct_low: float
    among_correct_high: float
    from_failures: float
    from_failures_low: float
    from_failures_high: float
    level: float = 0.95

    @property
    def proportion(self) -> float:
        """The proportion of prompts that enter."""
        return self.prompts / self.all_prompts

    @property
    def sentence(self) -> str:
        """Whether a is narrower than b among correct answers, and the parts of the difference."""
        if self.among_correct_high < 0:
            start = f"Among correct answers, {self.a} is less diverse than {self.b}"
        elif self.among_correct_low > 0:
            start = f"Among correct answers, {self.a} is more diverse than {self.b}"
        else:
            start = (
                f"No difference in diversity shown between correct answers of {self.a} and {self.b}"
            )
        correct, failures, total = (
            self._describe_part(name) for name in ("among_correct", "from_failures", "total")
        )
        return (
            f"{start}: {correct} in log VS of {self.size} answers to a prompt. With {failures} "
            f"from failures, the total difference is {total}. {self.prompts} of "
            f"{self.all_prompts} prompts have at least {self.size} correct answers of both sets."
        )

    def _describe_part(self, name: str) -> str:
        """Format a part with its interval."""
        value, low, high = (getattr(self, f"{name}{end}") for end in ("", "_low", "_high"))
        error = (high - low) / 4
        ends = f"{_format_signed(low, error)} to {_format_signed(high, error)}"
        return f"{_format_signed(value, error)} ({100 * self.level:.3g} % interval {ends})"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the total difference and its parts (correct answers, failures), with intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        matplotlib Axes
            The axes with the plot.
        """
        values, low, high = (
            [getattr(self, f"{name}{end}") for name in _PARTS] for end in ("", "_low", "_high")
        )
        label = f"{self.a} − {self.b}, log VS of {self.size} answers to a prompt"
        ax = plots.intervals(_PART_LABELS, values, low, high, label=label, ax=ax)
        ax.axvline(0, color="0.6", lw=1, zorder=0)
        return ax


def _format_signed(value: float, error: float) -> str:
    """Format a number with a sign, in the digits that its standard error justifies."""
    text = format_value(value, error)
    return text if text.startswith("-") or not float(text) else f"+{text}"


def estimate_quality_parts(
    similarity: Similarity,
    groups: Sequence[Sequence[np.ndarray]],
    names: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    is_correct: np.ndarray,
    size: int | None,
    *,
    q: float,
    level: float,
    psd: PSD,
    seed: int,
) -> list[QualityParts]:
    """Compare pairs of sets among all and among correct answers, at `size` answers to each prompt.

    `groups` contains the sample indices of each prompt and set, and `is_correct` one bool for each
    of the n samples. `level` is the level of the intervals. Raise a ValueError if too few prompts
    have `size` correct answers.
    """
    # (prompts, sets); sets that did not answer a prompt have no samples.
    correct_counts = np.array(
        [[is_correct[indices].sum() for indices in group] for group in groups]
    )
    answered = np.array([[len(indices) > 0 for indices in group] for group in groups])
    counts_by_pair = []  # the smaller number of correct answers, for each prompt
    for i, j in pairs:
        both = answered[:, i] & answered[:, j]
        counts_by_pair.append(correct_counts[both][:, [i, j]].min(axis=1))
    if size is None:
        size = _choose_size(counts_by_pair)
    _check_prompt_counts(counts_by_pair, size, [(names[i], names[j]) for i, j in pairs])
    all_scores, correct_scores = _score_answers(similarity, groups, is_correct, size, q, psd, seed)
    rows = []
    for (i, j), counts in zip(pairs, counts_by_pair, strict=True):
        enters = np.isfinite(correct_scores[:, [i, j]]).all(axis=1)
        total = _without_rounding(all_scores[enters, i] - all_scores[enters, j])
        among_correct = _without_rounding(correct_scores[enters, i] - correct_scores[enters, j])
        numbers: list[float] = []
        for changes in (total, among_correct, total - among_correct):
            if not changes.any():  # for example without any failures
                numbers += [0.0, 0.0, 0.0]
                continue
            # Differences of log VS; single values of `from_failures` may be larger.
            limit = max(math.log(size), float(np.abs(changes).max()))
            value, _, low, high = bounded_mean_interval(changes, level, -limit, limit)
            numbers += [value, low, high]
        n_entering = int(np.count_nonzero(enters))
        numbers.append(level)
        rows.append(QualityParts(names[i], names[j], size, n_entering, len(counts), *numbers))
    return rows


def _without_rounding(differences: np.ndarray) -> np.ndarray:
    """Return differences of log VS, with rounding errors set to 0."""
    return np.where(np.abs(differences) < _ROUNDING, 0.0, differences)


def _choose_size(counts_by_pair: Sequence[np.ndarray]) -> int:
    """Return the largest size up to 4 with which enough prompts of each pair enter, else 2.

    At least half of the prompts must enter, and at least as many as an interval requires.
    """
    for size in range(DEFAULT_QUALITY_SIZE, MIN_QUALITY_SIZE, -1):
        n_entering = [np.count_nonzero(counts >= size) for counts in counts_by_pair]
        n_required = [max(MIN_VALUES, _MIN_PROPORTION * len(counts)) for counts in counts_by_pair]
        if all(map(ge, n_entering, n_required)):
            return size
    return MIN_QUALITY_SIZE


def _check_prompt_counts(
    counts_by_pair: Sequence[np.ndarray], size: int, names: Sequence[tuple[str, str]]
) -> None:
    """Raise a ValueError unless enough prompts of each pair have `size` correct answers."""
    for (a, b), counts in zip(names, counts_by_pair, strict=True):
        n_entering = np.count_nonzero(counts >= size)
        if n_entering >= MIN_VALUES:
            continue
        descending = np.sort(counts)[::-1]
        largest = int(descending[MIN_VALUES - 1]) if len(counts) >= MIN_VALUES else 0
        hint = "compare more prompts or more answers to each prompt, or remove one of these sets"
        if largest >= MIN_QUALITY_SIZE:
            hint = f"reduce `size` to {largest}, or pass more answers to each prompt"
        raise ValueError(
            f"`correct` requires at least {MIN_VALUES} prompts with at least {size} correct "
            f"answers of both sets, got {n_entering} for {a!r} and {b!r}; {hint}"
        )


def _score_answers(
    similarity: Similarity,
    groups: Sequence[Sequence[np.ndarray]],
    is_correct: np.ndarray,
    size: int,
    q: float,
    psd: PSD,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return expected log VS of `size` answers, of all and of correct ones, (prompts, sets).

    Values are NaN where there are fewer than `size` correct answers.
    """
    rng = np.random.default_rng(seed)
    all_scores = np.full((len(groups), len(groups[0])), math.nan)
    correct_scores = all_scores.copy()
    for row, group in enumerate(groups):
        for column, indices in enumerate(group):
            correct = np.flatnonzero(is_correct[indices])
            if len(correct) < size:
                continue
            K = to_host(similarity.stack(np.asarray(indices)[None]))[0]
            all_scores[row, column] = correct_scores[row, column] = expected_log_score(
                K, size, q, psd, rng, similarity
            )
            if len(correct) < len(indices):
                K = K[np.ix_(correct, correct)]
                score = expected_log_score(K, size, q, psd, rng, similarity)
                correct_scores[row, column] = score
    return all_scores, correct_scores


def expected_log_score(
    K: np.ndarray,
    size: int,
    q: float = DEFAULT_ORDER,
    psd: PSD = "check",
    rng: np.random.Generator | None = None,
    similarity: Similarity | None = None,
) -> float:
    """Return the mean of log VS_q over subsets of `size` of n samples with similarities K, (n, n).

    It is exact if there are at most `MAX_SUBSETS` subsets, otherwise the mean over random ones.
    `similarity`, from which K was taken, determines the precision of K.
    """
    n = len(K)
    if math.comb(n, size) <= MAX_SUBSETS:
        subsets = _all_subsets(n, size)
    else:
        rng = np.random.default_rng(0) if rng is None else rng
        subsets = np.argsort(rng.random((MAX_SUBSETS, n)), axis=1)[:, :size]
    logs = np.empty(len(subsets))
    for rows in row_blocks(len(subsets), 8 * size**2):
        stacked = submatrices(np.broadcast_to(K, (len(subsets[rows]), n, n)), subsets[rows])
        scores = StackedSpectra(stacked, None, [q], psd, similarity=similarity).values[0]
        logs[rows] = np.log(scores)
    return float(logs.mean())


@lru_cache(maxsize=64)
def _all_subsets(n: int, size: int) -> np.ndarray:
    """Return all subsets of `size` of n positions, one per row."""
    return np.array(list(combinations(range(n), size)))
