"""The effect of folding Morgan fingerprints: scores by the number of bits, and unfolded.

Molecules become more similar if different substructures share a bit, so scores are too low.
Unfolded fingerprints (RDKit's `GetSparseFingerprint`, 2³² bits) are passed to `tanimoto`. The
similarities of `morgan` must equal those of RDKit before scores are reported.

    python benchmarks/fingerprints.py leffingwell_odors.csv --json fingerprints.json
"""

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
from pairs import collect_environment, write_results
from rdkit import Chem, DataStructs
from rdkit.Chem import rdFingerprintGenerator

from vendiscore import as_similarity, compute
from vendiscore.similarity.base import Similarity

BITS = (512, 1024, 2048, 4096, 8192)
N_COMPARED = 50


def check_against_rdkit(similarity: Similarity, fingerprints: list[Any]) -> None:
    """Check that the similarities of some molecules with all equal RDKit's."""
    indices = np.linspace(0, len(fingerprints) - 1, N_COMPARED).astype(int)
    expected = [DataStructs.BulkTanimotoSimilarity(fingerprints[i], fingerprints) for i in indices]
    np.testing.assert_array_equal(similarity.rows(indices), expected)


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("table", help="csv file with a column `smiles`")
    parser.add_argument("--json", help="write the results to this file")
    arguments = parser.parse_args()
    with open(arguments.table, encoding="utf-8") as file:
        smiles = list(dict.fromkeys(row["smiles"] for row in csv.DictReader(file)))
    molecules = [Chem.MolFromSmiles(s) for s in smiles]
    sparse_fingerprint = rdFingerprintGenerator.GetMorganGenerator(radius=2).GetSparseFingerprint
    unfolded = [sparse_fingerprint(molecule) for molecule in molecules]
    sets = {"unfolded": (as_similarity(unfolded, k="tanimoto"), unfolded)}
    for bits in BITS:
        fingerprint = rdFingerprintGenerator.GetMorganGenerator(
            radius=2, fpSize=bits
        ).GetFingerprint
        folded = [fingerprint(molecule) for molecule in molecules]
        sets[f"{bits}"] = as_similarity(molecules, k="morgan", n_bits=bits), folded
    rows = []
    print("| bits | VS | too low by | VS, q = 2 | IntDiv |\n|---|---|---|---|---|")
    for name, (similarity, fingerprints) in sets.items():
        check_against_rdkit(similarity, fingerprints)
        result = compute(similarity, q=[1, 2], measures=["VS", "IntDiv"])
        rows.append({"bits": name, **result})
        rows[-1]["too_low_by"] = 1 - result["VS_q1"] / rows[0]["VS_q1"]
        print(
            f"| {name} | {result['VS_q1']:.1f} | {rows[-1]['too_low_by']:.1%} | "
            f"{result['VS_q2']:.2f} | {result['IntDiv']:.4f} |"
        )
    if arguments.json:
        facts = collect_environment("rdkit") | {"n": len(smiles), "radius": 2}
        write_results(Path(arguments.json), rows, facts)


if __name__ == "__main__":
    main()
