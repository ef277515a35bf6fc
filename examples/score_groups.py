"""Score groups of texts: three files of captions, or a table with a column of group labels.

python examples/score_groups.py                                    # the captions in this folder
python examples/score_groups.py questions.tsv label question       # a table and two columns
"""

import csv
import sys
from pathlib import Path

from vendiscore import compute

HERE = Path(__file__).resolve().parent


def captions() -> tuple[list[str], list[str]]:
    """Return texts, and for each text the name of its file."""
    texts, labels = [], []
    for path in sorted((HERE / "captions").glob("*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines()
        texts += lines
        labels += [path.stem] * len(lines)
    return texts, labels


def table(path: str, label: str, text: str) -> tuple[list[str], list[str]]:
    """Return texts and group labels from two columns of a tab-separated table."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [row[text] for row in rows], [row[label] for row in rows]


def main() -> None:
    texts, labels = table(*sys.argv[1:4]) if len(sys.argv) > 3 else captions()
    measures = ["VS", "WithinVS", "BetweenVS", "TotalVS"]
    result = compute(texts, groups=labels, measures=measures, details=True)
    for row in result["details"]["groups"]:
        print(f"{row['group']:>10}: Vendi Score {row['VS']:6.2f} of {row['n']} texts")
    print(f"mean over groups {result['VS']:.2f}, standard error {result['VS_se']:.2f}")
    print(
        f"within α = {result['WithinVS']:.2f}, between β = {result['BetweenVS']:.2f}, "
        f"total γ = {result['TotalVS']:.2f} = α β"
    )
    print("α: a group is on average as diverse as α completely different texts.")
    print("β: the groups differ as much as β groups that have no words in common.")
    print(f"If texts are assigned to groups at random, β is {result['BetweenVS_null']:.2f}.")


if __name__ == "__main__":
    main()
