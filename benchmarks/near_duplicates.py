"""Near-duplicates at a fixed threshold and at the automatic one, on copies that were planted.

    python benchmarks/near_duplicates.py --json benchmarks/results/near_duplicates.json

Questions of TREC, MNIST digits, patches of scikit-learn's two photographs, and odorants: edited
copies are planted among samples drawn without replacement, and each threshold is judged by what it
removes. A removal is right if the sample that is kept is the same before the edit; samples that are
alike in nature count as wrong, but for texts of one form and molecules without stereo that agree.
*Recall* is the share of copies removed rightly, *precision* the share of removals that are right,
means over sets. "best" is the fixed threshold, one for all sets of a row, whose lesser of the two
is the largest. Sets without planted copies say how many samples are named all the same.

Then how often samples look dependent: independent ones, and near-copies in pairs and in fives.
"""

import csv
import gzip
import string
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from pairs import DATA, arguments, environment, write

from vendiscore import as_similarity
from vendiscore.analysis.duplicates import compare_samples
from vendiscore.reading.string_patterns import text_form
from vendiscore.uncertainty.near_copies import dependent_share

# Samples in all, and how many of them are planted.
SIZES = ((200, 20), (2_000, 50))
STEPS = ((0.1, 0.9, 0.02), (0.9, 0.99, 0.005), (0.99, 0.9995, 0.001))
THRESHOLDS = np.append(np.concatenate([np.arange(*step) for step in STEPS]), 1.0)
Edit = Callable[[Any, np.random.Generator], Any]


def questions() -> list[str]:
    lines = (DATA / "trec_questions.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return list(dict.fromkeys(line.split("\t")[-1] for line in lines))


QUESTIONS = questions()
WORDS = sorted({word for text in QUESTIONS for word in text.split()[:-1]})


def swapped(text: str, rng: np.random.Generator) -> str:
    words = text.split()
    i = int(rng.integers(max(len(words) - 2, 1)))
    words[i : i + 2] = words[i : i + 2][::-1]
    return " ".join(words)


def replaced(text: str, rng: np.random.Generator) -> str:
    words = text.split()
    words[int(rng.integers(max(len(words) - 1, 1)))] = str(rng.choice(WORDS))
    return " ".join(words)


def unpunctuated(text: str, rng: np.random.Generator) -> str:
    blank = str.maketrans(string.punctuation, " " * len(string.punctuation))
    return " ".join(text.translate(blank).split())


def shifted(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    moved = np.roll(image, 1, axis=1)
    moved[:, 0] = image[:, 0]
    return moved


def noised(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.clip(image + rng.normal(0, 12, image.shape), 0, 255).round().astype(np.uint8)


def brightened(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.clip(1.2 * image.astype(float) + 10, 0, 255).round().astype(np.uint8)


TEXT_EDITS: dict[str, Edit] = {
    "two words swapped": swapped,
    "a word replaced": replaced,
    "lower case": lambda text, rng: text.lower(),
    "no punctuation": unpunctuated,
}
IMAGE_EDITS: dict[str, Edit] = {
    "shifted by a pixel": shifted,
    "noise": noised,
    "brightened": brightened,
    "mirrored": lambda image, rng: image[:, ::-1],
}
TEXT_KERNELS: dict[str, dict[str, Any]] = {
    "ngram_overlap": {"k": "ngram_overlap"},
    "ngram_overlap, words": {"k": "ngram_overlap", "ns": [1]},
    "ngram_overlap, letters": {"k": "ngram_overlap", "ns": [1, 2, 3], "analyzer": "char"},
    "word_overlap": {"k": "word_overlap"},
    "bleu": {"k": "bleu"},
}
IMAGE_KERNELS: dict[str, dict[str, Any]] = {
    "pixels": {"k": "pixels"},
    **{k: {"k": k} for k in ("cosine", "rbf", "laplacian", "polynomial")},
}
MOLECULE_KERNELS: dict[str, dict[str, Any]] = {
    "morgan": {"k": "morgan"},
    "morgan, chirality": {"k": "morgan", "chirality": True},
    **{k: {"k": k} for k in ("atom_pair", "rdkit", "maccs", "topological_torsion")},
}


def photographs(size: int) -> np.ndarray:
    from sklearn.datasets import load_sample_images

    images = load_sample_images().images
    places = [(x, y) for x in range(0, 427 - size, size) for y in range(0, 640 - size, size)]
    return np.array([image[x : x + size, y : y + size] for image in images for x, y in places])


def smiles(name: str) -> list[str]:
    if name == "odorants, Leffingwell":
        with (DATA / "leffingwell_odors.csv").open(encoding="utf-8") as file:
            return [row["smiles"] for row in csv.DictReader(file)]
    with gzip.open(DATA / "goodscents.tsv.gz", "rt", encoding="utf-8") as file:
        return [line.split("\t")[0] for line in file][1:]


def flat(molecule: str) -> str:
    """Return a molecule without what its stereo is."""
    from rdkit import Chem

    read = Chem.MolFromSmiles(molecule)
    Chem.RemoveStereochemistry(read)
    return str(Chem.MolToSmiles(read))


def planted(
    samples: list[Any], edit: Edit, form: Callable[[Any], Any], size: tuple[int, int], seed: int
) -> tuple[list[Any], np.ndarray]:
    """Return samples with edited copies of the first, and which were equal before the edits."""
    n, copies = size
    rng = np.random.default_rng(seed)
    drawn = [samples[i] for i in rng.permutation(len(samples))]
    changed: list[tuple[Any, Any]] = []
    for sample in drawn:
        if len(changed) == copies:
            break
        other = edit(sample, rng)
        if not np.array_equal(other, sample):
            changed.append((sample, other))
    originals, others = [a for a, _ in changed], [b for _, b in changed]
    taken = {id(sample) for sample in originals}
    rest = [sample for sample in drawn if id(sample) not in taken][: n - 2 * len(changed)]
    seen: dict[Any, int] = {}
    known = [seen.setdefault(form(sample), i) for i, sample in enumerate([*originals, *rest])]
    return [*originals, *rest, *others], np.array([*known, *known[: len(others)]])


def judged(found: Any, threshold: float, same: np.ndarray) -> tuple[float, float, int]:
    """Return recall, precision, and how many samples are removed at a threshold."""
    of = found.rethreshold(max(threshold, found.floor)).redundant_of
    removed = np.flatnonzero(of >= 0)
    right = int(np.sum(same[removed] == same[of[removed]]))
    copies = len(same) - len(np.unique(same))
    return right / copies if copies else np.nan, right / max(len(removed), 1), len(removed)


def sources(size: int) -> Iterator[tuple[str, list[Any], dict[str, Edit], dict[str, Any], Any]]:
    """Yield samples, their edits and kernels, and what is the same in two of them."""
    texts = TEXT_KERNELS if size <= 500 else {k: v for k, v in TEXT_KERNELS.items() if k != "bleu"}
    yield "questions", QUESTIONS, TEXT_EDITS, texts, text_form
    digits = list(np.load(DATA / "mnist_test.npz")["images"])
    yield "digits", digits, IMAGE_EDITS, IMAGE_KERNELS, lambda image: image.tobytes()
    patches = list(photographs(32 if size <= 400 else 16))
    yield "patches", patches, IMAGE_EDITS, IMAGE_KERNELS, lambda image: image.tobytes()
    for name in ("odorants, Leffingwell", "odorants, GoodScents"):
        stereo = {"stereo removed": lambda molecule, rng: flat(molecule)}
        yield name, [s for s in smiles(name) if s], stereo, MOLECULE_KERNELS, flat


def similarity_of(samples: list[Any], options: dict[str, Any]) -> Any:
    if isinstance(samples[0], np.ndarray) and options["k"] != "pixels":
        return as_similarity(np.array(samples).reshape(len(samples), -1) / 255, **options)
    return as_similarity(samples, **options)


def thresholds(repeats: int) -> list[dict[str, Any]]:
    results = []
    for n, copies in SIZES:
        sets = repeats if n <= 500 else max(1, repeats // 5)
        for source, samples, edits, kernels, form in sources(n):
            for edit, change in edits.items():
                for name, options in kernels.items():
                    row = {
                        "source": source,
                        "edit": edit,
                        "kernel": name,
                        "n": n,
                        "planted": copies,
                    }
                    row |= measured(samples, change, form, options, (n, copies), sets)
                    results.append(row)
                    print(line(row), flush=True)
            for name, options in kernels.items():
                row = {"source": source, "edit": "none", "kernel": name, "n": n, "planted": 0}
                first = next(iter(edits.values()))
                row |= measured(samples, first, form, options, (n, 0), sets)
                results.append(row)
                print(line(row), flush=True)
    return results


def measured(
    samples: list[Any],
    change: Edit,
    form: Callable[[Any], Any],
    options: dict[str, Any],
    size: tuple[int, int],
    sets: int,
) -> dict[str, Any]:
    fixed, found = [], []
    for seed in range(sets):
        drawn, same = planted(samples, change, form, size, seed)
        forms = [text_form(each) for each in drawn] if isinstance(drawn[0], str) else None
        forms = forms if options["k"] in ("ngram_overlap", "word_overlap", "bleu") else None
        similarity = similarity_of(drawn, options)
        neighbours, auto = compare_samples(similarity, None, forms=forms)
        nearest = np.sort(neighbours.similarity)[::-1]
        floor = min(nearest[min(12 * size[1] + 1, size[0] - 1)], 0.95)
        plain = compare_samples(similarity, 1.0, floor)[1]
        # Fixed thresholds are judged down to where far too much is removed.
        fixed.append([*curve(plain, same, max(size[1], 1)), judged(plain, 0.95, same)])
        copies = size[1] and len(same) - len(np.unique(same))
        found.append(
            (*judged(auto, auto.threshold, same), auto.threshold, auto.false_share, copies)
        )
    levels = np.nanmean(fixed, axis=0) if size[1] else np.mean(np.nan_to_num(fixed), axis=0)
    recall, precision, removed, threshold, false, total = np.mean(np.nan_to_num(found), axis=0)
    usual = levels[-1]
    row: dict[str, Any] = {"sets": sets, "threshold": threshold, "removed": removed}
    row["false_share"] = false
    if size[1]:
        best = np.minimum(levels[:-1, 0], levels[:-1, 1]).argmax()
        row |= {"best": THRESHOLDS[best], "best_recall": levels[best, 0]}
        row |= {"best_precision": levels[best, 1], "recall": recall, "precision": precision}
        row |= {"recall_at_0.95": usual[0], "precision_at_0.95": usual[1]}
        row |= {"mistakes": float(np.mean([mistakes(*each[:3], each[5]) for each in found]))}
        row |= {"mistakes_at_0.95": float(np.mean([mistakes(*each[-1], total) for each in fixed]))}
    return {name: float(value) if name != "sets" else sets for name, value in row.items()}


def curve(found: Any, same: np.ndarray, copies: int) -> list[tuple[float, float, int]]:
    """Judge fixed thresholds, down to those that remove four times as many as there are copies."""
    points: list[tuple[float, float, int]] = []
    for threshold in THRESHOLDS[::-1]:
        done = bool(points) and points[-1][2] > 4 * copies
        points.append((0.0, 0.0, len(same)) if done else judged(found, threshold, same))
    return points[::-1]


def mistakes(recall: float, precision: float, removed: float, copies: float) -> float:
    """Return how many copies are missed, and how many samples are removed wrongly."""
    return float(copies * (1 - recall) + removed * (1 - precision))


def line(row: dict[str, Any]) -> str:
    said = f"{row['source']}, {row['edit']}, {row['kernel']}, n = {row['n']}: "
    if not row["planted"]:
        return f"{said}{row['removed']:.1f} named at {row['threshold']:.2f}"
    return said + (
        f"best {row['best']:.3f} {row['best_recall']:.2f} {row['best_precision']:.2f}, "
        f"0.95: {row['recall_at_0.95']:.2f} {row['precision_at_0.95']:.2f}, "
        f"auto {row['threshold']:.3f} {row['recall']:.2f} {row['precision']:.2f}, "
        f"mistakes {row['mistakes_at_0.95']:.1f} {row['mistakes']:.1f}, "
        f"false {row['false_share']:.3f}"
    )


def independent(n: int, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    texts = [QUESTIONS[i] for i in rng.choice(len(QUESTIONS), n, replace=False)]
    yield "questions, n-grams", as_similarity(texts, k="ngram_overlap")
    digits = np.load(DATA / "mnist_test.npz")["images"]
    digits = digits[rng.choice(len(digits), n, replace=False)].reshape(n, -1) / 255
    yield "digits, cosine", as_similarity(digits, k="cosine")
    yield "digits, RBF", as_similarity(digits, k="rbf")
    molecules = smiles("odorants, Leffingwell")
    molecules = [molecules[i] for i in rng.choice(len(molecules), n, replace=False)]
    yield "odorants, morgan", as_similarity(molecules, k="morgan")
    yield "labels of n/2 kinds", as_similarity(rng.integers(n // 2, size=n).tolist(), k="labels")
    yield "normal, 5 columns, cosine", as_similarity(rng.standard_normal((n, 5)), k="cosine")
    yield "normal, 2 columns, RBF", as_similarity(rng.standard_normal((n, 2)), k="rbf")
    heavy = rng.standard_t(2, (n, 5))
    yield "t of 2 degrees, RBF", as_similarity(heavy, k="rbf")
    modes = 10 * rng.integers(5, size=(n, 1)) + rng.standard_normal((n, 5))
    yield "five tight modes, RBF", as_similarity(modes, k="rbf")


def copied(n: int, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    every = np.load(DATA / "mnist_test.npz")["images"]
    for times in (2, 5):
        places = np.repeat(rng.choice(len(every), -(-n // times), replace=False), times)[:n]
        digits = every[places].reshape(n, -1) / 255
        digits = np.clip(digits + rng.normal(0, 0.05, digits.shape), 0, 1)
        yield f"digits with noise, {times} of each, cosine", as_similarity(digits, k="cosine")
        yield f"digits with noise, {times} of each, RBF", as_similarity(digits, k="rbf")
        centres = np.repeat(rng.standard_normal((-(-n // times), 10)), times, axis=0)[:n]
        for noise in (0.1, 0.3):
            X = centres + noise * rng.standard_normal(centres.shape)
            yield f"normal, noise {noise}, {times} of each, cosine", as_similarity(X, k="cosine")
        texts = [QUESTIONS[i] for i in rng.choice(len(QUESTIONS), -(-n // times), replace=False)]
        texts = [replaced(text, rng) for text in np.repeat(texts, times)[:n].tolist()]
        name = f"questions, a word replaced, {times} of each, n-grams"
        yield name, as_similarity(texts, k="ngram_overlap")


def dependence(repeats: int) -> list[dict[str, Any]]:
    results = []
    for n in (8, 20, 40, 100, 400):
        for kind, draw in (("independent", independent), ("near-copies", copied)):
            shares: dict[str, list[float]] = {}
            for seed in range(repeats if n <= 100 else max(1, repeats // 4)):
                for name, similarity in draw(n, np.random.default_rng(seed)):
                    shares.setdefault(name, []).append(dependent_share(similarity))
            for name, found in shares.items():
                warned = float(np.mean(np.array(found) > 0))
                row = {"source": name, "kind": kind, "n": n, "sets": len(found), "warned": warned}
                results.append(row | {"mean_share": float(np.mean(found))})
                print(f"{kind}: {name}, n = {n}: warned in {warned:.2f}", flush=True)
    return results


if __name__ == "__main__":
    from rdkit import RDLogger

    RDLogger.DisableLog("rdApp.*")
    options = arguments(__doc__)
    results = [*thresholds(2 * options.repeats), *dependence(20 * options.repeats)]
    write(options.json, results, environment("scikit-learn", "rdkit"))
    sys.exit(0)
