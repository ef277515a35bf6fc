"""Models of AlpacaEval on a map, from the committed results: similar ones are near."""

import json
from pathlib import Path

import matplotlib.pyplot as plt

from vendiscore import plots

# Figures are drawn in the folder of the clone.
RESULTS = Path("benchmarks/results/sources.json")
row = next(row for row in json.loads(RESULTS.read_text())["rows"] if row["part"] == "alpaca")
names = [one["name"] for one in row["sources"]]
figure, ax = plt.subplots(figsize=(9, 7.4), layout="constrained")
plots.source_map(row["places"], names, [one["adds"] for one in row["sources"]], ax=ax)
