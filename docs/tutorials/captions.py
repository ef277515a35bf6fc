"""
Captions of two decoders
========================

A captioning model can be decoded cautiously, for safe captions, or freely, for captions with more
detail and more risk. This tutorial measures how much each decoder repeats itself, and tests the
difference. You will learn to

* score texts by the words and phrases that they share,
* read a score at several orders q,
* compare two sets with an interval and a p-value,
* find the captions that repeat others,
* see what changes with the kernel, and what no kernel of words can see.

The captions are ours: two for each of 24 pictures, six of each of four scenes
(:download:`captions.csv <../tutorials/data/captions.csv>`; a notebook looks for it in a folder
`data` next to it).
"""

import csv
from pathlib import Path

# Notebooks and the gallery of these pages have no __file__: they run in the folder of the script.
HERE = Path(globals().get("__file__", "captions.py")).resolve().parent

with open(HERE / "data" / "captions.csv", newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))

captions = {decoder: [row[decoder] for row in rows] for decoder in ("cautious", "free")}
for row in rows[::8]:
    print(f"{row['picture']}\n  {row['cautious']}\n  {row['free']}")

# %%
# Count the different captions
# ----------------------------
#
# The kernel `ngram_overlap` compares two texts by the words, pairs, triples and quadruples of words
# that they have in common: 1 for two equal texts, 0 for two texts without a common word. The Vendi
# Score turns all similarities into one number: the number of captions without anything in common
# that would be as diverse.
#
# The similarities of all pairs, as a heat map, show where the number comes from. Pictures stand
# in the order of the file, so that each scene is a square: the cautious decoder has few phrases
# for each scene, and shares some of them between scenes.

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from vendiscore import as_similarity, compare, compute, explain, plots

plt.style.use("tableau-colorblind10")
plt.rcParams |= {"font.size": 12, "axes.spines.top": False, "axes.spines.right": False}

scores = {}
figure, axes = plt.subplots(1, 2, figsize=(8.4, 4.2), layout="constrained")
scenes = [row["picture"].split()[0] for row in rows]
for ax, (decoder, texts) in zip(axes, captions.items(), strict=True):
    scores[decoder] = compute(texts, k="ngram_overlap")["VS"]
    plots.heat_map(as_similarity(texts, k="ngram_overlap").dense(), groups=scenes, ax=ax)
    ax.set_title(f"{decoder}: {scores[decoder]:.1f} of {len(texts)}", size=19)
    ax.set_xlabel("captions, by scene", size=14)
    ax.set_xticks([3.5, 9.5, 15.5, 21.5], ["beach", "street", "table", "wave"], size=14)
    ax.set_yticks([])
axes[0].child_axes[0].remove()  # one bar of colours is enough for both
axes[1].child_axes[0].set_ylabel("similarity", size=14)

for decoder, score in scores.items():
    print(f"{decoder:>8}: {score:.1f} of {len(rows)} captions are effectively different")

# %%
# A score for every order
# -----------------------
#
# The order q sets the weight of rare captions. At q = 0 all different captions count equally: here
# the score is the number of distinct texts. With growing q the common phrases decide, and at q = ∞
# only the commonest one. A steep profile shows a set with some variety and one habit.
#
# One call finds the scores of all orders from one spectrum.

orders = np.linspace(0.1, 4, 14)
figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for decoder, texts in captions.items():
    profile = compute(texts, k="ngram_overlap", q=orders.tolist())
    ax.plot(orders, list(profile.values()), label=decoder)
ax.set(xlabel="order q", ylabel="effectively different", ylim=(0, None))
ax.legend()
ax.set_title("The cautious decoder has a habit: its profile falls")

for decoder, texts in captions.items():
    ends = compute(texts, k="ngram_overlap", q=[0, "inf"])
    print(
        f"{decoder:>8}: {len(set(texts))} distinct texts; "
        f"{ends['VS_q0']:.1f} at q = 0, {ends['VS_qinf']:.1f} at q = ∞"
    )

# %%
# Test the difference
# -------------------
#
# :py:func:`vendiscore.compare` draws both sets down to one size, as a larger set scores more, and
# asks how often two sets differ as much when their captions are exchanged at random. The interval
# is of the difference.

found = compare(captions, k="ngram_overlap", permutations=199)  # a dict of sets by name
print(fill(found.sentence, 80))

# %%
# Quote such a sentence with its kernel, its order and its size: each of them can change the number.
# The two captions of a picture, one of each decoder, are not independent; if they have something in
# common, the p-value of this test is usually too large and not too small.
#
# Find captions that repeat others
# --------------------------------
#
# :py:func:`vendiscore.explain` gives what each caption adds: how much the score falls when it
# alone is left out. It also groups near-duplicates, at a threshold of your choice.

explained = explain(captions["cautious"], k="ngram_overlap", threshold=0.7)
for keep, others in explained.groups:
    print(f"{len(others)} × like {captions['cautious'][keep]!r}")

order = np.argsort(explained.adds)
repeats = explained.redundant_of[order] >= 0
figure, ax = plt.subplots(figsize=(8, 6.6), layout="constrained")
percent = -100 * np.expm1(-explained.adds[order])  # of the score, lost without each
for marked, colour, label in [(False, "C0", "kept"), (True, "C1", "repeats another")]:
    chosen = np.flatnonzero(repeats == marked)
    ax.barh(chosen, percent[chosen], color=colour, label=label)
ax.set_yticks(range(len(order)), [captions["cautious"][i] for i in order], size=10)
ax.axvline(0, color="black", lw=0.8)
ax.set(xlabel="adds to the score (%)", title="What each cautious caption adds")
_ = ax.legend(frameon=False, loc="lower right")

# %%
# Captions that recur word for word add next to nothing, or less than nothing, because they make a
# common phrase commoner. Captions that occur once add the most. Continue with
# :doc:`../tasks/near_duplicates`.
#
# Compare kernels
# ---------------
#
# The kernel defines "alike". Single words find more in common than phrases do, since every
# caption has an "a" in it; characters find common parts of words; weights by rarity (TF-IDF, then
# cosines) make little of "a" and "the".

weights = TfidfVectorizer().fit(captions["cautious"] + captions["free"])
kernels = {
    "single words": lambda texts: compute(texts, k="ngram_overlap", ns=1),
    "1 to 4 words": lambda texts: compute(texts, k="ngram_overlap"),
    "4 characters": lambda texts: compute(texts, k="ngram_overlap", analyzer="char", ns=4),
    "TF-IDF": lambda texts: compute(weights.transform(texts).toarray(), k="cosine"),
}
values = {
    decoder: [kernel(texts)["VS"] for kernel in kernels.values()]
    for decoder, texts in captions.items()
}
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
places = np.arange(len(kernels))
for shift, (decoder, heights) in zip((0.2, -0.2), values.items(), strict=True):
    bars = ax.barh(places + shift, heights, height=0.38, label=decoder)
    ax.bar_label(bars, fmt=" {:.1f}")
ax.set_yticks(places, list(kernels))
ax.set(xlabel=f"effectively different, of {len(rows)}", xlim=(0, 29))
ax.set_title("Scores depend on the kernel")
_ = figure.legend(frameon=False, loc="outside lower center", ncols=2)

for name, cautious, free in zip(kernels, *values.values(), strict=True):
    print(f"{name}: the free decoder is {free / cautious:.1f} times as diverse")

# %%
# The scores differ, and so do their ratios; under every kernel the free decoder is more diverse.
# Compare two sets under one kernel only, and name it.
#
# No kernel of words sees meaning: it counts five ways to say one thing as five things.

same = [
    "A dog runs along the beach.",
    "The hound races across some sand.",
    "One canine sprints beside an ocean.",
    "Puppy dashing over shoreline.",
    "There goes our pet, galloping near water.",
]
print(f"{compute(same, k='ngram_overlap')['VS']:.1f} of {len(same)}, all of one picture")
plt.show()

# %%
# To compare meaning, use embeddings of sentences, `k="text_embeddings"`, as far as their model
# knows it.
#
# Take away
# ---------
#
# * A score says "as diverse as so many texts with nothing in common", under a kernel and at an
#   order.
# * Look at the profile before you quote one order, and at the captions before you quote a number.
# * Compare sets with :py:func:`vendiscore.compare`: one size, one kernel, an interval and a
#   p-value.
#
# Next: :doc:`../tasks/compare_models` for two models of your own, :doc:`../tasks/per_prompt` for
# many captions of each picture, :doc:`../choose` for kernels, and :doc:`../concepts/order` for q.
