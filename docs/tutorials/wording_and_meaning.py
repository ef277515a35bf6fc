"""
Compare models in wording and in meaning
========================================

A model that answers a question eight times may say one thing in eight ways, or eight things in one
way. A score by shared words sees the first, a score by embeddings the second. Eight people and two
models, gemini-1.5-pro and gpt-4o, answered the same questions. This tutorial compares their
diversity in both senses. You will learn to

* score answers prompt by prompt, by wording and by meaning,
* take the prompt out of embeddings,
* compare three sources within prompts, with a p-value for each pair,
* find the prompts on which models differ most, and read the answers.

The answers are real: 38 prompts of NoveltyBench (Zhang et al., arXiv 2504.05228; MIT licence) with
short answers (:download:`answers.csv <../tutorials/data/answers.csv>`), and vectors of them by the
encoder all-MiniLM-L6-v2 (:download:`answers.npz <../tutorials/data/answers.npz>`; a notebook looks
for both in a folder `data` next to it), so that nothing is downloaded.
"""

import csv
import warnings
from pathlib import Path

from vendiscore import compare, compute

# Some answers are one word, and a few differ in their signs alone: both is meant here.
warnings.filterwarnings("ignore", "Kernel .ngram_overlap. ")

# Notebooks and the gallery of these pages have no __file__: they run in the folder of the script.
DATA = Path(globals().get("__file__", "wording_and_meaning.py")).resolve().parent / "data"

with open(DATA / "answers.csv", newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
for source in ("people", "gemini-1.5-pro", "gpt-4o"):
    own = [row for row in rows if row["source"] == source]
    found = compute([row["answer"] for row in own], groups=[row["prompt"] for row in own])
    print(f"{source}: {found['VS']:.1f} of 8 answers differ in wording")

# %%
# Read some answers
# -----------------
#
# The numbers stand for texts such as these.

from textwrap import fill, shorten

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr

plt.style.use("tableau-colorblind10")
plt.rcParams |= {"font.size": 12, "axes.spines.top": False, "axes.spines.right": False}
with np.load(DATA / "answers.npz") as file:
    vectors, asked = file["answers"].astype(float), file["prompts"].astype(float)

sources = list(dict.fromkeys(row["source"] for row in rows))
prompts = list(dict.fromkeys(row["prompt"] for row in rows))
of = {source: [i for i, row in enumerate(rows) if row["source"] == source] for source in sources}


def show(prompt: str) -> None:
    """Print what each source answered, the same answers once."""
    print(prompt)
    for source in sources:
        own = [row["answer"] for row in rows if (row["prompt"], row["source"]) == (prompt, source)]
        each = (f"{own.count(text)} × {shorten(text, 60)}" for text in dict.fromkeys(own))
        print(fill("; ".join(each), 80, initial_indent=f"  {source}: ", subsequent_indent="    "))


show("Name one wild animal which is an omnivore.")

# %%
# In wording
# ----------
#
# The default kernel, n-grams, compares words and phrases. With `groups=` each prompt has its own
# score, and `details` has all of them: for eight answers, 1 if all are the same and 8 if no two
# share a word.


def by_prompt(samples, source: str, given=None, **how) -> np.ndarray:
    """Return scores of one source, in the order of the prompts."""
    chosen = of[source]
    names = [rows[i]["prompt"] for i in chosen]
    given_prompts = {}
    if given is not None:
        given_prompts = {"prompts": given[chosen], "given_prompt": True}
    result = compute(samples[chosen], groups=names, **given_prompts, details=True, **how)
    scores = {row["group"]: row["VS"] for row in result["details"]["groups"]}
    return np.array([scores[prompt] for prompt in prompts])


answers = np.array([row["answer"] for row in rows])
wording = {source: by_prompt(answers, source) for source in sources}
for source, scores in wording.items():
    print(f"{source:>14}: {scores.mean():.1f} of 8 answers differ in wording")

# %%
# In meaning, given the prompt
# ----------------------------
#
# Cosines of embeddings compare meanings. But answers to one prompt are alike because of the prompt:
# all animals are animals. `given_prompt=True` takes the direction u of the prompt out of each
# vector, x − (x·u) u, here with a row for each answer. Scores rise, and they rise more if answers
# repeat more of the question.

u = asked[[prompts.index(row["prompt"]) for row in rows]]
plain = {source: by_prompt(vectors, source, k="cosine") for source in sources}
meaning = {source: by_prompt(vectors, source, given=u, k="cosine") for source in sources}
for source in sources:
    print(
        f"{source:>14}: {meaning[source].mean():.1f} of 8 answers differ in meaning "
        f"({plain[source].mean():.1f} before the prompt was taken out)"
    )

# %%
# For texts that is one call with an encoder: `compute(answers, k="text_embeddings", prompts=prompt,
# given_prompt=True, model_path="sentence-transformers/all-MiniLM-L6-v2")`.
#
# Test the differences
# --------------------
#
# :py:func:`vendiscore.compare` with `groups=` compares the three sources within each prompt and
# speaks of other prompts like these. The p-values are corrected for the three pairs.

groups = [row["prompt"] for row in rows]
labels = [row["source"] for row in rows]
meant = {"k": "cosine", "prompts": u, "given_prompt": True}
for name, samples, how in (("wording", answers, {}), ("meaning", vectors, meant)):
    found = compare(samples, by=labels, groups=groups, permutations=199, **how)
    print(f"In {name}:")
    for verdict in found.verdicts:
        print(fill(verdict, 78, initial_indent="  ", subsequent_indent="    "))

# %%
# Both at once, prompt by prompt
# ------------------------------
#
# A point is a prompt. To the right its answers differ in words, upwards in meaning.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.7), layout="constrained", sharex=True, sharey=True)
for ax, source, colour in zip(axes, sources, ("C0", "C1", "C2"), strict=True):
    ax.plot([1, 8], [1, 8], color="0.8", lw=1, zorder=0)
    ax.scatter(wording[source], meaning[source], s=34, alpha=0.6, color=colour, lw=0)
    middle = wording[source].mean(), meaning[source].mean()
    ax.plot(*middle, "P", ms=13, color=colour, mec="black")
    ax.set_title(source)
axes[0].set(xlim=(0.8, 8.2), ylim=(0.8, 8.2), ylabel="effective answers, in meaning")
axes[1].set_xlabel("effective answers of eight, in wording (a cross: the mean)")

# %%
# Nearly all points lie below the diagonal: wordings differ more easily than meanings. The points of
# gemini-1.5-pro lie at the lower left, where eight answers are hardly more than one; the points of
# people lie at the right, where no two answers share a word.
#
# Prompts on which the models differ most
# ---------------------------------------
#
# The figure has the difference of the two models in meaning and in wording, prompt by prompt.

one, other = "gpt-4o", "gemini-1.5-pro"
gap = {"meaning": meaning[one] - meaning[other], "wording": wording[one] - wording[other]}
order = np.argsort(gap["meaning"], kind="stable")
ends = [*order[:4], *order[-8:]]
figure, ax = plt.subplots(figsize=(8.6, 5), layout="constrained")
places = np.arange(len(ends))
for shift, (name, values) in zip((0.2, -0.2), gap.items(), strict=True):
    ax.barh(places + shift, values[ends], height=0.38, label=f"in {name}")
ax.axvline(0, color="black", lw=0.8)
ax.set_yticks(places, [shorten(prompts[i], 44, placeholder=" …") for i in ends], size=10)
ax.set(xlabel="effective answers of gpt-4o less those of gemini-1.5-pro")
figure.suptitle("gpt-4o against gemini-1.5-pro: the prompts at both ends")
_ = ax.legend(frameon=False, loc="lower right")

# %%
# Read the answers to the prompt at the top:

show(prompts[order[-1]])

# %%
# Prompts on which wording and meaning disagree
# ---------------------------------------------
#
# Look for answers that differ in words and say the same.

apart = wording[one] - meaning[one]
show(prompts[int(np.argmax(apart))])
where = int(np.argmax(apart))
print(f"{one}: {wording[one][where]:.1f} in wording, {meaning[one][where]:.1f} in meaning")

# %%
# Comparison with people's judgements
# -----------------------------------
#
# NoveltyBench has a classifier, trained on judgements of people, that sorted the answers of each
# source into classes. Compare both scores with the number of classes:

classes = {
    source: np.array(
        [
            len({r["class"] for r in rows if (r["prompt"], r["source"]) == (prompt, source)})
            for prompt in prompts
        ]
    )
    for source in sources
}
counted = np.concatenate(list(classes.values()))
for name, scores in (("wording", wording), ("meaning", meaning)):
    rho = spearmanr(np.concatenate(list(scores.values())), counted).statistic
    print(f"{name}: ρ = {rho:.2f} with the number of classes")
for source, values in classes.items():
    print(f"{source:>14}: {values.mean():.1f} classes of 8 answers")
plt.show()

# %%
# For such short answers wording and meaning nearly agree: another word is another thing. Longer
# answers differ; :doc:`../people` compares both with people's own scores.
#
# Take away
# ---------
#
# * Name the one that you mean. n-grams measure wording, embeddings meaning as far as their model
#   knows it.
# * Score prompt by prompt, and take the prompt out of embeddings.
# * Compare sources within prompts: ``compare(answers, by=source, groups=prompt)``.
# * Look at the prompts at both ends before you quote a mean.
#
# Next: :doc:`../tasks/per_prompt` for the measures within and between prompts,
# :doc:`../tasks/compare_models` for two models of your own, :doc:`../choose` for kernels.
