"""Choose a diverse subset for annotation, with the same number of answers of each source.

python examples/choose_for_annotation.py                       # 30 of 912 answers
python examples/choose_for_annotation.py answers.csv 60 chosen.csv
"""

import csv
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from vendiscore import compute, read, select

DATA = Path(__file__).resolve().parents[1] / "docs" / "tutorials" / "data" / "answers.csv"


def main(path: str | Path = DATA, size: str = "30", output: str = "chosen.csv") -> None:
    answers = read(path)
    if not answers.sets or not answers.prompts:
        raise SystemExit("The file needs a column of sources and a column of prompts.")
    count = int(size)
    sources = list(answers.by_set())
    quota = {name: count // len(sources) for name in sources}
    for name in sources[: count % len(sources)]:  # the remainder
        quota[name] += 1
    selection = select(answers.samples, count, quota=quota, groups=answers.sets, analyzer="char")
    chosen = selection.places

    with open(output, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "prompt", "answer"])
        writer.writerows((answers.sets[i], answers.prompts[i], answers.samples[i]) for i in chosen)
    print(f"{count} answers of {len(answers.samples)} are in {output}:")
    print("  of each source:", dict(Counter(answers.sets[i] for i in chosen)))

    drawn = np.random.default_rng(0).choice(len(answers.samples), count, replace=False)
    for name, indices in (("chosen", chosen), ("drawn at random", drawn)):
        score = compute([answers.samples[i] for i in indices], analyzer="char")["VS"]
        print(f"  {name}: they count as {score:.1f} different answers")


if __name__ == "__main__":
    main(*sys.argv[1:])
