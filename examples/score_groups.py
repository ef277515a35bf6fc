"""Score groups of texts: three files of captions, or a table with a column of labels.

python examples/score_groups.py                                    # the captions next to this file
python examples/score_groups.py questions.tsv label question       # a table, its two columns
"""

import csv
import sys
from pathlib import Path

from vendiscore import compute

HERE = Path(__file__).resolve().parent


def captions() -> tuple[list[str], list[str]]:
    """Return texts, and the name of the file that each is from."""
    texts, labels = [], []
    for path in sorted((HERE / "captions").glob("*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines()
        texts += lines
        labels += [path.stem] * len(lines)
    return texts, labels


def table(path: str, label: str, text: str) -> tuple[list[str], list[str]]:
    """Return the same from two columns of a table."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [row[text] for row in rows], [row[label] for row in rows]


def main() -> None:
    texts, labels = table(*sys.argv[1:4]) if len(sys.argv) > 3 else captions()
    measures = ["VS", "WithinVS", "BetweenVS", "TotalVS"]
    found = compute(texts, groups=labels, measures=measures, details=True)
    for row in found["details"]["groups"]:
        print(f"{row['group']:>10}: Vendi Score {row['VS']:6.2f} of {row['n']} texts")
    print(f"mean over groups {found['VS']:.2f}, standard error {found['VS_se']:.2f}")
    print(
        f"within α = {found['WithinVS']:.2f}, between β = {found['BetweenVS']:.2f}, "
        f"total γ = {found['TotalVS']:.2f} = α β"
    )
    print("How to read it: a group is about as diverse as α completely different texts, and the")
    print("groups differ about as much as β groups that have no word in common; as many texts in")
    print(f"groups drawn at random would by chance have a β of {found['BetweenVS_null']:.2f}.")


if __name__ == "__main__":
    main()
