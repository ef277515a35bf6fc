"""
Embeddings, and how many samples are enough
===========================================

The score of a hundred embeddings describes these hundred; more samples of the model would score
more. This tutorial starts with points whose score at infinitely many samples has a closed form, so
that every answer can be checked, and continues with embeddings of digits. You will learn

* how a score grows with the number of samples, and its limit,
* the meaning and the limits of `ci=` and :py:func:`vendiscore.growth`,
* why the bootstrap fails here,
* how to compare sets of different sizes.
"""

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from vendiscore import compare, compute, growth, score

plt.style.use("tableau-colorblind10")
plt.rcParams |= {"font.size": 12, "axes.spines.top": False, "axes.spines.right": False}

# %%
# Points whose score is known
# ---------------------------
#
# Take standard normal points and a Gaussian kernel with `sigma=1`. For infinitely many such
# points on a line the eigenvalues are geometric, :math:`\lambda_k = (1 - B) B^k` with
# :math:`B = (3 - \sqrt{5}) / 2` (Rasmussen and Williams, Gaussian Processes for Machine
# Learning, section 4.3.1, with both scales 1). The logarithm of their score is the entropy of that
# distribution, and with `d` independent coordinates it is `d` times as large.

B = (3 - np.sqrt(5)) / 2
on_a_line = np.exp(-np.log(1 - B) - B / (1 - B) * np.log(B))
D = 4
truth = on_a_line**D
print(f"One coordinate: {on_a_line:.3f} effectively different points; {D} coordinates: {truth:.1f}")

# %%
# The score of n points approaches this value slowly from below. `ci=0.95` adds an interval.

HOW = {"k": "rbf", "sigma": 1.0}
SIZES = [50, 100, 200, 400, 800, 1600]
rng = np.random.default_rng(0)
X = rng.standard_normal((SIZES[-1], D))
found = [compute(X[:n], ci=0.95, **HOW) for n in SIZES]

figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
low, high = ([each[f"VS_{end}"] for each in found] for end in ("low", "high"))
ax.axhline(truth, color="black", ls="--", lw=2)
ax.text(SIZES[0], truth + 1.5, "infinitely many", size=16)
ax.fill_between(SIZES, low, high, color="C0", alpha=0.25, lw=0)
ax.plot(SIZES, [each["VS"] for each in found], "o-", color="C0", lw=3, ms=8, label="score, ci=0.95")
ax.set_xscale("log")
ax.set_xticks(SIZES, [str(n) for n in SIZES], size=14)
ax.minorticks_off()
ax.set_xlabel("samples", size=16)
ax.set_ylabel("effectively different", size=16)
ax.set_ylim(0, 1.15 * truth)
ax.set_title("A score grows, and stays below its end", size=17)
ax.legend(frameon=False, loc="lower right", fontsize=16)

for n, each in zip(SIZES, found, strict=True):
    interval = f"{each['VS_low']:.1f} to {each['VS_high']:.1f}"
    print(f"{n:5} samples: {each['VS']:5.1f} ({interval}), of {truth:.1f}")

# %%
# The meaning of the interval
# ---------------------------
#
# `ci=` covers other sets *of this size*: the mean score of n samples of the source. It is not an
# interval for infinitely many samples. Many sets of a hundred points show both.

SETS, N = 100, 100
several = [compute(rng.standard_normal((N, D)), ci=0.95, **HOW) for _ in range(SETS)]
mean = np.exp(np.mean([np.log(each["VS"]) for each in several]))


def share_with(value: float) -> float:
    """Return the percentage of intervals that contain a value."""
    return 100 * np.mean([each["VS_low"] <= value <= each["VS_high"] for each in several])


print(f"{share_with(mean):.0f} % of the intervals contain {mean:.1f}, the mean of {N} points;")
print(f"{share_with(truth):.0f} % contain {truth:.1f}, the score of infinitely many.")

# %%
# Extrapolate to more samples
# ---------------------------
#
# :py:func:`vendiscore.growth` draws smaller sets without replacement, and extrapolates to twice the
# size, with an interval. The figure also has the scores of fresh sets of the source, which are
# unknown in practice. The coverage is the mean part of a sample that the others explain.

curve = growth(X[:400], **HOW)
fresh = {
    n: [score(rng.standard_normal((n, D)), "rbf", sigma=1.0) for _ in range(4)] for n in SIZES[:5]
}

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")
curve.plot(ax=axes[0])
axes[0].plot(
    list(fresh), [np.mean(each) for each in fresh.values()], "o", color="C1", label="fresh sets"
)
axes[0].axhline(truth, color="black", ls="--", label="infinitely many")
axes[0].set(title="400 samples, and up to 800", ylim=(0, 1.15 * truth))
axes[0].legend(frameon=False, loc="lower right")
known = [n for n in curve.sizes if n <= 400]
shares = [compute(X[:n], measures="SampleCoverage", **HOW)["SampleCoverage"] for n in known]
axes[1].plot(known, shares, "o-", color="C0", lw=2)
axes[1].set(xlabel="samples", ylabel="coverage", ylim=(0, 1), title="What is known of the source")

at = dict(zip(curve.sizes, curve.scores, strict=True))
print(f"From 200 to 400 samples the score grew by {100 * (at[400] / at[200] - 1):.0f} %;")
print(f"400 more are expected to add {100 * (at[800] / at[400] - 1):.0f} %.")

# %%
# Samples are enough if a doubling would not change your conclusion. A comparison does not need the
# limit: sets of the same size will do.
#
# The trap: the bootstrap
# -----------------------
#
# The usual interval draws n of the n samples with replacement, many times. A
# resample has copies in it (some 37 % of the samples are missing, and others stand in for them),
# and copies lower the score. So resamples score less than the set, and less than fresh sets.

ONE = 200
resampled = [score(X[rng.integers(0, ONE, ONE)], "rbf", sigma=1.0) for _ in range(60)]
others = [score(rng.standard_normal((ONE, D)), "rbf", sigma=1.0) for _ in range(60)]
one = compute(X[:ONE], ci=0.95, **HOW)

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
bins = np.arange(np.floor(min(resampled)) - 1, np.ceil(max(others)) + 2)
ax.hist(resampled, bins, color="C1", label="resamples, with replacement")
ax.hist(others, bins, color="C0", label="fresh sets of the source")
ax.axvline(one["VS"], color="black", lw=3, label="the set itself, ci=0.95")
ax.axvspan(one["VS_low"], one["VS_high"], color="black", alpha=0.12, lw=0)
ax.set(
    xlabel="effectively different",
    ylabel="sets",
    title=f"{ONE} samples: resamples score too little",
    yticks=range(0, 16, 5),
)
figure.legend(frameon=False, loc="outside lower left")

missed = 100 * (1 - np.mean(resampled) / np.mean(others))
print(f"Resamples score {missed:.0f} % less than fresh sets of the same size.")

# %%
# The interval of `ci=` leaves out one sample at a time (a jackknife), which makes no copies;
# `growth` and `compare` draw without replacement.
#
# Compare embeddings of digits in sets of different sizes
# -------------------------------------------------------
#
# The truth is unknown for images of digits, embedded by their first sixteen principal components.
# One set has 100 images of all ten digits, the other 600 images of only five digits. The bandwidth
# is fixed for both, half the median distance of all images.

data = load_digits()
embedded = PCA(16, svd_solver="full").fit_transform(data.data)
how = {"k": "rbf", "sigma": np.median(pdist(embedded)) / 2}
few = np.flatnonzero(data.target < 5)
sets = {
    "ten digits": embedded[rng.choice(len(embedded), 100, replace=False)],
    "five digits": embedded[rng.choice(few, 600, replace=False)],
}
for name, points in sets.items():
    print(f"{name}: {len(points)} images score {compute(points, **how)['VS']:.1f}")

matched = compare(sets, permutations=99, **how)
print(fill(matched.sentence, 80))

# %%
# The larger set scores more because it is larger. At one size it scores less, as the curves show.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for each, (name, points) in enumerate(sets.items()):
    n = len(points)
    sizes = [m for m in (5, 10, 20, 40, 70, 100, 200, 400, 600) if m <= n]
    grown = growth(points, sizes, **how)
    ax.plot(grown.sizes, grown.scores, color=f"C{each}", lw=3, label=f"{name}, up to {n} images")
    ax.fill_between(grown.sizes, grown.low, grown.high, color=f"C{each}", alpha=0.25, lw=0)
    ax.plot(grown.sizes[-1], grown.scores[-1], "o", color=f"C{each}", ms=10)
ax.axvline(100, color="black", ls=":", lw=1)
ax.set(xlabel="images", ylabel="effectively different", xlim=(0, None), ylim=(0, None))
ax.set_title("Compared at their ends, or at one size?")
ax.legend(frameon=False, loc="lower right")
plt.show()

# %%
# Take away
# ---------
#
# * A score of n samples is a score of n samples: quote n, and its interval from `ci=`.
# * A score grows, and stays below its limit. `growth` estimates the effect of a doubling.
# * Never draw with replacement.
# * Compare sets of different sizes with `compare`, which matches them to one size.
#
# Next: :doc:`../concepts/growth` and :doc:`../concepts/uncertainty` for the theory,
# :doc:`../tasks/compare_models` for two models, :doc:`../tasks/large` where samples are millions,
# and :doc:`../tasks/quote` to report a number.
