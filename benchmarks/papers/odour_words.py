"""Words for odours, by molecules and by words: Friedman & Dieng, arXiv 2210.02410, Appendix 9.5.

The paper scores the molecules that a word for an odour describes (GoodScents, 500 molecules for
each of the seven most common words) with the Tanimoto similarity of fingerprints, and with the
cosine of all words that describe them. Both scores are correlated. GoodScents is available: 4,561
molecules, 401 for the rarest of the seven words, and 500 or more for the others.

    python benchmarks/papers/odour_words.py --json benchmarks/results/papers/odour_words.json
"""

import csv
import gzip
from collections import Counter
from pathlib import Path

import numpy as np
from findings import Finding, Group, claim, format_mean, run, standard_error
from moses import MORGAN, SEEDS, is_valid
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

N_WORDS = 7  # number of words, the most common ones
MAX_MOLECULES = 500  # maximum number of molecules of a word
COMMON_SIZE = 150  # molecules of a word, for all words that have so many


def findings(data: Path) -> list[Finding]:
    """Compare VS and IntDiv of the molecules and words of odours with the claims of the paper."""
    RDLogger.DisableLog("rdApp.*")
    with gzip.open(data / "goodscents.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file, delimiter="\t") if is_valid(row[0])]
    smiles = [row[0] for row in rows]
    tags = [set(filter(None, row[1].split(";"))) for row in rows]
    count = Counter(word for tag_set in tags for word in tag_set)
    names = sorted(count)
    table = np.array([[word in tag_set for word in names] for tag_set in tags], dtype=float)
    molecules, words = as_similarity(smiles, **MORGAN), as_similarity(table, k="cosine")

    def score_word(word: str, n: int, seed: int) -> list[float]:
        candidates = np.flatnonzero(table[:, names.index(word)])
        rng = np.random.default_rng(seed)
        indices = rng.choice(candidates, min(n, len(candidates)), replace=False)
        return [compute(similarity.take(indices))["VS"] for similarity in (molecules, words)]

    common = [word for word, _ in count.most_common(N_WORDS)]
    scores_by_draw = np.array(
        [[score_word(word, MAX_MOLECULES, seed) for word in common] for seed in range(SEEDS)]
    )
    r = np.array([np.corrcoef(tag_set.T)[0, 1] for tag_set in scores_by_draw])
    means = scores_by_draw.mean(axis=0)
    min_count = min(count[word] for word in common)
    equal_size_scores = [
        [score_word(word, min_count, seed) for word in common] for seed in range(SEEDS)
    ]
    equal_size_correlations = np.array(
        [np.corrcoef(np.transpose(tag_set))[0, 1] for tag_set in equal_size_scores]
    )
    scores_by_word = {
        word: np.mean([score_word(word, COMMON_SIZE, seed) for seed in range(SEEDS)], axis=0)
        for word in names
        if count[word] >= COMMON_SIZE
    }
    over = np.corrcoef(np.array(list(scores_by_word.values())).T)[0, 1]
    kinds = ("woody", "green"), ("waxy", "fatty")
    low, high = (
        f(scores_by_word[w][0] for w in tag_set)
        for f, tag_set in zip((min, max), kinds, strict=True)
    )
    return [
        claim(
            f"the {N_WORDS} commonest words: VS by fingerprints, VS by words (Figure 9)",
            "correlated",
            bool(r.mean() - 2 * standard_error(r) > 0),
            f"r = {format_mean(r, 2)}: "
            + ", ".join(f"{w} {a:.0f}, {b:.1f}" for w, (a, b) in zip(common, means, strict=True))
            + f"; with {min_count} of each, all that the rarest has, "
            f"{format_mean(equal_size_correlations, 2)}; over all "
            f"{len(scores_by_word)} words of {COMMON_SIZE} molecules or more, {COMMON_SIZE} of "
            f"each, {over:.2f}",
        ),
        claim(
            "woody and green against waxy and fatty, by fingerprints",
            "the first are said of molecules that vary in structure, the second of similar ones",
            bool(low > high),
            f"VS of {COMMON_SIZE}: "
            + ", ".join(f"{w} {scores_by_word[w][0]:.0f}" for tag_set in kinds for w in tag_set)
            + "; by words "
            + ", ".join(f"{scores_by_word[w][1]:.1f}" for tag_set in kinds for w in tag_set),
        ),
    ]


if __name__ == "__main__":
    run(GROUP, findings)
