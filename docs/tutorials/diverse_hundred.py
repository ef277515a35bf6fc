"""
A diverse hundred
=================

From 1,797 pictures of digits, :py:func:`vendiscore.select` picks the hundred that differ the most,
and bounds the score of any other hundred. You will see

* a diverse hundred and a random hundred,
* three objectives: the most different, no two close, and one similar sample for each of all,
* the score of every prefix, with a bound that no selection of that size exceeds,
* how to take equally many of each label, and the cost,
* when *not* to choose this way.
"""

# %%
# A selected and a random hundred
# -------------------------------
# The pictures are scikit-learn's, 8 × 8 pixels each. They are compared by the cosine of their
# pixels, so that every hundred of them scores far below 100: most of a digit is ink in the middle.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from vendiscore import as_similarity, score, select

plt.style.use("tableau-colorblind10")
plt.rcParams.update({"font.size": 12, "figure.constrained_layout.use": True})

X, labels = load_digits(return_X_y=True)
SIZE = 100
chosen = select(X, SIZE, k="cosine")
drawn = np.random.default_rng(0).choice(len(X), SIZE, replace=False)


def block(places):
    """Draw ten rows of ten pictures, with pictures of one label together."""
    places = places[np.argsort(labels[places], kind="stable")]
    framed = np.pad(X[places].reshape(10, 10, 8, 8), [(0, 0), (0, 0), (1, 1), (0, 1)])
    return framed.swapaxes(1, 2).reshape(100, 90)


figure, axes = plt.subplots(1, 2, figsize=(7, 4.6))
for ax, name, places in zip(
    axes, ["drawn at random", "selected"], [drawn, chosen.places], strict=True
):
    ax.imshow(block(places), cmap="gray_r")
    ax.set_title(f"{name}:\nVendi Score {score(X[places], 'cosine'):.1f}", fontsize=18)
    ax.axis("off")
figure.get_layout_engine().set(wspace=0.06)
plt.show()

# %%
# On the right the digits are written in more ways: leaning, thin, crossed, cut off at an edge. How
# good is that choice? `bound` is a proved upper limit on the score of any selection of this size;
# `certified` is the share of it that this selection reaches.
print(f"Selected: {chosen.scores[-1]:.2f}. No {SIZE} of the {len(X)} score more than", end=" ")
print(f"{chosen.bound:.2f}: this selection has at least {chosen.certified:.0%} of the best.")

# %%
# Two objectives
# --------------
# `objective` defines a good hundred. "vendi" maximises the score, and "represent" the similarity of
# the samples that are *not* chosen to their nearest chosen one. Each wins by its own measure.
wishes = ["vendi", "represent"]
found = {wish: select(X, SIZE, k="cosine", objective=wish) for wish in wishes}
places = {"at random": drawn} | {f'"{wish}"': found[wish].places for wish in wishes}

K = as_similarity(X, k="cosine").dense()
measures = {
    "Vendi Score": lambda S: score(X[S], "cosine"),
    "1 − likeness of all\nto the nearest chosen": lambda S: 1 - K[:, S].max(axis=1).mean(),
}
colours = ["0.6", "C0", "C5"]
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True)
for ax, (name, measure) in zip(axes, measures.items(), strict=True):
    values = [measure(S) for S in places.values()]
    bars = ax.barh(list(places), values, color=colours)
    ax.bar_label(bars, fmt="%.2f", padding=3)
    ax.set(title=name, xlim=(0, 1.3 * max(values)))
    ax.set_xlabel("less is better" if ax is axes[1] else "more is better")
axes[0].invert_yaxis()
plt.show()

# %%
# The score of every prefix
# -------------------------
# The places are in the order in which they were chosen, so that the first 30 are a selection of 30.
# `scores` has the score of every prefix. A bound belongs to one size; the figure has five bounds.
# Beyond some fifty the score hardly grows, and at last it falls: digits differ in a limited number
# of directions, and a sample that resembles others takes weight from the rest.
sizes = [5, 10, 25, 50, SIZE]
bounds = [select(X, size, k="cosine").bound for size in sizes]

figure, ax = plt.subplots(figsize=(7, 4))
upto = np.arange(1, SIZE + 1)
for i, wish in enumerate(wishes):
    ax.plot(upto, found[wish].scores, lw=3, color=colours[i + 1], label=f'"{wish}"')
random_scores = [score(X[drawn[:m]], "cosine") for m in upto]
ax.plot(upto, random_scores, lw=3, color=colours[0], ls=":", label="at random")
ax.plot(sizes, bounds, "v", ms=10, color="k", label="no selection scores more")
ax.set(xlabel="how many are chosen", ylabel="Vendi Score", ylim=(0, None))
ax.set_title("The score of every prefix, and its bound")
ax.legend(frameon=False, loc="lower right", ncols=2)
plt.show()
for size, bound in zip(sizes, bounds, strict=True):
    print(f"The first {size}: {found['vendi'].scores[size - 1] / bound:.0%} of its bound, or more")

# %%
# Quotas for labels
# -----------------
# Some digits vary more than others, and the selection takes more of those. `quota` limits each
# group: a number is the largest count for any group, a dict has the exact count for each.
even = select(X, SIZE, k="cosine", groups=labels, quota=dict.fromkeys(range(10), 10))

figure, ax = plt.subplots(figsize=(7, 3.4))
counts = np.bincount(labels[chosen.places], minlength=10)
ax.bar(range(10), counts, color="C0", label="without quota")
ax.axhline(10, color="C1", lw=3, ls="--", label="ten of each")
ax.set(xlabel="digit", ylabel="chosen", title="What the selection takes of each digit")
ax.set_xticks(range(10))
ax.legend(frameon=False, ncols=2, loc="upper right")
ax.set_ylim(0, counts.max() * 1.3)
plt.show()
print(f"Without quota {chosen.scores[-1]:.2f}, with ten of each {even.scores[-1]:.2f}", end=" ")
print(f"(and none with ten of each scores more than {even.bound:.2f}).")

# %%
# When not to maximise diversity
# ------------------------------
# The most different samples are odd. They are right for a test set, for prompts, or for molecules
# to try; they are mostly wrong as a training set of a hundred labelled samples (`arXiv 2605.29448
# <https://arxiv.org/abs/2605.29448>`_). Here a classifier by the nearest neighbour learns from each
# hundred, and is asked for the labels of all other digits.


def accuracy(where):
    """Return the share of the other digits that a classifier of the chosen ones recognises."""
    rest = np.setdiff1d(np.arange(len(X)), where)
    model = KNeighborsClassifier(1).fit(X[where], labels[where])
    return model.score(X[rest], labels[rest])


draws = [np.random.default_rng(i).choice(len(X), SIZE, replace=False) for i in range(20)]
by_chance = np.array([accuracy(where) for where in draws])
print(f"at random     {by_chance.mean():.1%} (from {by_chance.min():.1%} to {by_chance.max():.1%})")
for wish in wishes:
    print(f"{wish:12}  {accuracy(found[wish].places):.1%}")

# %%
# The hundred with the highest score teaches less than nearly all random hundreds; the
# representative hundred, with the lowest score of the three, teaches the most. This is one data set
# and one classifier, but the reason is general: a diverse selection has few common samples.
#
# Take away
# ---------
# * ``select(samples, size)`` returns places in an order in which every beginning is a selection,
#   and `certified` bounds its share of the best possible score.
# * Choose the objective by the use: "vendi" for differences, "represent" for a summary.
# * Constraints belong into the selection: `quota` with `groups`, `initial`, `quality`.
# * A higher Vendi Score is not a better training set. It is a set with less in common.
#
# Next: the recipe with all its options in :doc:`../tasks/choose_hundred`; texts instead of pictures
# work alike, see :doc:`near_duplicates`; the bound is derived in :doc:`../identity`.
