"""Do molecules of one smell differ more than those of another? Compared with p-values.

    python examples/compare_odours.py                         # esters and other scents, from here
    python examples/compare_odours.py leffingwell_odors.csv   # the five commonest descriptors

The table has the columns `smiles` and `odors`, descriptors separated by semicolons. A molecule
stands under one descriptor only, the rarest of its own, so that the sets share none.
"""

import csv
import sys
from collections import Counter

from vendiscore import compare

ESTERS = [f"{'C' * a}C(=O)O{'C' * b}" for a in range(1, 6) for b in range(1, 5)]
OTHERS = [
    *("O=Cc1ccccc1", "COc1cc(C=O)ccc1O", "CC(=CCCC(=CCO)C)C", "CC1=CCC(CC1)C(=C)C"),
    *("O=C1CCCCCCCCCCCCCC1", "CC(C)C1CCC(C)CC1O", "CC12CCC(CC1=O)C2(C)C", "c1ccsc1"),
    *("CSC=CC=O", "CC(=O)c1ccccc1", "OCCc1ccccc1", "CCCCCCC=O", "CC(C)=CCCC(C)CC=O"),
    *("COc1ccc(CC=C)cc1", "O=C1OCCC1", "Cc1cnc(C)cn1", "CCS", "CC(=O)C(C)=O"),
    *("c1ccc2[nH]ccc2c1", "CC(C)CCO"),
]
MOST = 5


def by_descriptor(path: str) -> dict[str, list[str]]:
    with open(path, newline="", encoding="utf-8") as file:
        rows = [(row["smiles"], set(row["odors"].split(";"))) for row in csv.DictReader(file)]
    counts = Counter(odour for _, odours in rows for odour in odours)
    common = [odour for odour, _ in counts.most_common(MOST)]
    sets: dict[str, list[str]] = {odour: [] for odour in common}
    for smiles, odours in rows:
        own = [odour for odour in common if odour in odours]
        if own:
            sets[own[-1]].append(smiles)
    return sets


def main() -> None:
    sets = by_descriptor(sys.argv[1]) if sys.argv[1:] else {"esters": ESTERS, "others": OTHERS}
    found = compare(sets, k="morgan")
    print(found.to_frame().round(4).to_string(index=False))
    print(found.sentence)


if __name__ == "__main__":
    main()
