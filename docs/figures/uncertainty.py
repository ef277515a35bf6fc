"""Forty sets of one source, each with its interval, and the mean score of such sets."""

import matplotlib.pyplot as plt
import numpy as np

from vendiscore import compute

centres = 2 * np.random.default_rng(0).standard_normal((12, 8))


def drawn(seed: int, n: int = 60) -> np.ndarray:
    """Draw rows around twelve centres, some of which are commoner than others."""
    rng = np.random.default_rng(seed)
    return centres[np.minimum(rng.geometric(0.25, n), 12) - 1] + rng.standard_normal((n, 8))


def scored(seed: int) -> tuple[float, float, float]:
    # No two of these rows are ever equal.
    result = compute(drawn(seed), k="rbf", sigma=2.0, ci=0.95, allow_repeats=False)
    return result["VS"], result["VS_low"], result["VS_high"]


mean = np.exp(np.mean([np.log(scored(seed)[0]) for seed in range(200)]))
figure, ax = plt.subplots()
for seed in range(40):
    score, low, high = scored(seed)
    covers = low <= mean <= high
    colour = "#0072B2" if covers else "#D55E00"
    ax.plot([seed, seed], [low, high], color=colour, lw=2.5, alpha=0.8)
    ax.plot(seed, score, "o", color=colour, ms=5)
ax.axhline(mean, color="0.2", lw=1.5, ls="--", label="mean score of such sets")
ax.legend(frameon=False, fontsize=11, loc="lower left", bbox_to_anchor=(0, -0.02))
ax.set(
    title="95 % intervals of 40 sets of 60 samples of one source",
    xlabel="set",
    ylabel="effectively different",
    ylim=(36, 55),
)
