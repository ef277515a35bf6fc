"""Agreement of scores with human ratings: rank correlation, accuracy, area under the ROC curve.

Intervals have level 95 % and use formulas: for Spearman's ρ Fisher's transformation with the
variance (1 + ρ² / 2) / (n − 3) (Bonett & Wright, Psychometrika 2000), for an accuracy Wilson's
(JASA 1927), for an area under the curve Hanley & McNeil's (Radiology 1982). They treat sets as
independent. `compute_auc_by_prompt` does not: its standard error sums DeLong's placements within
each prompt (Obuchowski, Biometrics 1997).
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata, spearmanr

Z = 1.959963984540054


def spearman_with_interval(scores: np.ndarray, human: np.ndarray) -> dict[str, float]:
    """Return ρ with its interval and standard error; 0 if all scores are equal."""
    rho = float(spearmanr(scores, human).statistic) if np.ptp(scores) > 0 else 0.0
    deviation = math.sqrt((1 + rho**2 / 2) / (len(scores) - 3))
    middle = math.atanh(rho)
    return {
        "rho": rho,
        "low": math.tanh(middle - Z * deviation),
        "high": math.tanh(middle + Z * deviation),
        "se": (1 - rho**2) * deviation,
    }


def average_correlations(correlations: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean ρ of several sources, which are treated as independent."""
    rho = float(np.mean([correlation["rho"] for correlation in correlations]))
    error = math.sqrt(sum(correlation["se"] ** 2 for correlation in correlations)) / len(
        correlations
    )
    return {"rho": rho, "low": rho - Z * error, "high": rho + Z * error, "se": error}


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Return Spearman's ρ; 0 if all values of one argument are equal."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    return float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])


def bootstrap_difference(
    first: np.ndarray,
    second: np.ndarray,
    human: np.ndarray,
    sources: Sequence[np.ndarray],
    prompts: np.ndarray,
    draws: int = 1000,
) -> dict[str, float]:
    """Return the difference of two mean ρ over sources, with a 95 % interval. The limits are
    quantiles of a bootstrap of prompts (Efron 1979): all sets of a prompt, from any source, are
    drawn together, `draws` times. `sources` are boolean arrays (sets,).
    """

    def difference(sets: np.ndarray) -> float:
        """Return ρ of `first` minus ρ of `second`, as a mean over sources, of the sets `sets`."""
        rho_differences = []
        for source in sources:
            source_indices = sets[source[sets]]
            rho_first, rho_second = (
                rank_correlation(scores[source_indices], human[source_indices])
                for scores in (first, second)
            )
            rho_differences.append(rho_first - rho_second)
        return float(np.mean(rho_differences))

    rng = np.random.default_rng(0)
    count = int(prompts.max()) + 1
    all_indices = np.arange(len(human))
    differences = [
        difference(
            np.repeat(
                all_indices, np.bincount(rng.integers(0, count, count), minlength=count)[prompts]
            )
        )
        for _ in range(draws)
    ]
    low, high = np.quantile(differences, [0.025, 0.975]).tolist()
    return {"difference": difference(all_indices), "low": low, "high": high}


def find_best_threshold(scores: np.ndarray, positive: np.ndarray) -> float:
    """Return the threshold with the highest accuracy, if scores above it are called positive."""
    distinct = np.unique(scores)
    cuts = np.concatenate(
        [[distinct[0] - 1], (distinct[1:] + distinct[:-1]) / 2, [distinct[-1] + 1]]
    )
    right = [np.mean((scores > cut) == positive) for cut in cuts]
    return float(cuts[int(np.argmax(right))])


def compute_accuracy(
    scores: np.ndarray, positive: np.ndarray, threshold: float
) -> dict[str, float]:
    """Return the accuracy of a threshold, with its interval."""
    n, proportion = len(scores), float(np.mean((scores > threshold) == positive))
    middle = (proportion + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(proportion * (1 - proportion) / n + Z**2 / (4 * n**2))
    return {
        "accuracy": proportion,
        "low": middle - half,
        "high": middle + half,
        "threshold": threshold,
    }


def compute_auc(scores: np.ndarray, positive: np.ndarray) -> dict[str, float]:
    """Return the probability that a positive scores higher than a negative, with its interval."""
    n_positive, n_negative = int(np.sum(positive)), int(np.sum(~positive))
    ranks = rankdata(scores)
    auc = float(
        (ranks[positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)
    )
    both_positives, both_negatives = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    spread = (
        auc * (1 - auc)
        + (n_positive - 1) * (both_positives - auc**2)
        + (n_negative - 1) * (both_negatives - auc**2)
    )
    error = math.sqrt(spread / (n_positive * n_negative))
    return {"auc": auc, "low": auc - Z * error, "high": min(1.0, auc + Z * error)}


def compute_auc_by_prompt(
    scores: np.ndarray, positive: np.ndarray, prompts: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the area under the ROC curve, and the contribution of each prompt to its error.

    `prompts` contains integers from 0. Prompts are assumed to be independent, so the variance of
    the area is the sum of the squared contributions. For a mean or a difference of areas over the
    same prompts, take the mean or the difference of their contributions.
    """
    n_positive, n_negative = int(np.sum(positive)), int(np.sum(~positive))
    ranks = rankdata(scores)
    placements = np.empty(len(scores))  # proportion of the other class that is ranked correctly
    placements[positive] = (ranks[positive] - rankdata(scores[positive])) / n_negative
    placements[~positive] = 1 - (ranks[~positive] - rankdata(scores[~positive])) / n_positive
    auc = float(placements[positive].mean())
    sample_contributions = (placements - auc) / np.where(positive, n_positive, n_negative)
    return auc, np.bincount(prompts, sample_contributions, minlength=int(prompts.max()) + 1)


def summarize_contributions(value: float, contributions: np.ndarray) -> dict[str, float]:
    """Return a value with its standard error and interval.

    `contributions` are those of the prompts to its error (see `compute_auc_by_prompt`).
    """
    nonzero = contributions[contributions != 0]
    n = max(len(nonzero), 2)
    error = math.sqrt(n / (n - 1) * float(np.sum(nonzero**2)))
    return {"value": value, "se": error, "low": value - Z * error, "high": value + Z * error}
