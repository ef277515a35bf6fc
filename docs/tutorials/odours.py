"""
Odorants: the diversity of families of molecules
================================================

A table of some two hundred well-known odorants, each with the family of its smell, shows that some
families are one skeleton with variations, and that others share hardly anything but the smell. You
will learn to

* compare molecules by fingerprints, from SMILES,
* score families of different sizes at one size, with intervals,
* test differences with :py:func:`vendiscore.compare`,
* find isolated molecules, and molecules that the kernel confuses.

We made the table (:download:`odorants.csv <../tutorials/data/odorants.csv>`; a notebook looks for
it in a folder `data` next to it): every odorant has one family, although people would often name
two.
"""

import csv
from pathlib import Path

from vendiscore import compute

# Notebooks and the gallery of these pages have no __file__: they run in the folder of the script.
HERE = Path(globals().get("__file__", "odours.py")).resolve().parent

with open(HERE / "data" / "odorants.csv", newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))

total = compute([row["smiles"] for row in rows], k="morgan")["VS"]
print(f"{total:.0f} of {len(rows)} odorants are effectively different.")

# %%
# The families, and one odorant of each of nine
# ---------------------------------------------
#
# Each smell is one family. RDKit draws a molecule from its SMILES, in memory.

import os
from io import BytesIO
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.Draw.rdMolDraw2D import MolDraw2DCairo

from vendiscore import as_similarity, compare, explain, growth, plots

plt.style.use("tableau-colorblind10")
plt.rcParams |= {"font.size": 12, "axes.spines.top": False, "axes.spines.right": False}

families: dict[str, list[str]] = {}
for row in rows:
    families.setdefault(row["family"], []).append(row["smiles"])
names = {row["smiles"]: row["name"] for row in rows}
print(", ".join(f"{family} {len(members)}" for family, members in families.items()))


def draw(ax, smiles: str, title: str, size: int = 18) -> None:
    """Draw a molecule, with a line or two above it."""
    canvas = MolDraw2DCairo(460, 320)
    canvas.drawOptions().bondLineWidth = 3
    canvas.drawOptions().minFontSize = 26
    canvas.DrawMolecule(MolFromSmiles(smiles))
    canvas.FinishDrawing()
    ax.imshow(plt.imread(BytesIO(canvas.GetDrawingText())))
    ax.set_title(title, size=size)
    ax.axis("off")


known = {
    "isoamyl acetate": "banana",
    "limonene": "orange",
    "menthol": "mint",
    "eugenol": "clove",
    "vanillin": "vanilla",
    "furfurylthiol": "coffee",
    "muscone": "musk",
    "diallyl disulfide": "garlic",
    "cis-3-hexenol": "cut grass",
}
of_name = {row["name"]: row["smiles"] for row in rows}
figure, axes = plt.subplots(3, 3, figsize=(8.2, 6.4), layout="constrained")
for ax, (name, smell) in zip(axes.flat, known.items(), strict=True):
    draw(ax, of_name[name], smell)

# %%
# All molecules at once
# ---------------------
#
# The kernel `morgan` describes each molecule by the surroundings of its atoms, up to two bonds
# away, and compares two molecules by the Tanimoto similarity: the bits of both divided by the bits
# of either.

everything = [smiles for members in families.values() for smiles in members]
K = as_similarity(everything, k="morgan").dense()
labels = np.repeat(list(families), [len(members) for members in families.values()])

figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
plots.heat_map(K, groups=np.unique(labels, return_inverse=True)[1], ax=ax)
ax.images[0].set_clim(0, 0.7)
middles = [np.flatnonzero(labels == family).mean() + 1 for family in families]
ax.set_xticks(middles, list(families), rotation=90)
ax.set_yticks(middles, list(families))
ax.set(xlabel="", title="Similarity of all pairs: some families are squares")
ax.child_axes[0].set_ylabel("Tanimoto similarity (0.7 and more: yellow)")

# %%
# Which family is the most diverse?
# ---------------------------------
#
# A score grows with the number of samples, and the families differ in size. So score all families
# at the size of the smallest: :py:func:`vendiscore.growth` returns the mean score at that size,
# with its interval.

size = min(len(members) for members in families.values())
at_size = {
    family: growth(members, sizes=[size], k="morgan") for family, members in families.items()
}
ranked = sorted(at_size, key=lambda family: -at_size[family].scores[0])

figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
for place, family in enumerate(ranked):
    (score,), (low,), (high,) = (
        getattr(at_size[family], name) for name in ("scores", "low", "high")
    )
    ax.plot([low, high], [place, place], color="C0", lw=4, alpha=0.4)
    ax.plot(score, place, "o", color="C0", ms=9)
ax.set_yticks(range(len(ranked)), ranked)
ax.invert_yaxis()
ax.set(
    xlim=(0, size),
    xlabel=f"effectively different, of {size} molecules (95 % intervals)",
    title="Some smells are one skeleton, others are many",
)
print(f"The most diverse: {', '.join(ranked[:3])}; the least: {', '.join(ranked[:-4:-1])}.")

# %%
# Intervals of so few molecules are wide. A permutation test finds the families that differ beyond
# chance; which is more diverse is stated where the interval of the difference agrees. We compare
# four families, which are six pairs. All eleven families are 55 pairs, and each
# pair would need more evidence, since some of many pairs differ by chance. Choose pairs before you
# look at their scores.

chosen = {family: families[family] for family in ("creamy", "fruity", "musky", "sulphurous")}
found = compare(chosen, k="morgan", permutations=199)
for verdict in found.verdicts:
    print(fill(verdict, 80, subsequent_indent="  "))

# %%
# Esters and lactones, which dominate the fruity and creamy families, are chains of any length
# around one group: few surroundings of atoms, in many combinations. Odorants with sulphur are
# small, and small molecules have few surroundings to share, so that a carbon more makes them
# different. A score depends on its kernel, and this kernel sees neither size nor shape.
#
# Isolated molecules
# ------------------
#
# The surprise of a sample is how rare its features are in the set; its mean over all samples is the
# logarithm of the score. Molecules with the most surprise have no neighbour, and molecules with the
# least have many.

explained = explain(everything, k="morgan", threshold=0.999)
order = np.argsort(-explained.surprise, kind="stable")
figure, axes = plt.subplots(2, 4, figsize=(9, 5), layout="constrained")
for ax, i in zip(axes.flat, [*order[:4], *order[-4:]], strict=True):
    nearest = explained.nearest_similarity[i]
    draw(ax, everything[i], names[everything[i]], size=14)
    ax.text(0.5, -0.02, f"nearest: {nearest:.2f}", ha="center", va="top", transform=ax.transAxes)
figure.suptitle("The most surprising molecules (above), and the least", size=17)

lonely = np.argsort(explained.nearest_similarity, kind="stable")[:5]
print("Most alone:", ", ".join(names[everything[i]] for i in lonely))

# %%
# Molecules that the kernel confuses
# ----------------------------------
#
# Some pairs have a similarity of 1, and are not the same molecule:

for keep, others in explained.groups:
    print(" = ".join(f"{names[everything[i]]} ({labels[i]})" for i in [keep, *others]))

# %%
# The bits of a fingerprint record the surroundings that occur, and not their number: a chain of
# eight carbons and a chain of ten have the same bits. The bits also ignore chirality, the
# difference between spearmint and caraway: (R)- and (S)-carvone are mirror images. Pass
# `chirality=True` to distinguish them.

mirror = [of_name["(R)-carvone"], of_name["(S)-carvone"]]
for chirality in (False, True):
    score = compute(mirror, k="morgan", chirality=chirality)["VS"]
    print(f"chirality={chirality}: two carvones are {score:.2f} effectively different")

# %%
# A larger table
# --------------
#
# The same questions for a table with the columns `smiles` and `odors`, descriptors with semicolons
# between them, such as `leffingwell_odors.csv` of some 3,500 odorants, if it is in the folder
# that the environment variable `VENDISCORE_DATA` names. A molecule stands under one descriptor
# only, the rarest of its own among the commonest four, so that the sets share none.


def by_descriptor(path: Path, most: int = 4) -> dict[str, list[str]]:
    """Return SMILES by odour."""
    with open(path, newline="", encoding="utf-8") as file:
        table = [(row["smiles"], set(row["odors"].split(";"))) for row in csv.DictReader(file)]
    every = [odour for _, odours in table for odour in sorted(odours)]
    common = sorted(set(every), key=lambda odour: (-every.count(odour), odour))[:most]
    sets: dict[str, list[str]] = {odour: [] for odour in common}
    for smiles, odours in table:
        if own := [odour for odour in common if odour in odours]:
            sets[own[-1]].append(smiles)
    return sets


table = Path(os.environ.get("VENDISCORE_DATA", ".")) / "leffingwell_odors.csv"
if table.exists():
    found = compare(by_descriptor(table), k="morgan", size=60, permutations=119)
    print(fill(found.sentence, 80))
else:
    print("The table is not here; the code above shows what would be compared.")
plt.show()

# %%
# Take away
# ---------
#
# * Molecules are scored from SMILES: `k="morgan"`, or another fingerprint for another question.
# * Score sets of different sizes at one size, and report the intervals, which are wide for few
#   samples.
# * Look at the molecules that the kernel confuses before you trust its count.
#
# Next: :doc:`../reference/kernels` for fingerprints and their options,
# :doc:`../tasks/compare_models` for two generators of molecules, :doc:`../tasks/choose_hundred`
# for a diverse part of a library.
