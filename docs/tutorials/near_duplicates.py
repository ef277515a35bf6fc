"""
Near-duplicates in a set of texts
=================================

Some questions of a set occur twice: with a typo, in small letters, with "please", or with the
halves in another order. This tutorial plants such copies, so that the truth is known; then
:py:func:`vendiscore.explain` finds them. You will see

* that the kernel matters more than the threshold,
* how to find a threshold, by the pairs on both sides of it,
* the score of a set while its most redundant samples are removed,
* the results to save.
"""

# %%
# A set with known copies
# -----------------------
# Twenty questions to a library, each in two halves so that they can change places, and ten others,
# six of which differ from one of the twenty by a word or two. These six are the hard part: "Can I
# renew a film" is not a copy of "Can I renew a book".
import random
import re
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from vendiscore import as_similarity, compute, explain, score_K

plt.style.use("tableau-colorblind10")
plt.rcParams.update({"font.size": 12, "figure.constrained_layout.use": True})

HALVES = """
Can I renew a book online | if somebody else has asked for it
How many books may I borrow | when I have only just joined
Do I have to pay a fine | if I return a book one day late
Where can I find large-print novels | now that the shelves have moved
Is the reading room open | on the Monday after Easter
Can my daughter get a card of her own | before she turns six
What happens to my reservation | if I do not pick it up in time
How do I reset my password | when I no longer have that email address
Who do I tell about a torn page | that was there when I borrowed the book
May I bring coffee into the library | if the cup has a lid
Are newspapers from the war years kept on film | or can I see the paper ones
How long does an interlibrary loan take | when the book comes from abroad
Can I print in colour | from my own laptop
Is there a place to park a bicycle | that stays dry in the rain
Do you take old encyclopaedias | as a gift from a private house
What do I need to bring | to join as a student
Which films can I watch at home | with nothing but a library card
Could you buy a book for me | that is not in the catalogue
When is story time for toddlers | during the school holidays
Is it possible to book the piano | for an hour in the evening
"""
OTHERS = """
Can I renew a film online if somebody else has asked for it?
How many films may I borrow when I have only just joined?
Is the reading room open on the Monday after Christmas?
Can my daughter get a card of her own before she turns sixteen?
Can I scan in colour from my own laptop?
What do I need to bring to join as a pensioner?
Do you lend umbrellas?
Who chose the painting in the hall?
Are guide dogs welcome?
What is the Wi-Fi called on the second floor?
"""
draw = random.Random(1)


def edits(first: str, second: str) -> dict[str, str]:
    """Return a question, and four ways to ask it again."""
    question = f"{first} {second}?"
    word = max(question.rstrip("?").split(), key=len)
    k = draw.randrange(1, len(word) - 2)
    swapped = word[:k] + word[k + 1] + word[k] + word[k + 2 :]
    return {
        "original": question,
        "a typo": question.replace(word, swapped),
        "small letters": question.lower().rstrip("?"),
        "please": f"Hello, {question[0].lower()}{question[1:-1]}, please?",
        "re-ordered": f"{second[0].upper()}{second[1:]}, {first[0].lower()}{first[1:]}?",
    }


rows = []  # (text, which question it asks, how it was edited)
for number, line in enumerate(HALVES.strip().splitlines()):
    asked = edits(*line.split(" | "))
    kinds = ["a typo", "small letters", "please", "re-ordered"]
    again = [kinds[number % 4], kinds[(number + 2) % 4]][: 2 if number < 6 else 1]
    rows += [(asked[kind], number, kind) for kind in ["original", *again]]
rows += [(text, 100 + i, "original") for i, text in enumerate(OTHERS.strip().splitlines())]
draw.shuffle(rows)

texts = [text for text, _, _ in rows]
question = np.array([number for _, number, _ in rows])
edit = np.array([kind for _, _, kind in rows])
copies = len(texts) - len(set(question))
print(f"{len(texts)} texts ask {len(set(question))} questions: {copies} of them are copies.")

# %%
# The kernel matters most
# -----------------------
# The default compares words as they are written, alone and in n-grams of up to four. A typo changes
# all its n-grams, and a small letter makes another word. Lower case, no punctuation, and n-grams of
# three *characters* forgive both: a typo then changes a few of many n-grams.
tidy = [" ".join(re.findall(r"\w+", text.lower())) for text in texts]
by_characters = {"k": "ngram_overlap", "analyzer": "char", "ns": 3}
ways = {
    "words, as written": as_similarity(texts, k="ngram_overlap"),
    "characters, tidied": as_similarity(tidy, **by_characters),
}
same = question[:, None] == question
np.fill_diagonal(same, False)
ROWS = ["other questions", "re-ordered", "please", "small letters", "a typo"]

figure, axes = plt.subplots(1, 2, figsize=(7, 4.8), sharey=True, sharex=True)
for ax, (name, similarity) in zip(axes, ways.items(), strict=True):
    K = similarity.dense()
    ax.axhspan(-0.5, 0.5, color="0.93")
    for row, kind in enumerate(ROWS):
        if row:  # each copy and the question that it was made of
            near = [K[i, same[i] & (edit == "original")] for i in np.flatnonzero(edit == kind)]
        else:  # each text and the most similar one that asks something else
            near = [np.where(same, 0, K - np.eye(len(K))).max(axis=1)]
        x = np.concatenate(near)
        ax.plot(x, np.full(len(x), row), "o", ms=9, alpha=0.55, color=f"C{0 if row else 1}")
    ax.set(title=name, xlabel="similarity", xlim=(0, 1.06), xticks=[0, 0.5, 1])
    ax.set_yticks(range(len(ROWS)), ROWS)
figure.suptitle("Copies (blue), different questions (orange)", fontsize=16, weight="bold")
plt.show()

# %%
# On the left, no vertical line separates the copies from the other questions. On the right one
# nearly does, and the few orange dots beyond it are worth reading.
#
# A threshold, by the pairs on both sides of it
# ---------------------------------------------
# :py:func:`vendiscore.explain` compares all pairs once. From each group it keeps the sample with
# the most near-duplicates; the similarity of each removed sample to a kept one reaches the
# threshold.
found = explain(tidy, threshold=0.85, **by_characters)
print(found.sentence.replace(". ", ".\n"), end="\n\n")
for keep, repeats in found.groups[:3]:
    print("keep  ", texts[keep])
    for place in repeats:
        print("  drop", texts[place])

# %%
# At this threshold the films replace the books: a question would be lost. The meaning of 0.85
# depends on the kernel and the set. `boundary` shows the pairs that a slightly different threshold
# would change: the least similar pairs above it and the most similar below. Read them; if the upper
# ones are different questions, go up.
above, below = found.boundary(4)
for said, pairs in (("above", above), ("below", below)):
    for pair in pairs:
        print(f"{said} {pair.similarity:.3f}  {texts[pair.i]}")
        print(f"             {texts[pair.j]}")

# %%
# Since the copies were planted, we can test each threshold. A removal is right if the kept
# text asks the same. *Precision* is the share of removals that are right, *recall* the share of
# copies that are removed rightly. `rethreshold` compares nothing again: one call of `explain`
# serves the whole curve, down to `found.floor`.
thresholds = np.arange(0.5, 0.9751, 0.025)


def judged(explanation, threshold):
    """Return precision and recall of the removed texts at a threshold."""
    of = explanation.rethreshold(threshold).redundant_of
    gone = np.flatnonzero(of >= 0)
    right = np.sum(question[gone] == question[of[gone]])
    return right / len(gone) if len(gone) else np.nan, right / copies


figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True)
for ax, (name, similarity) in zip(axes, ways.items(), strict=True):
    precision, recall = zip(
        *(judged(explain(similarity, threshold=0.5), t) for t in thresholds), strict=True
    )
    ax.plot(thresholds, precision, lw=3, color="C0", label="precision")
    ax.plot(thresholds, recall, lw=3, ls="--", color="C1", label="recall")
    ax.set(title=name, xlabel="threshold", ylim=(0, 1.05))
axes[0].set_ylabel("share")
axes[1].legend(frameon=False, loc="lower left")
figure.suptitle("What each threshold removes", weight="bold")
plt.show()

usual = explain(tidy, **by_characters)
print(usual.sentence.replace(". ", ".\n"), end="\n\n")
for threshold in (0.8, 0.85, 0.9, 0.95):
    precision, recall = judged(usual, threshold)
    print(f"at {threshold:.2f}: precision {precision:.2f}, recall {recall:.2f}")

# %%
# Where none is passed, the threshold is 0.95, whatever the kernel, and the sentence has the number
# of repeats at other thresholds. All wrong removals here are questions that were written to be near
# each other.
#
# No threshold is free of mistakes. A low one puts look-alikes into one group and keeps one text of
# it: copies of the others are then removed for a text that asks something else, and recall falls as
# well. Which removals at 0.9 are wrong?
final = found.rethreshold(0.9)
K = ways["characters, tidied"].dense()
for place, of in enumerate(final.redundant_of):
    if of >= 0 and question[place] != question[of]:
        print(f"wrong, {K[place, of]:.3f}: {texts[place]}\n          kept: {texts[of]}")

# %%
# The texts differ in a word or its ending, and the difference matters. A kernel of letters cannot
# know that; an encoder (``k="text_embeddings"``) sees more, and makes other mistakes. So remove by
# the threshold, and read the pairs next to it.
#
# The score while copies are removed
# ----------------------------------
# ``rethreshold`` moves the threshold without a new comparison: from high to low, this is the score
# of the rest. While copies are removed the score hardly falls; if equally many random texts are
# removed it falls much more. Once copies and look-alikes are removed and other texts follow, the
# curve bends down.
wide = explain(tidy, threshold=0.5, **by_characters)
at = [wide.rethreshold(threshold) for threshold in np.linspace(1, 0.5, 61)]
removed = [wide.n - len(each.kept) for each in at]
scores = [each.score_without_duplicates for each in at]

rng = np.random.default_rng(0)


def at_random(size):
    """Return the mean score of random subsets of a size."""
    drawn = [rng.choice(len(K), size, replace=False) for _ in range(20)]
    return np.mean([score_K(K[np.ix_(rows, rows)]) for rows in drawn])


figure, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(removed, scores, "o-", lw=3, ms=7, label="the most redundant first")
ax.plot(removed, [at_random(len(K) - m) for m in removed], "--", lw=3, label="at random")
ax.axvline(copies, color="0.5", ls=":")
ax.text(copies + 0.4, 1, "as many as\nthere are copies")
ax.legend(frameon=False, loc="lower left")
ax.set(xlabel="texts removed", ylabel="effectively different")
ax.set(title="The score while texts are removed", ylim=(0, None))
plt.show()

before, after = final.score, final.score_without_duplicates
print(f"All {len(texts)} texts: {before:.1f} effectively different.")
print(f"The {len(final.kept)} that are kept at 0.9: {after:.1f}.")

# %%
# Save the result
# ---------------
# The table has a row for each text: its contribution, its nearest text, and the kept text that it
# repeats (−1: it is kept). Save it with the kept texts, the threshold and the signature of the
# score, so that others can check the removals.
table = final.to_frame()
table.insert(0, "text", texts)
by_use = table.sort_values("adds")["text"]
print("adds the most: ", by_use.iloc[-1])
print("adds the least:", by_use.iloc[0])
with tempfile.TemporaryDirectory() as folder:  # yours is one that stays
    table.to_csv(Path(folder) / "near_duplicates.csv")
    kept = [texts[place] for place in final.kept]
    (Path(folder) / "kept.txt").write_text("\n".join(kept) + "\n", encoding="utf-8")
    print(sorted(path.name for path in Path(folder).iterdir()))
print(compute(tidy, details=True, **by_characters)["details"]["signature"])
table[table["redundant_of"] >= 0].sort_values("nearest_similarity").head(4)

# %%
# Take away
# ---------
# * First define *alike* (letter case, punctuation, words or characters), then look for a threshold.
#   A good kernel widens the gap between copies and others; a threshold only cuts there.
# * Choose the threshold by the pairs at `boundary()`, and move it with `rethreshold`: it measures
#   nearness, not sameness.
# * If the score hardly falls while samples are removed, they were repeats.
# * Do not rank a set and its cleaned part by their scores: repeats can raise a score or lower it.
#   To compare two sets see :doc:`../tasks/compare_models`.
#
# Next: the same as a recipe in :doc:`../tasks/near_duplicates`; choosing the most different samples
# instead of dropping the most alike in :doc:`../tasks/choose_hundred`; the meaning of `adds` and
# `surprise` in :doc:`../concepts/leave_one_out`.
