"""Which smells come from the most, and from the least, different molecules?

    python benchmarks/odours.py leffingwell_odors.csv

Takes the ten commonest descriptors of a table with the columns `smiles` and `odors` (descriptors
separated by semicolons), and compares the molecules of each by structure (`morgan`), by all their
descriptors (`tags`), and by half of each. Vendi Scores can only be compared between sets of one
size, so 400 molecules are drawn of each descriptor that has them, and then, for all ten, as many
as the rarest has. Draws differ less than fresh samples would where they take nearly all there are.
"""

import argparse
import random
import statistics
from collections import Counter
from pathlib import Path

import pandas as pd

import vendiscore

DRAWS = 5
KERNELS = {
    "morgan": {"morgan:smiles": 1.0},
    "tags": {"tags:odors": 1.0},
    "half of each": {"morgan:smiles": 0.5, "tags:odors": 0.5},
}


def scores(molecules: pd.DataFrame, size: int, seed: int) -> dict[str, list[float]]:
    """Return vendi Scores of several random draws of `size` molecules, under each kernel."""
    values: dict[str, list[float]] = {name: [] for name in KERNELS}
    for draw in range(DRAWS):
        rows = random.Random(seed + draw).sample(range(len(molecules)), size)
        for name, k in KERNELS.items():
            values[name].append(vendiscore.compute(molecules.iloc[rows], k=k)["VS"])
    return values


def show(by_odour: dict[str, pd.DataFrame], size: int, seed: int) -> None:
    """Print a table of the descriptors that have `size` molecules, most diverse first."""
    rows = [
        (odour, len(molecules), scores(molecules, size, seed))
        for odour, molecules in by_odour.items()
        if len(molecules) >= size
    ]
    rows.sort(key=lambda row: -statistics.mean(row[2]["morgan"]))
    print(f"\nVendi Score of {size} molecules, mean ± standard deviation of {DRAWS} draws\n")
    print("| odour | molecules | " + " | ".join(KERNELS) + " |")
    print("|---|---|" + "---|" * len(KERNELS))
    for odour, count, values in rows:
        cells = (f"{statistics.mean(v):.1f} ± {statistics.stdev(v):.1f}" for v in values.values())
        print(f"| {odour} | {count} | " + " | ".join(cells) + " |")
    print(f"\nby structure, most diverse: {rows[0][0]}; least: {rows[-1][0]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--size", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    table = pd.read_csv(arguments.table)
    table["odors"] = table["odors"].str.split(";")
    counts = Counter(odour for odours in table["odors"] for odour in set(odours))
    by_odour = {
        odour: table[[odour in odours for odours in table["odors"]]]
        for odour, _ in counts.most_common(10)
    }
    rarest = min(map(len, by_odour.values()))
    for size in sorted({arguments.size, rarest}, reverse=True):
        if any(len(molecules) >= size for molecules in by_odour.values()):
            show(by_odour, size, arguments.seed)


if __name__ == "__main__":
    main()
