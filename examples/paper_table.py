"""Write a table for a paper: the scores of models with confidence intervals, in LaTeX.

python examples/paper_table.py                 # people and two models, 38 prompts
python examples/paper_table.py answers.csv

The signatures in the comments above the table state all settings, so that readers can repeat the
computation. `vendiscore table FILE -f latex` also tests which models differ.
"""

import sys
from pathlib import Path

from vendiscore import compute, read

DATA = Path(__file__).resolve().parents[1] / "docs" / "tutorials" / "data" / "answers.csv"
ORDERS = [1, 2]


def escape(text: str) -> str:
    """Escape the characters of a text that have a meaning in LaTeX."""
    escapes = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    escapes |= {character: rf"\{character}" for character in "&%$#_{}"}
    return "".join(escapes.get(character, character) for character in text)


def main(path: str | Path = DATA) -> None:
    answers = read(path)
    if not answers.sets or not answers.prompts:
        raise SystemExit("The file needs a column of models and a column of prompts.")
    rows = []
    for name, subset in answers.by_set().items():
        result = compute(
            subset.samples, groups=subset.prompts, q=ORDERS, analyzer="char", ci=0.95, details=True
        )
        print(f"% {name}: {result['details']['signature']}")
        cells = [escape(name), str(len(subset.samples))]
        for q in ORDERS:
            value, low, high = (result[f"VS_q{q}{suffix}"] for suffix in ("", "_low", "_high"))
            cells.append(f"{value:.2f} [{low:.2f}, {high:.2f}]")
        rows.append(" & ".join(cells) + r" \\")
    print(r"\begin{tabular}{lrll}")
    print(r"source & answers & $\mathrm{VS}_1$ & $\mathrm{VS}_2$ \\ \hline")
    print("\n".join(rows))
    print(r"\end{tabular}")
    print("% Cite: Friedman and Dieng, The Vendi Score, TMLR 2023; CITATION.cff cites vendiscore.")


if __name__ == "__main__":
    main(*sys.argv[1:])
