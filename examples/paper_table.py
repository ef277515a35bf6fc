"""Write a table for a paper: the scores of models with confidence intervals, in LaTeX.

python examples/paper_table.py                 # people and two models, 38 prompts
python examples/paper_table.py answers.csv

The signature in the comment above the table states all settings, so that readers can repeat the
computation. `vendiscore table FILE -f latex` also tests which models differ.
"""

import sys
from pathlib import Path

from vendiscore import compute, read

DATA = Path(__file__).resolve().parents[1] / "docs" / "tutorials" / "data" / "answers.csv"
ORDERS = [1, 2]


def main(path: str | Path = DATA) -> None:
    answers = read(path)
    rows = []
    for name, subset in answers.by_set().items():
        result = compute(
            subset.samples, groups=subset.prompts, q=ORDERS, analyzer="char", ci=0.95, details=True
        )
        cells = [name.replace("_", r"\_"), str(len(subset.samples))]
        for q in ORDERS:
            value, low, high = (result[f"VS_q{q}{suffix}"] for suffix in ("", "_low", "_high"))
            cells.append(f"{value:.2f} [{low:.2f}, {high:.2f}]")
        rows.append(" & ".join(cells) + r" \\")
    print(f"% {result['details']['signature']}")
    print(r"\begin{tabular}{lrll}")
    print(r"source & answers & $\mathrm{VS}_1$ & $\mathrm{VS}_2$ \\ \hline")
    print("\n".join(rows))
    print(r"\end{tabular}")
    print("% Cite: Friedman and Dieng, The Vendi Score, TMLR 2023; CITATION.cff cites vendiscore.")


if __name__ == "__main__":
    main(*sys.argv[1:])
