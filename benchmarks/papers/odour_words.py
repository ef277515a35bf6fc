"""Words for odours, by molecules and by words: Friedman & Dieng, arXiv 2210.02410, Appendix 9.5.

The paper scores the molecules that a word for an odour describes (GoodScents, 500 for each of the
seven commonest) by Tanimoto similarity of fingerprints, and by the cosine of all words said of
them; the two scores go together. GoodScents is here, too: 4,561 molecules, of which 401 are called
by the rarest of the seven words, and 500 or more by each of the others.

    python benchmarks/papers/odour_words.py --json benchmarks/results/papers/odour_words.json
"""

import csv
import gzip
from collections import Counter
from pathlib import Path

import numpy as np
from findings import Finding, Group, claim, mean, run, standard_error
from moses import MORGAN, SEEDS, valid
from rdkit import RDLogger

from vendiscore import as_similarity, compute

GROUP = Group(
    name="odour_words",
    title="Words for odours, by molecules and by words",
    source="Friedman & Dieng, arXiv 2210.02410, Appendix 9.5 and Figure 9",
    method="Tanimoto of Morgan fingerprints (radius 2, 1,024 bits) and cosine of words, five "
    "draws, mean ± standard error. Words and molecules are GoodScents', as the paper's "
    "are; which 500 molecules of each word it drew is not known.",
    agrees=(
        "Odours whose molecules are diverse also have diverse descriptions. Woody and green "
        "have higher scores than waxy and fatty."
    ),
    needs=("goodscents.tsv.gz",),
    packages=("rdkit",),
)

WORDS = 7  # the commonest
MOST = 500  # molecules of a word, all if there are fewer
SHARE = 150  # molecules of a word, for all that have so many


def findings(data: Path) -> list[Finding]:
    RDLogger.DisableLog("rdApp.*")
    with gzip.open(data / "goodscents.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file, delimiter="\t") if valid(row[0])]
    smiles = [row[0] for row in rows]
    tags = [set(filter(None, row[1].split(";"))) for row in rows]
    count = Counter(word for one in tags for word in one)
    names = sorted(count)
    table = np.array([[word in one for word in names] for one in tags], dtype=float)
    molecules, words = as_similarity(smiles, **MORGAN), as_similarity(table, k="cosine")

    def both(word: str, n: int, seed: int) -> list[float]:
        places = np.flatnonzero(table[:, names.index(word)])
        rng = np.random.default_rng(seed)
        some = rng.choice(places, min(n, len(places)), replace=False)
        return [compute(similarity.take(some))["VS"] for similarity in (molecules, words)]

    common = [word for word, _ in count.most_common(WORDS)]
    drawn = np.array([[both(word, MOST, seed) for word in common] for seed in range(SEEDS)])
    r = np.array([np.corrcoef(one.T)[0, 1] for one in drawn])
    means = drawn.mean(axis=0)
    least = min(count[word] for word in common)
    even = [[both(word, least, seed) for word in common] for seed in range(SEEDS)]
    of_least = np.array([np.corrcoef(np.transpose(one))[0, 1] for one in even])
    wide = {
        word: np.mean([both(word, SHARE, seed) for seed in range(SEEDS)], axis=0)
        for word in names
        if count[word] >= SHARE
    }
    over = np.corrcoef(np.array(list(wide.values())).T)[0, 1]
    kinds = ("woody", "green"), ("waxy", "fatty")
    low, high = (f(wide[w][0] for w in one) for f, one in zip((min, max), kinds, strict=True))
    return [
        claim(
            f"the {WORDS} commonest words: VS by fingerprints, VS by words (Figure 9)",
            "correlated",
            bool(r.mean() - 2 * standard_error(r) > 0),
            f"r = {mean(r, 2)}: "
            + ", ".join(f"{w} {a:.0f}, {b:.1f}" for w, (a, b) in zip(common, means, strict=True))
            + f"; with {least} of each, all that the rarest has, {mean(of_least, 2)}; over all "
            f"{len(wide)} words of {SHARE} molecules or more, {SHARE} of each, {over:.2f}",
        ),
        claim(
            "woody and green against waxy and fatty, by fingerprints",
            "the first are said of molecules that vary in structure, the second of similar ones",
            bool(low > high),
            f"VS of {SHARE}: "
            + ", ".join(f"{w} {wide[w][0]:.0f}" for one in kinds for w in one)
            + "; by words "
            + ", ".join(f"{wide[w][1]:.1f}" for one in kinds for w in one),
        ),
    ]


if __name__ == "__main__":
    run(GROUP, findings)
